/* Random expressions over all types, built without text: what is printed of them reads back as the
 * same program. */
#include "tests/ir/text_support.h"

#include "tests/ir/build.h"

typedef struct maker {
    vyre_builder *b;
    uint64_t seed;
    vyre_ref param[VYRE_TYPE_COUNT];
    vyre_ref constant[VYRE_TYPE_COUNT];
    vyre_ref variable[VYRE_TYPE_COUNT];
} maker;

static uint32_t roll(maker *m, uint32_t sides)
{
    m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->seed >> 33) % sides;
}

static uint64_t some_bits(maker *m, vyre_type type)
{
    static const uint64_t edges[] = {0, 1, 2, 0x7f, 0x80, 0xff, UINT64_MAX, UINT64_MAX - 1};
    uint64_t random = (uint64_t)roll(m, UINT32_MAX) << 33 ^ roll(m, UINT32_MAX);
    uint64_t bits = roll(m, 2) ? edges[roll(m, VY_COUNT_OF(edges))] : random;
    if (vy_type_width(type) > 1 && roll(m, 4) == 0) {
        bits = (uint64_t)1 << (vy_type_width(type) - 1); /* the least signed value, or -0 */
    }
    return vy_type_bits(type, bits);
}

static bool is_value(vyre_type type)
{
    return type != VYRE_TYPE_VOID && type != VYRE_TYPE_BF16;
}

static vyre_type some_type(maker *m)
{
    for (;;) {
        vyre_type type = (vyre_type)(1 + roll(m, VYRE_TYPE_COUNT - 1));
        if (is_value(type)) {
            return type;
        }
    }
}

static vyre_expr make(maker *m, vyre_type type, uint32_t depth);

static vyre_expr make_vector(maker *m, vyre_type type, uint32_t depth)
{
    vyre_expr parts[4];
    vyre_type component = vy_type_component(type);
    uint32_t count = roll(m, 4) == 0 ? 1 : vy_type_components(type);
    if (count == 4 && roll(m, 3) == 0) {
        parts[0] = make(m, component, depth);
        parts[1] = make(m, vy_type_vector(component, 2), depth);
        parts[2] = make(m, component, depth);
        return vyre_build_vector(m->b, type, parts, 3);
    }
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = make(m, component, depth);
    }
    return vyre_build_vector(m->b, type, parts, count);
}

static vyre_expr make_leaf(maker *m, vyre_type type)
{
    switch (roll(m, 4)) {
    case 0:
        if (m->param[type].id) {
            return vyre_build_param_value(m->b, m->param[type]);
        }
        break;
    case 1:
        return vyre_build_constant_value(m->b, m->constant[type]);
    case 2:
        return get(m->b, m->variable[type]);
    default:
        break;
    }
    if (!vy_type_is_vector(type)) {
        return vyre_build_literal(m->b, type, some_bits(m, type));
    }
    return make_vector(m, type, 0);
}

/* A scalar beside vectors, now and then. */
static vyre_expr make_beside(maker *m, vyre_type type, uint32_t depth)
{
    return make(m, roll(m, 3) ? type : vy_type_component(type), depth);
}

static vyre_expr make_operator(maker *m, vyre_type type, uint32_t depth)
{
    static const vyre_op integers[] = {VYRE_OP_ADD, VYRE_OP_SUB,     VYRE_OP_MUL,     VYRE_OP_DIV,
                                       VYRE_OP_REM, VYRE_OP_AND,     VYRE_OP_OR,      VYRE_OP_XOR,
                                       VYRE_OP_MIN, VYRE_OP_ADD_SAT, VYRE_OP_MUL_HIGH};
    static const vyre_op floats[] = {VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_MUL,
                                     VYRE_OP_DIV, VYRE_OP_MIN, VYRE_OP_COPYSIGN};
    static const vyre_op bools[] = {VYRE_OP_LOGICAL_AND, VYRE_OP_LOGICAL_OR, VYRE_OP_EQ};
    vyre_expr x = make(m, type, depth), y = make_beside(m, type, depth);
    if (roll(m, 2)) {
        vyre_expr swap = x;
        x = y;
        y = swap;
    }
    vyre_op op = vy_type_is_integer(type) ? integers[roll(m, VY_COUNT_OF(integers))]
                 : vy_type_is_float(type) ? floats[roll(m, VY_COUNT_OF(floats))]
                                          : bools[roll(m, VY_COUNT_OF(bools))];
    return op2(m->b, op, x, y);
}

