#!/usr/bin/env bash
# Builds and tests in a bare Debian, to show an install step that is missing.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: tools/fresh.sh SUITE [--only demo|test] [--worktree] [--keep] [--mirror URI]
                      [--yes] [--no-install]

Makes a bare Debian of that SUITE (bookworm, trixie) with debootstrap in a temporary folder, clones
the repository's HEAD into it, runs tools/setup.sh there as root, and then tools/demo.sh and
tools/test.sh as an ordinary user without any network. The folder is removed in the end. Needs
root. The log is build/fresh-SUITE.log.

  --only STEP    only tools/demo.sh, or only tools/test.sh
  --worktree     the files as they are here, in place of HEAD
  --keep         leave the folder (its mounts are undone all the same)
  --mirror URI   the Debian mirror; otherwise the one that this machine's apt uses
  --yes          install debootstrap without asking if it is missing
  --no-install   only name what is missing; exit 1 if anything is
  --help         this text

The folder lies in $TMPDIR, or else in /var/tmp, and takes about 4 GB.

Exit: 0 everything passed; 1 something is missing or failed; 2 usage.
EOF
}

say() { printf 'fresh: %s (%d s)\n' "$*" "$SECONDS"; }
fail() {
    printf 'fresh: error: %s\n' "$*" >&2
    exit 1
}
wrong_usage() {
    printf 'fresh: error: %s\n' "$*" >&2
    usage >&2
    exit 2
}

suite=
steps=(demo test)
worktree=0
keep=0
yes=0
install=1
mirror=
while [ $# -gt 0 ]; do
    case $1 in
    --only)
        case ${2:-} in
        demo | test) steps=("$2") ;;
        *) wrong_usage "--only takes demo or test" ;;
        esac
        shift
        ;;
    --mirror)
        [ $# -ge 2 ] || wrong_usage "--mirror takes a URI"
        mirror=$2
        shift
        ;;
    --worktree) worktree=1 ;;
    --keep) keep=1 ;;
    --yes) yes=1 ;;
    --no-install) install=0 ;;
    --help | -h) usage; exit 0 ;;
    -*) wrong_usage "unknown argument: $1" ;;
    *)
        [ -z "$suite" ] || wrong_usage "one suite at a time"
        suite=$1
        ;;
    esac
    shift
done
[ -n "$suite" ] || wrong_usage "which suite?"
[[ $suite =~ ^[a-z]+$ ]] || wrong_usage "$suite is no name of a suite"
[ "$(id -u)" = 0 ] || fail "this needs root: it makes a file system of its own and mounts /proc in it"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for tool in debootstrap git; do
    command -v "$tool" >/dev/null || PATH=$PATH:/usr/sbin:/sbin
    command -v "$tool" >/dev/null && continue
    say "missing: $tool (package $tool)"
    [ "$install" = 1 ] || exit 1
    if [ "$yes" = 0 ]; then
        [ -t 0 ] || fail "no terminal to ask on: give --yes to install $tool"
        read -r -p "fresh: install $tool? [y/N] " answer || answer=
        case $answer in
        y | Y | yes) ;;
        *) fail "not installed" ;;
        esac
    fi
    apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
        --no-install-recommends "$tool" || fail "$tool could not be installed"
done

if [ -z "$mirror" ]; then
    codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
    mirror=$(apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(REPO_URI)' 'Created-By: Packages' |
        sed -n "s/^Debian|$codename|//p")
    mirror=${mirror%%$'\n'*}
    [ -n "$mirror" ] ||
        fail "apt knows no Debian mirror here: run apt-get update, or give one with --mirror URI"
fi

mkdir -p "$root/build"
log=$root/build/fresh-$suite.log
exec > >(tee "$log") 2>&1
tee_pid=$!

# ---- The bare system, and how it goes away again ------------------------------------------------

base=${TMPDIR:-/var/tmp}
target=$(mktemp -d "$base/vyre-fresh-$suite.XXXXXX")
mounts=()

