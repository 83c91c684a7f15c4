#!/usr/bin/env bash
# What the library costs on a GPU: checks results first, then runs every group of vyre-bench beside
# its peers, and leaves the tables (as docs/measurements.md has them) and the JSON in a folder. Works
# from a build that was made elsewhere; builds what is missing where compilers are there.
set -uo pipefail

usage() {
    cat <<'EOT'
usage: tools/gpu-bench.sh [OPTION]... [GROUP]...

Groups: launch, step, resident, transfer, rebind, checks, atomics, megakernel, kernels, fixpoint,
scan, compile (default: all).

  --out DIR       where tables and JSON go (default: build/bench)
  --build DIR     where the build is (default: build)
  --device NAME   the device (default: the best)
  --limit SECONDS what one group may take (default: 420)
  --repeat N      runs of each group, all groups in turns; the tables have the run with the middle
                  median of each row, and the range of medians (default: 3)
  --plot          pictures too (SVG)
  --quick         small sizes: shows that everything works
  --no-checks     measures without checking the engine first
  --help          this text

Group scan takes real text from BUILD/scan-data where that is there (tools/scan-data.sh packs it).

Exit: 0 everything was measured and right; 1 something is missing, failed or wrong; 2 usage.
EOT
}

fail_usage() {
    printf 'gpu-bench: error: %s\n' "$1" >&2
    usage >&2
    exit 2
}

out='' build=build limit=420 repeat=3 plot='' checks=1
device=() quick=() groups=()
while [ $# -gt 0 ]; do
    case $1 in
    --out | --build | --device | --limit | --repeat)
        [ $# -ge 2 ] || fail_usage "$1 needs a value"
        case $1 in
        --out) out=$2 ;;
        --build) build=$2 ;;
        --device) device=(--device "$2") ;;
        --limit) limit=$2 ;;
        --repeat) repeat=$2 ;;
        esac
        shift
        ;;
    --plot) plot=1 ;;
    --quick) quick=(--quick) ;;
    --no-checks) checks= ;;
    --help | -h) usage; exit 0 ;;
    launch | step | resident | transfer | rebind | checks | atomics | megakernel | kernels | \
        fixpoint | scan | compile)
        groups+=("$1")
        ;;
    *) fail_usage "unknown argument: $1" ;;
    esac
    shift
