#!/bin/sh
# Install wasm-bindgen (Cargo.lock's version), wasm-pack and wasm-opt once, then say where they are:
#   out=$(scripts/wasm-tools.sh) && eval "$out"     # prints one line: export PATH=...
# WASM_TOOLS_DIR: where they are kept, each in a folder with its version (default ~/.cache/narrows-tools).
set -eu
cd "$(dirname "$0")/.."

WASM_PACK=0.15.1
BINARYEN=132.0.0
ROOT=${WASM_TOOLS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/narrows-tools}

say() { printf 'wasm-tools: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

WASM_BINDGEN=$(awk '/^name = "wasm-bindgen"/ { getline; gsub(/[^0-9.]/, ""); print; exit }' Cargo.lock)
[ -n "$WASM_BINDGEN" ] || die "no wasm-bindgen in Cargo.lock"
command -v npm >/dev/null 2>&1 || die "npm is missing: wasm-opt comes from the npm package binaryen"

mkdir -p "$ROOT"
# One installer at a time; the others wait, then find the work done.
if command -v flock >/dev/null 2>&1; then exec 9>"$ROOT/.lock"; flock 9; fi

# install COMMAND CRATE VERSION: a crate's command in its own folder.
# An unoptimised tool writes the same bytes and takes a third of the time to build.
install() {
    dir=$ROOT/$2-$3
    if [ "$("$dir/bin/$1" --version 2>/dev/null)" != "$1 $3" ]; then
        say "installing $2 $3 (once; about a minute)"
        env -u RUSTUP_TOOLCHAIN -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS -u CARGO_BUILD_TARGET -u CARGO_TARGET_DIR \
            cargo install --locked --debug --quiet --force "$2" --version "$3" --root "$dir" >&2 9>&- || die "$2 $3 did not install"
    fi
    path=$path$dir/bin:
}

path=
install wasm-bindgen wasm-bindgen-cli "$WASM_BINDGEN"
install wasm-pack wasm-pack "$WASM_PACK"

dir=$ROOT/binaryen-$BINARYEN
if ! "$dir/node_modules/.bin/wasm-opt" --version >/dev/null 2>&1; then
    say "installing binaryen $BINARYEN from npm (once)"
    npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error "binaryen@$BINARYEN" >&2 9>&- ||
        die "binaryen $BINARYEN did not install"
    "$dir/node_modules/.bin/wasm-opt" --version >/dev/null || die "the wasm-opt in $dir does not run"
fi
path=$path$dir/node_modules/.bin:

# shellcheck disable=SC2016
printf 'export PATH="%s$PATH"\n' "$path"
