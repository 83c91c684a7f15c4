/* What the scanning programs are made of. A row is a segment of a file; a tile is the rows of one
 * workgroup, with one automaton. Where "%s" stands, the parts that differ by variant go. */
#ifndef VY_SCAN_TEXT_PARTS_H
#define VY_SCAN_TEXT_PARTS_H

static const char vy_scan_masks[] = "inout masks : u32[]\n";

static const char vy_scan_head[] = "in text : u32x4[]\n"
                                   "in files : u32x4[]\n"
                                   "in table : u32[]\n"
                                   "in automata : u32[]\n"
                                   "in outputs : u32[]\n"
                                   "inout state : u32[]\n"
                                   "inout counts : u32[]\n"
                                   "inout places : u32[]\n"
                                   "inout hits : u32x4[]\n"
                                   "%s"
                                   "param row_count : u32\n"
                                   "param file_count : u32\n"
                                   "param segment_size : u32\n"
                                   "param overlap : u32\n"
                                   "param automaton_count : u32\n"
                                   "param first_hit : u32\n"
                                   "shared part : u32[WIDTH]\n"
                                   "shared span : u32[4]\n";

/* The last file whose first row is not behind this one: files without bytes have none. */
static const char vy_scan_file_of[] =
    "fn file_of(row: u32) -> u32 {\n"
    "    var low = 0\n"
    "    var high = file_count\n"
    "    for turn in 0 .. 32 {\n"
    "        if high - low <= 1 { break }\n"
    "        let middle = low + (high - low) / 2\n"
    "        if files[middle].w <= row { low = middle } else { high = middle }\n"
    "    }\n"
    "    return low\n"
    "}\n";

static const char vy_scan_by_overlap[] = "fn start_of(first: u32, own: u32) -> u32 {\n"
                                         "    return (own - min(own, overlap)) / 16\n"
                                         "}\n";

/* Unit by unit back to the last byte before the row that resets, or to the file's start. */
static const char vy_scan_by_reset[] =
    "fn resets(byte: u32) -> bool {\n"
    "    return (automata[automaton_count * 68 + byte / 32] >> (byte & 31)) & 1 != 0\n"
    "}\n"
    "fn start_of(first: u32, own: u32) -> u32 {\n"
    "    var unit = (own + 15) / 16\n"
    "    for turn in 0 .. (own + 15) / 16 {\n"
    "        unit -= 1\n"
    "        let four = text[first + unit]\n"
    "        var has_one = false\n"
    "        for k in 0 .. 16 {\n"
    "            let byte = (four_of(four, k / 4) >> ((k & 3) * 8)) & 255\n"
    "            if unit * 16 + k < own && resets(byte) { has_one = true }\n"
    "        }\n"
    "        if has_one { break }\n"
    "    }\n"
    "    return unit\n"
    "}\n";

static const char vy_scan_row_of[] =
    "// The unit of 16 bytes where scanning begins; the first byte that the row owns and the one\n"
    "// behind its last, both in the whole text; its file.\n"
    "fn row_of(row: u32) -> u32x4 {\n"
    "    if row >= row_count { return u32x4(0, 0, 0, 0) }\n"
    "    let file = file_of(row)\n"
    "    let f = files[file]\n"
    "    let own = (row - f.w) * segment_size\n"
    "    let stop = own + min(f.y - own, segment_size)\n"
    "    return u32x4(f.x + start_of(f.x, own), f.x * 16 + own, f.x * 16 + stop, file)\n"
    "}\n"
    "fn together(a: u32, b: u32) -> u32 {\n"
    "    return select(a + b < a, 0xffffffff, a + b)\n"
    "}\n";

