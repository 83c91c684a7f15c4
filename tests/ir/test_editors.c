/* The editors' syntax files name every word of the language and no other one. */
#include "tests/ir/text_support.h"

#include "codegen/ir/names.h"

#include <ctype.h>
#include <stdlib.h>

#define MAX_WORDS 400

typedef struct word_list {
    char text[MAX_WORDS][48];
    uint32_t count;
} word_list;

static void add(word_list *list, const char *text, size_t length)
{
    assert_true(list->count < MAX_WORDS && length > 0 && length < sizeof list->text[0]);
    for (uint32_t i = 0; i < list->count; i++) {
        if (strlen(list->text[i]) == length && memcmp(list->text[i], text, length) == 0) {
            return;
        }
    }
    memcpy(list->text[list->count], text, length);
    list->text[list->count++][length] = 0;
}

static bool has(const word_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(list->text[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/* Built-in values stand without their components, whose names are no words to mark. */
static word_list words_of_the_language(void)
{
    static const char *const words[] = {
#define VY_X(name, text) text,
        VY_RESERVED_WORDS(VY_X) VY_FREE_WORDS(VY_X)
#undef VY_X
#define VYRE_X(name, number, keyword, size, kind, component, components) keyword,
            VYRE_TYPES(VYRE_X)
#undef VYRE_X
#define VYRE_X(name, text) text,
                VYRE_BUILTINS(VYRE_X)
#undef VYRE_X
#define VYRE_X(name, text, operands, result) text,
                    VYRE_ATOMICS(VYRE_X)
#undef VYRE_X
#define VYRE_X(name, text, kind, op) text,
                        VYRE_SUBGROUPS(VYRE_X)
#undef VYRE_X
    };
    word_list list = {.count = 0};
    for (size_t i = 0; i < VY_COUNT_OF(words); i++) {
        if (strlen(words[i]) > 1) {
            add(&list, words[i], strcspn(words[i], "."));
        }
    }
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        const vy_op_info *info = vy_op_get((vyre_op)op);
        if (info->form == VY_FORM_CALL) {
            add(&list, info->text, strlen(info->text));
        }
    }
    return list;
}

static char *read_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tools/editors/%s", VYRE_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    size_t size = fread(text, 1, 65535, file);
    assert_true(size > 0 && size < 65535);
    fclose(file);
    return text;
}

/* Words up to `stop`, between anything that is no part of a word. */
static void add_words(word_list *list, const char *at, const char *stop)
{
    while (at < stop) {
        size_t length = 0;
        while (at + length < stop && (isalnum((unsigned char)at[length]) || at[length] == '_')) {
            length++;
        }
        if (length) {
            add(list, at, length);
        }
        at += length + 1;
    }
}

static void check_same(const word_list *found, const char *name)
{
    word_list expected = words_of_the_language();
    assert_true(expected.count > 150);
    for (uint32_t i = 0; i < expected.count; i++) {
        if (!has(found, expected.text[i])) {
            fail_msg("%s does not know %s", name, expected.text[i]);
        }
    }
    for (uint32_t i = 0; i < found->count; i++) {
        if (!has(&expected, found->text[i])) {
            fail_msg("%s is no word of the language, but stands in %s", found->text[i], name);
        }
    }
}

static void test_vim_knows_every_word(void **state)
{
    (void)state;
    static const char begin[] = "\nsyn keyword vyre";
    word_list found = {.count = 0};
    char *text = read_file("vyre.vim");
    for (const char *at = text; (at = strstr(at, begin)) != NULL;) {
        at += strlen(begin);
        const char *words = at + strcspn(at, " ");
        const char *end = words + strcspn(words, "\n");
        if (strncmp(at, "Todo ", 5) != 0) {
            add_words(&found, words, end);
        }
        at = end;
    }
    check_same(&found, "vyre.vim");
    free(text);
}

static void test_textmate_knows_every_word(void **state)
{
    (void)state;
    /* Lists of words are written \b(one|two)\b, all other patterns have more than that. */
    static const char begin[] = "\"match\": \"\\\\b(";
    word_list found = {.count = 0};
    char *text = read_file("vyre.tmLanguage.json");
    for (const char *at = text; (at = strstr(at, begin)) != NULL;) {
        at += strlen(begin);
        const char *end = at + strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_|");
        if (strncmp(end, ")\\\\b\"", 5) == 0) {
            add_words(&found, at, end);
        }
    }
    check_same(&found, "vyre.tmLanguage.json");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vim_knows_every_word),
                                       cmocka_unit_test(test_textmate_knows_every_word)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
