#!/usr/bin/env bash
# One Python environment per MPI: build/venv-mpich and build/venv-openmpi, each with mpi4py compiled from its source
# package against that MPI. Does nothing where an environment is up to date, and needs no root.
# usage: tools/python_envs.sh [mpich] [openmpi]
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
requirements=$root/tools/python-requirements.txt
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3)

# What an environment depends on; a change of any of it rebuilds the environment.
stamp_of() {
  { cat "$requirements" "$root/tools/python_envs.sh"; "$python" --version; "mpicc.$1" -show; } | sha256sum | cut -d' ' -f1
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
  # MPICH 4.0's own ROMIO aborts on the large-count datatypes that mpi4py 4 makes; where it is to be compared with,
  # programs run with mpi4py 3 (PYTHONPATH=<environment>/mpi4py-3).
  # Its build scripts need a setuptools of their time.
  echo "setuptools==69.5.1" >"$venv/constraints.txt"
  PIP_CONSTRAINT=$venv/constraints.txt install_mpi4py "$mpi" 3.1.6 --target "$venv/mpi4py-3"
}

# One MPI's environment, if it is not up to date.
see_to() {
  local stamp file=$root/build/venv-$1/.stamp
  stamp=$(stamp_of "$1")
  if [ "$(cat "$file" 2>/dev/null || true)" != "$stamp" ]; then
    build "$1"
    echo "$stamp" >"$file"
  fi
}

[ $# -gt 0 ] || set -- mpich openmpi
jobs=()
for name in "$@"; do
  if ! command -v "mpicc.$name" >/dev/null; then
    echo "python_envs: no mpicc.$name here, skipped" >&2
    continue
  fi
  see_to "$name" &  # the compiler takes one core for each
  jobs+=($!)
done
for job in "${jobs[@]}"; do
  wait "$job"
done