static vyre_expr make_unary(maker *m, vyre_type type, uint32_t depth)
{
    vyre_expr x = make(m, type, depth);
    if (vy_type_component(type) == VYRE_TYPE_BOOL) {
        return op1(m->b, VYRE_OP_NOT, x);
    }
    bool is_literal = !vy_type_is_signed(type) && vy_type_is_integer(type);
    if (is_literal || roll(m, 3) == 0) {
        return vy_type_is_float(type) ? op1(m->b, VYRE_OP_SQRT, x)
                                      : op1(m->b, VYRE_OP_COMPLEMENT, x);
    }
    return op1(m->b, VYRE_OP_NEGATE, x);
}

static vyre_expr make_bits(maker *m, vyre_type type, uint32_t depth)
{
    static const vyre_type amounts[] = {VYRE_TYPE_U32, VYRE_TYPE_U8, VYRE_TYPE_I64, VYRE_TYPE_I32};
    vyre_expr x = make(m, type, depth);
    if (roll(m, 2)) {
        return op2(m->b, roll(m, 2) ? VYRE_OP_SHL : VYRE_OP_ROTATE_LEFT, x,
                   make(m, amounts[roll(m, VY_COUNT_OF(amounts))], depth));
    }
    vyre_expr offset = make(m, VYRE_TYPE_U32, depth), count = make(m, VYRE_TYPE_U32, depth);
    if (roll(m, 2)) {
        return op3(m->b, VYRE_OP_EXTRACT_BITS, x, offset, count);
    }
    return vyre_build_op(m->b, VYRE_OP_INSERT_BITS, x, make_beside(m, type, depth), offset, count);
}

/* From any type of as many components. */
static vyre_expr make_cast(maker *m, vyre_type type, uint32_t depth)
{
    uint32_t count = vy_type_components(type);
    for (;;) {
        vyre_type from = some_type(m);
        bool same_size = vy_type_width(from) == vy_type_width(type) && vy_type_width(from) > 1;
        if (vy_type_components(from) != count) {
            continue;
        }
        vyre_expr x = make(m, from, depth);
        return same_size && roll(m, 2) ? vyre_build_bitcast(m->b, type, x)
                                       : vyre_build_cast(m->b, type, x);
    }
}

static vyre_expr make_swizzle(maker *m, vyre_type type, uint32_t depth)
{
    vyre_type component = vy_type_component(type);
    uint32_t have = roll(m, 2) ? 2 : 4;
    vyre_type from = vy_type_vector(component, have);
    if (from == VYRE_TYPE_VOID) {
        return make_leaf(m, type);
    }
    char names[5] = "";
    for (uint32_t i = 0; i < vy_type_components(type); i++) {
        names[i] = "xyzw"[roll(m, have)];
    }
    return vyre_build_swizzle(m->b, make(m, from, depth), names);
}

static vyre_expr make_bool(maker *m, vyre_type type, uint32_t depth)
{
    static const vyre_op tests[] = {VYRE_OP_LT, VYRE_OP_GE, VYRE_OP_EQ, VYRE_OP_NE};
    for (;;) {
        vyre_type from = some_type(m);
        if (vy_type_components(from) == vy_type_components(type) &&
            vy_type_component(from) != VYRE_TYPE_BOOL) {
            vyre_expr x = make(m, from, depth);
            return op2(m->b, tests[roll(m, VY_COUNT_OF(tests))], x, make_beside(m, from, depth));
        }
    }
}

