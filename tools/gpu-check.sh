#!/usr/bin/env bash
# What only a real GPU can show: runs the device tests, the examples and the demonstration of an
# existing build on the best device, then takes the times that docs/measurements.md keeps.
set -uo pipefail

usage() {
    cat <<'EOT'
usage: tools/gpu-check.sh [--input PACKAGES] [--build DIR] [--out DIR] [--jobs N] [--limit SECONDS]
                          [--quick] [--seeds [FIRST:]COUNT] [--only REGEX]
       tools/gpu-check.sh [--build DIR] --pack FILE

  --input PACKAGES  a Packages file for the demonstration (default: what apt knows)
  --build DIR       where the build is (default: build)
  --out DIR         where each step's output goes, as it comes, and results.txt (default:
                    build/check)
  --jobs N          steps at a time; those that take times stay alone (default: 1)
  --limit SECONDS   ends what runs by then and names what did not finish (default: none)
  --quick           leaves the generated programs out
  --seeds COUNT     generated programs beyond those of the tests (default: 100001:500)
  --only REGEX      only the steps whose command matches
  --pack FILE       runs nothing: writes what a machine without compilers needs beside the checkout,
                    as a .tar.gz to be unpacked in its root
  --help            this text

Exit: 0 everything passed; 1 something failed or did not finish; 2 usage.
EOT
}

# What a driver or a GPU could get wrong, the longest first.
tests=(
    test_conform test_piglit test_conform_atomics test_conform_vectors test_conform_subgroups
    test_catalogue_arrays test_catalogue_graphs test_catalogue_hashes test_catalogue_numbers
    test_catalogue_text test_type_int test_type_float test_type_memory test_type_subgroup
    test_device test_gpu_assisted test_device_memory test_adopt test_adopt_params test_bad_device
    test_places test_printf test_dispatch test_until test_until_flag test_auto_bindings test_bindings test_sequence test_sequence_life test_ticket
    test_prefix test_steady test_coarse test_neighbours test_trips test_unoptimized test_append test_group_joins test_blocks test_persistent_words
    test_workgroup test_persistent test_instances test_loss test_teardown test_queue
    test_record test_host_sync test_report
    test_buffer test_transfer test_transfer_kernels test_gather test_hazards test_cache test_exact
    test_contract_split test_contract_fixpoint test_contract_readback test_contract_measure
    test_contract_lifetime
    test_grid test_grid_of test_fold test_levels test_trim test_range test_bounds test_wide test_chain
    test_barriers
    test_planted test_planted_parts test_outside
    test_emit_int test_emit_float test_emit_flow test_variant test_aggregate test_driver_faults
    test_refusals test_subgroup_runs test_programs test_glsl_twins test_drain
    test_drain_handlers test_drain_io test_drain_order test_builtins test_dispatcher
    test_dispatcher_caches test_dispatcher_in_place test_dispatcher_io
    test_dispatcher_items test_dispatcher_order test_dispatcher_ring
    test_dispatcher_rings test_dispatcher_runs test_dispatcher_threads test_dispatcher_tickets test_dispatcher_traps
    test_dispatcher_ways test_scanner test_scan_many test_scan_runs test_scan_memory
)

input=() build=build out='' jobs=1 limit='' quick='' seeds=500 only='' pack=''
while [ $# -gt 0 ]; do
    case $1 in
    --input | --build | --out | --jobs | --limit | --seeds | --only | --pack)
        if [ $# -lt 2 ]; then
            printf 'gpu-check: error: %s needs a value\n' "$1" >&2
            exit 2
        fi
        case $1 in
        --input) input=(--input "$2") ;;
        --build) build=$2 ;;
        --out) out=$2 ;;
        --jobs) jobs=$2 ;;
        --limit) limit=$2 ;;
        --seeds) seeds=$2 ;;
        --only) only=$2 ;;
        --pack) pack=$2 ;;
        esac
        shift
        ;;
    --quick) quick=1 ;;
    --help | -h) usage; exit 0 ;;
    *)
        printf 'gpu-check: error: unknown argument: %s\n' "$1" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
