#!/usr/bin/env bash
# Makes what vyre-bench scan scans of files that the machine has: a text and lists of patterns, packed
# into one file that can be carried to another machine.
set -euo pipefail

usage() {
    cat <<'EOT'
usage: tools/scan-data.sh OUT.tar.gz [--size MB]

Packs a folder scan-data of three files, for vyre-bench scan --data scan-data:

  text    licences, copyright files and change logs of the packages that are installed, sources of
          Perl and Python modules and C headers, one behind the other, without zero bytes
  words   words of six letters or more of the largest of the word lists under /usr/share/dict, in an
          order that looks like none and is always the same
  rules   phrases that rules of a web firewall look for, where package modsecurity-crs is installed;
          an empty file otherwise

  --size MB   of the text at most (default: 64)
  --help      this text

Packages that make it richer: wamerican-huge, modsecurity-crs, linux-source.

Exit: 0 packed; 1 something is missing or failed; 2 usage.
EOT
}

out='' size=64
while [ $# -gt 0 ]; do
    case $1 in
    --size)
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        size=$2
        shift
        ;;
    --help | -h) usage; exit 0 ;;
    *.tar.gz) out=$1 ;;
    *)
        printf 'scan-data: error: unknown argument: %s\n' "$1" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
done
[ -n "$out" ] || { usage >&2; exit 2; }
case $size in '' | 0* | *[!0-9]*) usage >&2; exit 2 ;; esac

fail() {
    printf 'scan-data: error: %s\n' "$1" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=$work/scan-data
mkdir "$data"
export LC_ALL=C

dictionary=
for name in american-english-insane american-english-huge american-english-large american-english \
    british-english words; do
    if [ -r "/usr/share/dict/$name" ]; then
        dictionary=/usr/share/dict/$name
        break
    fi
done
[ -n "$dictionary" ] || fail "there is no word list under /usr/share/dict; install wamerican-huge"
# A digest of each word gives the order.
grep -E '^[a-z]{6,}$' "$dictionary" | sort -u |
    awk '{ h = 5381; for (i = 1; i <= length($0); i++)
               h = (h * 33 + index("abcdefghijklmnopqrstuvwxyz", substr($0, i, 1))) % 4294967291;
           printf "%010d %s\n", (h * 40503) % 4294967291, $0 }' |
    sort | cut -d' ' -f2 >"$data/words"

: >"$data/rules"
for file in /usr/share/modsecurity-crs/rules/*.data; do
    if [ -r "$file" ]; then
        grep -Ev '^#|^[[:space:]]*$' "$file" || true
    fi
done | tr -d '\r' | awk 'length($0) >= 4' | sort -u >"$data/rules"

# Change logs are packed as they are installed; a limit for each file keeps the mixture.
{
    find -L /usr/share/common-licenses -type f -print0
    find /usr/share/doc -name copyright -type f -print0 | sort -z
    find /usr/share/doc -name '*.gz' -type f -print0 | sort -z
    find /usr/share/perl /usr/lib/python3 /usr/lib/python3.* /usr/include /usr/src -type f \
        \( -name '*.p[lmy]' -o -name '*.[ch]' \) -print0 2>/dev/null | sort -z
} | while IFS= read -r -d '' file; do
    case $file in
    *.gz) gzip -dc "$file" 2>/dev/null || true ;;
    *) cat "$file" 2>/dev/null || true ;;
    esac | head -c 1000000 | tr -d '\000' || true
done 2>/dev/null | head -c "$((size * 1000000))" >"$data/text" || true
[ -s "$data/text" ] || fail "there is no text under /usr/share"

tar -C "$work" --owner=0 --group=0 --mtime=@0 --sort=name -c scan-data | gzip -9n >"$out"
printf 'scan-data: %s: %s bytes; text %s, words %s, rules %s\n' "$out" "$(stat -c %s "$out")" \
    "$(stat -c %s "$data/text")" "$(wc -l <"$data/words")" "$(wc -l <"$data/rules")"
