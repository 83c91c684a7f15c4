#!/usr/bin/env bash
# What only a real GPU can show: runs the device tests, the examples and the demonstration of an
# existing build on the best device, then takes the times that docs/measurements.md keeps.
set -uo pipefail

usage() {
    cat <<'EOT'
usage: tools/gpu-check.sh [--input PACKAGES] [--build DIR] [--quick]

  --input PACKAGES  a Packages file for the demonstration (default: what apt knows)
  --build DIR       where the build is (default: build)
  --quick           leaves the generated programs out
  --help            this text

Exit: 0 everything passed; 1 something failed; 2 usage.
EOT
}

input=()
build=build
quick=
while [ $# -gt 0 ]; do
    case $1 in
    --input | --build)
        if [ $# -lt 2 ]; then
            printf 'gpu-check: error: %s needs a value\n' "$1" >&2
            exit 2
        fi
        if [ "$1" = --input ]; then input=(--input "$2"); else build=$2; fi
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

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
bin=$build/bin
failures=()
check() {
    printf '\n== %s (%d s)\n' "$*" "$SECONDS"
    "$@" || failures+=("$*")
}

# Some tests open many devices in one process; NVIDIA's driver takes static TLS each time it is loaded
# and gives none back.
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4194304

check "$bin/vyre-run" --info
for test in test_device test_dispatch test_until test_adopt test_bad_device test_chain \
    test_planted test_conform test_conform_atomics test_programs test_glsl_twins test_emit_int test_emit_float \
    test_emit_flow test_bindings test_sequence test_transfer test_transfer_kernels test_buffer \
    test_ticket test_steady test_instances test_loss test_record test_host_sync \
    test_contract_split test_contract_fixpoint test_contract_readback test_contract_measure \
    test_grid test_fold test_range test_bounds; do
    [ -x "$bin/$test" ] && check "$bin/$test"
done
[ -n "$quick" ] || check "$bin/test_differential"
# Above 2 and 4 GiB, and above 2^31 elements.
[ -x "$bin/soak_large" ] && check env VYRE_SOAK_LARGE=2253,4600,9300 "$bin/soak_large"
check "$bin/vyre-run" --examples shaders/*.vyre
check "$bin/vyre-demo" --program shaders/package_closure.vyre ${input[@]+"${input[@]}"}

# Two dispatches and two barriers a pass, nothing else: the cost of a step.
for groups in 1 132 1056; do
    check "$bin/vyre-run" shaders/life.vyre --param width=16 --passes 10000 \
        --in "cells[$((groups * 256))]=random:1:0:1" --time --warmup 1 --repeat 5 --report
done
check "$bin/vyre-run" shaders/scan.vyre --in "x[16776961]=fill:1" --time --warmup 1 --repeat 5 --report

if [ ${#failures[@]} -gt 0 ]; then
    printf '\ngpu-check: failed after %d s:\n' "$SECONDS" >&2
    printf '  %s\n' "${failures[@]}" >&2
    exit 1
fi
printf '\ngpu-check: everything passed in %d s\n' "$SECONDS"
