/* The draining program's kernel: how slots are claimed, what is counted of them, and when it ends.
 * Counts are kept by invocation, then in shared memory, and added to control once by workgroup. */
#ifndef VY_MEGAKERNEL_DRAIN_TEXT_LOOP_H
#define VY_MEGAKERNEL_DRAIN_TEXT_LOOP_H

static const char vy_drain_word_of[] =
    "fn mk_word_of(mk_i: u32) -> u32 {\n"
    "    return select(mk_i < 64, 64 + mk_i, select(mk_i < 76, 72 + mk_i, 1))\n"
    "}\n";

static const char vy_drain_take[] = "fn mk_take(mk_n: u32) -> u32 {\n"
                                    "    let mk_at = atomic_add(mk_control[141], mk_n)\n"
                                    "    return mk_at\n"
                                    "}\n";

static const char vy_drain_take_of_wave[] = "fn mk_take(mk_n: u32) -> u32 {\n"
                                            "    let mk_at = atomic_add(mk_cursors[pass], mk_n)\n"
                                            "    return mk_at\n"
                                            "}\n";

static const char vy_drain_kernel[] = "kernel {\n"
                                      "    var mk_done = 0\n"
                                      "    var mk_failed = 0\n"
                                      "    var mk_unknown = 0\n"
                                      "    var mk_denied = 0\n"
                                      "    var mk_given_back = 0\n"
                                      "    var mk_looked = 0\n";

static const char vy_drain_of_ring[] = "    let mk_all = min(mk_slot_count, len(mk_ring) / 16)\n";

static const char vy_drain_of_items[] =
    "    let mk_all = min(mk_slot_count, len(mk_ring))\n"
    "    var mk_ran = 0\n"
    "    var mk_last = 32\n"
    "    var mk_length = 0\n"
    "    var mk_gate = 5\n"
    "    if mk_tenant < 29 {\n"
    "        mk_gate = select(mk_control[mk_control[2] + mk_tenant] != 0, 2, 1)\n"
    "    }\n";

static const char vy_drain_whole[] =
    "    let mk_start = 0\n"
    "    // An atomic of a word that is not there gives 0, for ever.\n"
    "    let mk_count = select(len(mk_control) < 160, 0, mk_all)\n"
    "    for mk_turn in 0 .. mk_max_claims {\n";

static const char vy_drain_wave[] =
    "    let mk_start = min(mk_bounds[pass], mk_all)\n"
    "    let mk_to = min(mk_bounds[pass + 1], mk_all)\n"
    "    let mk_is_wave = pass < mk_waves && len(mk_control) >= 160 && mk_start < mk_to\n"
    "    let mk_count = select(mk_is_wave, mk_to - mk_start, 0)\n"
    "    for mk_turn in 0 .. 0xffffffff {\n";

/* Claims: each ends with the block in which mk_slot is there. */
static const char vy_drain_stop[] = "        var mk_stops = false\n"
                                    "        if mk_persistent != 0 {\n"
                                    "            let mk_stop = atomic_load(mk_control[0])\n"
                                    "            mk_stops = mk_stop != 0\n"
                                    "        }\n"
                                    "        if mk_stops { break }\n";

/* Each lane for itself. */
static const char vy_drain_by_lane[] = "        let mk_at = mk_take(1)\n"
                                       "        if mk_at >= mk_count { break }\n"
                                       "        let mk_slot = mk_start + mk_at\n"
                                       "        {\n";

/* The lanes that are there, together: the first of them takes as many slots as they are. */
static const char vy_drain_by_subgroup[] =
    "        let mk_active = subgroup_add(1)\n"
    "        let mk_rank = subgroup_exclusive_add(1)\n"
    "        let mk_leads = subgroup_elect()\n"
    "        var mk_taken = 0\n"
    "        if mk_leads {\n"
    "            let mk_from = mk_take(mk_active)\n"
    "            mk_taken = mk_from\n"
    "        }\n"
    "        let mk_begin = subgroup_broadcast_first(mk_taken)\n"
    "        let mk_at = mk_begin + mk_rank\n"
    "        if mk_at >= mk_count { break }\n"
    "        let mk_slot = mk_start + mk_at\n"
    "        {\n";

