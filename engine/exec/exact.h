/* Whether a device's own division and square root of f32 are exact. Only for devices on the
 * allow-list: a table of 98,304 pairs of 2^64 proves nothing of others, but trips where a driver, a
 * compiler or a processor is not what the list thinks. The pairs are those that go wrong first:
 * quotients and roots next to the middle between two numbers, denormal operands and results, powers
 * of two and their neighbours, literals as divisors and dividends. */
#ifndef VY_EXACT_H
#define VY_EXACT_H

#include "engine/device/device.h"

#define VY_EXACT_PAIRS    98304u
#define VY_EXACT_LITERALS 16u

/* Results by pair, in the places [what * PAIRS, (what + 1) * PAIRS) of the kernel's buffer. */
enum {
    VY_EXACT_QUOTIENT,   /* x / y */
    VY_EXACT_ROOT,       /* sqrt(x) */
    VY_EXACT_BY_LITERAL, /* x / vy_exact_divisors[i % LITERALS] */
    VY_EXACT_OF_LITERAL, /* vy_exact_dividends[i % LITERALS] / x */
    VY_EXACT_BOTH,       /* by i % 4: 1 / sqrt(x), x / sqrt(y), sqrt(x / y), x / x */
    VY_EXACT_RESULTS
};
#define VY_EXACT_WORDS (VY_EXACT_RESULTS * VY_EXACT_PAIRS)

/* The literals of engine/kernels/exact.vyre. */
extern const uint32_t vy_exact_divisors[VY_EXACT_LITERALS];
extern const uint32_t vy_exact_dividends[VY_EXACT_LITERALS];

/* The i-th pair of the table: of bits, the same everywhere. */
void vy_exact_pair(uint32_t i, uint32_t *out_x, uint32_t *out_y);
/* What the kernel is given. */
void vy_exact_fill(uint32_t words[VY_EXACT_WORDS]);

typedef struct vy_exact_faults {
    uint32_t divide, sqrt; /* results that are not what they should be */
    uint32_t first_divide; /* where there are any: the first one's place in the buffer */
    uint32_t first_sqrt;
} vy_exact_faults;

/* Compares what the kernel left with the host's own arithmetic, every bit. */
vy_exact_faults vy_exact_judge(const uint32_t words[VY_EXACT_WORDS]);

/* The answers for the device, whose denormals have been probed. Submits and waits where it is on
 * the list. UNKNOWN where this thread's own arithmetic is not exact. */
vyre_result vy_exact_probe(vyre_device *device, vyre_answer denormals, vyre_answer *out_divide,
                           vyre_answer *out_sqrt, vyre_diag *diag);

#endif
