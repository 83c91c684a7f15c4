/* Cases of programs over numbers. Those that sum in one order are compared bit by bit with loops in
 * float, which the build never contracts; the others with loops in double, within a slack. */
#include "tests/support/oracle.h"
#include "tests/support/oracle_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESULT (VY_SLOT_EXPECTED | VY_SLOT_SLACK)

static float float_at(const vy_slot *slot, size_t i)
{
    float value;
    memcpy(&value, &slot->in[i], sizeof value);
    return value;
}

static void fill_floats(vy_slot *slot, uint64_t *seed, float scale)
{
    for (uint32_t i = 0; slot && i < slot->count; i++) {
        slot->in[i] = vy_case_float(vy_random_float(seed) * scale);
    }
}

static void expect_near(vy_slot *slot, size_t i, double value, double slack)
{
    slot->expected[i] = vy_case_float((float)value);
    slot->slack[i] = (float)slack;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* RANDOM: rows of up to 15 elements; WIDE: every hundredth row is long; NONE: empty rows only. */
bool vy_make_spmv(vy_case *c, uint64_t seed)
{
    vy_slot *row_start = vy_case_add(c, "row_start", c->size + 1, VY_SLOT_IN);
    vy_slot *y = vy_case_add(c, "y", c->size, VY_SLOT_EXPECTED);
    vy_slot *x = vy_case_add(c, "x", c->size / 2 + 1, VY_SLOT_IN);
    if (!row_start || !y || !x) {
        return false;
    }
    for (uint32_t r = 0; r < c->size && c->variant != VY_VARIANT_NONE; r++) {
        uint32_t limit = c->variant == VY_VARIANT_WIDE && r % 100 == 7 ? 5000 : 16;
        row_start->in[r + 1] = row_start->in[r] + vy_random_below(&seed, limit);
    }
    uint32_t count = row_start->in[c->size];
    vy_slot *column = vy_case_add(c, "column", count, VY_SLOT_IN);
    vy_slot *value = vy_case_add(c, "value", count, VY_SLOT_IN);
    if (!column || !value) {
        return false;
    }
    fill_floats(x, &seed, 1.0f);
    fill_floats(value, &seed, 1.0f);
    for (uint32_t r = 0; r < c->size; r++) {
        float sum = 0.0f;
        for (uint32_t e = row_start->in[r]; e < row_start->in[r + 1]; e++) {
            column->in[e] = vy_random_below(&seed, x->count);
            sum += float_at(value, e) * float_at(x, column->in[e]);
        }
        y->expected[r] = vy_case_float(sum);
    }
    return true;
}

typedef struct shape {
    uint32_t m, k, n;
} shape;

/* Of about `size` results: SQUARE, one row where it is WIDE, or anything. */
static shape choose_shape(const vy_case *c, uint64_t *seed)
{
    shape s = {1, 7, c->size};
    if (c->variant == VY_VARIANT_SQUARE) {
        uint32_t root = vy_root_of(c->size);
        s = (shape){root, root, root};
    } else if (c->variant == VY_VARIANT_RANDOM) {
        s.m = vy_random_below(seed, 2 * vy_root_of(c->size) + 1);
        s.n = s.m ? c->size / s.m : 5;
        s.k = vy_random_below(seed, 100);
    }
    return s;
}

bool vy_make_matmul(vy_case *c, uint64_t seed)
{
    shape s = choose_shape(c, &seed);
    vy_slot *a = vy_case_add(c, "a", s.m * s.k, VY_SLOT_IN);
    vy_slot *b = vy_case_add(c, "b", s.k * s.n, VY_SLOT_IN);
    vy_slot *bias = vy_case_add(c, "bias", seed % 2 ? s.n : 0, VY_SLOT_IN);
    vy_slot *result = vy_case_add(c, "c", s.m * s.n, VY_SLOT_EXPECTED);
    float *sums = malloc(((size_t)s.n + 1) * sizeof *sums);
    bool ok = a && b && bias && result && sums;
    if (ok) {
        fill_floats(a, &seed, 1.0f);
        fill_floats(b, &seed, 1.0f);
        fill_floats(bias, &seed, 1.0f);
    }
    for (uint32_t i = 0; ok && i < s.m; i++) {
        for (uint32_t j = 0; j < s.n; j++) {
            sums[j] = 0.0f;
        }
        for (uint32_t d = 0; d < s.k; d++) {
            float factor = float_at(a, (size_t)i * s.k + d);
            for (uint32_t j = 0; j < s.n; j++) {
                sums[j] += factor * float_at(b, (size_t)d * s.n + j);
            }
        }
        for (uint32_t j = 0; j < s.n; j++) {
            float shift = j < bias->count ? float_at(bias, j) : 0.0f;
            result->expected[(size_t)i * s.n + j] = vy_case_float(sums[j] + shift);
        }
    }
    free(sums);
    vy_case_param(c, s.m);
    vy_case_param(c, s.k);
    vy_case_param(c, s.n);
    c->grid_elements = s.m * s.n;
    return ok;
}

static uint32_t join(uint32_t kind, uint32_t sum, uint32_t p, uint32_t q)
{
    uint64_t both = (uint64_t)p + q;
    uint32_t capped = both > UINT32_MAX ? UINT32_MAX : (uint32_t)both;
    uint32_t smaller = p < q ? p : q;
    switch (kind) {
    case 0:
        return sum + p * q;
    case 1:
        return capped < sum ? capped : sum;
    case 2:
        return capped > sum ? capped : sum;
    case 3:
        return smaller > sum ? smaller : sum;
    case 4:
        return sum | (p & q);
    default:
        return sum ^ (p & q);
    }
}

bool vy_make_semiring_matmul(vy_case *c, uint64_t seed)
{
    uint32_t kind = vy_random_below(&seed, 6);
    shape s = choose_shape(c, &seed);
    vy_slot *a = vy_case_add(c, "a", s.m * s.k, VY_SLOT_IN);
    vy_slot *b = vy_case_add(c, "b", s.k * s.n, VY_SLOT_IN);
    vy_slot *result = vy_case_add(c, "c", s.m * s.n, VY_SLOT_EXPECTED);
    if (!a || !b || !result) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        a->in[i] = vy_oracle_random(&seed) >> (i % 8 ? 4 : 0);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        b->in[i] = vy_oracle_random(&seed) >> (i % 8 ? 4 : 0);
    }
    for (uint32_t i = 0; i < s.m; i++) {
        for (uint32_t j = 0; j < s.n; j++) {
            uint32_t sum = kind == 1 ? UINT32_MAX : 0;
            for (uint32_t d = 0; d < s.k; d++) {
                sum = join(kind, sum, a->in[(size_t)i * s.k + d], b->in[(size_t)d * s.n + j]);
            }
            result->expected[(size_t)i * s.n + j] = sum;
        }
    }
    vy_case_param(c, kind);
    vy_case_param(c, s.m);
    vy_case_param(c, s.k);
    vy_case_param(c, s.n);
    c->grid_elements = s.m * s.n;
    return true;
}

