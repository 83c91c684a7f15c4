/* Programs that are made to have bounds: the form after all passes computes what the form as built
 * does, and everything that a pass calls safe is safe whenever it runs (ssa_run checks that). Their
 * indices, shifts, divisors, loops and conditions stand near limits of 32 bits and of lengths.
 * VYRE_SEEDS=FIRST:COUNT runs others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/passes/ssa.h"
#include "tests/kernel/ssa_run.h"
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COUNT 24u

typedef struct writer {
    vy_text text;
    uint64_t state;
    uint32_t names; /* values u0 .. and i0 .. in scope */
    uint32_t made;
    uint32_t scope[64]; /* name numbers; bit 31: i32 */
    uint32_t depth;
    bool has_narrow; /* the compiler knows integers of 8 and 16 bits */
} writer;

static uint32_t next(writer *w, uint32_t below)
{
    w->state = w->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->state >> 33) % below;
}

static void put(writer *w, const char *text)
{
    vy_text_printf(&w->text, "%s", text);
}

static const char *const literals[] = {"0",  "1",  "2",  "3",          "5",          "7",
                                       "8",  "15", "16", "31",         "32",         "33",
                                       "60", "63", "64", "2147483647", "2147483648", "4294967295"};
static const char *const sources[] = {"gid.x",  "lid.x",  "wid.x", "k",     "len(x)",
                                      "len(y)", "len(z)", "j",     "len(w)"};

static void unsigned_expr(writer *w, uint32_t depth);

static void signed_expr(writer *w, uint32_t depth)
{
    static const char *const atoms[] = {"s", "-1i", "0i", "7i", "-2147483648i", "n[0]"};
    static const char *const infix[] = {"+", "-", "*", "/", "%", "&", ">>"};
    uint32_t kind = next(w, depth ? 6 : 2);
    if (kind == 0) {
        put(w, atoms[next(w, VY_COUNT_OF(atoms))]);
    } else if (kind == 1) {
        for (uint32_t i = 0; i < 4 && w->names; i++) {
            uint32_t name = w->scope[next(w, w->names)];
            if (name >> 31) {
                vy_text_printf(&w->text, "v%u", (unsigned)(name & 0x7fffffffu));
                return;
            }
        }
        put(w, "s");
    } else if (kind == 2) {
        put(w, "i32(");
        unsigned_expr(w, depth - 1);
        put(w, ")");
    } else if (kind == 3) {
        put(w, next(w, 2) ? "min(" : "max(");
        signed_expr(w, depth - 1);
        put(w, ", ");
        signed_expr(w, depth - 1);
        put(w, ")");
    } else {
        put(w, "(");
        signed_expr(w, depth - 1);
        vy_text_printf(&w->text, " %s ", infix[next(w, VY_COUNT_OF(infix))]);
        signed_expr(w, depth - 1);
        put(w, ")");
    }
}

static void condition(writer *w, uint32_t depth)
{
    static const char *const compare[] = {"<", "<=", ">", ">=", "==", "!="};
    uint32_t kind = next(w, depth ? 6 : 3);
    if (kind < 3) {
        bool is_signed = kind == 2;
        (is_signed ? signed_expr : unsigned_expr)(w, depth ? depth - 1 : 0);
        vy_text_printf(&w->text, " %s ", compare[next(w, 6)]);
        (is_signed ? signed_expr : unsigned_expr)(w, 0);
    } else if (kind == 3) {
        put(w, "!(");
        condition(w, depth - 1);
        put(w, ")");
    } else {
        put(w, "(");
        condition(w, depth - 1);
        put(w, kind == 4 ? ") && (" : ") || (");
        condition(w, depth - 1);
        put(w, ")");
    }
}

static void call(writer *w, const char *name, uint32_t count, uint32_t depth)
{
    vy_text_printf(&w->text, "%s(", name);
    for (uint32_t i = 0; i < count; i++) {
        put(w, i ? ", " : "");
        unsigned_expr(w, depth);
    }
    put(w, ")");
}

