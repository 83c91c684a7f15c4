#!/usr/bin/env bash
# Finds what libvyre-vk needs to be built and tested, and installs what is missing.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: tools/setup.sh [--yes] [--no-install] [--prefix DIR]...

Finds what libvyre-vk needs to be built and tested, names what is missing, and installs it:
system packages with apt, from the package sources that the machine already has, and the rest
under build/deps, which changes nothing outside this folder. Then writes build/deps/env.sh, to be
sourced before tests and tools are run. With nothing missing the network is not used.

  --yes          do not ask
  --no-install   only name what is missing; exit 1 if anything is
  --prefix DIR   look for dependencies in DIR/include, DIR/lib and DIR/bin too (repeatable)
  --help         this text

Peers of vyre-bench are used where they are and never installed: glslang-dev (group compile),
ocl-icd-opencl-dev and pocl-opencl-icd (group kernels, on processors), libhyperscan-dev (group scan),
nvcc.
So is doxygen (target docs and its test), which brings 150 MB of libraries, and RenderDoc (librenderdoc and
renderdoccmd, not in Debian 13), whose captures a test of vyre-run --capture looks into.

Exit: 0 nothing is missing (any more); 1 something is missing or failed; 2 usage.
EOF
}

say() { printf 'setup: %s\n' "$*"; }
fail() {
    printf 'setup: error: %s\n' "$*" >&2
    exit 1
}

yes=0
install=1
prefixes=()
while [ $# -gt 0 ]; do
    case $1 in
    --yes) yes=1 ;;
    --no-install) install=0 ;;
    --prefix)
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        prefixes+=("$2")
        shift
        ;;
    --prefix=*) prefixes+=("${1#--prefix=}") ;;
    --help | -h) usage; exit 0 ;;
    *)
        printf 'setup: error: unknown argument: %s\n' "$1" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=$root/build/deps
lavapipe=$deps/lavapipe
mkdir -p "$deps"
work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

# Two set-ups at once would take each other's files.
exec 9>"$deps/.lock"
if command -v flock >/dev/null; then
    flock 9
fi

os_id=
os_codename=
if [ -r /etc/os-release ]; then
    os_id=$(. /etc/os-release && printf '%s' "${ID:-}")
    os_codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
fi
debian12=0
[ "$os_id/$os_codename" != debian/bookworm ] || debian12=1

# ---- What is there ----------------------------------------------------------------------------

sdk=${VULKAN_SDK:-}
search=()
for dir in ${prefixes[@]+"${prefixes[@]}"}; do
    [ -d "$dir" ] || fail "--prefix $dir: no such folder"
    search+=("$(cd "$dir" && pwd)")
done
if [ -n "$sdk" ]; then
    [ -e "$sdk/include/vulkan/vulkan_core.h" ] || [ -e "$sdk/Include/vulkan/vulkan_core.h" ] ||
        fail "VULKAN_SDK=$sdk has no include/vulkan/vulkan_core.h: point it at an SDK (its setup-env.sh does), or unset it"
    search+=("$sdk")
fi
search+=(/usr /usr/local "$deps/usr")

# The file of that name below include/ of a prefix; a Vulkan SDK has folders of its own for some.
find_header() {
    local prefix dir
    for prefix in "${search[@]}"; do
        for dir in include include/volk include/vma Include Include/volk Include/Volk Include/vma; do
            if [ -e "$prefix/$dir/$1" ]; then
                printf '%s' "$prefix/$dir"
                return 0
            fi
        done
    done
    return 1
}
have_header() { find_header "$1" >/dev/null; }

have_program() {
    local prefix
    command -v "$1" >/dev/null && return 0
    for prefix in "${search[@]}"; do
        [ ! -x "$prefix/bin/$1" ] && [ ! -x "$prefix/Bin/$1" ] || return 0
    done
    return 1
}

