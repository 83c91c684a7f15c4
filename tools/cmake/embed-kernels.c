/* Compiles programs to words in a C file, when the library is built: the engine's own kernels.
 *   embed-kernels OUT.c NAME FILE.vyre FLOAT_MODES[:address] ...
 * gives `const uint32_t *vy_kernel_NAME(uint32_t *out_word_count)` for each three, in the address
 * form where that is said. The words are for Vulkan 1.2, so that every device runs them. */
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT (1u << 16)

static size_t read_text(const char *path, char *text)
{
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(text, 1, MAX_TEXT, file) : 0;
    if (file) {
        fclose(file);
    }
    return size;
}

static void write_words(FILE *out, const char *name, const vyre_segment_info *segment)
{
    fprintf(out, "\nconst uint32_t *vy_kernel_%s(uint32_t *out_word_count)\n{\n", name);
    fprintf(out, "    static const uint32_t words[] = {");
    for (uint32_t i = 0; i < segment->word_count; i++) {
        fprintf(out, "%s0x%08x,", i % 8 ? " " : "\n        ", (unsigned)segment->words[i]);
    }
    fprintf(out, "\n    };\n    *out_word_count = %uu;\n    return words;\n}\n",
            (unsigned)segment->word_count);
}

/* 0, or 1 with the reason printed. */
static int embed(FILE *out, const char *name, const char *path, const char *modes)
{
    char *form = NULL;
    unsigned long float_modes = strtoul(modes, &form, 0);
    static char text[MAX_TEXT];
    size_t size = read_text(path, text);
    vyre_diag diag = {.message = "the file cannot be read. Fix: look at the path"};
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_result result = VYRE_ERROR_IO;
    if (size > 0 && size < MAX_TEXT) {
        result = vyre_program_parse(text, size, path, NULL, &program, &diag);
    }
    vyre_kernel_params params = {.struct_size = (uint32_t)sizeof params,
                                 .target = VYRE_TARGET_VULKAN_1_2,
                                 .interface = strcmp(form, ":address") == 0
                                                  ? VYRE_INTERFACE_ADDRESS
                                                  : VYRE_INTERFACE_DESCRIPTOR,
                                 .float_modes = (uint32_t)float_modes};
    if (result == VYRE_OK) {
        result = vyre_kernel_compile(program, &params, &kernel, &diag);
    }
    if (result != VYRE_OK) {
        fprintf(stderr, "%s:%u:%u: error: %s\n", path, (unsigned)diag.line, (unsigned)diag.column,
                diag.message);
    } else if (vyre_kernel_segment_count(kernel) != 1 || vyre_kernel_spill_size(kernel) > 0) {
        fprintf(stderr, "%s: error: not one segment; take grid_sync out\n", path);
        result = VYRE_ERROR_INVALID_PROGRAM;
    } else {
        vyre_segment_info segment;
        vyre_kernel_segment(kernel, 0, &segment);
        write_words(out, name, &segment);
    }
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    return result != VYRE_OK;
}

int main(int argc, char **argv)
{
    if (argc < 5 || (argc - 2) % 3 != 0) {
        fprintf(stderr, "usage: embed-kernels OUT.c (NAME FILE.vyre FLOAT_MODES[:address])...\n");
        return 2;
    }
    FILE *out = fopen(argv[1], "wb");
    if (!out) {
        fprintf(stderr, "%s: error: cannot be written\n", argv[1]);
        return 1;
    }
    fprintf(out, "/* Generated from engine/kernels/ by tools/cmake/embed-kernels.c. */\n"
                 "#include \"engine/kernels/kernels.h\"\n");
    int failed = 0;
    for (int i = 2; i + 2 < argc && !failed; i += 3) {
        failed = embed(out, argv[i], argv[i + 1], argv[i + 2]);
    }
    if (fclose(out) != 0) {
        fprintf(stderr, "%s: error: cannot be written\n", argv[1]);
        failed = 1;
    }
    if (failed) {
        remove(argv[1]);
    }
    return failed;
}