static void access_to(writer *w, uint32_t depth)
{
    static const char *const places[] = {"x", "y", "z", "w", "m", "T"};
    vy_text_printf(&w->text, "%s[", places[next(w, VY_COUNT_OF(places))]);
    if (next(w, 5) == 0) {
        signed_expr(w, depth);
    } else {
        unsigned_expr(w, depth);
    }
    put(w, "]");
}

/* Through a type of 8 or 16 bits. */
static void narrow_expr(writer *w, uint32_t depth)
{
    static const char *const types[] = {"u8", "i8", "u16", "i16"};
    static const char *const infix[] = {"+", "-", "*", "/", "%", "&", "^"};
    static const char *const shifts[] = {"<<", ">>"};
    static const char *const calls[] = {"min", "max", "add_sat", "abs_diff"};
    const char *type = types[next(w, VY_COUNT_OF(types))];
    uint32_t kind = next(w, 4);
    if (kind == 0) {
        vy_text_printf(&w->text, "u32(%s(", type);
        unsigned_expr(w, depth);
        put(w, "))");
        return;
    }
    bool is_call = kind == 1, is_shift = kind == 2;
    vy_text_printf(&w->text, "u32(%s(%s(", is_call ? calls[next(w, VY_COUNT_OF(calls))] : "", type);
    unsigned_expr(w, depth);
    vy_text_printf(&w->text, ") %s ",
                   is_call    ? ","
                   : is_shift ? shifts[next(w, 2)]
                              : infix[next(w, VY_COUNT_OF(infix))]);
    vy_text_printf(&w->text, "%s(", is_shift ? "u32" : type);
    unsigned_expr(w, depth);
    put(w, ")))");
}

