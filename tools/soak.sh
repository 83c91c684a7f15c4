#!/usr/bin/env bash
# Runs the tests that take too long for tools/test.sh: tests/soak/.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: tools/soak.sh [--yes] [--no-install] [-R REGEX]

Sets the machine up (tools/setup.sh), builds into build/ and runs the long tests, one at a time.
Settings of the tests themselves (duration, seed) are environment variables, described at the head
of each file of tests/soak/.

  --yes          install what is missing without asking
  --no-install   only name what is missing, and stop there if anything is
  -R REGEX       only the tests whose name matches
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
ctest --test-dir build -L soak --output-on-failure --no-tests=error \
    ${ctest_arguments[@]+"${ctest_arguments[@]}"} || exit 1