static const char vy_scan_wide[] =
    "fn first_of(automaton: u32) -> u32 { return automata[automaton * 68] }\n"
    "fn behind(entry: u32, class: u32, automaton: u32) -> u32 {\n"
    "    return table[(entry & 0x7fffffff) + class]\n"
    "}\n"
    "fn has_ended(entry: u32) -> bool { return entry >= 0x80000000 }\n"
    "fn told_at(entry: u32, automaton: u32) -> u32 {\n"
    "    let at = automaton * 68\n"
    "    return automata[at + 2] + ((entry & 0x7fffffff) - automata[at]) / automata[at + 1]\n"
    "}\n";

static const char vy_scan_narrow[] =
    "fn first_of(automaton: u32) -> u32 { return 0 }\n"
    "fn behind(entry: u32, class: u32, automaton: u32) -> u32 {\n"
    "    let at = automaton * 68\n"
    "    let i = automata[at] + (entry & 0x7fff) * automata[at + 1] + class\n"
    "    return (table[i >> 1] >> ((i & 1) * 16)) & 0xffff\n"
    "}\n"
    "fn has_ended(entry: u32) -> bool { return entry >= 0x8000 }\n"
    "fn told_at(entry: u32, automaton: u32) -> u32 {\n"
    "    return automata[automaton * 68 + 2] + (entry & 0x7fff)\n"
    "}\n";

static const char vy_scan_class_load[] =
    "fn class_of(byte: u32, automaton: u32) -> u32 {\n"
    "    return (automata[automaton * 68 + 4 + byte / 4] >> ((byte & 3) * 8)) & 255\n"
    "}\n";

/* ---- Walking --------------------------------------------------------------------------------- */

static const char vy_scan_clear[] = "    region \"clear\" {\n"
                                    "        if gid.x < 8 { state[gid.x] = 0 }\n"
                                    "%s"
                                    "    }\n"
                                    "    grid_sync\n";

static const char vy_scan_clear_multiple[] =
    "        for row in gid.x .. row_count step num_groups.x * WIDTH {\n"
    "            counts[row] = 0\n"
    "            masks[row] = 0\n"
    "        }\n"
    "        for rows in gid.x .. row_tiles step num_groups.x * WIDTH { places[rows] = 0 }\n";

static const char vy_scan_walk[] = "    region \"walk\" {\n"
                                   "    for turn in 0 .. row_tiles * automaton_count + 1 {\n"
                                   "        if lid.x == 0 {\n"
                                   "            let mine = atomic_add(state[0], 1)\n"
                                   "            span[0] = mine\n"
                                   "            span[1] = 0\n"
                                   "            span[2] = 0\n"
                                   "        }\n"
                                   "        let tile = uniform span[0]\n"
                                   "        if tile >= row_tiles * automaton_count { break }\n"
                                   "        let automaton = tile / row_tiles\n"
                                   "        let rows = tile % row_tiles\n"
                                   "        let r = row_of(rows * WIDTH + lid.x)\n"
                                   "        for byte in lid.x .. 256 step WIDTH {\n"
                                   "            classes[byte] = class_of(byte, automaton)\n"
                                   "        }\n"
                                   "        var count = 0\n"
                                   "        var entry = first_of(automaton)\n";

/* Rows of a tile are copied together, 64 bytes of each at a time: neighbours read neighbours. A row
 * has 17 words, so that the invocations, each in its own row, meet in no bank. */
static const char vy_scan_staged[] =
    "        let pieces = (r.z - r.x * 16 + 63) / 64\n"
    "        begins[lid.x] = r.x\n"
    "        atomic_max(span[1], pieces)\n"
    "        let rounds = uniform span[1]\n"
    "        for step64 in 0 .. rounds {\n"
    "            for k in 0 .. 4 {\n"
    "                let i = k * WIDTH + lid.x\n"
    "                let four = text[begins[i / 4] + step64 * 4 + i %% 4]\n"
    "                let to = (i / 4) * 17 + (i %% 4) * 4\n"
    "                piece[to] = four.x\n"
    "                piece[to + 1] = four.y\n"
    "                piece[to + 2] = four.z\n"
    "                piece[to + 3] = four.w\n"
    "            }\n"
    "            barrier\n"
    "            if step64 < pieces {\n"
    "                for w in 0 .. 16 {\n"
    "                    let word = piece[lid.x * 17 + w]\n"
    "                    let at = r.x * 16 + step64 * 64 + w * 4\n"
    "%s"
    "                }\n"
    "            }\n"
    "            barrier\n"
    "        }\n";