static void unsigned_expr(writer *w, uint32_t depth)
{
    static const char *const infix[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
    uint32_t kind = next(w, depth ? 15 : 4);
    if (kind == 0) {
        put(w, literals[next(w, VY_COUNT_OF(literals))]);
    } else if (kind == 1) {
        put(w, sources[next(w, VY_COUNT_OF(sources))]);
    } else if (kind < 4) {
        for (uint32_t i = 0; i < 4 && w->names; i++) {
            uint32_t name = w->scope[next(w, w->names)];
            if (!(name >> 31)) {
                vy_text_printf(&w->text, "v%u", (unsigned)name);
                return;
            }
        }
        put(w, "k");
    } else if (kind == 4) {
        access_to(w, depth - 1);
    } else if (kind == 5) {
        put(w, "select(");
        condition(w, depth - 1);
        put(w, ", ");
        unsigned_expr(w, depth - 1);
        put(w, ", ");
        unsigned_expr(w, depth - 1);
        put(w, ")");
    } else if (kind == 6) {
        static const char *const two[] = {"min",          "max",     "rotate_left", "add_sat",
                                          "rotate_right", "sub_sat", "abs_diff",    "unpack_byte"};
        call(w, two[next(w, VY_COUNT_OF(two))], 2, depth - 1);
    } else if (kind == 7) {
        static const char *const one[] = {"clz", "popcount", "~", "ctz"};
        call(w, one[next(w, VY_COUNT_OF(one))], 1, depth - 1);
    } else if (kind == 8) {
        call(w, next(w, 2) ? "clamp" : "extract_bits", 3, depth - 1);
    } else if (kind == 9) {
        put(w, next(w, 2) ? "u32(" : "bitcast<u32>(");
        signed_expr(w, depth - 1);
        put(w, ")");
    } else if (kind == 10 && w->has_narrow) {
        narrow_expr(w, depth - 1);
    } else {
        put(w, "(");
        unsigned_expr(w, depth - 1);
        vy_text_printf(&w->text, " %s ", infix[next(w, VY_COUNT_OF(infix))]);
        unsigned_expr(w, depth - 1);
        put(w, ")");
    }
}

static void name_value(writer *w, bool is_signed)
{
    vy_text_printf(&w->text, "v%u", (unsigned)w->made);
    if (w->names < VY_COUNT_OF(w->scope)) {
        w->scope[w->names++] = w->made | (is_signed ? 1u << 31 : 0);
    }
    w->made++;
}

static void statements(writer *w, uint32_t count);

static void body(writer *w)
{
    uint32_t names = w->names;
    put(w, " {\n");
    w->depth++;
    statements(w, 1 + next(w, 3));
    w->depth--;
    put(w, "}\n");
    w->names = names;
}

static void for_loop(writer *w)
{
    uint32_t names = w->names, kind = next(w, 5);
    bool is_signed = kind == 4;
    if (kind == 0) { /* anywhere, also around the end of the numbers */
        put(w, "let ");
        uint32_t name = w->made;
        name_value(w, false);
        uint32_t inside = w->names;
        w->names = names;
        put(w, " = ");
        unsigned_expr(w, 1);
        w->names = inside;
        vy_text_printf(&w->text, "\nfor v%u in v%u .. v%u + (", (unsigned)w->made, (unsigned)name,
                       (unsigned)name);
        unsigned_expr(w, 1);
        put(w, " & 15)");
    } else if (is_signed) {
        vy_text_printf(&w->text, "for v%u in i32(", (unsigned)w->made);
        unsigned_expr(w, 1);
        put(w, " & 15) - 8i .. i32(");
        unsigned_expr(w, 1);
        put(w, " & 15)");
    } else {
        vy_text_printf(&w->text, "for v%u in ", (unsigned)w->made);
        unsigned_expr(w, kind == 1 ? 0 : 1);
        put(w, kind == 2 ? " .. len(y)" : kind == 3 ? " .. len(w)" : " .. min(len(z), 20)");
    }
    if (next(w, 2)) {
        put(w, " step ");
        if (next(w, 2)) {
            vy_text_printf(&w->text, "%u", (unsigned)(1 + next(w, 9)));
        } else if (is_signed) {
            put(w, "(s & ");
            signed_expr(w, 1);
            put(w, ")");
        } else {
            put(w, "(k & ");
            unsigned_expr(w, 1);
            put(w, ")");
        }
    }
    put(w, next(w, 3) == 0 ? " down" : "");
    if (w->names < VY_COUNT_OF(w->scope)) {
        w->scope[w->names++] = w->made | (is_signed ? 1u << 31 : 0);
    }
    w->made++;
    body(w);
    w->names = names;
}

static void while_loop(writer *w)
{
    uint32_t name = w->made, names = w->names;
    put(w, "var ");
    name_value(w, false);
    uint32_t inside = w->names;
    w->names = names; /* not in its own value */
    put(w, " = ");
    unsigned_expr(w, 1);
    w->names = inside;
    vy_text_printf(&w->text, "\nwhile v%u %s ", (unsigned)name, next(w, 3) ? "<" : "!=");
    unsigned_expr(w, 1);
    put(w, " {\n");
    w->depth++;
    statements(w, 1 + next(w, 2));
    w->depth--;
    static const char *const moves[] = {"+", "+", "-", "*", "<<", ">>"};
    if (next(w, 4) == 0) {
        put(w, "if ");
        condition(w, 1);
        put(w, " { continue }\n");
    }
    vy_text_printf(&w->text, "v%u = v%u %s ", (unsigned)name, (unsigned)name,
                   moves[next(w, VY_COUNT_OF(moves))]);
    unsigned_expr(w, next(w, 2));
    put(w, "\n}\n");
    w->names = inside; /* the variable stays */
}

/* An index beside a count that may go below 0. */
static void count_down(writer *w)
{
    uint32_t name = w->made;
    w->made += 2;
    vy_text_printf(&w->text, "var v%u = %u\nvar v%u = ", (unsigned)name, (unsigned)next(w, 4),
                   (unsigned)(name + 1));
    unsigned_expr(w, 0);
    vy_text_printf(&w->text, "\nwhile ");
    condition(w, 1);
    vy_text_printf(&w->text, " {\nif v%u != 0 {\ny[v%u] = 1\nw[v%u] = 2\n", (unsigned)name,
                   (unsigned)(name + 1), (unsigned)(name + 1));
    vy_text_printf(&w->text, "}\nv%u = v%u - 1\nv%u = v%u %s %u\n}\n", (unsigned)name,
                   (unsigned)name, (unsigned)(name + 1), (unsigned)(name + 1),
                   next(w, 2) ? "+" : "-", (unsigned)(1 + next(w, 7)));
}

/* Tiles of a buffer, and places in and behind them. */
static void tiles(writer *w)
{
    static const char *const of[] = {"y", "w", "z"};
    uint32_t size = 2 + next(w, 6), name = w->made++, kind = next(w, 3);
    const char *buffer = of[next(w, VY_COUNT_OF(of))];
    vy_text_printf(&w->text, "for v%u in ", (unsigned)name);
    unsigned_expr(w, next(w, 2));
    if (kind == 2) {
        vy_text_printf(&w->text, " .. min(len(%s) / %u, ", buffer, (unsigned)size);
        unsigned_expr(w, 1);
        put(w, ")");
    } else if (kind == 1) {
        uint32_t shift = next(w, 4);
        size = 1u << shift;
        vy_text_printf(&w->text, " .. len(%s) >> %u", buffer, (unsigned)shift);
    } else {
        vy_text_printf(&w->text, " .. len(%s) / %u", buffer, (unsigned)size);
    }
    put(w, " {\n");
    for (uint32_t i = 0; i < 2; i++) {
        vy_text_printf(&w->text, "%s[v%u * %u + (", buffer, (unsigned)name, (unsigned)size);
        unsigned_expr(w, 1);
        vy_text_printf(&w->text, ") %% %u + %u] += 1\n", (unsigned)(1 + next(w, size)),
                       (unsigned)next(w, 3));
    }
    vy_text_printf(&w->text, "%s[v%u * %u] = %s[(v%u << %u) + %u]\n}\n", buffer, (unsigned)name,
                   (unsigned)(size + next(w, 2)), buffer, (unsigned)name, (unsigned)next(w, 4),
                   (unsigned)next(w, 8));
}

/* Multiples of a number below something, and places behind them, which are neighbours. */
static void multiples(writer *w)
{
    static const char *const of[] = {"y", "w", "z"};
    const char *buffer = of[next(w, VY_COUNT_OF(of))];
    uint32_t shift = 1 + next(w, 3), size = 1u << shift, first = w->made++, end = w->made++;
    vy_text_printf(&w->text, "let v%u = ", (unsigned)first);
    put(w, "(");
    unsigned_expr(w, 1);
    vy_text_printf(&w->text, next(w, 2) ? ") * %u\n" : ") / %u * 8\n", (unsigned)size);
    vy_text_printf(&w->text, "let v%u = ", (unsigned)end);
    bool is_loop = next(w, 2) != 0;
    switch (next(w, is_loop ? 3 : 4)) { /* the last one may be too large to go up to */
    case 0:
        vy_text_printf(&w->text, "len(%s) / %u * %u\n", buffer, (unsigned)size, (unsigned)size);
        break;
    case 1:
        vy_text_printf(&w->text, "len(%s) & %u\n", buffer, (unsigned)(0u - size));
        break;
    case 2:
        vy_text_printf(&w->text, "min(len(%s) & 0xfffffff8, k << %u)\n", buffer, (unsigned)shift);
        break;
    default:
        vy_text_printf(&w->text, "len(%s) - %u\n", buffer, (unsigned)next(w, 9));
        break;
    }
    uint32_t at = first;
    if (is_loop) {
        at = w->made++;
        vy_text_printf(&w->text, "for v%u in v%u .. v%u step %u {\n", (unsigned)at, (unsigned)first,
                       (unsigned)end, (unsigned)(size * (1 + next(w, 2)) + (next(w, 4) == 0)));
    } else {
        vy_text_printf(&w->text, "if v%u %s v%u {\n", (unsigned)at,
                       next(w, 4) ? "<" : "<=", (unsigned)end);
    }
    for (uint32_t i = 2 + next(w, 4); i > 0; i--) {
        vy_text_printf(&w->text, "%s[v%u + %u] %s %s[v%u + %u]\n", buffer, (unsigned)at,
                       (unsigned)next(w, size + 1), next(w, 2) ? "+=" : "=",
                       of[next(w, VY_COUNT_OF(of))], (unsigned)at, (unsigned)next(w, size + 1));
    }
    put(w, "}\n");
}

static void store(writer *w)
{
    static const char *const places[] = {"y", "w", "m", "z"};
    uint32_t kind = next(w, 6);
    if (kind == 0) {
        vy_text_printf(&w->text, "atomic_add(%s[", next(w, 2) ? "y" : "w");
        unsigned_expr(w, 2);
        put(w, "], ");
        unsigned_expr(w, 1);
        put(w, ")\n");
        return;
    }
    vy_text_printf(&w->text, "%s[", places[next(w, VY_COUNT_OF(places))]);
    if (kind == 1) {
        signed_expr(w, 2);
    } else {
        unsigned_expr(w, 2);
    }
    put(w, "] = ");
    unsigned_expr(w, 2);
    put(w, "\n");
}

static void statement(writer *w)
{
    uint32_t kind = next(w, w->depth < 4 ? 12 : 4);
    bool is_signed = next(w, 4) == 0;
    if (kind == 0) {
        uint32_t names = w->names;
        put(w, next(w, 2) ? "let " : "var ");
        name_value(w, is_signed);
        uint32_t now = w->names;
        w->names = names; /* not in its own value */
        put(w, " = ");
        (is_signed ? signed_expr : unsigned_expr)(w, 3);
        put(w, "\n");
        w->names = now;
    } else if (kind < 4) {
        store(w);
    } else if (kind < 6) {
        put(w, "if ");
        condition(w, 2);
        body(w);
        if (next(w, 2)) {
            put(w, "else");
            body(w);
        } else if (next(w, 4) == 0) {
            put(w, "if ");
            condition(w, 1);
            put(w, " { return }\n");
        }
    } else if (kind < 8) {
        for_loop(w);
    } else if (kind == 8) {
        while_loop(w);
    } else if (kind == 10) {
        tiles(w);
    } else if (kind == 11) {
        multiples(w);
    } else {
        count_down(w);
    }
}

static void statements(writer *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        statement(w);
    }
}