have_cmake() {
    local version
    have_program cmake || return 1
    version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
    [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" = 3.25 ]
}

have_c() { have_program cc && have_header stdio.h; }
have_loader() {
    local cache
    cache=$(/sbin/ldconfig -p 2>/dev/null || ldconfig -p 2>/dev/null || true)
    case $cache in *libvulkan.so.1*) return 0 ;; esac
    [ -n "$sdk" ] && [ -e "$sdk/lib/libvulkan.so.1" ]
}
have_validation() {
    local dir
    local IFS=:
    for dir in ${VK_LAYER_PATH:-} ${VK_ADD_LAYER_PATH:-} "${sdk:+$sdk/share/vulkan/explicit_layer.d}" \
        "${sdk:+$sdk/etc/vulkan/explicit_layer.d}" /usr/share/vulkan/explicit_layer.d \
        /usr/local/share/vulkan/explicit_layer.d /etc/vulkan/explicit_layer.d; do
        if [ -n "$dir" ] && [ -e "$dir/VkLayer_khronos_validation.json" ]; then
            return 0
        fi
    done
    return 1
}
have_display() { have_program xvfb-run && have_program xauth; }
have_spirv_tools() { have_program spirv-val && have_header spirv-tools/libspirv.h; }

# Test, package, what it is.
needs() {
    cat <<'EOF'
have_cmake|cmake|CMake 3.25 or newer
have_program ninja|ninja-build|Ninja
have_c|gcc libc6-dev|a C compiler
have_program c++|g++|a C++ compiler (for one file, VMA)
have_program pkg-config|pkg-config|pkg-config
have_header vulkan/vulkan_core.h|libvulkan-dev|the Vulkan headers
have_loader|libvulkan1|the Vulkan loader
have_header volk.h|libvulkan-volk-dev|volk
have_header spirv/unified1/spirv.h|spirv-headers|SPIRV-Headers
have_spirv_tools|spirv-tools|SPIRV-Tools
have_program glslangValidator|glslang-tools|glslang
have_validation|vulkan-validationlayers|the Vulkan validation layers
have_header cmocka.h|libcmocka-dev|cmocka
have_header mpfr.h|libmpfr-dev|MPFR
have_header fa.h|libaugeas-dev|libfa (for vyre-scan -E)
have_program dot|graphviz|graphviz
have_program help2man|help2man|help2man (for the man pages of the tools)
have_program groff|groff-base|groff (to test the man pages)
have_program zsh|zsh|zsh (to test its completion)
have_program fish|fish|fish (likewise)
have_header GLFW/glfw3.h|libglfw3-dev|GLFW (for examples/renderer)
have_header png.h|libpng-dev|libpng (for examples/renderer)
have_display|xvfb xauth|a display without a screen (to test examples/renderer)
EOF
}

# ---- Vulkan drivers ---------------------------------------------------------------------------

# Sets `own_driver` to what the tests run on where nobody says otherwise, without build/deps:
#   gpu       a device that is not a processor
#   software  llvmpipe of Mesa 25 or newer. 22.3 (Debian 12) ends every loop after 65,535 trips.
#   none      neither
#   unknown   cannot be told before the rest is installed
find_own_driver() {
    local listing probe=$deps/probe-vulkan include type info
    own_driver=none
    if ! have_c || ! have_loader || ! include=$(find_header vulkan/vulkan_core.h); then
        if compgen -G '/dev/dri/renderD*' >/dev/null || [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; then
            own_driver=unknown
        fi
        return
    fi
    if [ ! -x "$probe" ] || [ "$root/tools/cmake/probe-vulkan.c" -nt "$probe" ]; then
        cc -std=c11 -D_POSIX_C_SOURCE=200809L -I "$include" -o "$probe.new" \
            "$root/tools/cmake/probe-vulkan.c" -ldl && mv "$probe.new" "$probe" ||
            fail "the probe for Vulkan devices does not compile"
    fi
    listing=$(env -u VK_DRIVER_FILES -u VK_ICD_FILENAMES timeout 60 "$probe" 2>/dev/null || true)
    while read -r type info; do
        if [ "$type" = gpu ]; then
            own_driver=gpu
            return
        fi
        case $info in
        'Mesa '[0-9].* | 'Mesa '1[0-9].* | 'Mesa '2[0-4].*) [ "$debian12" = 1 ] || own_driver=software ;;
        'Mesa '*) own_driver=software ;;
        esac
    done <<<"$listing"
}

