#include "tests/support/trips.h"

typedef struct writer {
    vy_text *out;
    uint64_t state;
    uint32_t names, depth; /* names: c0, c1, ... that are there */
    bool is_signed;        /* the index */
    bool carries;          /* the loop has a `var` */
} writer;

static uint32_t pick(writer *w, uint32_t count)
{
    w->state = w->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->state >> 33) % count;
}

static void indent(writer *w)
{
    vy_text_printf(w->out, "%*s", (int)(4 * w->depth), "");
}

/* A u32. */
static void put_value(writer *w)
{
    switch (pick(w, w->names ? 8 : 5)) {
    case 0:
        vy_text_printf(w->out, "%uu", (unsigned)pick(w, 40));
        break;
    case 1:
        vy_text_printf(w->out, w->is_signed ? "u32(e)" : "e");
        break;
    case 2:
        vy_text_printf(w->out, "(%s * %uu)", w->is_signed ? "u32(e)" : "e",
                       (unsigned)(1 + pick(w, 5)));
        break;
    case 3:
        vy_text_printf(w->out, w->carries ? "sum" : "p");
        break;
    case 4:
        vy_text_printf(w->out, w->is_signed ? "u32(e + 2)" : "(e + 2)");
        break;
    default:
        vy_text_printf(w->out, "c%u", (unsigned)pick(w, w->names));
        break;
    }
}

static void put_place(writer *w)
{
    static const char *const buffers[] = {"y", "y", "z", "z", "k"};
    uint32_t buffer = pick(w, VY_COUNT_OF(buffers));
    vy_text_printf(w->out, "%s[", buffers[buffer]);
    put_value(w);
    vy_text_printf(w->out, " & %uu]", buffer == 4 ? 7u : 31u);
}

/* Loads and atomics that give a name. */
static void put_name(writer *w)
{
    static const char *const atomics[] = {"add", "min", "max", "xor", "exchange"};
    indent(w);
    vy_text_printf(w->out, "let c%u = ", (unsigned)w->names);
    switch (pick(w, 7)) {
    case 0:
    case 1:
        vy_text_printf(w->out, "x[e]\n");
        break;
    case 2:
        vy_text_printf(w->out, "x[");
        put_value(w);
        vy_text_printf(w->out, "]\n");
        break;
    case 3:
        put_place(w);
        vy_text_printf(w->out, "\n");
        break;
    case 4:
        put_value(w);
        vy_text_printf(w->out, " * 7u + ");
        put_value(w);
        vy_text_printf(w->out, "\n");
        break;
    default:
        vy_text_printf(w->out, "atomic_%s(", atomics[pick(w, VY_COUNT_OF(atomics))]);
        put_place(w);
        vy_text_printf(w->out, ", ");
        put_value(w);
        vy_text_printf(w->out, "%s)\n", pick(w, 24) ? "" : ", acq_rel");
        break;
    }
    w->names++;
}

static void put_statements(writer *w, uint32_t count);

static void put_list(writer *w)
{
    uint32_t names = w->names;
    w->depth++;
    put_statements(w, 1 + pick(w, 2));
    w->depth--;
    w->names = names;
}

static void put_condition(writer *w)
{
    put_value(w);
    vy_text_printf(w->out, " %s ", pick(w, 2) ? ">" : "!=");
    put_value(w);
    vy_text_printf(w->out, " {\n");
}

static void put_branch(writer *w)
{
    indent(w);
    if (pick(w, 4)) {
        vy_text_printf(w->out, "if ");
        put_condition(w);
        put_list(w);
        indent(w);
        if (pick(w, 2)) {
            vy_text_printf(w->out, "} else {\n");
            put_list(w);
            indent(w);
        }
        vy_text_printf(w->out, "}\n");
        return;
    }
    vy_text_printf(w->out, "switch (");
    put_value(w);
    vy_text_printf(w->out, ") & 3u {\n");
    for (uint32_t i = 0; i < 2; i++) {
        indent(w);
        vy_text_printf(w->out, "case %u {\n", (unsigned)i);
        put_list(w);
        indent(w);
        vy_text_printf(w->out, "}\n");
    }
    indent(w);
    vy_text_printf(w->out, "default {\n");
    put_list(w);
    indent(w);
    vy_text_printf(w->out, "}\n");
    indent(w);
    vy_text_printf(w->out, "}\n");
}

