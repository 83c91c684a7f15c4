/* Many elements from a short text: lists, and generators. */
#include "codegen/interp/float.h"
#include "codegen/interp/wide.h"
#include "codegen/ir/ir.h"
#include "tools/common/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const vy_loc nowhere = {0, 0};

/* ---- Lists ----------------------------------------------------------------------------------- */

static void trim(const char **begin, const char **end)
{
    while (*begin < *end && strchr(" \t\r\n", **begin)) {
        (*begin)++;
    }
    while (*begin < *end && strchr(" \t\r\n", (*end)[-1])) {
        (*end)--;
    }
}

vyre_result vy_list_parse(const char *text, vyre_type type, void **out_elements,
                          uint32_t *out_count, vyre_diag *diag)
{
    const char *begin = text, *end = text + strlen(text);
    size_t count = 0, size = 0;
    *out_elements = NULL;
    *out_count = 0;
    trim(&begin, &end);
    for (const char *at = begin; at < end; at++) {
        count += *at == ',';
    }
    count += begin < end;
    if (count >= UINT32_MAX || !vy_mul_size(count, vyre_type_size(type), &size)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "a list of %zu values is too long. Fix: give a file", count);
    }
    void *elements = malloc(size ? size : 1);
    if (!elements) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = VYRE_OK;
    for (size_t i = 0; i < count && result == VYRE_OK; i++) {
        const char *comma = memchr(begin, ',', (size_t)(end - begin));
        const char *from = begin, *to = comma ? comma : end;
        vy_value value;
        trim(&from, &to);
        result = vy_value_parse(from, (size_t)(to - from), type, &value, diag);
        vy_value_store(type, elements, i, &value);
        begin = comma ? comma + 1 : end;
    }
    if (result != VYRE_OK) {
        free(elements);
        return result;
    }
    *out_elements = elements;
    *out_count = (uint32_t)count;
    return VYRE_OK;
}

/* ---- Generators ------------------------------------------------------------------------------ */

typedef enum generator_kind { GEN_ZERO, GEN_IOTA, GEN_FILL, GEN_RANDOM, GEN_COUNT } generator_kind;

static const struct {
    const char *name;
    uint32_t least, most; /* arguments */
    const char *form;
} generators[GEN_COUNT] = {{"zero", 0, 0, "zero"},
                           {"iota", 0, 2, "iota[:START[:STEP]]"},
                           {"fill", 1, 1, "fill:V"},
                           {"random", 1, 3, "random:SEED[:LO:HI]"}};

static generator_kind find_generator(const char *text)
{
    size_t length = strcspn(text, ":");
    int kind = 0;
    while (kind < GEN_COUNT && (strlen(generators[kind].name) != length ||
                                memcmp(text, generators[kind].name, length) != 0)) {
        kind++;
    }
    return (generator_kind)kind;
}

bool vy_value_is_generator(const char *text)
{
    return find_generator(text) != GEN_COUNT;
}

/* The i-th number of the stream of `seed`: a mix of both (splitmix64). */
static uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0xd1342543de82ef95u + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t narrow(vyre_type type, double wide)
{
    uint64_t bits;
    if (type == VYRE_TYPE_F64) {
        memcpy(&bits, &wide, sizeof bits);
        return isnan(wide) ? vy_float_nan(type) : bits;
    }
    return type == VYRE_TYPE_BF16 ? vy_bf16_of_f32(vy_f32_narrow(wide))
                                  : vy_float_narrow(vy_float_format_get(type), wide);
}

/* Bits of a significand, the hidden one too. */
static uint32_t precision_of(vyre_type type)
{
    return type == VYRE_TYPE_BF16 ? 8 : vy_float_format_get(type)->precision;
}

static uint64_t random_integer(vyre_type type, uint64_t bits, uint64_t low, uint64_t high)
{
    uint32_t width = vy_type_width(type);
    uint64_t span = type == VYRE_TYPE_BOOL ? 2 : vy_type_bits(type, high - low);
    if (width == 64) {
        return span ? low + vy_wide_multiply(bits, span).high : bits;
    }
    span = span ? span : (uint64_t)1 << width;
    return vy_type_bits(type, low + ((bits >> 32) * span >> 32));
}

/* A scalar generator with its arguments, which are bits of the type; of floats also their values.
 */
typedef struct generator {
    generator_kind kind;
    vyre_type type;
    uint64_t arguments[4];
    double values[4];
    uint32_t given;
} generator;

