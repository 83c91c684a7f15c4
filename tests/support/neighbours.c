#include "tests/support/neighbours.h"

#include <string.h>

typedef struct writer {
    vy_text *out;
    uint64_t state;
    const char *types[3]; /* of x, y, z */
    uint32_t names;       /* given so far */
} writer;

static uint32_t pick(writer *w, uint32_t count)
{
    w->state = w->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->state >> 33) % count;
}

static const char *value_type(const writer *w, uint32_t buffer)
{
    return strcmp(w->types[buffer], "bf16") == 0 ? "f32" : w->types[buffer];
}

static const char buffer_names[] = "xyz";

/* What is loaded, as an u32. */
static void put_load(writer *w, uint32_t buffer, const char *base, uint32_t offset)
{
    vy_text_printf(w->out, "u32(%c[%s + %u])", buffer_names[buffer], base, (unsigned)offset);
}

static void put_store(writer *w, uint32_t buffer, const char *base, uint32_t offset,
                      const char *value)
{
    const char *type = value_type(w, buffer);
    vy_text_printf(w->out, "    %c[%s + %u] = ", buffer_names[buffer], base, (unsigned)offset);
    if (strcmp(type, "bool") == 0) {
        vy_text_printf(w->out, "(%s) & 1 == 1\n", value);
    } else {
        vy_text_printf(w->out, "%s((%s) & 63)\n", type, value);
    }
}

/* A name for where some neighbours begin, and how many there may be behind it. */
static uint32_t put_base(writer *w, char out_name[16])
{
    static const struct {
        const char *text;
        uint32_t room;
    } bases[] = {
        {"own", 16},
        {"own", 16},
        {"own + (v & 3) * 4", 4},
        {"own + (u & 1) * 8", 8},
        {"own + (v & 6)", 10},
        {"own + (u & 7)", 9}, /* nobody knows its low bits */
        {"own | 4", 12},
        {"own + 16 - (v & 3) * 4 - 4", 4},
    };
    uint32_t base = pick(w, VY_COUNT_OF(bases));
    if (base < 2) {
        strcpy(out_name, "own");
    } else {
        uint32_t name = w->names++;
        out_name[0] = 'a';
        out_name[1] = (char)('a' + name / 10 % 10);
        out_name[2] = (char)('0' + name % 10);
        out_name[3] = 0;
        vy_text_printf(w->out, "    let %s = %s\n", out_name, bases[base].text);
    }
    return bases[base].room;
}