# Sets `driver`, too: the same, or
#   user      VK_DRIVER_FILES is set by the user, to another driver than that of build/deps: his choice
find_driver() {
    local given=${VK_DRIVER_FILES:-${VK_ICD_FILENAMES:-}}
    find_own_driver
    driver=$own_driver
    if [ -n "$given" ] && [ "${given#"$lavapipe"}" = "$given" ]; then
        driver=user
    fi
}

lavapipe_environment() {
    printf 'VK_DRIVER_FILES=%s\n' "$lavapipe/lvp_icd.json"
    if compgen -G "$lavapipe/lib/*" >/dev/null; then
        printf 'LD_LIBRARY_PATH=%s\n' "$lavapipe/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    fi
}

# Does the unpacked driver load and give a device here?
lavapipe_works() {
    local variables
    [ -e "$lavapipe/lvp_icd.json" ] && [ -x "$deps/probe-vulkan" ] || return 1
    mapfile -t variables < <(lavapipe_environment)
    env -u VK_ICD_FILENAMES "${variables[@]}" timeout 60 "$deps/probe-vulkan" >/dev/null 2>&1
}

# ---- What is missing --------------------------------------------------------------------------

# Fills packages (apt), fetches (build/deps) and, for people, names.
plan() {
    local test package what
    packages=()
    fetches=()
    names=()
    while IFS='|' read -r test package what; do
        if ! $test; then
            read -ra package <<<"$package"
            packages+=("${package[@]}")
            names+=("$what (package ${package[*]})")
        fi
    done < <(needs)
    if ! have_header vk_mem_alloc.h; then
        if [ "$debian12" = 1 ]; then
            fetches+=(vma)
            names+=("the Vulkan Memory Allocator's header (unpacked under build/deps, from Debian 13)")
        else
            packages+=(libvulkan-memory-allocator-dev)
            names+=("the Vulkan Memory Allocator's header (package libvulkan-memory-allocator-dev)")
        fi
    fi
    if [ ! -d "$deps/piglit/generated_tests" ]; then
        fetches+=(piglit)
        names+=("the OpenCL tests of piglit (unpacked under build/deps; 34 MB are read, 5 MB stay)")
    fi
    find_driver
    if [ "$driver" = none ]; then
        if [ "$debian12" = 1 ]; then
            if ! lavapipe_works; then
                fetches+=(lavapipe)
                names+=("a Vulkan driver without known defects: lavapipe (unpacked under build/deps, from the backports of Debian 12)")
            fi
        else
            packages+=(mesa-vulkan-drivers)
            names+=("a Vulkan driver: lavapipe (package mesa-vulkan-drivers)")
        fi
    fi
}

# ---- Installing -------------------------------------------------------------------------------

install_packages() {
    local root_command=()
    command -v apt-get >/dev/null ||
        fail "there is no apt-get here: install what is named above by your system's own means"
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null ||
            fail "not root and no sudo. As root: apt-get update && apt-get install --no-install-recommends ${packages[*]}"
        root_command=(sudo)
    fi
    say "apt-get install ${packages[*]}"
    ${root_command[@]+"${root_command[@]}"} apt-get -q update ||
        fail "apt-get update failed"
    ${root_command[@]+"${root_command[@]}"} env DEBIAN_FRONTEND=noninteractive \
        apt-get -q install -y --no-install-recommends "${packages[@]}" ||
        fail "apt-get install failed"
}

