#!/usr/bin/env bash
# One Python environment per MPI: build/venv-mpich and build/venv-openmpi, each with mpi4py compiled from its source
# package against that MPI. Does nothing where an environment is up to date, and needs no root.
# usage: tools/python_envs.sh [--mpi4py-3]     with mpi4py 3 as well, which the demo runs
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
requirements=$root/tools/python-requirements.txt
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3)

# What an environment depends on; a change of any of it rebuilds the environment.
stamp_of() {
  { cat "$requirements"; declare -f install_mpi4py build add_mpi4py_3; "$python" --version; "mpicc.$1" -show; } |
    sha256sum | cut -d' ' -f1
}

# mpi4py is the same package for every MPI, so a wheel that pip kept from the other one must not be taken.
# -O1 -g0: its one generated source file takes minutes to compile otherwise.
install_mpi4py() {
  local mpi=$1 version=$2
  shift 2
  MPICC=mpicc.$mpi CFLAGS="-O1 -g0" "$root/build/venv-$mpi/bin/pip" install -q --disable-pip-version-check \
    --no-cache-dir --no-deps --no-binary mpi4py "$@" "mpi4py==$version"
}

build() {
  local mpi=$1 venv=$root/build/venv-$1
  echo "python_envs: building $venv (some minutes: mpi4py is compiled)"
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check "$(grep '^pip==' "$requirements")"
  "$venv/bin/pip" install -q --disable-pip-version-check -r <(grep -v '^mpi4py' "$requirements")
  install_mpi4py "$mpi" "$(sed -n 's/^mpi4py==//p' "$requirements")"
}

# MPICH 4.0's own ROMIO aborts on the large-count datatypes that mpi4py 4 makes; where it is to be compared with,
# programs run with mpi4py 3 (PYTHONPATH=<environment>/mpi4py-3). Its build scripts need a setuptools of their time.
add_mpi4py_3() {
  local venv=$root/build/venv-$1
  echo "python_envs: adding mpi4py 3 to $venv"
  rm -rf "$venv/mpi4py-3"
  echo "setuptools==69.5.1" >"$venv/constraints.txt"
  PIP_CONSTRAINT=$venv/constraints.txt install_mpi4py "$1" 3.1.6 --target "$venv/mpi4py-3"
}

# see_to STAMP FILE COMMAND...: runs the command unless the file says that it was done so before.
see_to() {
  local stamp=$1 file=$2
  shift 2
  [ "$(cat "$file" 2>/dev/null || true)" != "$stamp" ] || return 0
  "$@"
  echo "$stamp" >"$file"
}

environment() {
  local stamp venv=$root/build/venv-$1
  stamp=$(stamp_of "$1")
  see_to "$stamp" "$venv/.stamp" build "$1"
  [ "$with_mpi4py_3" = no ] || see_to "$stamp" "$venv/.stamp-mpi4py-3" add_mpi4py_3 "$1"
}

with_mpi4py_3=no
[ "${1:-}" != --mpi4py-3 ] || with_mpi4py_3=yes
jobs=()
for name in mpich openmpi; do
  if command -v "mpicc.$name" >/dev/null; then
    environment "$name" &  # compilation takes one core for each
    jobs+=($!)
  else
    echo "python_envs: no mpicc.$name here, skipped" >&2
  fi
done
for job in "${jobs[@]}"; do
  wait "$job"
done
