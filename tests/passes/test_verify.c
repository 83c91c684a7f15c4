/* The verifier refuses forms that were broken by hand, each for its own reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/passes/form_text.h"

#include <stdio.h>
#include <string.h>

/* One way to break a form; false where there is nothing of the kind to break. */
typedef void (*breaker)(ssa_case *c);

static vy_ins *first(ssa_case *c, uint32_t op)
{
    uint32_t i = case_find(c, op);
    assert_int_not_equal(i, 0);
    return &c->ssa.ins.data[i];
}

static uint32_t find_block(const ssa_case *c, vy_end_kind end, vy_merge_kind merge)
{
    for (uint32_t b = 1; b < c->ssa.blocks.count; b++) {
        if (c->ssa.blocks.data[b].end == end && c->ssa.blocks.data[b].merge_kind == merge) {
            return b;
        }
    }
    fail_msg("no such block");
    return 0;
}

static vy_block *block_with(ssa_case *c, vy_end_kind end, vy_merge_kind merge)
{
    return &c->ssa.blocks.data[find_block(c, end, merge)];
}

static void no_end(ssa_case *c)
{
    c->ssa.blocks.data[1].end = VY_END_NONE;
}

static void bad_target(ssa_case *c)
{
    c->ssa.blocks.data[1].target[0] = c->ssa.blocks.count;
}

static void use_before_definition(ssa_case *c)
{
    /* An addition uses itself. */
    uint32_t i = case_find(c, VYRE_OP_ADD);
    c->ssa.ins.data[i].arg[0] = i;
}

static void use_from_other_arm(ssa_case *c)
{
    /* The value of the arm, behind the merge. */
    vy_ins *store = first(c, VY_SSA_STORE);
    store->arg[1] = case_find(c, VYRE_OP_MUL);
}

static void no_operand(ssa_case *c)
{
    first(c, VYRE_OP_ADD)->arg[1] = 0;
}

static void operand_out_of_table(ssa_case *c)
{
    first(c, VYRE_OP_ADD)->arg[1] = 0x7fffffff;
}

static void operand_of_none(ssa_case *c)
{
    first(c, VYRE_OP_LOAD)->arg[1] = 0x7fffffff;
}

static void operand_of_phi(ssa_case *c)
{
    first(c, VY_SSA_PHI)->arg[0] = 0x7fffffff;
}

static void void_operand(ssa_case *c)
{
    first(c, VYRE_OP_ADD)->arg[1] = case_find(c, VY_SSA_STORE);
}

static void wrong_type(ssa_case *c)
{
    first(c, VYRE_OP_ADD)->type = VYRE_TYPE_I32;
}

static void wrong_buffer(ssa_case *c)
{
    first(c, VYRE_OP_LOAD)->ref = 99;
}

static void wrong_site(ssa_case *c)
{
    first(c, VY_SSA_RECORD)->ref = 99;
}

static void condition_of_wrong_type(ssa_case *c)
{
    block_with(c, VY_END_BRANCH, VY_MERGE_SELECTION)->cond = case_find(c, VYRE_OP_PARAM);
}

static void phi_misses_edge(ssa_case *c)
{
    first(c, VY_SSA_PHI)->bits = 1;
}

static void phi_edge_from_nowhere(ssa_case *c)
{
    c->ssa.phi_edges.data[first(c, VY_SSA_PHI)->ref].block = c->ssa.blocks.count - 1;
}

static void phi_edge_twice(ssa_case *c)
{
    vy_phi_edge *edges = &c->ssa.phi_edges.data[first(c, VY_SSA_PHI)->ref];
    edges[0].block = edges[1].block;
}

static void phi_of_wrong_type(ssa_case *c)
{
    first(c, VY_SSA_PHI)->type = VYRE_TYPE_F32;
}

static void phi_value_of_wrong_edge(ssa_case *c)
{
    /* A header's initial value that is computed in the loop. */
    vy_block *header = block_with(c, VY_END_JUMP, VY_MERGE_LOOP);
    const vy_ins *phi = &c->ssa.ins.data[header->first];
    vy_phi_edge *edges = &c->ssa.phi_edges.data[phi->ref];
    edges[0].value = edges[1].value;
}

static void phi_behind_others(ssa_case *c)
{
    uint32_t i = case_find(c, VYRE_OP_ADD);
    c->ssa.ins.data[i].op = VY_SSA_PHI;
    c->ssa.ins.data[i].arg[0] = c->ssa.ins.data[i].arg[1] = 0;
    c->ssa.ins.data[i].ref = 0;
}

static void no_merge(ssa_case *c)
{
    block_with(c, VY_END_BRANCH, VY_MERGE_SELECTION)->merge_kind = VY_MERGE_NONE;
}

static void merge_before_header(ssa_case *c)
{
    block_with(c, VY_END_BRANCH, VY_MERGE_SELECTION)->merge = 1;
}

static void loop_without_merge(ssa_case *c)
{
    block_with(c, VY_END_JUMP, VY_MERGE_LOOP)->merge_kind = VY_MERGE_NONE;
}

static void continue_goes_elsewhere(ssa_case *c)
{
    vy_block *header = block_with(c, VY_END_JUMP, VY_MERGE_LOOP);
    c->ssa.blocks.data[header->continue_block].target[0] = header->merge;
}