done

fail_usage() {
    printf 'gpu-check: error: %s\n' "$1" >&2
    exit 2
}
case $jobs in '' | 0* | *[!0-9]*) fail_usage "--jobs takes a count, not '$jobs'" ;; esac
case $limit in 0* | *[!0-9]*) fail_usage "--limit takes seconds, not '$limit'" ;; esac
case $seeds in *:*) ;; *) seeds=100001:$seeds ;; esac
[[ $seeds =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] ||
    fail_usage "--seeds takes COUNT or FIRST:COUNT, not '${seeds#100001:}'"
first_seed=${seeds%:*} seed_count=${seeds#*:}

# A relative --out is meant from the caller's folder.
case $out in '' | /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
bin=$build/bin
out=${out:-$PWD/$build/check}

# Binaries without their symbols, the libraries of theirs that such a machine lacks, shader twins,
# Piglit's cases.
pack() {
    local names=() name to library
    to=$(mktemp -d) || exit 1
    mkdir -p "$to/$bin" "$to/$build/lib/carried"
    for name in "${tests[@]}" test_differential soak_differential soak_large soak_programs vyre-run \
        vyre-spv vyre-scan vyre-demo vyre-bench hello embed async reach renderer renderer-check; do
        [ -x "$bin/$name" ] && names+=("$name")
    done
    for name in "${names[@]}"; do
        strip -o "$to/$bin/$name" "$bin/$name" || exit 1
        ldd "$bin/$name"
    done | awk '/libcmocka|libmpfr|libgmp|libvyre-vk|libglfw|libpng/ { print $3 }' | sort -u | while read -r library; do
        cp "$library" "$to/$build/lib/carried/"
    done
    cp -r "$build/shaders" "$build/CMakeCache.txt" "$to/$build/"
    if [ -d build/deps/piglit ]; then
        mkdir -p "$to/build/deps"
        cp -rL build/deps/piglit "$to/build/deps/"
    fi
    tar -C "$to" -czf "$1" . || exit 1
    rm -rf "$to"
}

case $build in
/*) [ -z "$pack" ] || { printf 'gpu-check: error: --pack needs a --build within the checkout\n' >&2; exit 2; } ;;
esac
if [ -n "$pack" ]; then
    pack "$pack"
    exit
fi

# NAME COMMAND...: its output into a file as it comes, and a line of results.
run_step() {
    local name=$1 code begun=$SECONDS left=0 word
    shift
    if [ -n "$limit" ]; then
        left=$((limit - SECONDS))
        [ "$left" -gt 0 ] || { printf 'not run    %s\n' "$name" >>"$results"; return; }
    fi
    timeout -k 5 "$left" "$@" >"$out/$name.txt" 2>&1 # 0: for as long as it takes
    code=$?
    case $code in
    0) word='passed    ' ;;
    124 | 137) word='unfinished' ;;
    *) word='FAILED    ' ;;
    esac
    printf '%s %s (%d s)\n' "$word" "$name" $((SECONDS - begun)) | tee -a "$results"
    [ $code -eq 0 ] || { printf 'exit %d of: %s\n' "$code" "$*" && tail -n 30 "$out/$name.txt"; }
}

# NAME COMMAND...: beside others, as many as --jobs allows.
check() {
    [[ -z $only || $* =~ $only ]] || return 0
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n
    done
    run_step "$@" &
}

# NAME COMMAND...: alone, for its times.
check_alone() {
    [[ -z $only || $* =~ $only ]] || return 0
    wait
    run_step "$@"
    cat "$out/$1.txt"
}

# Tests read programs and tables below the folder that they were built in.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt" 2>/dev/null)
if [ -n "$source" ] && [ ! -d "$source/shaders" ]; then
    printf 'gpu-check: error: the tests look for their data in %s. Fix: ln -s %s %s\n' \
        "$source" "$PWD" "$source" >&2
    exit 1
fi
[ -d build/deps/piglit ] && export VYRE_PIGLIT=${VYRE_PIGLIT:-$PWD/build/deps/piglit}
[ -d "$build/lib/carried" ] &&
    export LD_LIBRARY_PATH=$PWD/$build/lib/carried${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# Some tests open many devices in one process; NVIDIA's driver takes static TLS each time it is
# loaded and gives none back.
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4194304

mkdir -p "$out" || exit 1
results=$out/results.txt
: >"$results"

check_alone info "$bin/vyre-run" --info
for test in "${tests[@]}"; do
    check "$test" "$bin/$test"
done
# Above 2 and 4 GiB, and above 2^31 elements.
[ -x "$bin/soak_large" ] &&
    check soak_large env VYRE_SOAK_LARGE=2253,4095,4600,9300 "$bin/soak_large"
# The catalogue at sizes that are slow on processors.
[ -x "$bin/soak_programs" ] && check soak_programs "$bin/soak_programs"
check examples "$bin/vyre-run" --examples shaders/*.vyre tests/programs/*.vyre
# Programs of users, and what they print.
[ -x "$bin/hello" ] && check hello sh -c '"$1" && [ "$("$1")" = "1 4 9 16 25 36 49 64" ]' sh "$bin/hello"
[ -x "$bin/embed" ] && check embed sh -c '"$1" && "$1" | grep -qx "0 8 28 56 70 56 28 8 0" &&
    "$1" | grep -qx "nothing was compiled"' sh "$bin/embed"
[ -x "$bin/async" ] && check async "$bin/async"
[ -x "$bin/reach" ] && check reach sh -c '"$1" "$2" game && "$1" "$2" game |
    grep -qx "game needs, in 3 passes: window-system protocol sound"' sh "$bin/reach" examples/reach/needs.txt
[ -x "$bin/renderer" ] && check renderer sh -c '"$1/renderer" --headless --frames 90 --png "$2" &&
    "$1/renderer-check" "$2" tools/cmake/examples/renderer-squares.txt' sh "$bin" "$out/pond.png"
# Hits of the tool on the device are those of the processor.
[ -x "$bin/vyre-scan" ] && check vyre-scan "$bin/vyre-scan" --check --batch-size 100K --report -r -c \
    -e the -e vyre -e VYRE -e struct -e return docs include tools
check demo "$bin/vyre-demo" --program shaders/package_closure.vyre ${input[@]+"${input[@]}"}
if [ -z "$quick" ]; then
    check test_differential "$bin/test_differential"
    block=250
    for ((at = 0; at < seed_count; at += block)); do
        [ $((seed_count - at)) -ge $block ] || block=$((seed_count - at))
        check "seeds-$((first_seed + at))" env "VYRE_SEEDS=$((first_seed + at)):$block" \
            stdbuf -oL "$bin/soak_differential"
    done
fi

# Two dispatches and two barriers a pass, nothing else: the cost of a step.
for groups in 1 132 1056; do
    check_alone "life-$groups" "$bin/vyre-run" shaders/life.vyre --param width=16 --passes 10000 \
        --in "cells[$((groups * 256))]=random:1:0:1" --time --warmup 1 --repeat 5 --report
done
check_alone scan "$bin/vyre-run" shaders/scan.vyre --in "x[16776961]=fill:1" --time --warmup 1 \
    --repeat 5 --report
wait

passed=$(grep -c '^passed' "$results")
steps=$(wc -l <"$results")
[ "$steps" -gt 0 ] || { printf 'gpu-check: error: no step matches %s\n' "$only" >&2; exit 1; }
if [ "$passed" -ne "$steps" ]; then
    printf '\ngpu-check: %d of %d steps passed in %d s; the others:\n' "$passed" "$steps" \
        "$SECONDS" >&2
    grep -v '^passed' "$results" >&2
    exit 1
fi
printf '\ngpu-check: all %d steps passed in %d s\n' "$steps" "$SECONDS"
