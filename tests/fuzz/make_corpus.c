/* Writes what the fuzzers begin with: FOLDER/text, spv, npy and vyk, of generated programs,
 * and FOLDER/catalogue, of patterns of a few letters. */
#include "tests/support/generate.h"
#include "tools/common/npy.h"
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char *folder;
static bool failed;

static void write_file(const char *kind, uint32_t number, const void *data, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, kind);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/seed-%u", folder, kind, number);
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(data, 1, size, file) == size;
    if (file) {
        ok = fclose(file) == 0 && ok;
    }
    if (!ok) {
        fprintf(stderr, "make_corpus: error: %s cannot be written\n", path);
        failed = true;
    }
}

static void write_program(uint32_t seed)
{
    vy_text text;
    vy_generated info;
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    vyre_kernel_params params = {.struct_size = (uint32_t)sizeof params,
                                 .target = (vyre_target)(seed % 2),
                                 .interface = (vyre_interface)(seed / 2 % 2)};
    void *data = NULL;
    size_t size = 0;
    vy_text_init(&text, NULL);
    vy_generate(seed, &text, &info);
    write_file("text", seed, text.data, text.size);
    if (vyre_program_parse(text.data, text.size, NULL, NULL, &program, &diag) == VYRE_OK &&
        vyre_kernel_compile(program, &params, &kernel, &diag) == VYRE_OK) {
        vyre_segment_info segment;
        const vyre_kernel *const kernels[] = {kernel};
        vyre_kernel_segment(kernel, 0, &segment);
        write_file("spv", seed, segment.words, segment.word_count * sizeof *segment.words);
        if (vyre_kernel_save(kernels, 1, NULL, &data, &size, &diag) == VYRE_OK) {
            write_file("vyk", seed, data, size);
            vyre_kernel_free_data(NULL, &data, size);
        }
    } else {
        fprintf(stderr, "make_corpus: error: seed %u: %s\n", seed, diag.message);
        failed = true;
    }
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    vy_text_finish(&text);
}

static void write_array(uint32_t number)
{
    static const uint32_t elements[40] = {0, 1, 2, 0x7fc00000, UINT32_MAX};
    vy_text text;
    vy_text_init(&text, NULL);
    vy_npy_format((vyre_type)(VYRE_TYPE_BOOL + (int)number % (VYRE_TYPE_COUNT - 1)), elements,
                  number % 7, &text);
    write_file("npy", number, text.data, text.size);
    vy_text_finish(&text);
}

/* A literal, a caseless one and an automaton of three states, in each grouping, and a text. */
static void write_patterns(uint32_t number)
{
    static const char letters[] = "aBb";
    uint8_t bytes[80];
    uint32_t size = 0;
    bytes[size++] = (uint8_t)(number % 24);
    bytes[size++] = 40; /* of the text */
    bytes[size++] = 3;  /* patterns */
    bytes[size++] = 3 * 2;
    bytes[size++] = 'a';
    bytes[size++] = (uint8_t)letters[number % 3];
    bytes[size++] = 3 * 3 + 1;
    for (uint32_t i = 0; i < 3; i++) {
        bytes[size++] = (uint8_t)letters[(number >> i) % 3];
    }
    bytes[size++] = 2;
    bytes[size++] = 3; /* states */
    bytes[size++] = number > 35 ? 255 : 0;
    for (uint32_t i = 0; i < 12; i++) { /* three targets and whether it accepts */
        bytes[size++] = (uint8_t)(i % 4 < 3 ? number * (i + 3) / 5 : i == 11);
    }
    for (uint32_t i = 0; i < 40; i++) {
        bytes[size++] = (uint8_t)letters[(number * (i + 1) * (i + 7) >> 2) % 3];
    }
    write_file("catalogue", number, bytes, size);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_corpus FOLDER\n");
        return 2;
    }
    folder = argv[1];
    (void)mkdir(folder, 0777);
    for (uint32_t seed = 1; seed <= 40; seed++) {
        write_program(seed);
        write_array(seed);
        write_patterns(seed);
    }
    return failed;
}