/* The first invocation for all of its workgroup. */
static const char vy_drain_by_group[] = "        if lid.x == 0 {\n"
                                        "            var mk_stops = false\n"
                                        "            if mk_persistent != 0 {\n"
                                        "                let mk_stop = atomic_load(mk_control[0])\n"
                                        "                mk_stops = mk_stop != 0\n"
                                        "            }\n"
                                        "            var mk_taken = 0xffffffff\n"
                                        "            if !mk_stops {\n"
                                        "                let mk_from = mk_take(group_size.x)\n"
                                        "                mk_taken = mk_from\n"
                                        "            }\n"
                                        "            mk_first[0] = mk_taken\n"
                                        "        }\n"
                                        "        let mk_begin = uniform mk_first[0]\n"
                                        "        if mk_begin >= mk_count { break }\n"
                                        "        let mk_slot = mk_start + mk_begin + lid.x\n"
                                        "        if lid.x < mk_count - mk_begin {\n";

/* From the most urgent partition with something left; after 16 claims of CRITICAL and HIGH in a row
 * from the others first. */
static const char vy_drain_by_priority[] =
    "        let mk_streak = atomic_load(mk_control[135])\n"
    "        let mk_skipped = select(mk_streak >= 16, 2, 0)\n"
    "        var mk_part = 5\n"
    "        var mk_slot = 0\n"
    "        for mk_i in 0 .. 5 {\n"
    "            let mk_p = (mk_i + mk_skipped) % 5\n"
    "            let mk_from = min(mk_control[129 + mk_p], mk_count)\n"
    "            let mk_to = min(mk_control[130 + mk_p], mk_count)\n"
    "            let mk_room = select(mk_from < mk_to, mk_to - mk_from, 0)\n"
    "            let mk_seen = atomic_load(mk_control[148 + mk_p])\n"
    "            if mk_seen < mk_room {\n"
    "                let mk_at = atomic_add(mk_control[148 + mk_p], 1)\n"
    "                if mk_at < mk_room {\n"
    "                    mk_part = mk_p\n"
    "                    mk_slot = mk_from + mk_at\n"
    "                    break\n"
    "                }\n"
    "            }\n"
    "        }\n"
    "        if mk_part == 5 { break }\n"
    "        {\n";

static const char vy_drain_ring_body[] = "            let mk_came_to = mk_visit(mk_slot)\n"
                                         "            mk_looked += 1\n";

static const char vy_drain_partition[] = "            if mk_came_to > 1 {\n"
                                         "                atomic_add(mk_counts[64 + mk_part], 1)\n"
                                         "                if mk_part < 2 {\n"
                                         "                    atomic_add(mk_control[135], 1)\n"
                                         "                } else if mk_streak != 0 {\n"
                                         "                    atomic_store(mk_control[135], 0)\n"
                                         "                }\n"
                                         "            }\n";

static const char vy_drain_items_body[] =
    "            var mk_came_to = mk_gate\n"
    "            mk_looked += 1\n"
    "            if mk_gate == 2 {\n"
    "                let mk_item = mk_ring[mk_slot]\n"
    "                let mk_op = mk_opcode_of(mk_item.x)\n"
    "                let mk_code = mk_run(mk_slot, mk_op, mk_item.y, mk_item.z, mk_item.w)\n"
    "                mk_came_to = 2 + mk_code\n"
    "                mk_ran += 1\n"
    "                // Items of one opcode are often neighbours: the shared word gets their "
    "number.\n"
    "                let mk_metric = select(mk_op < 32 && mk_code != 1, mk_op, 32)\n"
    "                if mk_metric != mk_last {\n"
    "                    if mk_last < 32 { atomic_add(mk_counts[32 + mk_last], mk_length) }\n"
    "                    mk_last = mk_metric\n"
    "                    mk_length = 0\n"
    "                }\n"
    "                mk_length += 1\n"
    "            }\n";