/* What leaves a loop as it is. */
static void put_other(writer *w)
{
    indent(w);
    switch (pick(w, 3)) {
    case 0:
        vy_text_printf(w->out, "if ");
        put_condition(w);
        vy_text_printf(w->out, "%*s%s\n", (int)(4 * w->depth + 4), "",
                       pick(w, 2) ? "break" : "continue");
        indent(w);
        vy_text_printf(w->out, "}\n");
        break;
    case 1:
        vy_text_printf(w->out, "for f%u in 0u .. p & 3u {\n", (unsigned)w->depth);
        put_list(w);
        indent(w);
        vy_text_printf(w->out, "}\n");
        break;
    default:
        vy_text_printf(w->out, w->carries ? "sum = sum * 3u + 1u\n" : "k[1] = k[1] + 1u\n");
        break;
    }
}

static void put_statements(writer *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = pick(w, 40);
        if (kind < 18) {
            put_name(w);
        } else if (kind < 27 || (kind < 38 && w->depth > 3)) {
            indent(w);
            put_place(w);
            vy_text_printf(w->out, " = ");
            put_value(w);
            vy_text_printf(w->out, "\n");
        } else if (kind < 38) {
            put_branch(w);
        } else {
            put_other(w);
        }
    }
}

static void put_loop(writer *w)
{
    static const char *const ranges[] = {"0u .. len(x)",
                                         "x[0] .. x[1]",
                                         "x[1] .. x[0]",
                                         "p .. p + x[2]",
                                         "4294967200u + x[3] .. 4294967290u",
                                         "0u .. 43u",
                                         "p .. len(y)",
                                         "0i .. i32(x[1])",
                                         "-9i .. i32(x[2])",
                                         "i32(p) - 40i .. -3i",
                                         "2147483600i + i32(x[2]) .. 2147483647i",
                                         "-2147483647i - 1i .. i32(p) - 2147483640i"};
    uint32_t range = pick(w, VY_COUNT_OF(ranges));
    w->is_signed = range >= 7;
    w->carries = pick(w, 12) == 0;
    w->names = 0;
    w->depth = 1;
    if (w->carries) {
        vy_text_printf(w->out, "    var sum: u32 = p\n");
    }
    vy_text_printf(w->out, "    for e in %s {\n", ranges[range]);
    w->depth = 2;
    if (pick(w, 3)) {
        vy_text_printf(w->out, "        let c0 = x[e]\n");
        w->names = 1;
    }
    put_statements(w, 2 + pick(w, 4));
    vy_text_printf(w->out, "    }\n");
    if (w->carries) {
        vy_text_printf(w->out, "    k[7] = sum\n");
    }
}

void vy_trips_write(vy_text *out, uint64_t seed)
{
    writer w = {.out = out, .state = seed * 0x9e3779b97f4a7c15u + 7};
    vy_text_printf(out, "program trips\nworkgroup 1\nin x : u32[]\ninout y : u32[]\n"
                        "inout z : u32[]\ninout k : u32[8]\nparam p : u32\nkernel {\n");
    /* Two loops with the same names: each in a block of its own. */
    uint32_t loops = 1 + pick(&w, 2);
    for (uint32_t i = 0; i < loops; i++) {
        vy_text_printf(out, "    if p < %uu {\n", 100u + (unsigned)i);
        put_loop(&w);
        vy_text_printf(out, "    }\n");
    }
    vy_text_printf(out, "}\n");
}