static void write_program(writer *w, uint64_t seed)
{
    vy_text_init(&w->text, NULL);
    w->state = seed * 0x9e3779b97f4a7c15u + 77;
    w->names = w->made = w->depth = 0;
    put(w, "program t\nworkgroup 4\nloop_limit 12\nin x : u32[]\nin n : i32[]\ninout y : u32[]\n"
           "inout z : u32[len(x)]\nshared w : u32[16]\nparam k : u32\nparam j : u32\n"
           "param s : i32\nconst T : u32[] = [3, 1, 4, 1, 5]\nkernel {\nvar m : u32[8]\n");
    statements(w, 5 + next(w, 4));
    put(w, "y[gid.x] = y[gid.x] + m[gid.x & 7] + w[lid.x]\n}\n");
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct memory {
    uint32_t x[MAX_COUNT + 1], n[2], y[MAX_COUNT + 1], z[MAX_COUNT + 1];
    uint32_t params[3];
    vyre_host_buffer buffers[4];
} memory;

static void fill(memory *m, uint64_t seed, uint32_t round)
{
    static const uint32_t special[] = {0, 1, 2, 7, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff};
    writer w = {.state = seed * 31 + round * 7919u + 5};
    memset(m, 0, sizeof *m);
    uint32_t x_count = next(&w, MAX_COUNT), y_count = next(&w, MAX_COUNT);
    for (uint32_t i = 0; i < MAX_COUNT; i++) {
        m->x[i] = next(&w, 3) ? next(&w, 30) : special[next(&w, VY_COUNT_OF(special))];
        m->y[i] = next(&w, 30);
        m->z[i] = next(&w, 3) ? next(&w, 30) : special[next(&w, VY_COUNT_OF(special))];
    }
    m->n[0] = next(&w, 2) ? next(&w, 30) : special[next(&w, VY_COUNT_OF(special))];
    for (uint32_t i = 0; i < 3; i++) {
        m->params[i] = next(&w, 2) ? next(&w, 20) : special[next(&w, VY_COUNT_OF(special))];
    }
    m->buffers[0] = (vyre_host_buffer){m->x, x_count};
    m->buffers[1] = (vyre_host_buffer){m->n, 2};
    m->buffers[2] = (vyre_host_buffer){m->y, y_count};
    m->buffers[3] = (vyre_host_buffer){m->z, x_count};
}

static bool can_compile(const char *text)
{
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    bool can = vyre_program_parse(text, strlen(text), NULL, NULL, &program, &diag) == VYRE_OK &&
               vyre_kernel_compile(program, NULL, &kernel, &diag) == VYRE_OK;
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    return can;
}

static uint64_t check_seed(uint64_t seed, bool has_narrow)
{
    writer w = {.has_narrow = has_narrow};
    vyre_program *program = NULL;
    vyre_diag diag;
    uint64_t unchecked = 0;
    uint32_t pass_count = 0;
    (void)vy_passes_get(&pass_count);
    write_program(&w, seed);
    assert_false(w.text.failed);
    if (vyre_program_parse(w.text.data, w.text.size, NULL, NULL, &program, &diag) != VYRE_OK) {
        fail_msg("seed %llu: %u:%u: %s\n%s", (unsigned long long)seed, diag.line, diag.column,
                 diag.message, w.text.data);
    }
    for (uint32_t round = 0; round < 4; round++) {
        static memory wanted, got;
        ssa_run_report reports[2];
        char message[400] = "";
        fill(&wanted, seed, round);
        fill(&got, seed, round);
        ssa_run_params params = {
            .buffers = wanted.buffers, .params = wanted.params, .groups = {2, 1, 1}};
        bool right = ssa_run(program, &params, &reports[0], message, sizeof message);
        params.buffers = got.buffers;
        params.pass_count = pass_count;
        params.is_widened = round % 2 == 1;
        right = right && ssa_run(program, &params, &reports[1], message, sizeof message);
        if (!right || memcmp(wanted.y, got.y, sizeof got.y) != 0 ||
            memcmp(wanted.z, got.z, sizeof got.z) != 0) {
            fail_msg("seed %llu, round %u: %s\n%s", (unsigned long long)seed, (unsigned)round,
                     right ? "other results" : message, w.text.data);
        }
        unchecked += reports[1].unchecked;
    }
    vyre_program_destroy(&program);
    vy_text_finish(&w.text);
    return unchecked;
}

static void test_ranges_claim_nothing_wrong(void **state)
{
    (void)state;
    uint64_t first = 1, count = 400, unchecked = 0;
    const char *wanted = getenv("VYRE_SEEDS");
    bool has_narrow = can_compile("program t\nworkgroup 1\ninout y : u32[]\n"
                                  "kernel { y[0] = u32(u8(y[1]) + u8(y[2])) }");
    if (wanted) {
        char *end = NULL;
        first = strtoull(wanted, &end, 10);
        count = *end == ':' ? strtoull(end + 1, NULL, 10) : 1;
    }
    for (uint64_t seed = first; seed < first + count; seed++) {
        unchecked += check_seed(seed, has_narrow);
    }
    assert_true(wanted || unchecked > 10000); /* else there was nothing to get wrong */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_claim_nothing_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
