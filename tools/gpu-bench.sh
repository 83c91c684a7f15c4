#!/usr/bin/env bash
# What the library costs on a GPU: checks results first, then runs every group of vyre-bench beside
# its peers, and leaves the tables (as docs/measurements.md has them) and the JSON in a folder. Works
# from a build that was made elsewhere; builds what is missing where compilers are there.
set -uo pipefail

usage() {
    cat <<'EOT'
usage: tools/gpu-bench.sh [OPTION]... [GROUP]...

Groups: launch, step, resident, transfer, rebind, checks (default: all).

  --out DIR       where tables and JSON go (default: build/bench)
  --build DIR     where the build is (default: build)
  --device NAME   the device (default: the best)
  --limit SECONDS what one group may take (default: 420)
  --plot          pictures too (SVG)
  --quick         small sizes: shows that everything works
  --no-checks     measures without checking the engine first
  --help          this text

Exit: 0 everything was measured and right; 1 something is missing, failed or wrong; 2 usage.
EOT
}

fail_usage() {
    printf 'gpu-bench: error: %s\n' "$1" >&2
    usage >&2
    exit 2
}

out='' build=build limit=420 plot='' checks=1
device=() quick=() groups=()
while [ $# -gt 0 ]; do
    case $1 in
    --out | --build | --device | --limit)
        [ $# -ge 2 ] || fail_usage "$1 needs a value"
        case $1 in
        --out) out=$2 ;;
        --build) build=$2 ;;
        --device) device=(--device "$2") ;;
        --limit) limit=$2 ;;
        esac
        shift
        ;;
    --plot) plot=1 ;;
    --quick) quick=(--quick) ;;
    --no-checks) checks= ;;
    --help | -h) usage; exit 0 ;;
    launch | step | resident | transfer | rebind | checks) groups+=("$1") ;;
    *) fail_usage "unknown argument: $1" ;;
    esac
    shift
done
case $limit in '' | *[!0-9]*) fail_usage "--limit takes seconds, not '$limit'" ;; esac
[ ${#groups[@]} -gt 0 ] || groups=(launch step resident transfer rebind checks)

# A relative --out or --build is meant from the caller's folder where it is there, else from ours.
here=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
case $build in /*) ;; *) [ -d "$here/$build" ] && build=$here/$build ;; esac
if [ -n "$out" ]; then
    case $out in /*) ;; *) out=$here/$out ;; esac
else
    out=$build/bench
fi
bin=$build/bin
failures=()

say() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

# ---- What is missing -----------------------------------------------------------------------------

if [ ! -x "$bin/vyre-bench" ]; then
    say "build"
    if ! command -v cmake >/dev/null; then
        printf 'gpu-bench: error: %s is not there, nor cmake to build it\n' "$bin/vyre-bench" >&2
        exit 1
    fi
    cmake --preset default && cmake --build "$build" --target vyre-bench vyre-run || exit 1
fi

cuda_source=tools/vyre-bench/peers/cuda.cu
nvcc=$(command -v nvcc || true)
for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [ -z "$nvcc" ] && [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ] && nvcc=$folder/bin/nvcc
done
if [ -f "$cuda_source" ] && [ ! "$bin/vyre-bench-cuda" -nt "$cuda_source" ]; then
    if [ -n "$nvcc" ]; then
        say "CUDA peers"
        "$nvcc" -O2 -std=c++17 -arch=native -o "$bin/vyre-bench-cuda.new" "$cuda_source" ||
            "$nvcc" -O2 -std=c++17 -arch=all-major -o "$bin/vyre-bench-cuda.new" "$cuda_source"
        if [ -x "$bin/vyre-bench-cuda.new" ]; then
            mv "$bin/vyre-bench-cuda.new" "$bin/vyre-bench-cuda"
        else
            failures+=("CUDA peers cannot be compiled")
        fi
    elif [ ! -x "$bin/vyre-bench-cuda" ]; then
        printf 'gpu-bench: no nvcc: without CUDA peers\n'
    fi
fi

# Each program here opens several devices; NVIDIA's driver takes static TLS each time.
export GLIBC_TUNABLES=${GLIBC_TUNABLES:-glibc.rtld.optional_static_tls=4194304}
mkdir -p "$out" || exit 1

# ---- Results first -------------------------------------------------------------------------------

check() {
    say "$*"
    "$@" || failures+=("$*")
}

if [ -n "$checks" ]; then
    for test in test_dispatch test_until; do
        [ -x "$bin/$test" ] && check "$bin/$test"
    done
    if [ -x "$bin/vyre-run" ]; then
        check "$bin/vyre-run" ${device[@]+"${device[@]}"} --examples shaders/*.vyre
    fi
    check timeout "$limit" "$bin/vyre-bench" all --quick ${device[@]+"${device[@]}"}
    if [ ${#failures[@]} -gt 0 ]; then
        printf '\ngpu-bench: wrong before anything was timed:\n' >&2
        printf '  %s\n' "${failures[@]}" >&2
        exit 1
    fi
fi

# ---- Times ---------------------------------------------------------------------------------------

table=$out/bench.md
{
    # shellcheck disable=SC2016
    printf '## %s, `tools/gpu-bench.sh%s`\n\n' "$(date -u +%Y-%m-%d)" "${quick[0]:+ --quick}"
    printf -- '- host: %s, %s processors\n' "$(uname -srm)" "$(getconf _NPROCESSORS_ONLN)"
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,pcie.link.gen.max,power.limit \
            --format=csv,noheader 2>/dev/null | sed 's/^/- nvidia-smi: /'
    fi
} >"$table"

head_is_there=
for group in "${groups[@]}"; do
    say "$group"
    arguments=("$group" --json "$out/$group.json")
    [ -n "$plot" ] && arguments+=(--plot "$out/$group.svg")
    timeout "$limit" "$bin/vyre-bench" "${arguments[@]}" ${device[@]+"${device[@]}"} \
        ${quick[@]+"${quick[@]}"} >"$out/.group.md"
    code=$?
    cat "$out/.group.md"
    # The lines about the device once.
    [ -n "$head_is_there" ] && printf '\n' >>"$table"
    awk -v again="${head_is_there:-0}" '/^### /{table = 1} table || !again' \
        "$out/.group.md" >>"$table"
    head_is_there=1
    if [ $code -eq 124 ]; then
        failures+=("$group: longer than $limit s")
    elif [ $code -ne 0 ]; then
        failures+=("$group: exit $code")
    fi
    if [ $code -ne 0 ]; then
        printf '\nFailed or wrong: %s\n' "${failures[-1]}" >>"$table"
    fi
done
rm -f "$out/.group.md"

if [ ${#failures[@]} -gt 0 ]; then
    printf '\ngpu-bench: failed after %d s:\n' "$SECONDS" >&2
    printf '  %s\n' "${failures[@]}" >&2
    exit 1
fi
printf '\ngpu-bench: everything measured in %d s: %s\n' "$SECONDS" "$table"
