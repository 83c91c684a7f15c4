/* Any bytes as a program: refused with a place and a fix, or a program that prints as text that
 * reads back as an equal one, and that compiles. */
#include "tests/fuzz/fuzz.h"
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <string.h>

/* Compiling is not what is looked for here: only what is not long. */
#define MAX_COMPILED ((size_t)4096)

static void check_refusal(const char *text, size_t size, const vyre_diag *diag)
{
    char message[2048];
    FUZZ_ASSERT(diag->code == VYRE_ERROR_INVALID_PROGRAM ||
                diag->code == VYRE_ERROR_UNSUPPORTED_FEATURE ||
                diag->code == VYRE_ERROR_INVALID_ARGUMENT);
    FUZZ_ASSERT(strstr(diag->message, "Fix: ") != NULL);
    (void)vyre_diag_format(diag, text, size, message, sizeof message);
}

static void check_printed(const vyre_program *program)
{
    char *text = NULL;
    size_t size = 0;
    vyre_program *again = NULL;
    vyre_diag diag;
    if (vyre_program_print(program, NULL, &text, &size) != VYRE_OK) {
        return; /* too many parentheses within each other, which is documented */
    }
    FUZZ_ASSERT(vyre_program_parse(text, size, NULL, NULL, &again, &diag) == VYRE_OK);
    FUZZ_ASSERT(vyre_program_hash(again) == vyre_program_hash(program));
    FUZZ_ASSERT(vyre_program_interface_hash(again) == vyre_program_interface_hash(program));
    vyre_program_destroy(&again);
    vyre_text_free(NULL, text, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    const vyre_kernel_params full = {.debug = VYRE_DEBUG_INFO_FULL};
    if (vyre_program_parse((const char *)data, size, "fuzz", NULL, &program, &diag) != VYRE_OK) {
        FUZZ_ASSERT(program == NULL);
        check_refusal((const char *)data, size, &diag);
        return 0;
    }
    check_printed(program);
    if (size <= MAX_COMPILED && vyre_kernel_compile(program, &full, &kernel, &diag) != VYRE_OK) {
        FUZZ_ASSERT(kernel == NULL);
        FUZZ_ASSERT(diag.code != VYRE_ERROR_INTERNAL);
    }
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    return 0;
}
