#!/usr/bin/env bash
# Builds for 64-bit Windows by MinGW-w64, and runs under Wine what needs no device.
set -euo pipefail

usage() {
    cat <<'EOT'
usage: tools/windows.sh [--yes] [--no-install]

Sets the machine up (tools/setup.sh, then MinGW-w64 and Wine with apt, and the source of cmocka from the
Debian mirror that apt uses), builds the libraries, vyre-run and vyre-spv with warnings as errors into
build/windows/, and looks at what the libraries show and need. Under Wine it runs the tests of the layers
without Vulkan and of what differs by system, and the examples of shaders/ on the interpreter; kernel
files that vyre-spv makes there must be those of this system's vyre-spv, byte for byte. No device is
opened, and without SPIRV-Tools vyre-spv has neither assembly nor --validate.

  --yes          install what is missing without asking
  --no-install   only name what is missing, and stop there if anything is
  --help         this text

Exit: 0 everything passed; 1 something is missing or failed; 2 usage.
EOT
}

say() { printf '\n== windows: %s (%d s)\n' "$*" "$SECONDS"; }
fail() {
    printf 'windows: error: %s\n' "$*" >&2
    exit 1
}

setup_arguments=()
yes=0
install=1
while [ $# -gt 0 ]; do
    case $1 in
    --yes) yes=1 setup_arguments+=("$1") ;;
    --no-install) install=0 setup_arguments+=("$1") ;;
    --help | -h) usage; exit 0 ;;
    *)
        printf 'windows: error: unknown argument: %s\n' "$1" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
deps=$root/build/deps
sdk=$deps/windows
jobs=$(nproc 2>/dev/null || echo 2)
tools/setup.sh ${setup_arguments[@]+"${setup_arguments[@]}"} || exit 1
. build/deps/env.sh

# ---- What is missing --------------------------------------------------------------------------

have() { command -v "$1" >/dev/null; }
packages=()
have x86_64-w64-mingw32-gcc-win32 || packages+=(gcc-mingw-w64-x86-64)
have x86_64-w64-mingw32-g++-win32 || packages+=(g++-mingw-w64-x86-64)
have wine || packages+=(wine wine64)
names=(${packages[@]+"${packages[@]}"})
[ -e "$sdk/Lib/libcmocka.a" ] || names+=("cmocka for Windows (from its source, under build/deps)")
if [ ${#names[@]} -gt 0 ]; then
    printf 'windows: missing:\n'
    printf '  %s\n' "${names[@]}"
    [ "$install" = 1 ] || exit 1
    if [ "$yes" = 0 ]; then
        [ -t 0 ] || fail "no terminal to ask on: give --yes to install"
        read -r -p 'windows: install these? [y/N] ' answer || answer=
        case $answer in
        y | Y | yes) ;;
        *) fail "not installed" ;;
        esac
    fi
