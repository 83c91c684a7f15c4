/* Shares of a whole. */
#include "engine/megakernel/ratio.h"

uint32_t vy_mk_ratio(uint64_t part, uint64_t whole, uint32_t scale)
{
    if (whole == 0) {
        return 0;
    }
    if (part >= whole) {
        return scale;
    }
    if (part <= UINT32_MAX) {
        return (uint32_t)(part * scale / whole);
    }
    /* part * scale by doubling and adding, with quotient and remainder instead of the product;
     * remainder and part are below whole, so each step carries at most once. */
    uint32_t quotient = 0;
    uint64_t remainder = 0;
    for (uint32_t bit = 32; bit-- > 0;) {
        bool carries = remainder >= whole - remainder;
        remainder = carries ? remainder - (whole - remainder) : 2 * remainder;
        quotient = 2 * quotient + (carries ? 1 : 0);
        if (scale >> bit & 1) {
            carries = remainder >= whole - part;
            remainder = carries ? remainder - (whole - part) : remainder + part;
            quotient += carries ? 1 : 0;
        }
    }
    return quotient;
}
