/* Translates the kernels of piglit's tests of atomics; see cl_atomic.h. */
#include "tests/conform/cl_atomic.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* `kernel void simple_##TYPE(PARAMETERS) { \ BODY }`, one statement a line. */
typedef struct reader {
    const cl_test *test;
    cl_kernel *kernel;
    vy_text *text;
    uint32_t bound;   /* names made for what atomics give */
    bool closes_next; /* an `if` without braces is open */
    const char *problem;
} reader;

static void out(reader *r, const char *text)
{
    vy_text_printf(r->text, "%s", text);
}

/* ---- Expressions: names get a prefix, so that none is a word of our language -------------------
 */

static const cl_parameter *find_parameter(const reader *r, const char *name, size_t length)
{
    for (uint32_t i = 0; i < r->kernel->parameter_count; i++) {
        const cl_parameter *p = &r->kernel->parameters[i];
        if (strlen(p->name) == length && memcmp(p->name, name, length) == 0) {
            return p;
        }
    }
    return NULL;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* `mark` stands behind numbers: ".0" where they meet floats. */
static void write_tokens(reader *r, const char *text, size_t length, const char *mark)
{
    const char *keyword = conform_types[r->kernel->type].keyword;
    const char *end = text + length;
    while (text < end) {
        size_t word = 0;
        while (text + word < end && (isalnum((unsigned char)text[word]) || text[word] == '_')) {
            word++;
        }
        if (starts(text, "(TYPE)")) {
            text += 6;
        } else if (starts(text, "get_global_id(0)") || starts(text, "get_local_id(0)")) {
            vy_text_printf(r->text, "%s(%cid.x)", keyword, text[4]);
            text = strchr(text, ')') + 1;
        } else if (starts(text, "get_global_size(0)") || starts(text, "get_local_size(0)")) {
            vy_text_printf(r->text, "%u",
                           text[4] == 'g' ? r->test->global_size : r->test->local_size);
            text = strchr(text, ')') + 1;
        } else if (word > 0 && isdigit((unsigned char)text[0])) {
            vy_text_printf(r->text, "%.*s%s", (int)word, text, mark);
            text += word;
        } else if (word > 0) {
            vy_text_printf(r->text, "k_%.*s", (int)word, text);
            text += word;
        } else if (*text == '*' && find_parameter(r, text + 1, strcspn(text + 1, " ;),"))) {
            size_t name = strcspn(text + 1, " ;),");
            vy_text_printf(r->text, "k_%.*s[0]", (int)name, text + 1);
            text += 1 + name;
        } else if (*text == '[') { /* an index is an int, whatever TYPE is */
            size_t inside = strcspn(text, "]");
            out(r, "[u32(");
            write_tokens(r, text + 1, inside - 1, "");
            out(r, ")]");
            text += inside + 1;
        } else {
            vy_text_append(r->text, text++, 1);
        }
    }
}

static void write_expression(reader *r, const char *text, size_t length)
{
    write_tokens(r, text, length, conform_is_float(r->kernel->type) ? ".0" : "");
}

/* mem, mem+1, &mem[...]: an element. */
static void write_place(reader *r, const char *text, size_t length)
{
    const char *plus = memchr(text, '+', length), *bracket = memchr(text, '[', length);
    if (*text == '&') {
        write_expression(r, text + 1, length - 1);
    } else if (plus && !bracket) {
        vy_text_printf(r->text, "k_%.*s[%.*s]", (int)(plus - text), text,
                       (int)(text + length - plus - 1), plus + 1);
    } else {
        vy_text_printf(r->text, "k_%.*s[0]", (int)length, text);
    }
}

/* ---- Statements --------------------------------------------------------------------------------
 */

/* Up to a comma or the closing parenthesis of this level. */
static size_t argument_length(const char *text)
{
    size_t length = 0;
    int depth = 0;
    while (text[length] && !(depth == 0 && (text[length] == ',' || text[length] == ')'))) {
        depth += text[length] == '(' || text[length] == '[';
        depth -= text[length] == ')' || text[length] == ']';
        length++;
    }
    return length;
}

/* atomic_NAME(place, operands) or, of OpenCL 1.0, atom_NAME. */
static void write_atomic(reader *r, const char *call)
{
    static const struct {
        const char *name, *ours, *operand;
    } names[] = {{"add", "atomic_add", NULL},
                 {"sub", "atomic_sub", NULL},
                 {"inc", "atomic_add", "1"},
                 {"dec", "atomic_sub", "1"},
                 {"min", "atomic_min", NULL},
                 {"max", "atomic_max", NULL},
                 {"and", "atomic_and", NULL},
                 {"or", "atomic_or", NULL},
                 {"xor", "atomic_xor", NULL},
                 {"xchg", "atomic_exchange", NULL},
                 {"cmpxchg", "atomic_compare_exchange", NULL}};
    const char *name = strchr(call, '_') + 1, *at = strchr(call, '(');
    size_t length = at ? (size_t)(at - name) : 0;
    for (size_t i = 0; at && i < VY_COUNT_OF(names); i++) {
        if (strlen(names[i].name) != length || memcmp(names[i].name, name, length) != 0) {
            continue;
        }
        vy_text_printf(r->text, "%s(", names[i].ours);
        at++;
        for (uint32_t k = 0;; k++) {
            at += strspn(at, " ");
            size_t argument = argument_length(at);
            out(r, k ? ", " : "");
            if (k == 0) {
                write_place(r, at, argument);
            } else {
                write_expression(r, at, argument);
            }
            at += argument;
            if (*at++ != ',') {
                break;
            }
        }
        if (names[i].operand) {
            vy_text_printf(r->text, ", %s", names[i].operand);
        }
        out(r, ")\n");
        return;
    }
    r->problem = "an atomic that we do not have";
}

static bool is_atomic(const char *text)
{
    return starts(text, "atomic_") || starts(text, "atom_");
}

/* PLACE = EXPRESSION or ATOMIC, or a declaration. */
static void write_assignment(reader *r, const char *line, size_t length)
{
    bool declares = starts(line, "TYPE ");
    const char *left = declares ? line + 5 : line, *equals = strstr(line, " = ");
    if (!equals) {
        r->problem = "a statement that is none of those known";
        return;
    }
    const char *right = equals + 3;
    size_t left_length = (size_t)(equals - left), right_length = length - (size_t)(right - line);
    uint32_t bound = r->bound++;
    if (is_atomic(right)) {
        vy_text_printf(r->text, "let t%u = ", bound);
        write_atomic(r, right);
    }
    out(r, declares ? "var " : "");
    write_expression(r, left, left_length);
    out(r, " = ");
    if (is_atomic(right)) {
        vy_text_printf(r->text, "t%u", bound);
    } else {
        write_expression(r, right, right_length);
    }
    out(r, "\n");
}

static void write_statement(reader *r, const char *line, size_t length)
{
    bool closes = r->closes_next;
    r->closes_next = false;
    if (strcmp(line, "int i") == 0 || strcmp(line, "long i") == 0) {
        return;
    }
    if (starts(line, "barrier")) {
        out(r, "barrier\n");
    } else if (starts(line, "for(i = 0; i < ") && strchr(line, ')')) {
        out(r, "for k_i in 0 .. ");
        write_expression(r, line + 15, strcspn(line + 15, ";"));
        out(r, " {\n");
    } else if (starts(line, "if (i == id){")) {
        vy_text_printf(r->text, "if %s(k_i) == k_id {\n", conform_types[r->kernel->type].keyword);
    } else if (starts(line, "if (old_val == id)")) {
        out(r, "if k_old_val == k_id {\n");
        r->closes_next = true;
    } else if (*line == '}') {
        out(r, "}\n");
    } else if (is_atomic(line)) {
        write_atomic(r, line);
    } else {
        write_assignment(r, line, length);
    }
    if (closes) {
        out(r, "}\n");
    }
}

/* ---- Declarations ------------------------------------------------------------------------------
 */

static void take_parameters(reader *r, const char *list)
{
    cl_kernel *kernel = r->kernel;
    while (*list && *list != ')' && kernel->parameter_count < CL_MAX_PARAMETERS) {
        cl_parameter *p = &kernel->parameters[kernel->parameter_count];
        size_t length = strcspn(list, ",)");
        const char *name = list + length;
        while (name > list && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) {
            name--;
        }
        memset(p, 0, sizeof *p);
        p->space = starts(list, "global") ? CL_GLOBAL : starts(list, "local") ? CL_LOCAL : CL_VALUE;
        snprintf(p->name, sizeof p->name, "%.*s", (int)(list + length - name), name);
        for (uint32_t a = 0; a < r->test->argument_count; a++) {
            const cl_argument *argument = &r->test->arguments[a];
            if (argument->index == (int)kernel->parameter_count) {
                *(argument->is_output ? &p->output : &p->input) = argument;
            }
        }
        kernel->parameter_count++;
        list += length;
        list += strspn(list, ", ");
    }
}

static void write_declarations(reader *r)
{
    const char *keyword = conform_types[r->kernel->type].keyword;
    uint32_t size = r->test->local_size ? r->test->local_size : r->test->global_size;
    vy_text_printf(r->text, "program atomics\nworkgroup %u\n", size);
    for (uint32_t i = 0; i < r->kernel->parameter_count; i++) {
        const cl_parameter *p = &r->kernel->parameters[i];
        if (p->space == CL_VALUE) {
            vy_text_printf(r->text, "param k_%s : %s\n", p->name, keyword);
        } else if (p->space == CL_LOCAL) { /* of two elements at most */
            vy_text_printf(r->text, "shared k_%s : %s[2]\n", p->name, keyword);
        } else {
            const char *mode = !p->output ? "in" : p->input ? "inout" : "out";
            vy_text_printf(r->text, "%s k_%s : %s[]\n", mode, p->name, keyword);
        }
    }
    out(r, "kernel {\n");
}

/* The macro of the kernel's name up to "_", and the type behind it. */
static const char *find_body(const char *source, const cl_test *test, conform_id *type)
{
    char head[128];
    uint32_t width = 1;
    const char *under = strrchr(test->kernel, '_');
    *type = under ? cl_type_of(under + 1, &width) : CONFORM_TYPE_COUNT;
    if (!under || *type == CONFORM_TYPE_COUNT) {
        return NULL;
    }
    snprintf(head, sizeof head, "kernel void %.*s_##TYPE(", (int)(under - test->kernel),
             test->kernel);
    const char *found = strstr(source, head);
    return found ? found + strlen(head) : NULL;
}

const char *cl_atomic_translate(const char *source, const cl_test *test, cl_kernel *kernel,
                                vy_text *text)
{
    reader r = {.test = test, .kernel = kernel, .text = text};
    memset(kernel, 0, sizeof *kernel);
    const char *line = find_body(source, test, &kernel->type);
    if (!line) {
        return "no macro of the kernel's name";
    }
    take_parameters(&r, line);
    write_declarations(&r);
    for (line = strchr(line, '\n'); line && !r.problem; line = strchr(line, '\n')) {
        char statement[256];
        line += 1 + strspn(line + 1, " \t");
        size_t length = strcspn(line, "\\\n;");
        if (starts(line, "for(")) {
            length = strcspn(line, "\\\n");
        }
        snprintf(statement, sizeof statement, "%.*s", (int)length, line);
        if (*line == '}' && line[1] != ' ') { /* the macro's last line has no backslash */
            break;
        }
        write_statement(&r, statement, strlen(statement));
    }
    out(&r, "}\n");
    return r.problem;
}