static const char vy_drain_count[] =
    "            if mk_came_to == 1 { mk_denied += 1 }\n"
    "            if mk_came_to == 2 { mk_done += 1 }\n"
    "            if mk_came_to == 258 || mk_came_to == 259 { mk_given_back += 1 }\n"
    "            if mk_came_to > 2 && mk_came_to < 258 {\n"
    "                mk_failed += 1\n"
    "                if mk_came_to == 3 { mk_unknown += 1 }\n"
    "                let mk_first_fault = (0xfffff - min(mk_slot, 0xfffff)) << 8 | (mk_came_to - "
    "2)\n"
    "                atomic_max(mk_control[144], mk_first_fault)\n"
    "            }\n"
    "        }\n";

/* Nothing is left behind what was taken: another claim would find none. */
static const char vy_drain_was_last[] =
    "        if mk_count - mk_begin <= group_size.x { break }\n";

static const char vy_drain_again[] = "    }\n";

static const char vy_drain_flush_items[] =
    "    if mk_last < 32 { atomic_add(mk_counts[32 + mk_last], mk_length) }\n"
    "    if mk_ran != 0 {\n"
    "        atomic_add(mk_counts[mk_tenant], mk_ran)\n"
    "        if mk_priority < 5 { atomic_add(mk_counts[64 + mk_priority], mk_ran) }\n"
    "    }\n";

static const char vy_drain_flush_cursor[] =
    "    if mk_looked != 0 { atomic_add(mk_counts[69], mk_looked) }\n";

static const char vy_drain_flush[] =
    "    if mk_done != 0 { atomic_add(mk_counts[76], mk_done) }\n"
    "    if mk_denied != 0 { atomic_add(mk_counts[70], mk_denied) }\n"
    "    if mk_failed != 0 { atomic_add(mk_counts[71], mk_failed) }\n"
    "    if mk_unknown != 0 { atomic_add(mk_counts[74], mk_unknown) }\n"
    "    if mk_given_back != 0 { atomic_add(mk_counts[75], mk_given_back) }\n"
    "    barrier\n"
    "    for mk_i in lid.x .. 77 step group_size.x {\n"
    "        let mk_n = mk_counts[mk_i]\n"
    "        if mk_n != 0 { atomic_add(mk_control[mk_word_of(mk_i)], mk_n) }\n"
    "    }\n";

static const char vy_drain_poll_io[] =
    "    for mk_i in gid.x .. min(len(mk_io) / 8, 64) step group_size.x * num_groups.x {\n"
    "        let mk_at = 8 * mk_i\n"
    "        let mk_was = atomic_compare_exchange(mk_io[mk_at + 6], 1, 2, acquire)\n"
    "        if mk_was == 1 {\n"
    "            let mk_kind = mk_io[mk_at]\n"
    "            var mk_reply = 17\n"
    "            if mk_kind >= 1 && mk_kind <= 3 {\n"
    "                let mk_code = mk_io_function(mk_kind, mk_io[mk_at + 1], mk_io[mk_at + 2],\n"
    "                    mk_io[mk_at + 3], mk_io[mk_at + 4], mk_io[mk_at + 5], mk_io[mk_at + 7])\n"
    "                if mk_code == 0 { mk_reply = 16 }\n"
    "            }\n"
    "            atomic_store(mk_io[mk_at + 6], mk_reply, release)\n"
    "        }\n"
    "    }\n";

/* What the workgroups that left before added lies before what the last one reads. */
static const char vy_drain_result[] =
    "    if len(mk_result) != 0 {\n"
    "        barrier\n"
    "        let mk_leavers = num_groups.x * mk_launches\n"
    "        if lid.x == 0 {\n"
    "            var mk_before = 0\n"
    "            if mk_leavers == 1 {\n"
    "                mk_control[153] = 1\n"
    "            } else {\n"
    "                let mk_left = atomic_add(mk_control[153], 1, acq_rel)\n"
    "                mk_before = mk_left\n"
    "            }\n"
    "            mk_first[0] = mk_before\n"
    "        }\n"
    "        let mk_gone = uniform mk_first[0]\n"
    "        if mk_gone + 1 == mk_leavers {\n"
    "            for mk_i in lid.x .. min(len(mk_result), len(mk_control)) step group_size.x {\n"
    "                let mk_n = atomic_load(mk_control[mk_i])\n"
    "                mk_result[mk_i] = mk_n\n"
    "            }\n"
    "        }\n"
    "    }\n";

#endif
