#!/usr/bin/env bash
# The tests need what pip cannot install: a browser and, on Linux, a database server.
# Where this may install them it does; where it may not, it says which are missing and how to get them,
# and stops: nothing is skipped silently.
set -euo pipefail

have() { for program in "$@"; do command -v "$program" >/dev/null && return; done; return 1; }

missing=()
have chromium chromium-browser google-chrome || [ -d "/Applications/Google Chrome.app" ] || missing+=(chromium)
if [ "$(uname -s)" = Linux ]; then # elsewhere no class is graded
  have pg_ctl /usr/lib/postgresql/*/bin/pg_ctl || missing+=(postgresql)
fi
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ]; then sudo=(); else sudo=(sudo -n); fi
if have apt-get && { [ ${#sudo[@]} -eq 0 ] || "${sudo[@]}" true 2>/dev/null; }; then
  echo "Installing the system packages the tests need: ${missing[*]} …"
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "The tests need system packages that are not here: ${missing[*]}." >&2
  echo "Install them first: on Debian and Ubuntu sudo apt-get install ${missing[*]};" \
    "on Fedora sudo dnf install ${missing[*]/%postgresql/postgresql-server}; on macOS brew install --cask google-chrome." >&2
  exit 1
fi