/* `size` words of weights, or less than a row more; up to three rows of x. */
bool vy_make_linear_int4(vy_case *c, uint64_t seed)
{
    uint32_t group = 8 + 8 * vy_random_below(&seed, 3);
    uint32_t inputs = group * (1 + vy_random_below(&seed, 40));
    uint32_t outputs = c->size ? c->size / (inputs / 8) + 1 : 0;
    uint32_t rows = 1 + vy_random_below(&seed, 3), groups = outputs * (inputs / group);
    vy_slot *x = vy_case_add(c, "x", rows * inputs, VY_SLOT_IN);
    vy_slot *weight = vy_case_add(c, "weight", outputs * (inputs / 8), VY_SLOT_IN);
    vy_slot *scale = vy_case_add(c, "scale", groups, VY_SLOT_IN);
    vy_slot *zero = vy_case_add(c, "zero", groups, VY_SLOT_IN);
    vy_slot *y = vy_case_add(c, "y", rows * outputs, RESULT);
    if (!x || !weight || !scale || !zero || !y) {
        return false;
    }
    fill_floats(x, &seed, 1.0f);
    fill_floats(scale, &seed, 0.1f);
    fill_floats(zero, &seed, 8.0f);
    for (uint32_t i = 0; i < weight->count; i++) {
        weight->in[i] = vy_oracle_random(&seed);
    }
    for (uint32_t e = 0; e < y->count; e++) {
        uint32_t row = e / outputs, o = e % outputs;
        double sum = 0.0, size = 0.0;
        for (uint32_t i = 0; i < inputs; i++) {
            uint32_t q = weight->in[o * (inputs / 8) + i / 8] >> 4 * (i % 8) & 15;
            uint32_t of = o * (inputs / group) + i / group;
            double w = (double)float_at(scale, of) * (q - (double)float_at(zero, of));
            double v = (double)float_at(x, (size_t)row * inputs + i);
            sum += w * v;
            /* The program multiplies what it has summed. */
            size += fabs(v) * fabs((double)float_at(scale, of)) *
                    (q + fabs((double)float_at(zero, of)));
        }
        expect_near(y, e, sum, 1e-6 * size + 1e-9);
    }
    vy_case_param(c, inputs);
    vy_case_param(c, group);
    vy_case_param(c, outputs);
    c->grid_elements = weight->count;
    return true;
}

