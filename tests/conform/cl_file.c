/* Reader of piglit's OpenCL test files; see cl_file.h. */
#include "tests/conform/cl_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines of one section or of [config], whose values are defaults of every test. */
typedef struct reader {
    cl_file *file;
    cl_test defaults;
    bool in_config, in_test;
} reader;

static void *must(void *memory)
{
    if (!memory) {
        abort();
    }
    return memory;
}

static void complain(cl_test *test, const char *what, const char *detail)
{
    if (!test->problem[0]) {
        snprintf(test->problem, sizeof test->problem, "%s%.60s", what, detail);
    }
}

conform_id cl_type_of(const char *name, uint32_t *width)
{
    static const struct {
        const char *name;
        conform_id id;
    } rows[] = {{"bool", CONFORM_BOOL}, {"char", CONFORM_I8},    {"uchar", CONFORM_U8},
                {"short", CONFORM_I16}, {"ushort", CONFORM_U16}, {"int", CONFORM_I32},
                {"uint", CONFORM_U32},  {"long", CONFORM_I64},   {"ulong", CONFORM_U64},
                {"half", CONFORM_F16},  {"float", CONFORM_F32},  {"double", CONFORM_F64}};
    size_t length = strlen(name);
    while (length > 0 && isdigit((unsigned char)name[length - 1])) {
        length--;
    }
    *width = name[length] ? (uint32_t)strtoul(name + length, NULL, 10) : 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0) {
            return rows[i].id;
        }
    }
    return CONFORM_TYPE_COUNT;
}

/* ---- Values ------------------------------------------------------------------------------------
 */

static bool parse_value(conform_id type, const char *word, uint64_t *bits)
{
    char *end = NULL;
    if (type == CONFORM_TYPE_COUNT) {
        return true;
    }
    if (conform_is_float(type)) {
        double value = strtod(word, &end);
        *bits = conform_from_double(type, value);
        if (isnan(value) && word[0] == '-') {
            *bits |= conform_sign_bit(type);
        }
    } else if (word[0] == '-') {
        *bits = 0 - strtoull(word + 1, &end, 0);
    } else {
        *bits = strtoull(word, &end, 0);
        if (*end == '.') { /* whole numbers are also written as 1.0 */
            *bits = (uint64_t)(int64_t)strtod(word, &end);
        }
    }
    if (type == CONFORM_F32 && end && *end == 'f') {
        end++;
    }
    *bits &= conform_mask(type);
    return end && end != word && *end == '\0';
}

static void add_value(cl_test *test, cl_argument *argument, const char *word)
{
    uint64_t bits = 0;
    if (strcmp(word, "NULL") == 0) {
        argument->is_local = true;
        return;
    }
    if (!parse_value(argument->type, word, &bits)) {
        complain(test, "value ", word);
        return;
    }
    argument->values =
        must(realloc(argument->values, (argument->count + 1) * sizeof *argument->values));
    argument->values[argument->count++] = bits;
}

/* INDEX [buffer] TYPE[COUNT] VALUE... [tolerance X [ulp]] */
static void parse_argument(cl_test *test, char *text, bool is_output)
{
    char *save = NULL, *word = strtok_r(text, " \t", &save);
    if (test->argument_count == CL_MAX_ARGUMENTS || !word) {
        complain(test, "arguments", "");
        return;
    }
    cl_argument *argument = &test->arguments[test->argument_count++];
    memset(argument, 0, sizeof *argument);
    argument->is_output = is_output;
    argument->index = atoi(word);
    word = strtok_r(NULL, " \t", &save);
    if (word && strcmp(word, "buffer") == 0) {
        argument->is_buffer = true;
        word = strtok_r(NULL, " \t", &save);
    }
    if (!word) {
        complain(test, "an argument without a type", "");
        return;
    }
    word[strcspn(word, "[")] = '\0';
    snprintf(argument->type_name, sizeof argument->type_name, "%.15s", word);
    argument->type = cl_type_of(word, &argument->width);
    while ((word = strtok_r(NULL, " \t", &save))) {
        if (strcmp(word, "tolerance") == 0) {
            word = strtok_r(NULL, " \t", &save);
            argument->tolerance = word ? strtod(word, NULL) : 0;
            word = strtok_r(NULL, " \t", &save);
            argument->in_ulp = word && strcmp(word, "ulp") == 0;
            return;
        }
        if (strcmp(word, "REPEAT") == 0 || strcmp(word, "random") == 0) {
            complain(test, "values by ", word);
            return;
        }
        add_value(test, argument, word);
    }
}

