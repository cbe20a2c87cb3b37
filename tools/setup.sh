#!/usr/bin/env bash
# Sees to it that the Debian packages named in tools/packages.txt are installed.
#
#   tools/setup.sh           install what is missing (as root, or through sudo)
#   tools/setup.sh --check   only say what is missing; exit code 1 if something is
#
# Where everything is there, nothing is asked for and nothing is written. TAMIS_NO_SETUP=1 skips it:
# for systems that are not Debian, where cmake says what it does not find.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)

missing_packages() {
  local package
  sed -e 's/#.*//' "$here/packages.txt" | while read -r package; do
    [ -n "$package" ] || continue
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
      echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo "$@"
  else
    return 1
  fi
}

install_packages() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@"
}

main() {
  [ -z "${TAMIS_NO_SETUP:-}" ] || exit 0
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: this is no Debian. Install what tools/packages.txt names in your system's way," \
      "then say TAMIS_NO_SETUP=1 make ..." >&2
    exit 1
  fi
  local missing
  mapfile -t missing < <(missing_packages)
  [ "${#missing[@]}" -gt 0 ] || exit 0
  echo "setup: missing: ${missing[*]}" >&2
  [ "${1:-}" != --check ] || exit 1
  if ! install_packages "${missing[@]}"; then
    echo "setup: could not install them here; as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
}

main "$@"