# apt with a state of its own: private_apt NAME SOURCES... makes one from "URI SUITE" lines, with
# Debian's keys as the only trusted ones, and nothing of the machine's is read or written but its
# network settings. apt_conf is then the file for apt-get -c.
private_apt() {
    local dir=$work/$1 key=/usr/share/keyrings/debian-archive-keyring.gpg line
    shift
    [ -r "$key" ] || fail "$key is missing: install debian-archive-keyring"
    mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
    : >"$dir/state/status"
    for line in "$@"; do
        printf 'deb [signed-by=%s] %s main\n' "$key" "$line"
    done >"$dir/sources.list"
    cat >"$dir/apt.conf" <<EOF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
Dir::State "$dir/state";
Dir::State::status "$dir/state/status";
Dir::State::lists "$dir/state/lists";
Dir::Cache "$dir/cache";
Dir::Cache::archives "$dir/cache/archives";
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "root";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::Languages "none";
EOF
    apt_conf=$dir/apt.conf
    apt_archives=$dir/cache/archives
    apt_status=$dir/state/status
    apt-get -q -c "$apt_conf" update >"$dir/log" 2>&1 ||
        { cat "$dir/log" >&2; fail "the package lists could not be read"; }
    if grep -E '^(W|E): .*(Failed to fetch|NO_PUBKEY|not signed)' "$dir/log" >&2; then
        fail "the package lists could not be read"
    fi
}

# "URI SUITE" of each package source of Debian's that the machine has.
debian_sources() {
    apt-get indextargets --format '$(ORIGIN)|$(REPO_URI) $(CODENAME)' 'Created-By: Packages' |
        sed -n 's/^Debian|//p' | sort -u
}
debian_mirror() {
    local uri suite
    while read -r uri suite; do
        if [ "$suite" = "$os_codename" ]; then
            printf '%s' "$uri"
            return
        fi
    done <<<"$(debian_sources)"
    fail "apt knows no Debian mirror for $os_codename: run apt-get update as root, or give the dependency by hand (--prefix)"
}

fetch_vma() {
    local mirror
    mirror=$(debian_mirror)
    say "downloading the Vulkan Memory Allocator's header"
    private_apt trixie "$mirror trixie"
    (cd "$work" && apt-get -q -c "$apt_conf" download libvulkan-memory-allocator-dev) >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; fail "libvulkan-memory-allocator-dev could not be downloaded"; }
    mkdir "$work/vma"
    dpkg -x "$work"/libvulkan-memory-allocator-dev_*.deb "$work/vma"
    mkdir -p "$deps/usr"
    cp -a "$work/vma/usr/." "$deps/usr/"
}