/* ---- Lines -------------------------------------------------------------------------------------
 */

static void begin_test(reader *r)
{
    cl_file *file = r->file;
    if (file->test_count == file->capacity) {
        file->capacity = file->capacity * 2 + 8;
        file->tests = must(realloc(file->tests, file->capacity * sizeof *file->tests));
    }
    file->tests[file->test_count++] = r->defaults;
    r->in_test = true;
    r->in_config = false;
}

static void parse_line(reader *r, char *line)
{
    char *value = strchr(line, ':');
    cl_test *test = r->in_test ? &r->file->tests[r->file->test_count - 1] : &r->defaults;
    if (strncmp(line, "[test]", 6) == 0) {
        begin_test(r);
        return;
    }
    if (strncmp(line, "[config]", 8) == 0) {
        r->in_config = true;
        return;
    }
    if (!value || !(r->in_test || r->in_config)) {
        return;
    }
    *value++ = '\0';
    value += strspn(value, " \t");
    if (strcmp(line, "name") == 0) {
        snprintf(test->name, sizeof test->name, "%.127s", value);
    } else if (strcmp(line, "kernel_name") == 0) {
        snprintf(test->kernel, sizeof test->kernel, "%.95s", value);
    } else if (strcmp(line, "global_size") == 0) {
        test->global_size = (uint32_t)strtoul(value, NULL, 10);
    } else if (strcmp(line, "local_size") == 0) {
        test->local_size = (uint32_t)strtoul(value, NULL, 10);
    } else if (strcmp(line, "arg_in") == 0 || strcmp(line, "arg_out") == 0) {
        parse_argument(test, value, line[4] == 'o');
    }
}

/* Copies a line without its comment and the blanks around it. True where it goes on in the next. */
static bool take_line(const char *from, size_t length, char *to, size_t *size)
{
    bool goes_on = false;
    for (size_t i = 0; i < length && from[i] != '#'; i++) {
        if (from[i] == '\\') {
            goes_on = true;
            break;
        }
        to[(*size)++] = from[i] == '\r' ? ' ' : from[i];
    }
    if (goes_on) {
        to[(*size)++] = ' ';
        return true;
    }
    while (*size > 0 && isspace((unsigned char)to[*size - 1])) {
        (*size)--;
    }
    to[*size] = '\0';
    return false;
}

void cl_file_parse(cl_file *file, const char *text, size_t size)
{
    reader r = {.file = file};
    char *line = must(malloc(size + 2));
    size_t length = 0;
    memset(file, 0, sizeof *file);
    r.defaults.global_size = 1;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t next = end ? (size_t)(end - text) : size;
        if (next - at >= 3 && strncmp(text + at, "!*/", 3) == 0) {
            break;
        }
        if (!take_line(text + at, next - at, line, &length)) {
            parse_line(&r, line + strspn(line, " \t"));
            length = 0;
        }
        at = next + 1;
    }
    free(line);
}

void cl_file_finish(cl_file *file)
{
    for (uint32_t t = 0; t < file->test_count; t++) {
        for (uint32_t a = 0; a < file->tests[t].argument_count; a++) {
            free(file->tests[t].arguments[a].values);
        }
    }
    free(file->tests);
    memset(file, 0, sizeof *file);
}
