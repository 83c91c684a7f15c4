/* What the draining program does to an item of a queue without statuses. */
#ifndef VY_MEGAKERNEL_DRAIN_TEXT_ITEMS_H
#define VY_MEGAKERNEL_DRAIN_TEXT_ITEMS_H

static const char vy_drain_items_run[] =
    "fn mk_given(mk_code: u32) -> u32 {\n"
    "    return select(mk_code == 1 || mk_code > 255, 5, mk_code)\n"
    "}\n"
    "fn mk_ended(mk_code: u32) -> u32 {\n"
    "    return select(mk_code == 1 || mk_code > 255, 5, mk_code)\n"
    "}\n"
    "\n"
    "fn mk_run(mk_slot: u32, mk_op: u32, mk_a0: u32, mk_a1: u32, mk_a2: u32) -> u32 {\n"
    "    var mk_code = 0\n";

static const char vy_drain_items_end[] = "    return mk_code\n"
                                         "}\n"
                                         "\n";

static const char vy_drain_items_opcode[] =
    "fn mk_opcode_of(mk_word: u32) -> u32 { return mk_word }\n";

#endif
