/* spirv-val for words that may ask for maximal reconvergence: of what is linked with SPIRV-Tools,
 * tools and tests. SPIRV-Tools of before 2024 cannot read such words; they are given a copy that
 * does not ask. */
#ifndef VY_VALIDATE_H
#define VY_VALIDATE_H

#include <spirv-tools/libspirv.h>
#include <spirv/unified1/spirv.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VY_MODE_MAXIMALLY_RECONVERGES 6023u /* which spirv.h of 2022 lacks */

static inline bool vy_is_maximal_mode(const uint32_t *ins, size_t length)
{
    return (ins[0] & 0xffff) == SpvOpExecutionMode && length == 3 &&
           ins[2] == VY_MODE_MAXIMALLY_RECONVERGES;
}

static inline bool vy_is_maximal_extension(const uint32_t *ins, size_t length)
{
    static const char name[] = "SPV_KHR_maximal_reconvergence";
    return (ins[0] & 0xffff) == SpvOpExtension && 4 * (length - 1) >= sizeof name &&
           memcmp(ins + 1, name, sizeof name) == 0;
}

/* Whether this machine's SPIRV-Tools know all words by name; what is no module they do not. */
static inline bool vy_can_parse(spv_const_context context, const uint32_t *words, size_t count)
{
    return spvBinaryParse(context, NULL, words, count, NULL, NULL, NULL) == SPV_SUCCESS;
}

/* Copies words but for what asks for maximal reconvergence; gives how many. `to` has room for all.
 */
static inline size_t vy_copy_without_maximal(uint32_t *to, const uint32_t *words, size_t count)
{
    size_t at = count < 5 ? count : 5, kept = at; /* the header */
    memcpy(to, words, at * sizeof *to);
    while (at < count) {
        size_t length = words[at] >> 16;
        length = !length || length > count - at ? count - at : length;
        if (!vy_is_maximal_mode(words + at, length) &&
            !vy_is_maximal_extension(words + at, length)) {
            memcpy(to + kept, words + at, length * sizeof *to);
            kept += length;
        }
        at += length;
    }
    return kept;
}

/* As spvValidateBinary. */
static inline spv_result_t vy_spirv_validate(spv_const_context context, const uint32_t *words,
                                             size_t count, spv_diagnostic *out_diagnostic)
{
    uint32_t *copy =
        vy_can_parse(context, words, count) ? NULL : malloc((count + 1) * sizeof *copy);
    if (copy) {
        count = vy_copy_without_maximal(copy, words, count);
        words = copy;
    }
    spv_result_t result = spvValidateBinary(context, words, count, out_diagnostic);
    free(copy);
    return result;
}

#endif