done
case $limit in '' | *[!0-9]*) fail_usage "--limit takes seconds, not '$limit'" ;; esac
case $repeat in '' | 0* | *[!0-9]*) fail_usage "--repeat takes a count, not '$repeat'" ;; esac
[ ${#groups[@]} -gt 0 ] ||
    groups=(launch step resident transfer rebind checks atomics megakernel kernels fixpoint
        scan compile)

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

peers=tools/vyre-bench/peers
cuda_sources=("$peers/cuda.cu" "$peers/kernels.cu" "$peers/fixpoint.cu")
nvcc=$(command -v nvcc || true)
for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [ -z "$nvcc" ] && [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ] && nvcc=$folder/bin/nvcc
done
is_old=
for source in "${cuda_sources[@]}" "$peers"/*.cuh "$peers"/{items,kernels,graphs}.h; do
    [ -f "$source" ] && [ ! "$bin/vyre-bench-cuda" -nt "$source" ] && is_old=1
done
if [ -n "$is_old" ]; then
    if [ -n "$nvcc" ]; then
        say "CUDA peers"
        "$nvcc" -O2 -std=c++17 -arch=native -o "$bin/vyre-bench-cuda.new" \
            "${cuda_sources[@]}" ||
            "$nvcc" -O2 -std=c++17 -arch=all-major -o "$bin/vyre-bench-cuda.new" \
                "${cuda_sources[@]}"
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

# Of the tables of all runs of a group one: for each row the run with the middle median (the upper of
# two), and behind the median the range of all runs' medians. A case is named in its first row alone;
# a row that only later runs have stands at the end of its case. Lines behind the tables say what was
# found in which runs.
merge() {
    awk -F ' *[|] *' '
        FNR == 1 { name = ""; rows = 0; runs++ }
        /^### / { title = $0 }
        rows && !/^\|/ {
            if ($0 != "" && !($0 in found)) lines[++found_lines] = $0
            if ($0 != "") found[$0]++
            next
        }
        !/^\|/ { if (NR == FNR && title == "" && $0 != "") head[++heads] = $0; next }
        ++rows <= 2 { next }
        {
            if ($2 != "") name = $2
            key = name SUBSEP $3 SUBSEP $4
            if (!(name in rows_of)) names[++cases] = name
            if (!(key in count)) order[name, ++rows_of[name]] = key
            n = ++count[key]
            median[key, n] = $5
            for (i = 6; i <= 10; i++) cell[key, n, i] = $i
        }
        function number(text) { return text ~ /^[0-9]/ ? text + 0 : 1e30 }
        function print_row(key, label,   n, i, j, at, swap, middle, part) {
            n = count[key]
            for (i = 1; i <= n; i++) at[i] = i
            for (i = 2; i <= n; i++) {
                for (j = i; j > 1 && number(median[key, at[j]]) < number(median[key, at[j - 1]]); j--) {
                    swap = at[j]; at[j] = at[j - 1]; at[j - 1] = swap
                }
            }
            middle = at[int(n / 2) + 1]
            split(key, part, SUBSEP)
            printf "| %s | %s | %s | %s |", label, part[2], part[3], median[key, middle]
            if (n == 1) printf " one run |"
            else printf " %s to %s (%d) |", median[key, at[1]], median[key, at[n]], n
            for (i = 6; i <= 10; i++) printf " %s |", cell[key, middle, i]
            printf "\n"
        }
        END {
            for (i = 1; i <= heads; i++) print head[i]
            printf "\n%s\n\n", title
            print "| case | who | way | median us | medians of the runs | p10 to p90 | turns | ratio | check | beside it |"
            print "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
            for (c = 1; c <= cases; c++)
                for (k = 1; k <= rows_of[names[c]]; k++)
                    print_row(order[names[c], k], k == 1 ? names[c] : "")
            for (i = 1; i <= found_lines; i++) {
                if (lines[i] !~ /^- /) { printf "\n%s\n\n", lines[i]; continue }
                printf "%s", lines[i]
                if (found[lines[i]] < runs) printf " (%d of %d runs)", found[lines[i]], runs
                printf "\n"
            }
        }' "$@"
}

table=$out/bench.md
{
    # shellcheck disable=SC2016
    printf '## %s, `tools/gpu-bench.sh%s --repeat %s`\n\n' "$(date -u +%Y-%m-%d)" \
        "${quick[0]:+ --quick}" "$repeat"
    printf -- '- host: %s, %s processors\n' "$(uname -srm)" "$(getconf _NPROCESSORS_ONLN)"
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,pcie.link.gen.max,power.limit \
            --format=csv,noheader 2>/dev/null | sed 's/^/- nvidia-smi: /'
    fi
} >"$table"

# In turns, so that the runs of a group lie apart.
for ((run = 1; run <= repeat; run++)); do
    for group in "${groups[@]}"; do
        say "$group, run $run of $repeat"
        arguments=("$group" --json "$out/$group.$run.json")
        [ -n "$plot" ] && arguments+=(--plot "$out/$group.$run.svg")
        [ "$group" = scan ] && [ -d "$build/scan-data" ] && arguments+=(--data "$build/scan-data")
        timeout "$limit" "$bin/vyre-bench" "${arguments[@]}" ${device[@]+"${device[@]}"} \
            ${quick[@]+"${quick[@]}"} >"$out/$group.$run.md"
        code=$?
        cat "$out/$group.$run.md"
        if [ $code -eq 124 ]; then
            failures+=("$group, run $run: longer than $limit s")
        elif [ $code -ne 0 ]; then
            failures+=("$group, run $run: exit $code")
        fi
    done
done

head_is_there=
for group in "${groups[@]}"; do
    files=()
    for ((run = 1; run <= repeat; run++)); do
        files+=("$out/$group.$run.md")
    done
    # The lines about the device once.
    [ -n "$head_is_there" ] && printf '\n' >>"$table"
    merge "${files[@]}" | awk -v again="${head_is_there:-0}" '/^### /{table = 1} table || !again' \
        >>"$table"
    head_is_there=1
done
for failure in ${failures[@]+"${failures[@]}"}; do
    printf '\nFailed or wrong: %s\n' "$failure" >>"$table"
done

if [ ${#failures[@]} -gt 0 ]; then
    printf '\ngpu-bench: failed after %d s:\n' "$SECONDS" >&2
    printf '  %s\n' "${failures[@]}" >&2
    exit 1
fi
cat "$table"
printf '\ngpu-bench: everything measured in %d s: %s\n' "$SECONDS" "$table"