static void jump_into_loop(ssa_case *c)
{
    vy_block *header = block_with(c, VY_END_JUMP, VY_MERGE_LOOP);
    c->ssa.blocks.data[1].end = VY_END_JUMP;
    c->ssa.blocks.data[1].merge_kind = VY_MERGE_NONE;
    c->ssa.blocks.data[1].target[0] = header->continue_block;
}

static void jump_out_of_selection(ssa_case *c)
{
    /* The first arm of the if goes past the merge block. */
    vy_block *header = block_with(c, VY_END_BRANCH, VY_MERGE_SELECTION);
    vy_block *arm = &c->ssa.blocks.data[header->target[0]];
    arm->target[0] = header->merge + 1;
}

static void jump_to_merge_of_other(ssa_case *c)
{
    /* The first arm goes to the merge block of a loop that stands behind. */
    vy_block *header = block_with(c, VY_END_BRANCH, VY_MERGE_SELECTION);
    vy_block *arm = &c->ssa.blocks.data[header->target[0]];
    for (uint32_t b = header->merge; b < c->ssa.blocks.count; b++) {
        if (c->ssa.blocks.data[b].merge_kind == VY_MERGE_LOOP) {
            arm->target[0] = c->ssa.blocks.data[b].merge;
            return;
        }
    }
}

static void list_broken(ssa_case *c)
{
    c->ssa.blocks.data[1].last = c->ssa.blocks.data[1].first;
}

static void instruction_elsewhere(ssa_case *c)
{
    first(c, VYRE_OP_ADD)->block = 1;
    first(c, VYRE_OP_MUL)->block = 1;
}

static void removed_but_there(ssa_case *c)
{
    first(c, VYRE_OP_PARAM)->removed = true;
}

static void bool_literal(ssa_case *c)
{
    vy_ins *ins = first(c, VYRE_OP_LITERAL);
    ins->type = VYRE_TYPE_BOOL;
    ins->bits = 2;
}

typedef struct broken {
    const char *name;
    breaker run;
    const char *part;
} broken;

static const broken cases[] = {
    {"no_end", no_end, "does not end"},
    {"bad_target", bad_target, "does not exist"},
    {"use_before_definition", use_before_definition, "not known there"},
    {"use_from_other_arm", use_from_other_arm, "not known there"},
    {"no_operand", no_operand, "value that does not exist"},
    {"operand_out_of_table", operand_out_of_table, "value that does not exist"},
    {"void_operand", void_operand, "value that does not exist"},
    {"wrong_type", wrong_type, "type"},
    {"wrong_buffer", wrong_buffer, "types"},
    {"wrong_site", wrong_site, "types"},
    {"condition_of_wrong_type", condition_of_wrong_type, "wrong type"},
    {"operand_of_none", operand_of_none, "more operands"},
    {"operand_of_phi", operand_of_phi, "more operands"},
    {"phi_misses_edge", phi_misses_edge, "number of edges"},
    {"phi_edge_from_nowhere", phi_edge_from_nowhere, "does not lead here"},
    {"phi_edge_twice", phi_edge_twice, "does so twice"},
    {"phi_of_wrong_type", phi_of_wrong_type, "another type"},
    {"phi_value_of_wrong_edge", phi_value_of_wrong_edge, "not known there"},
    {"phi_behind_others", phi_behind_others, "stands behind"},
    {"no_merge", no_merge, "neither heads a selection nor leaves a loop"},
    {"merge_before_header", merge_before_header, "merge block does not lie behind"},
    {"loop_without_merge", loop_without_merge, "nor leaves a loop"},
    {"continue_goes_elsewhere", continue_goes_elsewhere, ""},
    {"jump_into_loop", jump_into_loop, ""},
    {"jump_out_of_selection", jump_out_of_selection, "structured"},
    {"jump_to_merge_of_other", jump_to_merge_of_other, "structured"},
    {"list_broken", list_broken, "last instruction"},
    {"instruction_elsewhere", instruction_elsewhere, "does not belong here"},
    {"removed_but_there", removed_but_there, "does not belong here"},
    {"bool_literal", bool_literal, "types"},
};

static const char program[] = "var s = k\nif s > 3 { s = s * 5 y[2] = 1 }\ny[0] = s\n"
                              "for i in 0 .. k { s = s + x[i] if s == 9 { trap(1) } }\ny[1] = s";

static void test_verify_accepts_what_is_right(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, program);
    case_build(&c, 0);
    assert_null(vy_ssa_verify(&c.ssa));
    case_finish(&c);
}

static void test_verify_refuses_what_is_broken(void **state)
{
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        ssa_case c;
        /* Statements that give "use_from_other_arm" its store behind the merge first. */
        bool other = cases[i].run == use_from_other_arm;
        case_init(&c, other ? "var s = k\nif s > 3 { s = s * 5 }\ny[0] = s" : program);
        case_build(&c, 0);
        cases[i].run(&c);
        const char *problem = vy_ssa_verify(&c.ssa);
        if (!problem || !strstr(problem, cases[i].part)) {
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].name, problem ? problem : "(right)",
                     cases[i].part);
        }
        case_finish(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verify_accepts_what_is_right),
        cmocka_unit_test(test_verify_refuses_what_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
