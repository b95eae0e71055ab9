#!/bin/sh
# Make `cargo build --target wasm32-unknown-unknown` work, then say how to use it.
#
#   out=$(scripts/wasm-toolchain.sh) && eval "$out"     # prints nothing, or one export line
#
# 1. The active toolchain already has the target     -> nothing to do, prints nothing.
# 2. `rustup target add` works (a normal machine)    -> prints nothing.
# 3. Otherwise build the target's std from source, once, with a compiler that has its
#    matching source beside it (rustup's rust-src component, or Debian's rustc-web +
#    rust-web-src), put it in a sysroot of its own, link that to rustup under the name
#    $WASM_TOOLCHAIN_NAME, and print the line that chooses it.
#
# Nothing but $WASM_TOOLCHAIN_DIR and the one rustup link is written (apt-get apart).
# Environment:
#   WASM_TOOLCHAIN_DIR    where sysroots are kept  (default ~/.cache/wasm-toolchain)
#   WASM_TOOLCHAIN_NAME   name of the rustup link  (default wasm-local)
#   WASM_TOOLCHAIN_FORCE  1: skip steps 1 and 2, as the gate does: the same std everywhere
set -eu

TARGET=wasm32-unknown-unknown
NAME=${WASM_TOOLCHAIN_NAME:-wasm-local}
ROOT=${WASM_TOOLCHAIN_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/wasm-toolchain}
FORCE=${WASM_TOOLCHAIN_FORCE:-0}
RUSTUP_DIR=${RUSTUP_HOME:-$HOME/.rustup}

say() { printf 'wasm-toolchain: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
apt() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
    say "installing $* (Debian)"
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@"; } >&2
}

# has_target RUSTC: does this compiler have a std for the target?
has_target() {
    libdir=$("$1" --print target-libdir --target "$TARGET" 2>/dev/null) || return 1
    ls "$libdir"/libstd-*.rlib >/dev/null 2>&1
}

# has_source RUSTC: does this compiler have its own std source and a cargo beside it?
has_source() {
    sysroot=$("$1" --print sysroot 2>/dev/null) || return 1
    [ -f "$sysroot/lib/rustlib/src/rust/library/std/Cargo.toml" ] && [ -x "$sysroot/bin/cargo" ]
}

if [ "$FORCE" != 1 ]; then
    if has_target rustc; then exit 0; fi
    # A sysroot built earlier means step 2 failed then: don't wait for the network again.
    if command -v rustup >/dev/null 2>&1 && [ ! -e "$ROOT/current" ]; then
        say "trying: rustup target add $TARGET"
        if RUST_BACKTRACE=0 RUSTUP_MAX_RETRIES=1 timeout 600 rustup target add "$TARGET" >&2 && has_target rustc; then
            exit 0
        fi
        say "rustup could not install the target; building its std from source instead"
    fi
fi

# --- the compiler that has its source -------------------------------------------------
base=
pick() {
    for c in "$(command -v rustc || true)" /usr/bin/rustc; do
        case $c in '') continue ;; esac
        # Our own link shares its base's source: skip it, or it would be built on itself.
        [ "$("$c" --print sysroot 2>/dev/null)" != "$(readlink "$ROOT/current" 2>/dev/null || echo -)" ] || continue
        if has_source "$c"; then base=$c; return 0; fi
    done
    return 1
}
pick || { apt rustc-web cargo-web rust-web-src rust-web-clippy && pick; } ||
    die "no compiler with its std source: add rustup's rust-src, or Debian's rustc-web cargo-web rust-web-src"
base_sysroot=$("$base" --print sysroot)
verbose=$("$base_sysroot/bin/rustc" -vV)
host=$(printf '%s\n' "$verbose" | sed -n 's/^host: //p')
release=$(printf '%s\n' "$verbose" | sed -n 's/^release: //p')
commit=$(printf '%s\n' "$verbose" | sed -n 's/^commit-hash: //p')
dir=$ROOT/$release-$(printf %.9s "$commit")-v2
bindir=$dir/lib/rustlib/$host/bin

mkdir -p "$ROOT"
# One builder at a time; the others wait, then find the work done.
if command -v flock >/dev/null 2>&1; then exec 9>"$ROOT/.lock"; flock 9; fi

