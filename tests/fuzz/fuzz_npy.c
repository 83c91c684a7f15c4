/* Any bytes as a .npy file of any type of elements: refused, or elements that, written, are read
 * back as the same. */
#include "tests/fuzz/fuzz.h"
#include "tools/common/npy.h"

#include <string.h>

static void check_written(vyre_type type, const void *elements, uint32_t count)
{
    vy_text text;
    void *again = NULL;
    uint32_t again_count = 0;
    vyre_diag diag;
    vy_text_init(&text, NULL);
    vy_npy_format(type, elements, count, &text);
    FUZZ_ASSERT(vy_npy_parse(text.data, text.size, type, &again, &again_count, &diag) == VYRE_OK);
    FUZZ_ASSERT(again_count == count);
    FUZZ_ASSERT(memcmp(again, elements, (size_t)count * vyre_type_size(type)) == 0);
    free(again);
    vy_text_finish(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
        void *elements = NULL;
        uint32_t count = 0;
        vyre_diag diag;
        if (vy_npy_parse(data, size, (vyre_type)type, &elements, &count, &diag) == VYRE_OK) {
            check_written((vyre_type)type, elements, count);
        } else {
            FUZZ_ASSERT(strstr(diag.message, "Fix: ") != NULL);
            FUZZ_ASSERT(elements == NULL);
        }
        free(elements);
    }
    return 0;
}
