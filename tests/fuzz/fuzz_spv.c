/* Any bytes as a SPIR-V file: refused, or words that can be walked over, counted and looked into.
 */
#include "codegen/kernel.h"
#include "tests/fuzz/fuzz.h"
#include "tools/vyre-spv/spv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    module m;
    vyre_diag diag;
    if (!is_spirv((const char *)data, size) ||
        read_module((const char *)data, size, &m, &diag) != VYRE_OK) {
        return 0;
    }
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere) {
        print_stats(&m, nowhere);
        fclose(nowhere);
    }
    (void)vy_kernel_push_words(m.words, (uint32_t)m.count);
    free(m.owned);
    return 0;
}