/* 2, 4, 8 or 3 neighbours in some order. */
static uint32_t pick_order(writer *w, uint32_t room, uint32_t order[8], uint32_t *out_first)
{
    static const uint32_t counts[] = {4, 4, 4, 2, 2, 3, 8};
    uint32_t count = counts[pick(w, VY_COUNT_OF(counts))];
    count = count > room ? room : count;
    *out_first = pick(w, 3) ? pick(w, (room - count) / 4 + 1) * 4 : pick(w, room - count + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = pick(w, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    return count;
}

/* What lies between two accesses, sometimes. */
static void put_between(writer *w, const char *base, uint32_t room)
{
    switch (pick(w, 22)) {
    case 0:
        put_store(w, 1 + pick(w, 2), base, pick(w, room), "u + 5");
        break;
    case 1:
        vy_text_printf(w->out, "    u = u * 5 + ");
        put_load(w, 1 + pick(w, 2), base, pick(w, room));
        vy_text_printf(w->out, "\n");
        break;
    case 2:
        put_store(w, 1 + pick(w, 2), "own", pick(w, 16), "v");
        break;
    case 3:
        vy_text_printf(w->out, "    v = v ^ ");
        put_load(w, 1 + pick(w, 2), "own", pick(w, 16));
        vy_text_printf(w->out, "\n");
        break;
    case 4:
        vy_text_printf(w->out, "    atomic_add(k[%u], v)\n", (unsigned)pick(w, 8));
        break;
    case 5:
        vy_text_printf(w->out, "    atomic_add(k[1], 1, acq_rel)\n");
        break;
    case 6:
    case 8:
    case 9:
        if (strcmp(w->types[1], "u32") == 0) {
            vy_text_printf(w->out, "    atomic_xor(y[own + %u], u)\n", (unsigned)pick(w, 16));
        }
        break;
    case 7:
        vy_text_printf(w->out, "    own_odd = own + (v & 7)\n");
        put_store(w, 1 + pick(w, 2), "own_odd", pick(w, 9), "u");
        break;
    default:
        break;
    }
}

static void put_loads(writer *w, const char *base, uint32_t room)
{
    uint32_t order[8] = {0}, first, count = pick_order(w, room, order, &first);
    uint32_t buffer = pick(w, 3);
    for (uint32_t i = 0; i < count; i++) {
        vy_text_printf(w->out, "    v = v * 3 + ");
        put_load(w, buffer, base, first + order[i]);
        vy_text_printf(w->out, "\n");
        put_between(w, base, room);
    }
}

static void put_stores(writer *w, const char *base, uint32_t room)
{
    uint32_t order[8] = {0}, first, count = pick_order(w, room, order, &first);
    uint32_t buffer = 1 + pick(w, 2);
    for (uint32_t i = 0; i < count; i++) {
        char value[32] = "v + u * 0";
        value[8] = (char)('0' + order[i]);
        put_store(w, buffer, base, first + order[i], value);
        put_between(w, base, room);
    }
}

/* Each loaded, changed and stored before the next. */
static void put_in_place(writer *w, const char *base, uint32_t room)
{
    uint32_t order[8] = {0}, first, count = pick_order(w, room, order, &first);
    uint32_t from = pick(w, 3), to = 1 + pick(w, 2);
    for (uint32_t i = 0; i < count; i++) {
        char name[8] = "t";
        uint32_t number = w->names++;
        name[1] = (char)('a' + number / 10 % 10);
        name[2] = (char)('0' + number % 10);
        vy_text_printf(w->out, "    let %s = ", name);
        put_load(w, from, base, first + order[i]);
        vy_text_printf(w->out, "\n");
        put_store(w, to, base, first + order[i], name);
        put_between(w, base, room);
    }
}

void vy_neighbours_write(vy_text *out, uint64_t seed, const char *const *types, uint32_t type_count)
{
    writer w = {.out = out, .state = seed * 0x9e3779b97f4a7c15u};
    for (uint32_t i = 0; i < 3; i++) {
        w.types[i] = types[pick(&w, type_count)];
    }
    vy_text_printf(out,
                   "program p\nworkgroup 8\ngrid over y\nin x : %s[]\ninout y : %s[]\n"
                   "inout z : %s[]\ninout k : u32[8]\nkernel {\nlet me = %s\n"
                   "var v = me + 1\nvar u = 7\nvar own_odd = 0\n"
                   "if me < len(x) / 16 && me < len(y) / 16 && me < len(z) / 16 {\n"
                   "    let own = me * 16\n",
                   w.types[0], w.types[1], w.types[2], pick(&w, 2) ? "gid.x" : "wid.x * 8 + lid.x");
    for (uint32_t i = 2 + pick(&w, 5); i > 0; i--) {
        char base[16];
        uint32_t room = put_base(&w, base), kind = pick(&w, 7);
        if (kind < 3) {
            put_loads(&w, base, room);
        } else if (kind < 5) {
            put_stores(&w, base, room);
        } else {
            put_in_place(&w, base, room);
        }
        if (pick(&w, 4) == 0) {
            vy_text_printf(out, "    if v %% 3 == 1 { u = u + v }\n");
        }
    }
    vy_text_printf(out, "    z[own] = %s\n    atomic_add(k[0], v ^ u)\n}\n}\n",
                   strcmp(value_type(&w, 2), "bool") == 0 ? "v & 1 == 1" : "z[own + 1]");
}