static const char vy_scan_direct[] = "        barrier\n"
                                     "        for unit in r.x .. (r.z + 15) / 16 {\n"
                                     "            let four = text[unit]\n"
                                     "            for w in 0 .. 4 {\n"
                                     "                let word = four_of(four, w)\n"
                                     "                let at = unit * 16 + w * 4\n"
                                     "%s"
                                     "            }\n"
                                     "        }\n";

static const char vy_scan_four_of[] =
    "fn four_of(v: u32x4, w: u32) -> u32 {\n"
    "    return select(w < 2, select(w == 0, v.x, v.y), select(w == 2, v.z, v.w))\n"
    "}\n";

/* Byte %u of a word, at bit %u: what ends there counts where the row owns the byte. */
static const char vy_scan_count_byte[] =
    "                {\n"
    "                    entry = behind(entry, classes[(word >> %u) & 255], automaton)\n"
    "                    if has_ended(entry) {\n"
    "                        if at + %u - r.y < r.z - r.y {\n"
    "                            let told = told_at(entry, automaton)\n"
    "                            count = together(count, outputs[told + 1] - outputs[told])\n"
    "                        }\n"
    "                    }\n"
    "                }\n";

static const char vy_scan_walked[] =
    "        if count > most {\n"
    "            trap(1)\n"
    "            count = most\n"
    "        }\n"
    "%s"
    "        atomic_add(span[2], count)\n"
    "        let sums = uniform span[2]\n"
    "        if lid.x == 0 {\n"
    "%s"
    "            atomic_add(state[4], min(WIDTH, row_count - rows * WIDTH))\n"
    "        }\n"
    "    }\n"
    "    }\n"
    "    grid_sync\n";

static const char vy_scan_count_one[] = "        counts[rows * WIDTH + lid.x] = count\n";
static const char vy_scan_count_many[] =
    "        if count != 0 {\n"
    "            atomic_add(counts[rows * WIDTH + lid.x], count)\n"
    "            atomic_or(masks[rows * WIDTH + lid.x], 1 << automaton)\n"
    "        }\n";
static const char vy_scan_place_one[] = "            places[rows] = sums\n";
static const char vy_scan_place_many[] = "            atomic_add(places[rows], sums)\n";

/* ---- Placing --------------------------------------------------------------------------------- */

/* Sums of `part` up to each invocation; barriers on both sides. */
static const char vy_scan_sums[] = "fn add_up() {\n"
                                   "    barrier\n"
                                   "    for s in 0 .. %u {\n"
                                   "        var left = 0\n"
                                   "        if lid.x >> s != 0 { left = part[lid.x - (1 << s)] }\n"
                                   "        barrier\n"
                                   "        part[lid.x] = together(part[lid.x], left)\n"
                                   "        barrier\n"
                                   "    }\n"
                                   "}\n"
                                   "fn before_me() -> u32 {\n"
                                   "    var sum = 0\n"
                                   "    if lid.x != 0 { sum = part[lid.x - 1] }\n"
                                   "    return sum\n"
                                   "}\n";

static const char vy_scan_place[] =
    "    region \"place\" {\n"
    "    if wid.x == 0 {\n"
    "        var before = 0\n"
    "        for from in 0 .. row_tiles + 1 step WIDTH * 8 {\n"
    "            let mine = from + lid.x * 8\n"
    "            var sum = 0\n"
    "            for k in mine .. min(mine + 8, row_tiles) { sum = together(sum, places[k]) }\n"
    "            part[lid.x] = sum\n"
    "            add_up()\n"
    "            var place = together(before, before_me())\n"
    "            for k in mine .. min(mine + 8, row_tiles + 1) {\n"
    "                let here = places[k]\n"
    "                places[k] = place\n"
    "                place = together(place, select(k < row_tiles, here, 0))\n"
    "            }\n"
    "            let sums = uniform part[WIDTH - 1]\n"
    "            before = together(before, sums)\n"
    "        }\n"
    "        if lid.x == 0 { state[2] = before }\n"
    "    }\n"
    "    }\n"
    "    grid_sync\n";