static int32_t byte_of(uint32_t word, uint32_t i)
{
    return (int8_t)(uint8_t)(word >> 8 * i);
}

/* About `size` words of weights; NONE: all rows are equal. */
bool vy_make_matvec_int8(vy_case *c, uint64_t seed)
{
    uint32_t words = 1 + vy_random_below(&seed, 40), rows = c->size / words;
    vy_slot *w = vy_case_add(c, "w", rows * words, VY_SLOT_IN);
    vy_slot *x = vy_case_add(c, "x", words, VY_SLOT_IN);
    vy_slot *y = vy_case_add(c, "y", rows, VY_SLOT_EXPECTED);
    vy_slot *top = vy_case_add(c, "top", 1, VY_SLOT_EXPECTED);
    if (!w || !x || !y || !top) {
        return false;
    }
    for (uint32_t i = 0; i < words; i++) {
        x->in[i] = vy_oracle_random(&seed);
    }
    for (uint32_t r = 0; r < rows; r++) {
        int32_t sum = 0;
        for (uint32_t i = 0; i < words; i++) {
            uint32_t *word = &w->in[(size_t)r * words + i];
            *word = c->variant == VY_VARIANT_NONE ? 0x807f0102 + i : vy_oracle_random(&seed);
            for (uint32_t b = 0; b < 4; b++) {
                sum += byte_of(*word, b) * byte_of(x->in[i], b);
            }
        }
        y->expected[r] = (uint32_t)sum;
        if (sum > (int32_t)y->expected[top->expected[0]]) {
            top->expected[0] = r;
        }
    }
    vy_case_param(c, words);
    c->grid_elements = w->count;
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A width that is not zero: one row where it is WIDE. */
static uint32_t choose_width(const vy_case *c, uint64_t *seed)
{
    uint32_t width = 1 + vy_random_below(seed, 700);
    return c->variant == VY_VARIANT_WIDE ? (c->size ? c->size : 1) : width;
}

bool vy_make_softmax(vy_case *c, uint64_t seed)
{
    uint32_t width = choose_width(c, &seed), rows = c->size / width;
    vy_slot *x = vy_case_add(c, "x", rows * width, VY_SLOT_IN);
    vy_slot *y = vy_case_add(c, "y", rows * width, RESULT);
    if (!x || !y) {
        return false;
    }
    fill_floats(x, &seed, 20.0f);
    for (uint32_t r = 0; r < rows; r++) {
        size_t first = (size_t)r * width;
        double sum = 0.0;
        if (width > 3) {
            x->in[first + width / 2] = 0xff800000; /* -inf gets nothing */
        }
        for (uint32_t i = 0; i < width; i++) {
            sum += exp((double)float_at(x, first + i));
        }
        for (uint32_t i = 0; i < width; i++) {
            double value = exp((double)float_at(x, first + i)) / sum;
            expect_near(y, first + i, value, value * 5e-5);
        }
    }
    vy_case_param(c, width);
    c->grid_elements = x->count;
    return true;
}

bool vy_make_layer_norm(vy_case *c, uint64_t seed)
{
    uint32_t width = choose_width(c, &seed), rows = c->size / width;
    uint32_t center = vy_random_below(&seed, 2);
    uint32_t extra = vy_random_below(&seed, 2) ? width : 0;
    vy_slot *x = vy_case_add(c, "x", rows * width, VY_SLOT_IN);
    vy_slot *gain = vy_case_add(c, "gain", extra, VY_SLOT_IN);
    vy_slot *shift = vy_case_add(c, "shift", extra, VY_SLOT_IN);
    vy_slot *y = vy_case_add(c, "y", rows * width, RESULT);
    if (!x || !gain || !shift || !y) {
        return false;
    }
    fill_floats(x, &seed, 5.0f);
    fill_floats(gain, &seed, 2.0f);
    fill_floats(shift, &seed, 2.0f);
    for (uint32_t r = 0; r < rows; r++) {
        size_t first = (size_t)r * width;
        double mean = 0.0, squares = 0.0;
        for (uint32_t i = 0; center && i < width; i++) {
            mean += (double)float_at(x, first + i) / width;
        }
        for (uint32_t i = 0; i < width; i++) {
            double d = (double)float_at(x, first + i) - mean;
            squares += d * d / width;
        }
        for (uint32_t i = 0; i < width; i++) {
            double value = ((double)float_at(x, first + i) - mean) / sqrt(squares + 0.125);
            double factor = extra ? (double)float_at(gain, i) : 1.0;
            value = value * factor + (extra ? (double)float_at(shift, i) : 0.0);
            expect_near(y, first + i, value, 1e-5 * (1.0 + fabs(value)));
        }
    }
    vy_case_param(c, width);
    vy_case_param(c, center);
    vy_case_param_float(c, 0.125f);
    c->grid_elements = x->count;
    return true;
}

typedef struct attention {
    uint32_t depth, queries, keys, heads, share, causal;
} attention;

static void attend(const attention *a, const vy_slot *const qkv[3], size_t row, vy_slot *y)
{
    uint32_t query = (uint32_t)(row % a->queries);
    size_t kv = row / a->queries / a->share * a->keys;
    uint32_t seen = a->causal ? query + 1 + a->keys - a->queries : a->keys;
    double sums[128] = {0.0}, total = 0.0;
    for (uint32_t key = 0; key < seen; key++) {
        double dot = 0.0;
        for (uint32_t d = 0; d < a->depth; d++) {
            dot += (double)float_at(qkv[0], row * a->depth + d) *
                   (double)float_at(qkv[1], (kv + key) * a->depth + d);
        }
        double weight = exp(dot / sqrt(a->depth)); /* of small numbers: needs no greatest one */
        total += weight;
        for (uint32_t d = 0; d < a->depth; d++) {
            sums[d] += weight * (double)float_at(qkv[2], (kv + key) * a->depth + d);
        }
    }
    for (uint32_t d = 0; d < a->depth; d++) {
        expect_near(y, row * a->depth + d, sums[d] / total, 1e-4);
    }
}

/* About `size` elements of y. */
bool vy_make_attention(vy_case *c, uint64_t seed)
{
    attention a = {.depth = 1 + vy_random_below(&seed, 128),
                   .share = 1 + vy_random_below(&seed, 2),
                   .causal = vy_random_below(&seed, 2)};
    a.heads = a.share * (1 + vy_random_below(&seed, 2));
    a.queries = c->size / (a.heads * a.depth) + (c->size != 0);
    uint32_t most = 40 + c->size / 100; /* of thin matrices there would be too much work */
    a.queries = a.queries < most ? a.queries : most;
    a.keys = a.queries + vy_random_below(&seed, 40) + (a.queries == 0);
    uint32_t kv_count = a.heads / a.share * a.keys * a.depth;
    vy_slot *q = vy_case_add(c, "q", a.heads * a.queries * a.depth, VY_SLOT_IN);
    vy_slot *k = vy_case_add(c, "k", kv_count, VY_SLOT_IN);
    vy_slot *v = vy_case_add(c, "v", kv_count, VY_SLOT_IN);
    vy_slot *y = vy_case_add(c, "y", a.heads * a.queries * a.depth, RESULT);
    if (!q || !k || !v || !y) {
        return false;
    }
    const vy_slot *const qkv[3] = {q, k, v};
    fill_floats(q, &seed, 3.0f);
    fill_floats(k, &seed, 1.0f);
    fill_floats(v, &seed, 1.0f);
    for (size_t row = 0; row < (size_t)a.heads * a.queries; row++) {
        attend(&a, qkv, row, y);
    }
    vy_case_param(c, a.depth);
    vy_case_param(c, a.queries);
    vy_case_param(c, a.keys);
    vy_case_param(c, a.share);
    vy_case_param(c, a.causal);
    c->grid_elements = y->count;
    return true;
}

/* ---- Transforms ------------------------------------------------------------------------------ */

/* y of n elements from every stride-th one of x, by halves; `turn` is 1 or -1. */
static void transform(const double *x, size_t stride, size_t n, double turn, double *y)
{
    if (n == 1) {
        y[0] = x[0];
        y[1] = x[1];
        return;
    }
    transform(x, 2 * stride, n / 2, turn, y);
    transform(x + 2 * stride, 2 * stride, n / 2, turn, y + n);
    for (size_t k = 0; k < n / 2; k++) {
        double angle = turn * 2.0 * 3.14159265358979323846 * (double)k / (double)n;
        double w_re = cos(angle), w_im = sin(angle);
        double *low = y + 2 * k, *high = y + n + 2 * k;
        double re = high[0] * w_re - high[1] * w_im, im = high[0] * w_im + high[1] * w_re;
        high[0] = low[0] - re;
        high[1] = low[1] - im;
        low[0] += re;
        low[1] += im;
    }
}

/* RANDOM: many short ones; ALL: one as long as fits. At least one is there unless size is 0. */
bool vy_make_fft(vy_case *c, uint64_t seed)
{
    uint32_t bits = 0;
    while (bits < 24 && 2u << bits <= c->size) {
        bits++;
    }
    if (c->variant == VY_VARIANT_RANDOM) {
        bits = vy_random_below(&seed, (bits < 11 ? bits : 11) + 1);
    }
    uint32_t n = 1u << bits, batch = c->size / n, inverse = vy_random_below(&seed, 2);
    uint32_t count = n * batch;
    vy_slot *x_re = vy_case_add(c, "x_re", count, VY_SLOT_IN);
    vy_slot *x_im = vy_case_add(c, "x_im", count, VY_SLOT_IN);
    vy_slot *y_re = vy_case_add(c, "y_re", count, RESULT);
    vy_slot *y_im = vy_case_add(c, "y_im", count, RESULT);
    double *x = malloc(2 * (size_t)n * sizeof *x), *y = malloc(2 * (size_t)n * sizeof *y);
    bool ok = x_re && x_im && y_re && y_im && x && y;
    if (ok) {
        fill_floats(x_re, &seed, 1.0f);
        fill_floats(x_im, &seed, 1.0f);
    }
    for (uint32_t b = 0; ok && b < batch; b++) {
        size_t first = (size_t)b * n;
        for (size_t i = 0; i < n; i++) {
            x[2 * i] = (double)float_at(x_re, first + i);
            x[2 * i + 1] = (double)float_at(x_im, first + i);
        }
        transform(x, 1, n, inverse ? 1.0 : -1.0, y);
        for (size_t i = 0; i < n; i++) {
            expect_near(y_re, first + i, y[2 * i], 2e-6 * sqrt(n));
            expect_near(y_im, first + i, y[2 * i + 1], 2e-6 * sqrt(n));
        }
    }
    free(x);
    free(y);
    vy_case_param(c, bits);
    vy_case_param(c, inverse);
    c->grid_elements = count;
    return ok;
}

/* By the definition. */
bool vy_make_ntt(vy_case *c, uint64_t seed)
{
    const uint64_t prime = 998244353;
    uint32_t count = (c->size + 255) / 256 * 256;
    vy_slot *x = vy_case_add(c, "x", c->size, VY_SLOT_IN);
    vy_slot *y = vy_case_add(c, "y", count, VY_SLOT_EXPECTED);
    uint64_t root = 1, power[256] = {1};
    for (uint32_t i = 0; i < (998244353 - 1) / 256; i++) {
        root = root * 3 % prime;
    }
    for (uint32_t i = 1; i < 256; i++) {
        power[i] = power[i - 1] * root % prime;
    }
    for (uint32_t i = 0; x && i < c->size; i++) {
        x->in[i] = vy_random_below(&seed, 998244353);
    }
    for (uint32_t i = 0; x && y && i < count; i++) {
        uint64_t sum = 0;
        for (uint32_t j = 0; j < 256 && i / 256 * 256 + j < c->size; j++) {
            sum += x->in[i / 256 * 256 + j] * power[j * (i % 256) % 256] % prime;
        }
        y->expected[i] = (uint32_t)(sum % prime);
    }
    return x && y;
}

/* ---- Heat ------------------------------------------------------------------------------------ */

/* One step; returns whether a point moved by more than nothing. */
static bool heat_step(const float *from, float *to, uint32_t width, uint32_t height, float rate)
{
    bool has_moved = false;
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            size_t i = y * width + x;
            to[i] = from[i];
            if (x == 0 || y == 0 || x + 1 == width || y + 1 == height) {
                continue;
            }
            float flow = from[i - 1] + from[i + 1] + from[i - width] + from[i + width];
            to[i] = from[i] + rate * (flow - 4.0f * from[i]);
            has_moved |= to[i] != from[i];
        }
    }
    return has_moved;
}