fi
if [ ${#packages[@]} -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" != 0 ]; then
        have sudo || fail "not root and no sudo. As root: apt-get install --no-install-recommends ${packages[*]}"
        as_root=(sudo)
    fi
    ${as_root[@]+"${as_root[@]}"} apt-get -q update || fail "apt-get update failed"
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
        --no-install-recommends "${packages[@]}" || fail "apt-get install failed"
fi

# ---- Headers and cmocka, as a Vulkan SDK for Windows has its files ------------------------------

header() {
    local folder
    for folder in "${VULKAN_SDK:-/nowhere}"/{include,Include}{,/volk,/Volk,/vma} /usr/include /usr/local/include \
        "$deps/usr/include"; do
        if [ -e "$folder/$1" ]; then
            printf '%s' "$folder/$1"
            return
        fi
    done
    fail "$1 was not found"
}
mkdir -p "$sdk/Include/volk" "$sdk/Include/vma" "$sdk/Include/spirv" "$sdk/Lib"
ln -sfn "$(dirname "$(header vulkan/vulkan_core.h)")" "$sdk/Include/vulkan"
ln -sfn "$(dirname "$(header vk_video/vulkan_video_codecs_common.h)")" "$sdk/Include/vk_video"
ln -sfn "$(dirname "$(header spirv/unified1/spirv.h)")" "$sdk/Include/spirv/unified1"
ln -sf "$(header volk.h)" "$sdk/Include/volk/volk.h"
ln -sf "$(header vk_mem_alloc.h)" "$sdk/Include/vma/vk_mem_alloc.h"

# apt with a state of its own, for sources: the machine's lists need not have them.
fetch_cmocka() {
    local work key=/usr/share/keyrings/debian-archive-keyring.gpg mirror codename
    [ -r "$key" ] || fail "$key is missing: install debian-archive-keyring"
    codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
    mirror=$(apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(REPO_URI)' 'Created-By: Packages' |
        sed -n "s/^Debian|$codename|//p" | head -n 1)
    [ -n "$mirror" ] || fail "apt knows no Debian mirror here: run apt-get update"
    work=$(mktemp -d "$deps/tmp.XXXXXX")
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    printf 'deb-src [signed-by=%s] %s %s main\n' "$key" "$mirror" "$codename" >"$work/sources.list"
    cat >"$work/apt.conf" <<EOT
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
APT::Sandbox::User "root";
Acquire::AllowInsecureRepositories "false";
Acquire::Languages "none";
EOT
    (cd "$work" && apt-get -q -c apt.conf update && apt-get -q -c apt.conf source --download-only cmocka) \
        >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "cmocka's source could not be downloaded"; }
    mkdir "$work/source"
    tar -x -f "$work"/cmocka_*.orig.tar.?z --strip-components=1 -C "$work/source"
    cmake -S "$work/source" -B "$work/build" -G Ninja -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF \
        -DCMAKE_TOOLCHAIN_FILE="$root/tools/cmake/mingw-w64.cmake" -DCMAKE_BUILD_TYPE=Release \
        >"$work/log" 2>&1 && cmake --build "$work/build" >>"$work/log" 2>&1 ||
        { cat "$work/log" >&2; fail "cmocka could not be built for Windows"; }
    cp "$work/source/include/cmocka.h" "$sdk/Include/"
    cp "$work"/build/src/libcmocka-static.a "$sdk/Lib/libcmocka.a"
    rm -rf "$work"
}
[ -e "$sdk/Lib/libcmocka.a" ] || fetch_cmocka

# ---- Building -----------------------------------------------------------------------------------

say "build"
VULKAN_SDK=$sdk cmake --preset windows || fail "the build cannot be configured"
cmake --build build/windows -j "$jobs" || fail "the build failed"

say "symbols"
bin=build/windows/bin
exports=$(x86_64-w64-mingw32-objdump -p "$bin/libvyre-vk.dll" |
    awk '/Ordinal\/Name Pointer/ { on = 1; next } NF == 0 { on = 0 } on { print $NF }')
shown=$(printf '%s\n' "$exports" | grep -c '^vyre_' || true)
other=$(printf '%s\n' "$exports" | grep -v '^vyre_' || true)
[ "$shown" -gt 0 ] && [ -z "$other" ] || fail "libvyre-vk.dll shows more than vyre_*, or nothing: $other"
in_archive=$(x86_64-w64-mingw32-nm -g --defined-only build/windows/lib/libvyre-vk.a | awk 'NF == 3 { print $3 }')
[ "$(printf '%s\n' "$exports" | sort)" = "$(printf '%s\n' "$in_archive" | sort)" ] ||
    fail "libvyre-vk.dll and libvyre-vk.a show different symbols"
[ "$(grep -cE '^(function|data) ' docs/abi.txt)" = "$shown" ] ||
    fail "libvyre-vk.dll shows $shown names, docs/abi.txt has others"
for file in libvyre-vk.dll vyre-run.exe vyre-spv.exe; do
    needed=$(x86_64-w64-mingw32-objdump -p "$bin/$file" | sed -n 's/^.*DLL Name: //p' |
        grep -viE '^(kernel32|msvcrt)\.dll$' || true)
    [ -z "$needed" ] || fail "$file needs $needed"
done
printf '%s names, all vyre_*; KERNEL32 and msvcrt are needed\n' "$shown"

say "install, and a user of it"
prefix=$root/build/windows/prefix
rm -rf "$prefix" build/windows/consumer
cmake --install build/windows --prefix "$prefix" >/dev/null || fail "the install failed"
VULKAN_SDK=$sdk cmake -S tools/cmake/consumer -B build/windows/consumer -G Ninja \
    -DCMAKE_TOOLCHAIN_FILE="$root/tools/cmake/mingw-w64.cmake" -DCMAKE_PREFIX_PATH="$prefix" \
    -Dvyre-vk_DIR="$prefix/lib/cmake/vyre-vk" >/dev/null && cmake --build build/windows/consumer ||
    fail "a project that takes the installed library does not build"

# ---- Running ------------------------------------------------------------------------------------

failures=()
export WINEPREFIX=$root/build/windows/wine WINEDEBUG=-all VYRE_TESTS_NO_DEVICE=1
unset DISPLAY
mkdir -p "$WINEPREFIX"
wine wineboot --init >/dev/null 2>&1 || fail "Wine does not start"

for library in static shared; do
    text=$(WINEPATH=$prefix/bin wine "build/windows/consumer/consumer-$library.exe" | tr -d '\r')
    [ "$text" = "1 4 9" ] || failures+=("the user of the $library library printed '$text'")
done

say "tests under Wine"
ctest --test-dir build/windows -j "$jobs" --output-on-failure --no-tests=error || failures+=("tests")

say "examples of shaders/ on the interpreter, under Wine"
wine "$bin/vyre-run.exe" --reference --examples shaders/*.vyre || failures+=("examples")

say "kernel files of both systems"
if [ -x build/bin/vyre-spv ]; then
    mkdir -p build/windows/kernels
    for file in shaders/*.vyre; do
        name=build/windows/kernels/$(basename "$file" .vyre)
        build/bin/vyre-spv "$file" -o "$name.vyk" && wine "$bin/vyre-spv.exe" "$file" -o "$name-windows.vyk" &&
            cmp "$name.vyk" "$name-windows.vyk" || failures+=("the kernel file of $file")
    done
    printf '%d compared\n' "$(ls build/windows/kernels | grep -c -- -windows.vyk)"
else
    failures+=("no build/bin/vyre-spv to compare with: build it (cmake --preset ci, cmake --build build)")
fi
wineserver -k 2>/dev/null || true

if [ ${#failures[@]} -gt 0 ]; then
    printf '\nwindows: failed after %d s: ' "$SECONDS" >&2
    printf '%s; ' "${failures[@]}" >&2
    printf '\n' >&2
    exit 1
fi
printf '\nwindows: everything passed in %d s\n' "$SECONDS"