static uint64_t random_float(const generator *g, uint64_t bits)
{
    uint32_t precision = precision_of(g->type);
    double low = g->values[1], high = g->values[2];
    double unit = (double)(bits >> (64 - precision)) / (double)((uint64_t)1 << precision);
    uint64_t value = narrow(g->type, low + (high - low) * unit);
    /* Rounding may reach the end that is not in the range. */
    return vy_scalar_widen(g->type, value) < high ? value : g->arguments[1];
}

static uint64_t generate_scalar(const generator *g, uint64_t i)
{
    const uint64_t *a = g->arguments;
    bool is_float = vy_type_is_float(g->type);
    switch (g->kind) {
    case GEN_IOTA:
        return is_float ? narrow(g->type, g->values[0] + g->values[1] * (double)i)
                        : vy_type_bits(g->type, (a[0] + i * a[1]) &
                                                    (g->type == VYRE_TYPE_BOOL ? 1 : UINT64_MAX));
    case GEN_RANDOM:
        return is_float ? random_float(g, random_bits(a[0], i))
                        : random_integer(g->type, random_bits(a[0], i), a[1], a[2]);
    default:
        return 0;
    }
}

/* An empty or turned range has no number to give. */
static bool is_range(vyre_type type, uint64_t low, uint64_t high)
{
    if (vy_type_is_float(type)) {
        double from = vy_scalar_widen(type, low), to = vy_scalar_widen(type, high);
        return from < to && isfinite(from) && isfinite(to) && isfinite(to - from);
    }
    return vy_type_is_signed(type)
               ? vy_type_signed_value(type, low) < vy_type_signed_value(type, high)
               : low < high;
}

static vyre_result read_arguments(const char *text, uint32_t components, generator *g,
                                  vyre_diag *diag)
{
    uint32_t most = g->kind == GEN_FILL ? components : generators[g->kind].most;
    const char *at = text + strcspn(text, ":");
    for (; *at && g->given < most; g->given++) {
        size_t length = strcspn(++at, ":");
        vyre_type wanted = g->kind == GEN_RANDOM && g->given == 0 ? VYRE_TYPE_U32 : g->type;
        vy_value value;
        vyre_result result = vy_value_parse(at, length, wanted, &value, diag);
        if (result != VYRE_OK) {
            return result;
        }
        g->arguments[g->given] = value.bits[0];
        at += length;
    }
    bool is_part = (g->kind == GEN_RANDOM && g->given == 2) ||
                   (g->kind == GEN_FILL && g->given != 1 && g->given != components);
    if (*at || g->given < generators[g->kind].least || is_part) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "'%.60s' has the wrong number of values. Fix: write %s", text,
                           generators[g->kind].form);
    }
    if (g->given == 3 && g->kind == GEN_RANDOM &&
        !is_range(g->type, g->arguments[1], g->arguments[2])) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "'%.60s' has no value between its limits. Fix: give LO less than HI, "
                           "both finite",
                           text);
    }
    return VYRE_OK;
}

vyre_result vy_value_generate(const char *text, vyre_type type, void *elements, uint32_t count,
                              vyre_diag *diag)
{
    uint32_t components = vy_type_components(type);
    generator g = {.kind = find_generator(text), .type = vy_type_component(type)};
    if (g.kind == GEN_COUNT) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "'%.60s' is no generator. Fix: give zero, iota, fill:V or random:SEED",
                           text);
    }
    uint64_t one = vy_type_is_float(g.type) ? narrow(g.type, 1.0) : 1;
    g.arguments[1] = g.kind == GEN_IOTA ? one : 0;
    g.arguments[2] = g.kind == GEN_RANDOM && vy_type_is_float(g.type) ? one : 0;
    vyre_result result = read_arguments(text, components, &g, diag);
    if (result != VYRE_OK) {
        return result;
    }
    for (int i = 0; i < 4 && vy_type_is_float(g.type); i++) {
        g.values[i] = vy_scalar_widen(g.type, g.arguments[i]);
    }
    vy_value value = {{0}};
    for (uint32_t c = 0; c < components && g.kind == GEN_FILL; c++) {
        value.bits[c] = g.arguments[g.given == 1 ? 0 : c];
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t c = 0; c < components && g.kind != GEN_FILL; c++) {
            value.bits[c] = generate_scalar(&g, (uint64_t)i * components + c);
        }
        vy_value_store(type, elements, i, &value);
    }
    return VYRE_OK;
}
