#!/usr/bin/env bash
# The tests need a few programs that pip cannot install. Where this may install them it does;
# where it may not, it says which are missing and how to get them, and stops: nothing is skipped silently.
set -euo pipefail
declare -A package_of=([bwrap]=bubblewrap [chromium]=chromium)
missing=()
for program in "${!package_of[@]}"; do
  command -v "$program" >/dev/null || missing+=("${package_of[$program]}")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  echo "Installing the system packages the tests need: ${missing[*]} …"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "The tests need system packages that are not here: ${missing[*]}." >&2
  echo "Install them first, e.g.: sudo apt-get install ${missing[*]}" >&2
  exit 1
fi
