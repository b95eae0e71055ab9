#!/usr/bin/env bash
# Check that no dependency, in any feature set, switches a serde_json feature besides those the core asks for:
# features unify, and some change how numbers or members are read, so targets would give different bytes.
#   scripts/check-features.sh     prints one line a feature set; fails if any is wrong
set -euo pipefail
cd "$(dirname "$0")/.."

wanted='alloc raw_value'
status=0
check() { # check NAME CARGO-TREE-ARGUMENT...
    local name=$1 found
    shift
    found=$(cargo tree --locked --target all --edges features --invert serde_json --prefix none "$@" |
        sed -n 's/^serde_json feature "\([^"]*\)".*/\1/p' | sort -u | paste -sd' ')
    if [ "$found" = "$wanted" ]; then
        echo "ok - serde_json has $found with $name"
    else
        echo "not ok - serde_json has $found with $name, not $wanted"
        status=1
    fi
}

check "no features" --no-default-features
# shellcheck disable=SC2013
for feature in $(sed -n '/^\[features\]/,/^\[/s/^\([a-z][a-z0-9_-]*\) *=.*/\1/p' Cargo.toml); do
    check "$feature" --no-default-features --features "$feature"
done
check "all features" --all-features
exit "$status"