finish() {
    local status=$? i
    trap - EXIT INT TERM HUP
    cd /
    for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do
        umount "${mounts[i]}" 2>/dev/null || umount -l "${mounts[i]}" || true
    done
    if grep -q " $target/" /proc/self/mounts; then
        printf 'fresh: still mounted, left alone: %s\n' "$target" >&2
    elif [ "$keep" = 1 ]; then
        say "kept: $target"
    else
        rm -rf --one-file-system "$target"
    fi
    if [ "$status" = 0 ]; then
        say "$suite: everything passed"
    else
        say "$suite: failed; log: $log"
    fi
    exec >&- 2>&-
    wait "$tee_pid" 2>/dev/null || true
    exit "$([ "$status" = 0 ] && echo 0 || echo 1)"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mount_at() {
    mount "$@" || fail "cannot mount: $*"
    mounts+=("${!#}")
}

chmod 755 "$target"
say "$suite: debootstrap"
debootstrap --variant=minbase --include=ca-certificates "$suite" "$target" "$mirror" >"$target.log" 2>&1 || {
    tail -n 30 "$target.log"
    rm -f "$target.log"
    fail "debootstrap of $suite failed"
}
rm -f "$target.log"

mount_at -t proc proc "$target/proc"
mkdir -p "$target/dev/shm"
mount_at -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$target/dev/shm"
# Terminals of its own, for tests that type.
mkdir -p "$target/dev/pts"
mount_at -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$target/dev/pts"
rm -f "$target/dev/ptmx"
ln -s pts/ptmx "$target/dev/ptmx"
for node in null zero full random urandom tty; do
    # debootstrap makes these where it is allowed to.
    if ! [ -c "$target/dev/$node" ] || ! head -c 0 "$target/dev/$node" 2>/dev/null; then
        rm -f "$target/dev/$node"
        : >"$target/dev/$node"
        mount_at --bind "/dev/$node" "$target/dev/$node"
    fi
done

# The way to the network is this machine's.
for file in resolv.conf hosts; do
    [ ! -e "/etc/$file" ] || cp -L "/etc/$file" "$target/etc/$file"
done
apt-config dump | grep -E '^Acquire::(http|https)::|^Acquire::Check-' \
    >"$target/etc/apt/apt.conf.d/90host" || true
if [ -d /usr/local/share/ca-certificates ] &&
    compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
    cp /usr/local/share/ca-certificates/*.crt "$target/usr/local/share/ca-certificates/"
    chroot "$target" update-ca-certificates >/dev/null 2>&1 || true
fi

home=/home/builder
tree=$home/libvyre-vk
chroot "$target" useradd --create-home --home-dir "$home" --shell /bin/bash builder
if [ "$worktree" = 1 ]; then
    say "copying the files of $root"
    mkdir "$target$tree"
    (cd "$root" && git -c "safe.directory=$root" ls-files -z --cached --others --exclude-standard |
        while IFS= read -r -d '' file; do
            [ ! -e "$file" ] || printf '%s\0' "$file"
        done | tar -c --null -T -) | tar -x -C "$target$tree"
else
    say "cloning HEAD"
    git -c "safe.directory=$root" -c "safe.directory=$root/.git" clone --quiet --no-hardlinks \
        "$root" "$target$tree" || fail "the repository cannot be cloned"
    if [ -n "$(git -C "$root" -c "safe.directory=$root" status --porcelain)" ]; then
        say "note: changes that are not committed are not in it"
    fi
fi
chroot "$target" chown -R builder:builder "$tree"

# run USER COMMAND...: with an environment of its own, in the tree.
run() {
    local user=$1 name environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
        LANG=C.UTF-8 TERM=dumb)
    shift
    if [ "$user" = root ]; then
        environment+=(HOME=/root)
        for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
            [ -z "${!name:-}" ] || environment+=("$name=${!name}")
        done
        chroot "$target" env -i "${environment[@]}" bash -c "cd $tree && exec \"\$@\"" bash "$@" </dev/null
    else
        # No network for him: everything must be there by now.
        environment+=("HOME=$home" "USER=$user")
        "${offline[@]}" chroot --userspec="$user:$user" "$target" env -i "${environment[@]}" \
            bash -c "cd $tree && exec \"\$@\"" bash "$@" </dev/null
    fi
}
offline=(unshare --net)
if ! "${offline[@]}" true 2>/dev/null; then
    offline=(env)
    say "note: no network namespaces here, so the tests run with the network"
fi

say "tools/setup.sh as root"
run root tools/setup.sh --yes || fail "tools/setup.sh failed in $suite"
chroot "$target" chown -R builder:builder "$tree"
for step in "${steps[@]}"; do
    say "tools/$step.sh as an ordinary user"
    run builder "tools/$step.sh" --yes || fail "tools/$step.sh failed in $suite"
done
