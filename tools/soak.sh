#!/usr/bin/env bash
# Runs what takes too long for tools/test.sh: tests/soak/, examples validated by address, the fuzzers.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: tools/soak.sh [--yes] [--no-install] [-R REGEX]

Sets the machine up (tools/setup.sh), builds into build/ and runs the long tests, one at a time, the
examples of shaders/ and tests/programs/ under the validation layer with buffers by address, and
where clang with libFuzzer is there each fuzzer for VYRE_FUZZ_SECONDS (600), and where MinGW-w64 and
Wine are there tools/windows.sh. What a test of generated programs finds is kept in build/fuzz/.
Settings of the tests themselves (duration, seed) are environment variables, described at the head of
each file of tests/soak/.

  --yes          install what is missing without asking
  --no-install   only name what is missing, and stop there if anything is
  -R REGEX       only the tests whose name matches, and nothing else
  --help         this text

Exit: 0 everything passed; 1 something is missing or failed; 2 usage.
EOF
}

setup_arguments=()
ctest_arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --yes | --no-install) setup_arguments+=("$1") ;;
    -R)
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        ctest_arguments+=(-R "$2")
        shift
        ;;
    --help | -h) usage; exit 0 ;;
    *)
        printf 'soak: error: unknown argument: %s\n' "$1" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/setup.sh ${setup_arguments[@]+"${setup_arguments[@]}"} || exit 1
. build/deps/env.sh
cmake --preset ci || exit 1
cmake --build build -j "$(nproc 2>/dev/null || echo 2)" || exit 1
mkdir -p build/fuzz
export VYRE_FUZZ_DIR=$PWD/build/fuzz
ctest --test-dir build -L soak --output-on-failure --no-tests=error \
    ${ctest_arguments[@]+"${ctest_arguments[@]}"} || exit 1
if [ ${#ctest_arguments[@]} -eq 0 ]; then
    # Their checks by address, inside shaders; by descriptor tools/test.sh has them. A processor's
    # driver compiles most for 10 to 30 seconds, radix_sort and scan for minutes.
    printf '%s\0' shaders/*.vyre tests/programs/*.vyre | xargs -0 -n 1 -P "$(nproc 2>/dev/null || echo 2)" \
        build/bin/vyre-run --validate --interface address --examples || exit 1
fi
if [ ${#ctest_arguments[@]} -eq 0 ] && command -v x86_64-w64-mingw32-gcc >/dev/null && command -v wine >/dev/null; then
    tools/windows.sh ${setup_arguments[@]+"${setup_arguments[@]}"} || exit 1
fi
if [ ${#ctest_arguments[@]} -eq 0 ] && tools/fuzz.sh --check; then
    tools/fuzz.sh --seconds "${VYRE_FUZZ_SECONDS:-600}" || exit 1
fi
