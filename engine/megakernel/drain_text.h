/* The parts of the draining program that are the same in all of its forms. docs/megakernel.md says
 * what its operations do; numbers are those of vyre/megakernel.h. All names begin with mk_, so that
 * a caller's do not collide.
 * No invocation waits for another, and each leaves the loop by a cursor or by its own number of
 * claims, so any grid finishes any queue. Words behind VYRE_CONTROL_OBSERVABLES are open to
 * operations, the protocol's are read alone. */
#ifndef VY_MEGAKERNEL_DRAIN_TEXT_H
#define VY_MEGAKERNEL_DRAIN_TEXT_H

static const char vy_drain_head[] = "param mk_slot_count : u32\n"
                                    "param mk_max_claims : u32\n"
                                    "param mk_persistent : u32\n"
                                    "param mk_tenant     : u32\n"
                                    "param mk_priority   : u32\n"
                                    "param mk_waves      : u32\n"
                                    "inout mk_control : u32[]\n";

static const char vy_drain_head_end[] = "inout mk_debug  : u32[]\n"
                                        "inout mk_io     : u32[]\n"
                                        "inout mk_result : u32[]\n"
                                        "// By a workgroup of words of control, which gets them "
                                        "once when it leaves: 64 to 127, 136 to 147, 1.\n"
                                        "shared mk_counts : u32[77]\n"
                                        "shared mk_first  : u32[1]\n";

static const char vy_drain_head_of_waves[] = "in      mk_bounds  : u32[]\n"
                                             "scratch mk_cursors : u32[mk_waves]\n";

static const char vy_drain_operations[] =
    "// What an operation may name beside its own: words behind the protocol's.\n"
    "fn mk_is_open(mk_word: u32) -> bool {\n"
    "    return mk_word >= 160 && mk_word < len(mk_control)\n"
    "}\n"
    "\n"
    "fn mk_store_word(mk_a0: u32, mk_a1: u32) -> u32 {\n"
    "    if !mk_is_open(mk_a1) { return 2 }\n"
    "    atomic_store(mk_control[mk_a1], mk_a0)\n"
    "    return 0\n"
    "}\n"
    "\n"
    "fn mk_add_word(mk_a0: u32, mk_a1: u32) -> u32 {\n"
    "    if !mk_is_open(mk_a1) { return 2 }\n"
    "    atomic_add(mk_control[mk_a1], mk_a0)\n"
    "    return 0\n"
    "}\n"
    "\n"
    "fn mk_load_word(mk_a0: u32, mk_a1: u32) -> u32 {\n"
    "    if mk_a0 >= len(mk_control) || mk_a1 >= len(mk_control) - 160 { return 2 }\n"
    "    let mk_value = atomic_load(mk_control[mk_a0])\n"
    "    atomic_store(mk_control[160 + mk_a1], mk_value)\n"
    "    return 0\n"
    "}\n"
    "\n"
    "fn mk_swap_word(mk_a0: u32, mk_a1: u32, mk_a2: u32) -> u32 {\n"
    "    if !mk_is_open(mk_a0) || mk_a0 >= len(mk_control) - 160 { return 2 }\n"
    "    let mk_before = atomic_compare_exchange(mk_control[mk_a0], mk_a1, mk_a2)\n"
    "    atomic_store(mk_control[160 + mk_a0], mk_before)\n"
    "    return 0\n"
    "}\n"
    "\n"
    "fn mk_copy_words(mk_a0: u32, mk_a1: u32, mk_a2: u32) -> u32 {\n"
    "    if mk_a2 == 0 { return 0 }\n"
    "    if !mk_is_open(mk_a1) || mk_a2 > len(mk_control) - mk_a1 { return 2 }\n"
    "    if mk_a0 >= len(mk_control) || mk_a2 > len(mk_control) - mk_a0 { return 2 }\n"
    "    for mk_i in 0 .. mk_a2 {\n"
    "        let mk_value = atomic_load(mk_control[mk_a0 + mk_i])\n"
    "        atomic_store(mk_control[mk_a1 + mk_i], mk_value)\n"
    "    }\n"
    "    return 0\n"
    "}\n"
    "\n"
    "fn mk_fence(mk_a1: u32) -> u32 {\n"
    "    atomic_add(mk_control[128], 1)\n"
    "    if len(mk_control) > 160 { atomic_store(mk_control[160], mk_a1) }\n"
    "    return 0\n"
    "}\n"
    "\n"
    "fn mk_shut_down() -> u32 {\n"
    "    atomic_store(mk_control[0], 1)\n"
    "    return 0\n"
    "}\n"
    "\n"
    "fn mk_print(mk_slot: u32, mk_a0: u32, mk_a1: u32, mk_a2: u32) -> u32 {\n"
    "    let mk_at = atomic_add(mk_debug[0], 4)\n"
    "    if mk_at < len(mk_debug) && len(mk_debug) - mk_at >= 5 {\n"
    "        mk_debug[mk_at + 1] = mk_a0\n"
    "        mk_debug[mk_at + 2] = mk_a1\n"
    "        mk_debug[mk_at + 3] = mk_a2\n"
    "        mk_debug[mk_at + 4] = mk_slot * 16\n"
    "    }\n"
    "    return 0\n"
    "}\n";

#endif