/* ---- Writing --------------------------------------------------------------------------------- */

/* A place before the first hit asked for is a large number, and a store beyond the hits nothing. */
static const char vy_scan_write[] =
    "    region \"write\" {\n"
    "%s"
    "    for rows in wid.x .. row_tiles step num_groups.x {\n"
    "        if lid.x == 0 {\n"
    "            span[0] = places[rows]\n"
    "            span[1] = places[rows + 1]\n"
    "        }\n"
    "        let from = uniform span[0]\n"
    "        let to = uniform span[1]\n"
    "        if from != to && to > first_hit && from < together(first_hit, len(hits)) {\n"
    "            let count = select(rows * WIDTH + lid.x < row_count, counts[rows * WIDTH + "
    "lid.x], "
    "0)\n"
    "            part[lid.x] = count\n"
    "            add_up()\n"
    "            if count != 0 {\n"
    "                let r = row_of(rows * WIDTH + lid.x)\n"
    "                let f = files[r.w]\n"
    "                var place = from + part[lid.x] - count - first_hit\n"
    "                let last = place + count\n"
    "%s"
    "                for unit in r.x .. (r.z + 15) / 16 {\n"
    "                    if place == last { break }\n"
    "                    let four = text[unit]\n"
    "                    for w in 0 .. 4 {\n"
    "                        let word = four_of(four, w)\n"
    "                        for k in 0 .. 4 {\n"
    "                            let at = unit * 16 + w * 4 + k\n"
    "                            let byte = (word >> (k * 8)) & 255\n"
    "%s"
    "                        }\n"
    "                    }\n"
    "                }\n"
    "            }\n"
    "            barrier\n"
    "        }\n"
    "    }\n"
    "    }\n";

static const char vy_scan_write_start_one[] = "                var entry = first_of(0)\n";
static const char vy_scan_write_one[] =
    "                            entry = behind(entry, classes[byte], 0)\n"
    "                            if has_ended(entry) {\n"
    "                                if at - r.y < r.z - r.y {\n"
    "                                    let told = told_at(entry, 0)\n"
    "                                    for o in outputs[told] .. outputs[told + 1] {\n"
    "                                        hits[place] = u32x4(r.w, outputs[o], f.z, at - f.x * "
    "16)\n"
    "                                        place += 1\n"
    "                                    }\n"
    "                                }\n"
    "                            }\n";
static const char vy_scan_write_start_many[] =
    "                let mask = masks[rows * WIDTH + lid.x]\n"
    "                var entries : u32[32]\n"
    "                for a in 0 .. automaton_count { entries[a] = first_of(a) }\n";
static const char vy_scan_write_many[] =
    "                            for a in 0 .. automaton_count {\n"
    "                                if (mask >> a) & 1 != 0 {\n"
    "                                    let entry = behind(entries[a], class_of(byte, a), a)\n"
    "                                    entries[a] = entry\n"
    "                                    if has_ended(entry) && at - r.y < r.z - r.y {\n"
    "                                        let told = told_at(entry, a)\n"
    "                                        for o in outputs[told] .. outputs[told + 1] {\n"
    "                                            hits[place] = u32x4(r.w, outputs[o], f.z, at - "
    "f.x * 16)\n"
    "                                            place += 1\n"
    "                                        }\n"
    "                                    }\n"
    "                                }\n"
    "                            }\n";
static const char vy_scan_write_classes[] =
    "        for byte in lid.x .. 256 step WIDTH { classes[byte] = class_of(byte, 0) }\n"
    "        barrier\n";

#endif