static vyre_expr make(maker *m, vyre_type type, uint32_t depth)
{
    if (depth == 0) {
        return make_leaf(m, type);
    }
    depth--;
    bool is_bool = vy_type_component(type) == VYRE_TYPE_BOOL;
    switch (roll(m, 8)) {
    case 0:
        return make_unary(m, type, depth);
    case 1:
        return make_cast(m, type, depth);
    case 2:
        return make_swizzle(m, type, depth);
    case 3:
        return vy_type_is_vector(type) ? make_vector(m, type, depth) : make_leaf(m, type);
    case 4: {
        vyre_expr c = make(m, VYRE_TYPE_BOOL, depth), x = make(m, type, depth);
        return op3(m->b, VYRE_OP_SELECT, c, x, make_beside(m, type, depth));
    }
    case 5:
        return is_bool                    ? make_bool(m, type, depth)
               : vy_type_is_integer(type) ? make_bits(m, type, depth)
                                          : make_operator(m, type, depth);
    default:
        return make_operator(m, type, depth);
    }
}

static void declare(maker *m)
{
    for (unsigned t = 1; t < VYRE_TYPE_COUNT; t++) {
        vyre_type type = (vyre_type)t;
        char name[24];
        if (!is_value(type)) {
            continue;
        }
        snprintf(name, sizeof name, "p_%s", vyre_type_keyword(type));
        if (vyre_type_size(type)) {
            m->param[t] = vyre_build_param(m->b, name, type);
        }
        snprintf(name, sizeof name, "c_%s", vyre_type_keyword(type));
        if (vy_type_is_vector(type)) {
            uint32_t words[4];
            for (uint32_t i = 0; i < 4; i++) {
                words[i] = (uint32_t)some_bits(m, vy_type_component(type));
            }
            m->constant[t] = vyre_build_vector_constant(m->b, name, type, words);
        } else {
            m->constant[t] = vyre_build_constant(m->b, name, type, some_bits(m, type));
        }
    }
}

static void test_random_expressions_of_all_types_round_trip(void **state)
{
    (void)state;
    uint32_t finished = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        maker m = {.b = start(), .seed = seed * 0x9e3779b97f4a7c15u};
        declare(&m);
        for (unsigned t = 1; t < VYRE_TYPE_COUNT; t++) {
            char name[24];
            vyre_type type = (vyre_type)t;
            if (is_value(type)) {
                snprintf(name, sizeof name, "v_%s", vyre_type_keyword(type));
                m.variable[t] = vyre_build_var(m.b, name, VYRE_TYPE_VOID,
                                               vyre_build_constant_value(m.b, m.constant[t]));
            }
        }
        for (uint32_t i = 0; i < 4; i++) {
            char name[24];
            vyre_type type = some_type(&m);
            snprintf(name, sizeof name, "x%u", (unsigned)i);
            vyre_build_let(m.b, name, VYRE_TYPE_VOID, make(&m, type, 1 + roll(&m, 4)));
            vyre_build_assign(m.b, m.variable[type], make(&m, type, roll(&m, 3)));
        }
        vyre_program *program = NULL;
        vyre_diag diag;
        vyre_result result = vyre_builder_finish(&m.b, &program, &diag);
        if (result != VYRE_OK) {
            /* A literal may be negated that has no sign; that is the builder's to refuse. */
            if (!strstr(diag.message, "literal is negated")) {
                fail_msg("seed %llu: %s", (unsigned long long)seed, diag.message);
            }
            continue;
        }
        size_t size = 0;
        char *text = round_trip_program(program, &size);
        vyre_text_free(NULL, text, size);
        vyre_program_destroy(&program);
        finished++;
    }
    assert_true(finished > 1400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_expressions_of_all_types_round_trip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