/* Five passes of two steps; WIDE: three rows. */
bool vy_make_heat(vy_case *c, uint64_t seed)
{
    uint32_t root = vy_root_of(c->size);
    uint32_t width = c->variant == VY_VARIANT_WIDE ? c->size / 3 : root;
    width = width ? width : 1;
    uint32_t height = c->variant == VY_VARIANT_WIDE && c->size >= 3 ? 3 : c->size / width;
    uint32_t count = width * height;
    vy_slot *u = vy_case_add(c, "u", count, VY_SLOT_IN | VY_SLOT_EXPECTED);
    float *now = malloc(((size_t)count + 1) * sizeof *now);
    float *other = malloc(((size_t)count + 1) * sizeof *other);
    bool ok = u && now && other, moves = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        now[i] = vy_random_float(&seed);
        u->in[i] = vy_case_float(now[i]);
    }
    c->passes = VY_CASE_BRIEF_GENERATIONS;
    while (ok && moves && c->passes_expected < c->passes) {
        heat_step(now, other, width, height, 0.2f);
        moves = heat_step(other, now, width, height, 0.2f);
        c->passes_expected++;
    }
    if (ok) {
        memcpy(u->expected, now, (size_t)count * sizeof *now);
    }
    free(now);
    free(other);
    vy_case_param(c, width);
    vy_case_param_float(c, 0.2f);
    vy_case_param_float(c, 0.0f);
    c->grid_elements = count;
    c->convergence = moves ? VYRE_CONVERGENCE_LIMIT : VYRE_CONVERGENCE_YES;
    return ok;
}
