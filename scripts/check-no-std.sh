#!/usr/bin/env bash
# Prove that the core and its dependencies need core and alloc alone: build them for a target that has no std.
#   scripts/check-no-std.sh     prints `ok - …` or fails with the compiler's words
# Needs a compiler that has its source; scripts/wasm-toolchain.sh finds or installs one.
set -euo pipefail
cd "$(dirname "$0")/.."

# The system is "none" here, so src/lib.rs does not link std; and no std for it is built or installed.
target=wasm32v1-none
line=$(WASM_TOOLCHAIN_FORCE=1 scripts/wasm-toolchain.sh)
eval "$line"
if ls "$(rustc --print target-libdir --target "$target")"/libstd-* >/dev/null 2>&1; then
    echo "check-no-std: the compiler has a std for $target, which would prove nothing" >&2
    exit 1
fi
env -u RUSTFLAGS RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/no-std" \
    cargo rustc --locked --lib --release --crate-type rlib --no-default-features --target "$target" -Zbuild-std=core,alloc >&2
echo "ok - the core builds with core and alloc alone"