# Only the files of the OpenCL tests: the whole package is 2 GB, and would bring in a display server's
# libraries.
fetch_piglit() {
    local conf=() new=$work/piglit
    say "downloading piglit's OpenCL tests"
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
        fail "there is no apt-get here: unpack Debian's package piglit, so that $deps/piglit/generated_tests/cl and $deps/piglit/tests/cl are there"
    if [ "$os_id" = debian ]; then
        private_apt piglit "$(debian_mirror) $os_codename"
        conf=(-c "$apt_conf")
    fi
    (cd "$work" && apt-get -q ${conf[@]+"${conf[@]}"} download piglit) >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; fail "piglit could not be downloaded"; }
    mkdir -p "$new"
    dpkg-deb --fsys-tarfile "$work"/piglit_*.deb |
        tar -x -C "$new" --wildcards './usr/lib/*/piglit/generated_tests/cl/*' './usr/lib/*/piglit/tests/cl/*'
    mv "$new"/usr/lib/*/piglit "$new/found"
    rm -rf "$deps/piglit"
    mv "$new/found" "$deps/piglit"
}

# The libraries and symbols that the driver in a folder does not find.
unresolved() {
    LD_LIBRARY_PATH=$1/lib ldd -r "$1/libvulkan_lvp.so" 2>&1 | grep -E 'not found|undefined symbol' || true
}

fetch_lavapipe() {
    local mirror sources deb tree=$work/lavapipe new=$work/lavapipe.new name changed file
    mirror=$(debian_mirror)
    say "downloading lavapipe"
    mapfile -t sources < <(debian_sources)
    private_apt backports "${sources[@]}" "$mirror $os_codename-backports"
    # The machine's list of installed packages, so that only what it lacks is downloaded.
    cp /var/lib/dpkg/status "$apt_status"
    apt-get -q -c "$apt_conf" install -y --download-only --no-install-recommends \
        -t "$os_codename-backports" mesa-vulkan-drivers >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; fail "mesa-vulkan-drivers could not be downloaded"; }
    mkdir -p "$tree" "$new/lib"
    for deb in "$apt_archives"/*.deb; do
        dpkg -x "$deb" "$tree"
    done
    file=$(find "$tree/usr/lib" -name libvulkan_lvp.so -print -quit)
    [ -n "$file" ] || fail "mesa-vulkan-drivers of $os_codename-backports has no lavapipe"
    cp "$file" "$new/"
    file=$(find "$tree/usr/share/vulkan/icd.d" -name 'lvp_icd*.json' -print -quit)
    sed 's|"library_path" *: *"[^"]*"|"library_path": "./libvulkan_lvp.so"|' "$file" >"$new/lvp_icd.json"
    # Beside the driver goes what the machine does not have, or has in too old a version.
    if [ -n "$(unresolved "$new")" ]; then
        changed=1
        while [ "$changed" = 1 ]; do
            changed=0
            while read -r name; do
                [ ! -e "$new/lib/$name" ] || continue
                file=$(find "$tree" -name "$name" -print -quit)
                if [ -n "$file" ]; then
                    cp -L "$file" "$new/lib/$name"
                    changed=1
                fi
            done < <(LD_LIBRARY_PATH=$new/lib ldd "$new/libvulkan_lvp.so" 2>/dev/null | awk 'NF { print $1 }')
        done
        if [ -n "$(unresolved "$new")" ]; then
            unresolved "$new" >&2
            fail "lavapipe cannot be loaded beside this machine's libraries"
        fi
    fi
    rm -rf "$lavapipe"
    mv "$new" "$lavapipe"
}

# ---- The way through --------------------------------------------------------------------------

write_environment() {
    local quoted_prefix
    {
        printf '# Written by tools/setup.sh: source it before tests and tools are run.\n'
        # For shells in which VK_DRIVER_FILES is not set, also where it is set in this one.
        if [ "$own_driver" = none ] && [ -e "$lavapipe/lvp_icd.json" ]; then
            printf 'if [ -z "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]; then\n'
            printf '    export VK_DRIVER_FILES=%q\n' "$lavapipe/lvp_icd.json"
            if compgen -G "$lavapipe/lib/*" >/dev/null; then
                printf '    export LD_LIBRARY_PATH=%q${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n' "$lavapipe/lib"
            fi
            printf 'fi\n'
        fi
        if [ ${#prefixes[@]} -gt 0 ]; then
            local IFS=:
            quoted_prefix="${search[*]:0:${#prefixes[@]}}"
            printf 'export CMAKE_PREFIX_PATH=%q${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}\n' "$quoted_prefix"
        fi
    } >"$deps/env.sh.new"
    mv "$deps/env.sh.new" "$deps/env.sh"
}

# A second round, since a driver can be looked for only when the rest is there.
for round in 1 2 3; do
    plan
    if [ ${#names[@]} = 0 ]; then
        write_environment
        case $driver in
        user) say "nothing is missing; Vulkan driver: the one that VK_DRIVER_FILES names" ;;
        gpu) say "nothing is missing; Vulkan driver: this machine's GPU" ;;
        software) say "nothing is missing; Vulkan driver: this machine's lavapipe" ;;
        *) say "nothing is missing; Vulkan driver: lavapipe under build/deps (source build/deps/env.sh)" ;;
        esac
        exit 0
    fi
    say "missing:"
    printf '  %s\n' "${names[@]}"
    if [ "$install" = 0 ]; then
        exit 1
    fi
    [ "$round" != 3 ] || fail "still missing after installing; see above"
    if [ "$yes" = 0 ]; then
        [ -t 0 ] || fail "no terminal to ask on: give --yes to install"
        read -r -p 'setup: install these? [y/N] ' answer || answer=
        case $answer in
        y | Y | yes) ;;
        *) fail "not installed" ;;
        esac
    fi
    if [ ${#packages[@]} -gt 0 ]; then
        install_packages
    fi
    for fetch in ${fetches[@]+"${fetches[@]}"}; do
        [ -n "$work" ] || work=$(mktemp -d "$deps/tmp.XXXXXX")
        "fetch_$fetch"
    done
done