if [ ! -f "$dir/.complete" ]; then
    say "building std for $TARGET with $base_sysroot/bin/rustc $release (once; about a minute)"
    say "if a project then says E0463, remove its target/$TARGET: cargo does not see that the std is another"
    work=$(mktemp -d "$ROOT/build.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' INT TERM
    mkdir -p "$work/stub/src" "$work/sysroot/bin" "$work/sysroot/lib/rustlib/$TARGET/lib" "$work/sysroot/lib/rustlib/$host/bin"
    printf '#![no_std]\n' >"$work/stub/src/lib.rs"
    cat >"$work/stub/Cargo.toml" <<TOML
[package]
name = "stub"
version = "0.0.0"
edition = "2021"
[workspace]
[profile.release]
opt-level = 3
debug = 0
TOML
    # The caller's cargo and rustup settings must not reach this build.
    build_cargo() {
        ( cd "$work/stub" &&
          env -u RUSTUP_TOOLCHAIN -u CARGO_ENCODED_RUSTFLAGS -u CARGO_BUILD_TARGET -u RUSTC_WRAPPER \
              -u CARGO_BUILD_RUSTC_WRAPPER -u RUSTC_WORKSPACE_WRAPPER -u CARGO_PROFILE_RELEASE_OPT_LEVEL \
              RUSTC_BOOTSTRAP=1 RUSTC="$base_sysroot/bin/rustc" CARGO_TARGET_DIR="$work/target" CARGO_INCREMENTAL=0 \
              RUSTFLAGS="$flags" "$base_sysroot/bin/cargo" "$@" --target "$TARGET" \
              -Zbuild-std=std,panic_abort,panic_unwind,proc_macro,test ) >&2 || die "building std failed"
    }
    # embed-bitcode: `lto = true` in a user's crate needs it (cargo passes =no; the last one counts).
    # remap-path-prefix: no path of this machine and no registry's name in panic messages. The
    # registries' folders exist once std's dependencies are fetched.
    flags=
    build_cargo fetch
    flags="-Cembed-bitcode=yes --remap-path-prefix=$base_sysroot/lib/rustlib/src/rust=/rustc/$commit"
    for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do
        flags="$flags --remap-path-prefix=${registry%/}=/rust/deps"
    done
    build_cargo build --release
    for f in "$work/target/$TARGET/release/deps"/*.rlib; do
        case ${f##*/} in libstub-*) ;; *) cp "$f" "$work/sysroot/lib/rustlib/$TARGET/lib/" ;; esac
    done
    ln -s "$base_sysroot/lib/rustlib/$host/lib" "$work/sysroot/lib/rustlib/$host/lib"
    ln -s "$base_sysroot/lib/rustlib/src" "$work/sysroot/lib/rustlib/src"
    : >"$work/sysroot/.complete"
    rm -rf "$dir"
    mv "$work/sysroot" "$dir"
    rm -rf "$work"
    trap - EXIT INT TERM
fi

# --- the tools, as wrappers (rewritten each time: cheap, and they follow apt and rustup) ----
wrap() { # wrap FILE COMMAND-LINE
    printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$1.new" && chmod +x "$1.new" && mv "$1.new" "$1"
}
for t in rustc rustdoc; do wrap "$dir/bin/$t" "'$base_sysroot/bin/$t' --sysroot '$dir'"; done
for t in cargo rustfmt cargo-fmt; do
    if [ -x "$base_sysroot/bin/$t" ]; then wrap "$dir/bin/$t" "'$base_sysroot/bin/$t'"; fi
done
# cargo-clippy runs the clippy-driver beside its real path, which takes its sysroot from SYSROOT.
for t in cargo-clippy clippy-driver; do
    if [ -x "$base_sysroot/bin/$t" ]; then wrap "$dir/bin/$t" "env SYSROOT='$dir' '$base_sysroot/bin/$t'"; fi
done
# The linker: any lld of LLVM 14 to 22 does. Found anew at each link, so that removing a
# toolchain or a package doesn't break this one; rust-lld finds its libLLVM beside its real path.
cat >"$bindir/rust-lld.new" <<SH
#!/bin/sh
for f in '$base_sysroot/lib/rustlib/$host/bin/rust-lld' \\
         "\${RUSTUP_HOME:-\$HOME/.rustup}"/toolchains/*-'$host'/lib/rustlib/'$host'/bin/rust-lld \\
         '$RUSTUP_DIR'/toolchains/*-'$host'/lib/rustlib/'$host'/bin/rust-lld \\
         /usr/bin/lld /usr/bin/lld-[0-9]*; do
    if [ -x "\$f" ]; then exec "\$f" "\$@"; fi
done
echo "no lld: install a rustup toolchain, or Debian's lld" >&2
exit 1
SH
chmod +x "$bindir/rust-lld.new" && mv "$bindir/rust-lld.new" "$bindir/rust-lld"
"$bindir/rust-lld" -flavor wasm --version >/dev/null 2>&1 || apt lld || die "no lld: install a rustup toolchain, or Debian's lld"

# Proof: compile and link a library with std in it.
probe=$(mktemp -d "$ROOT/probe.XXXXXX")
printf '#[unsafe(no_mangle)] pub extern "C" fn f(n: usize) -> usize { vec![n; n].iter().sum() }\n' >"$probe/p.rs"
if "$dir/bin/rustc" --edition 2024 --target "$TARGET" --crate-type cdylib -o "$probe/p.wasm" "$probe/p.rs" >&2; then
    rm -rf "$probe"
else
    rm -rf "$probe"
    die "the sysroot in $dir does not work"
fi
ln -sfn "$dir" "$ROOT/current"

if command -v rustup >/dev/null 2>&1; then
    if [ "$(readlink "$RUSTUP_DIR/toolchains/$NAME" 2>/dev/null || true)" != "$dir" ]; then
        rustup toolchain uninstall "$NAME" >/dev/null 2>&1 || true
        rustup toolchain link "$NAME" "$dir" >&2
    fi
    printf 'export RUSTUP_TOOLCHAIN=%s\n' "$NAME"
else
    # shellcheck disable=SC2016
    printf 'export PATH="%s/bin:$PATH"\n' "$dir"
fi
