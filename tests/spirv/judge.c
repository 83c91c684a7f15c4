/* See judge.h. */
#include "judge.h"

#include "tests/support/validate_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Friendly to the eye, with no id that is not in the words. */
static char *disassemble(const uint32_t *words, uint32_t word_count)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_3);
    spv_text text = NULL;
    spv_diagnostic diagnostic = NULL;
    spv_result_t result = spvBinaryToText(
        context, words, word_count,
        SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_INDENT, &text, &diagnostic);
    char *copy = NULL;
    if (result == SPV_SUCCESS) {
        copy = malloc(text->length + 1);
        if (copy) {
            memcpy(copy, text->str, text->length);
            copy[text->length] = 0;
        }
    }
    spvDiagnosticDestroy(diagnostic);
    spvTextDestroy(text);
    spvContextDestroy(context);
    return copy;
}

bool judge_is_valid(const uint32_t *words, uint32_t word_count, vyre_target target)
{
    char message[400];
    return vy_validate_words(words, word_count, target, message, sizeof message);
}

void judge_valid(const uint32_t *words, uint32_t word_count, vyre_target target)
{
    char message[400];
    bool is_valid = vy_validate_words(words, word_count, target, message, sizeof message);
    if (!is_valid) {
        char *text = disassemble(words, word_count);
        print_error("%s\n", text ? text : "");
        free(text);
        print_error("spirv-val: %s\n", message);
    }
    assert_true(is_valid);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    char *text = NULL;
    size_t size = 0, got = 0;
    do {
        char *grown = realloc(text, size + 65536 + 1);
        if (!grown) {
            break;
        }
        text = grown;
        got = fread(text + size, 1, 65536, file);
        size += got;
    } while (got);
    fclose(file);
    if (text) {
        text[size] = 0;
    }
    return text;
}

void judge_golden(const uint32_t *words, uint32_t word_count, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/spirv/golden/%s.spvasm", VYRE_SOURCE_DIR, name);
    char *text = disassemble(words, word_count);
    assert_non_null(text);
    if (getenv("VYRE_UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fputs(text, file) < 0, 0);
        assert_int_equal(fclose(file), 0);
    }
    char *stored = read_file(path);
    if (!stored) {
        fail_msg("%s is missing: write it with VYRE_UPDATE_GOLDEN=1", path);
    }
    if (strcmp(stored, text) != 0) {
        print_error("%s\n%s differs: look, then rewrite it with VYRE_UPDATE_GOLDEN=1\n", text,
                    path);
    }
    int order = strcmp(stored, text);
    free(stored);
    free(text);
    assert_int_equal(order, 0);
}

uint32_t judge_find(const uint32_t *words, uint32_t word_count, uint32_t offset, uint32_t op)
{
    uint32_t at = offset ? offset + (words[offset] >> 16) : 5;
    while (at < word_count && words[at] >> 16) {
        if (op == JUDGE_ANY || (words[at] & 0xffff) == op) {
            return at;
        }
        at += words[at] >> 16;
    }
    return 0;
}

uint32_t judge_count(const uint32_t *words, uint32_t word_count, uint32_t op)
{
    uint32_t count = 0, at = 0;
    while ((at = judge_find(words, word_count, at, op)) != 0) {
        count++;
    }
    return count;
}

bool judge_has_capability(const uint32_t *words, uint32_t word_count, uint32_t capability)
{
    uint32_t at = 0;
    while ((at = judge_find(words, word_count, at, SpvOpCapability)) != 0) {
        if (words[at + 1] == capability) {
            return true;
        }
    }
    return false;
}

bool judge_is_decorated(const uint32_t *words, uint32_t word_count, uint32_t id,
                        uint32_t decoration, uint32_t *out_operand)
{
    uint32_t at = 0;
    while ((at = judge_find(words, word_count, at, SpvOpDecorate)) != 0) {
        if (words[at + 1] == id && words[at + 2] == decoration) {
            if (out_operand) {
                *out_operand = words[at + 3];
            }
            return true;
        }
    }
    return false;
}

uint32_t judge_binding(const uint32_t *words, uint32_t word_count, uint32_t binding)
{
    uint32_t at = 0;
    while ((at = judge_find(words, word_count, at, SpvOpDecorate)) != 0) {
        if (words[at + 2] == SpvDecorationBinding && words[at + 3] == binding) {
            return words[at + 1];
        }
    }
    return 0;
}

uint32_t judge_constant(const uint32_t *words, uint32_t word_count, uint32_t id)
{
    uint32_t at = 0;
    while ((at = judge_find(words, word_count, at, SpvOpConstant)) != 0) {
        if (words[at + 2] == id) {
            return words[at + 3];
        }
    }
    fail_msg("%%%u is no constant", id);
    return 0;
}
