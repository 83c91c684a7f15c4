#!/usr/bin/env bash
# Builds libvyre-vk and runs every test but the long ones (tools/soak.sh).
set -euo pipefail

usage() {
    cat <<'EOF'
usage: tools/test.sh [--yes] [--no-install]

Sets the machine up (tools/setup.sh), builds everything with warnings as errors into build/, runs
the tests and the examples of shaders/, and runs the tests of the layers without Vulkan, and those of
scanning on the processor, once more under the address and undefined-behaviour sanitizers, built into
build/asan/. Where clang with libFuzzer is there, each reader of files is fuzzed for some seconds
(build/fuzz/).

  --yes          install what is missing without asking
  --no-install   only name what is missing, and stop there if anything is
  --help         this text

Exit: 0 everything passed; 1 something is missing or failed; 2 usage.
EOF
}

say() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }
fail() {
    printf 'test: error: %s\n' "$*" >&2
    exit 1
}

setup_arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --yes | --no-install) setup_arguments+=("$1") ;;
    --help | -h) usage; exit 0 ;;
    *)
        printf 'test: error: unknown argument: %s\n' "$1" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=$(nproc 2>/dev/null || echo 2)
failures=()

tools/setup.sh ${setup_arguments[@]+"${setup_arguments[@]}"} || exit 1
. build/deps/env.sh

say "build"
cmake --preset ci || fail "the build cannot be configured"
cmake --build build -j "$jobs" || fail "the build failed"

say "tests"
ctest --test-dir build -j "$jobs" -LE soak --output-on-failure --no-tests=error ||
    failures+=("tests of build/")

# One program a process: under validation drivers of processors compile for many seconds, on one
# thread.
examples() {
    printf '%s\0' shaders/*.vyre tests/programs/*.vyre | grep -zvxF "$left_out" |
        xargs -0 -n 1 -P "$jobs" build/bin/vyre-run "$@" --examples
}
if [ -x build/bin/vyre-run ]; then
    left_out=
    say "examples of shaders/ and tests/programs/"
    examples || failures+=("vyre-run --examples")
    # llvmpipe compiles its last segment in descriptor form, which validation asks for, for minutes, in
    # gigabytes: LLVM 15 cuts kernels with barriers into coroutines.
    left_out=shaders/radix_sort.vyre
    say "the same, validated, without $left_out"
    examples --validate || failures+=("vyre-run --validate --examples")
    # The layer checks other words there, which take a processor's driver 10 seconds and more a file.
    say "three of them by address; tools/soak.sh has the others"
    printf '%s\0' shaders/{attention,bfs,bitset}.vyre |
        xargs -0 -n 1 -P "$jobs" build/bin/vyre-run --validate --interface address --examples ||
        failures+=("vyre-run --validate --interface address --examples")
fi

say "build with sanitizers"
cmake --preset asan -DVYRE_BUILD_TOOLS=OFF -DVYRE_BUILD_EXAMPLES=OFF \
    "-DVYRE_TEST_DIRS=base;ir;passes;interp;spirv;kernel;scan" ||
    fail "the build with sanitizers cannot be configured"
cmake --build build/asan -j "$jobs" --target vyre_tests || fail "the build with sanitizers failed"

say "tests with sanitizers, no device"
VYRE_TESTS_NO_DEVICE=1 ctest --test-dir build/asan -j "$jobs" -LE soak --output-on-failure \
    --no-tests=error || failures+=("tests of build/asan/")

if tools/fuzz.sh --check; then
    say "fuzzers"
    tools/fuzz.sh --seconds 10 || failures+=("fuzzers, see build/fuzz/")
else
    say "fuzzers: left out, there is no clang with libFuzzer"
fi

if [ ${#failures[@]} -gt 0 ]; then
    printf '\ntest: failed after %d s: ' "$SECONDS" >&2
    printf '%s; ' "${failures[@]}" >&2
    printf '\n' >&2
    exit 1
fi
printf '\ntest: everything passed in %d s\n' "$SECONDS"
