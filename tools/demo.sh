#!/usr/bin/env bash
# The demonstration: what breaks when a package goes away?
set -euo pipefail

usage() {
    cat <<'EOT'
usage: tools/demo.sh [--yes] [--no-install] [PACKAGE]

Sets the machine up (tools/setup.sh), builds vyre-demo, vyre-run and vyre-spv into build/ and asks
of this machine's package lists: what breaks when PACKAGE (default: libc6) goes away? The answer is
computed on the best Vulkan device and compared with the interpreter, element by element.

  --yes          install what is missing without asking
  --no-install   only name what is missing, and stop there if anything is
  --help         this text

Exit: 0 the answer is right; 1 something is missing or failed, or results differ; 2 usage.
EOT
}

fail() {
    printf 'demo: error: %s\n' "$*" >&2
    exit 1
}

setup_arguments=()
package=
while [ $# -gt 0 ]; do
    case $1 in
    --yes | --no-install) setup_arguments+=("$1") ;;
    --help | -h) usage; exit 0 ;;
    -*)
        printf 'demo: error: unknown argument: %s\n' "$1" >&2
        usage >&2
        exit 2
        ;;
    *)
        if [ -n "$package" ]; then
            printf 'demo: error: one package at a time\n' >&2
            usage >&2
            exit 2
        fi
        package=$1
        ;;
    esac
    shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=$(nproc 2>/dev/null || echo 2)

tools/setup.sh ${setup_arguments[@]+"${setup_arguments[@]}"} || exit 1
. build/deps/env.sh

# A build folder that is there already keeps its settings.
if [ ! -e build/CMakeCache.txt ]; then
    cmake --preset default || fail "the build cannot be configured"
fi
cmake --build build -j "$jobs" --target vyre-demo vyre-run vyre-spv || fail "the build failed"

exec build/bin/vyre-demo ${package:+"$package"}
