#!/usr/bin/env bash
# Build the package's WebAssembly with wasm-pack and write its record, build.json, beside it.
#   scripts/build-wasm.sh [DIR]     DIR: where the output goes (default pkg/dist, the committed one)
# Set WASM_TOOLCHAIN_FORCE=1 for a build to commit: the gate builds with the same std, so it can compare the bytes.
# Also from the environment: WASM_TOOLCHAIN_DIR, WASM_TOOLS_DIR (the two scripts called here), CARGO_TARGET_DIR.
set -euo pipefail
cd "$(dirname "$0")/.."

out=${1:-pkg/dist}
# gzip packs neighbours alike in name best, and large functions worse where they are inlined into their one caller.
# The stack comes first in memory and grows down: nothing but the very end of a full one lies in the low kilobyte.
optimise=(-Os --converge --low-memory-unused --one-caller-inline-max-function-size=20 --reorder-functions-by-name)
target=${CARGO_TARGET_DIR:-$PWD/target}/wasm-package
built=$target/out

line=$(scripts/wasm-toolchain.sh)
eval "$line"
line=$(scripts/wasm-tools.sh)
eval "$line"

# Panic messages carry source paths: without these prefixes they would name the builder's folders and registry.
cargo_home=${CARGO_HOME:-$HOME/.cargo}
cargo fetch --locked --target wasm32-unknown-unknown >&2
flags="--remap-path-prefix=$PWD=/narrows"
# SHA-256 in loops, in a twelfth of the bytes. And no function with locals in memory put into another one.
flags+=$'\x1f--cfg\x1fsha2_backend_soft="compact"\x1f-Cllvm-args=-inline-max-stacksize=64'
# A stack of 512 KiB: what lies behind it has addresses of three bytes in the code, not four.
flags+=$'\x1f-Clink-arg=-zstack-size=524288'
for registry in "$cargo_home"/registry/src/*/; do
    flags+=$'\x1f'"--remap-path-prefix=${registry%/}=/deps"
done

# A target folder of its own: other flags than the developer's would make each build everything anew.
rm -rf "$built"

# build NAME FEATURE: the module of a feature, with its glue.
build() {
    local wasm=$built/$1_bg.wasm
    env -u RUSTFLAGS CARGO_ENCODED_RUSTFLAGS="$flags" CARGO_TARGET_DIR="$target" \
        wasm-pack --quiet build --release --target web --no-pack --no-gitignore --no-opt \
        --out-name "$1" --out-dir "$built" . -- --features "$2" --locked >&2
    wasm-opt -g "${optimise[@]}" "$wasm" -o "$wasm.named"
    # Alike in name is alike in content for the most part: this finds the rest, 1.4 % of what is downloaded.
    node scripts/wasm-order.mjs "$wasm.named" "$wasm.ordered"
    wasm-opt --reorder-functions-by-name --strip-debug --strip-producers --strip-target-features "$wasm.ordered" -o "$wasm"
    rm "$wasm.named" "$wasm.ordered"
}
build narrows wasm
build narrows_cli cli

for path in "$PWD" "$cargo_home" "$HOME/" registry/src index.crates; do
    if [ "$path" != / ] && grep -aqF -- "$path" "$built"/*.wasm "$built"/*.js; then
        echo "build-wasm: '$path' is in the output, which must not know where it was built" >&2
        exit 1
    fi
done

node scripts/wasm-record.mjs "$built" "${optimise[@]}"
mkdir -p "$out"
cp "$built"/* "$out"/
