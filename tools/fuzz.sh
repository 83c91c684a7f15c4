#!/usr/bin/env bash
# Builds the fuzzers of every reader with clang and runs each for some time.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: tools/fuzz.sh [--seconds N] [--check] [NAME]...

Builds tests/fuzz/ with clang's libFuzzer and the address and undefined-behaviour sanitizers into
build/fuzz/, and runs each fuzzer (NAME: text, spv, npy, vyk, catalogue). They begin with what
build/bin/make_corpus writes, shaders/ and tests/fuzz/inputs/. Needs build/ to be built.

  --seconds N    for so long each (default: 10)
  --check        only tell by the exit code whether clang has libFuzzer
  --help         this text

Exit: 0 nothing was found; 1 something was (build/fuzz/NAME-*), or something is missing; 2 usage.
EOF
}

fail() {
    printf 'fuzz: error: %s\n' "$*" >&2
    exit 1
}

has_fuzzer() {
    local folder status=0
    command -v clang >/dev/null && command -v clang++ >/dev/null || return 1
    folder=$(mktemp -d)
    printf '%s\n' '#include <stddef.h>' 'int LLVMFuzzerTestOneInput(const char *data, size_t size);' \
        'int LLVMFuzzerTestOneInput(const char *data, size_t size) { return !data && size; }' \
        >"$folder/probe.c"
    clang -fsanitize=fuzzer,address,undefined -o "$folder/probe" "$folder/probe.c" \
        >/dev/null 2>&1 || status=1
    rm -rf "$folder"
    return $status
}

seconds=10
names=()
while [ $# -gt 0 ]; do
    case $1 in
    --seconds)
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        seconds=$2
        shift
        ;;
    --check) if has_fuzzer; then exit 0; else exit 1; fi ;;
    --help | -h) usage; exit 0 ;;
    text | spv | npy | vyk | catalogue) names+=("$1") ;;
    *)
        printf 'fuzz: error: unknown argument: %s\n' "$1" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#names[@]} -gt 0 ] || names=(text spv npy vyk catalogue)

cd "$(dirname "${BASH_SOURCE[0]}")/.."
has_fuzzer || fail "there is no clang with libFuzzer. Fix: install clang and its run-time library"
[ -x build/bin/make_corpus ] || fail "build/bin/make_corpus is not there. Fix: build build/ first"
out=$PWD/build/fuzz
CC=clang CXX=clang++ cmake -S . -B "$out" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" -DVYRE_BUILD_FUZZERS=ON -DVYRE_BUILD_TESTS=OFF \
    -DVYRE_BUILD_TOOLS=OFF -DVYRE_BUILD_EXAMPLES=OFF -DVYRE_SANITIZE=address,undefined >/dev/null ||
    fail "the fuzzers cannot be configured"
cmake --build "$out" -j "$(nproc 2>/dev/null || echo 2)" \
    --target "${names[@]/#/fuzz_}" >/dev/null || fail "the fuzzers cannot be built"
build/bin/make_corpus "$out/begin" || fail "the first inputs cannot be written"
cp shaders/*.vyre "$out/begin/text/"

found=0
for name in "${names[@]}"; do
    mkdir -p "$out/corpus/$name"
    options=()
    [ ! -e "tests/fuzz/$name.dict" ] || options+=("-dict=tests/fuzz/$name.dict")
    if "$out/bin/fuzz_$name" "-max_total_time=$seconds" -timeout=20 -rss_limit_mb=2500 \
        "-artifact_prefix=$out/$name-" ${options[@]+"${options[@]}"} "$out/corpus/$name" "$out/begin/$name" \
        "tests/fuzz/inputs/$name" >"$out/$name.log" 2>&1; then
        printf 'fuzz: %s: nothing found. %s\n' "$name" "$(grep '^Done' "$out/$name.log" || true)"
    else
        found=1
        printf 'fuzz: %s: something was found, see %s\n' "$name" "$out/$name.log" >&2
        tail -n 40 "$out/$name.log" >&2
    fi
done
exit $found
