/* Makes differing programs smaller, and prints them. Every candidate is a real program: those that
 * do not parse, race or no longer differ are not taken. */
#include "tests/support/differential.h"

#include "vyre/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shrinker {
    vyre_device *device;
    vy_mode *mode;
    const vy_hooks *hooks;
    vy_gen_case *best;
    uint32_t runs, limit;
} shrinker;

static bool still_differs(shrinker *s, const vy_gen_case *c, const vy_mode *mode)
{
    vy_comparison comparison;
    if (s->runs >= s->limit) {
        return false;
    }
    s->runs++;
    vy_compare(s->device, c->text.data, c->text.size, &c->info, mode, s->hooks, &comparison);
    return comparison.verdict == VY_DIFFERENT;
}

/* Bytes [begin, end) become [from, to) or `text`; taken only where the program then is shorter. */
static bool try_edit(shrinker *s, uint32_t begin, uint32_t end, uint32_t from, uint32_t to,
                     const char *text)
{
    uint32_t kept = text ? (uint32_t)strlen(text) : to - from;
    if (kept >= end - begin) {
        return false;
    }
    vy_gen_case candidate;
    vy_gen_case_copy(s->best, &candidate);
    vy_gen_case_edit(&candidate, begin, end, from, to, text);
    if (still_differs(s, &candidate, s->mode)) {
        vy_gen_case_finish(s->best);
        *s->best = candidate;
        return true;
    }
    vy_gen_case_finish(&candidate);
    return false;
}

/* ---- Structure --------------------------------------------------------------------------------
 */

static bool is_whole(const vy_part *part)
{
    return part->kind == VY_PART_STATEMENT || part->kind == VY_PART_DECLARATION;
}

/* From the outermost in; `backward` tries the last ones first, which nothing uses. */
static bool drop_parts(shrinker *s, bool backward)
{
    bool smaller = false;
    uint32_t n = 0;
    while (n < s->best->part_count) {
        uint32_t at = backward ? s->best->part_count - 1 - n : n;
        const vy_part *part = &s->best->parts[at];
        if (is_whole(part) && try_edit(s, part->begin, part->end, 0, 0, "")) {
            smaller = true;
        } else {
            n++;
        }
    }
    return smaller;
}

/* The last of up to `length` statements or declarations that follow each other from `first` on. */
static uint32_t last_of_run(const vy_gen_case *c, uint32_t first, uint32_t length)
{
    uint32_t last = first;
    for (uint32_t i = first + 1; i < c->part_count && length > 1; i++) {
        if (is_whole(&c->parts[i]) && c->parts[i].begin == c->parts[last].end) {
            last = i;
            length--;
        }
    }
    return last;
}

/* Several that stand together at once, which most of a program is gone by. */
static void drop_runs(shrinker *s)
{
    for (uint32_t length = 16; length > 1; length /= 2) {
        uint32_t i = 0;
        while (i < s->best->part_count) {
            const vy_part *first = &s->best->parts[i];
            uint32_t last = is_whole(first) ? last_of_run(s->best, i, length) : i;
            uint32_t end = s->best->parts[last].end;
            if (last == i || !try_edit(s, first->begin, end, 0, 0, "")) {
                /* Into it, or behind it where it held nothing. */
                i++;
            }
        }
    }
}

/* What stands in braces in the place of the statement that holds it. */
static bool hoist_bodies(shrinker *s)
{
    bool smaller = false;
    for (uint32_t i = 0; i < s->best->part_count; i++) {
        vy_part outer = s->best->parts[i];
        if (outer.kind != VY_PART_STATEMENT) {
            continue;
        }
        for (uint32_t k = i + 1; k < s->best->part_count; k++) {
            vy_part inner = s->best->parts[k];
            if (inner.begin >= outer.end) {
                break;
            }
            if (inner.kind == VY_PART_BODY &&
                try_edit(s, outer.begin, outer.end, inner.begin, inner.end, NULL)) {
                smaller = true;
                i--; /* what stands there now may be hoisted again */
                break;
            }
        }
    }
    return smaller;
}

static bool simplify_one(shrinker *s, uint32_t index)
{
    vy_part outer = s->best->parts[index];
    const char *zero = vy_generate_zero(outer.type);
    if (*zero && try_edit(s, outer.begin, outer.end, 0, 0, zero)) {
        return true;
    }
    char one[32] = "true";
    if (strcmp(zero, "false") != 0) {
        snprintf(one, sizeof one, "%s", zero);
        one[strcspn(one, "0")] = *zero ? '1' : 0;
    }
    if (*zero && try_edit(s, outer.begin, outer.end, 0, 0, one)) {
        return true;
    }
    for (uint32_t k = index + 1; k < s->best->part_count; k++) {
        vy_part inner = s->best->parts[k];
        if (inner.begin >= outer.end) {
            break;
        }
        if (inner.kind == VY_PART_EXPRESSION && inner.type == outer.type &&
            try_edit(s, outer.begin, outer.end, inner.begin, inner.end, NULL)) {
            return true;
        }
    }
    return false;
}

static bool simplify_expressions(shrinker *s)
{
    bool smaller = false;
    uint32_t i = 0;
    while (i < s->best->part_count) {
        vy_part part = s->best->parts[i];
        bool changed = part.kind == VY_PART_EXPRESSION && simplify_one(s, i);
        if (part.kind == VY_PART_NUMBER) {
            changed = try_edit(s, part.begin, part.end, 0, 0, "8");
        }
        smaller |= changed;
        i += !changed;
    }
    return smaller;
}

/* ---- What it is run with ----------------------------------------------------------------------
 */

static bool try_info(shrinker *s, const vy_generated *info)
{
    vy_generated was = s->best->info;
    s->best->info = *info;
    if (still_differs(s, s->best, s->mode)) {
        return true;
    }
    s->best->info = was;
    return false;
}

static void simplify_grid(shrinker *s)
{
    for (int i = 0; i < 3; i++) {
        vy_generated info = s->best->info;
        if (info.groups[i] > 1) {
            info.groups[i] = 1;
            (void)try_info(s, &info);
        }
    }
    vy_generated info = s->best->info;
    if (info.workgroup[0]) {
        info.workgroup[0] = 0;
        (void)try_info(s, &info);
    }
    info = s->best->info;
    if (info.grid != VY_GRID_GROUPS) {
        info.grid = VY_GRID_GROUPS;
        info.workgroup[0] = 0;
        (void)try_info(s, &info);
    }
}

static void simplify_inputs(shrinker *s)
{
    for (uint32_t t = 0; vy_generate_type_name(t); t++) {
        vy_generated info = s->best->info;
        char name[32];
        snprintf(name, sizeof name, "in_%s", vy_generate_type_name(t));
        if (!strstr(s->best->text.data, name)) {
            continue;
        }
        info.zero_inputs[t] = true;
        if (!s->best->info.zero_inputs[t] && try_info(s, &info)) {
            continue;
        }
        for (uint32_t length = 0; length < s->best->info.lengths[t]; length = length * 4 + 1) {
            info = s->best->info;
            info.lengths[t] = length;
            if (try_info(s, &info)) {
                break;
            }
        }
    }
    for (uint32_t t = 0; vy_generate_type_name(t); t++) {
        vy_generated info = s->best->info;
        if (info.params[t][0] || info.params[t][1]) {
            memset(info.params[t], 0, sizeof info.params[t]);
            (void)try_info(s, &info);
        }
    }
}

static void simplify_mode(shrinker *s)
{
    vy_mode tries[10];
    for (uint32_t i = 0; i < 10; i++) {
        tries[i] = *s->mode;
        bool changes = false;
        bool *const flags[] = {&tries[i].optimised, &tries[i].aliased,  &tries[i].debug,
                               &tries[i].prints,    &tries[i].resident, &tries[i].joined,
                               &tries[i].coarse};
        if (i < 7) {
            changes = *flags[i];
            *flags[i] = false;
        } else if (i == 7) {
            changes = tries[i].interface != VYRE_INTERFACE_DESCRIPTOR;
            tries[i].interface = VYRE_INTERFACE_DESCRIPTOR;
        } else if (i == 8) {
            changes = !tries[i].plain;
            tries[i].plain = true;
        } else {
            changes = tries[i].target != VYRE_TARGET_VULKAN_1_2;
            tries[i].target = VYRE_TARGET_VULKAN_1_2;
        }
        if (changes && still_differs(s, s->best, &tries[i])) {
            *s->mode = tries[i];
        }
    }
}

uint32_t vy_shrink(vyre_device *device, vy_gen_case *c, vy_mode *mode, const vy_hooks *hooks,
                   uint32_t limit)
{
    shrinker s = {device, mode, hooks, c, 0, limit};
    simplify_mode(&s);
    simplify_grid(&s);
    drop_runs(&s);
    bool smaller;
    do {
        smaller = drop_parts(&s, true);
        smaller |= hoist_bodies(&s);
        smaller |= simplify_expressions(&s);
        smaller |= drop_parts(&s, false);
    } while (smaller && s.runs < s.limit);
    simplify_grid(&s);
    simplify_inputs(&s);
    return s.runs;
}

/* ---- Printing ---------------------------------------------------------------------------------
 */

static double half_value(uint32_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = bits & 1023;
    double value = exponent == 31 ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                   : exponent     ? ldexp(fraction + 1024, exponent - 25)
                                  : ldexp(fraction, -24);
    return bits >> 15 ? -value : value;
}

static void print_float(vy_text *out, double value)
{
    if (isnan(value)) {
        vy_text_printf(out, "nan");
    } else if (isinf(value)) {
        vy_text_printf(out, value < 0 ? "-inf" : "inf");
    } else {
        vy_text_printf(out, "%a", value);
    }
}

/* A component of that many bytes, by the first letter of its type's name. */
static void print_component(vy_text *out, const char *type, const uint8_t *bytes, uint32_t size)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < size; i++) {
        bits |= (uint64_t)bytes[i] << 8 * i;
    }
    if (*type == 'f' && size == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        print_float(out, value);
    } else if (*type == 'f' && size == 2) {
        print_float(out, half_value((uint32_t)bits));
    } else if (*type == 'f' || strncmp(type, "bf", 2) == 0) {
        uint32_t word = size == 2 ? (uint32_t)bits << 16 : (uint32_t)bits;
        float value;
        memcpy(&value, &word, sizeof value);
        print_float(out, (double)value);
    } else if (*type == 'b') {
        vy_text_printf(out, "%u", bits != 0);
    } else if (*type == 'i') {
        uint64_t sign = (uint64_t)1 << (8 * size - 1);
        vy_text_printf(out, "%lld", (long long)((bits ^ sign) - sign));
    } else {
        vy_text_printf(out, "%llu", (unsigned long long)bits);
    }
}

static void print_element(vy_text *out, uint32_t row, const uint8_t *bytes)
{
    const char *type = vy_generate_type_name(row);
    const char *x = *type == 'b' ? NULL : strchr(type, 'x');
    uint32_t components = x ? (uint32_t)(x[1] - '0') : 1;
    uint32_t width = (uint32_t)strtoul(type + strcspn(type, "0123456789"), NULL, 10);
    uint32_t size = strcmp(type, "bool") == 0 ? 4 : width / 8;
    for (uint32_t i = 0; i < components; i++) {
        vy_text_printf(out, i ? ":" : "");
        print_component(out, type, bytes + (size_t)i * size, size);
    }
}

static void print_contents(vy_text *out, const vy_gen_case *c, const vyre_binding_info *info)
{
    uint32_t row = vy_generate_find_type(vyre_type_keyword(info->type));
    uint32_t count = c->info.lengths[row];
    char declared[64];
    snprintf(declared, sizeof declared, "%s: %s[", info->name, vyre_type_keyword(info->type));
    const char *at = strstr(c->text.data, declared);
    if (info->has_count && at) {
        count = (uint32_t)strtoul(at + strlen(declared), NULL, 10);
    }
    vy_text_printf(out, " --in %s", info->name);
    if (vy_generate_is_sizes(info->name)) {
        uint32_t sizes[3];
        vy_generate_sizes(&c->info, sizes);
        vy_text_printf(out, "=%u,%u,%u", sizes[0], sizes[1], sizes[2]);
        return;
    }
    if (c->info.zero_inputs[row] && count) {
        vy_text_printf(out, "[%u]=zero", count);
        return;
    }
    vy_text_printf(out, "=");
    for (uint32_t e = 0; e < count; e++) {
        uint8_t bytes[16];
        vy_generate_input(&c->info, row, e, bytes);
        vy_text_printf(out, e ? "," : "");
        print_element(out, row, bytes);
    }
}

static void print_arguments(vy_text *out, const vy_gen_case *c, const vyre_kernel *kernel)
{
    const vy_generated *info = &c->info;
    for (uint32_t i = 0; i < vyre_kernel_binding_count(kernel); i++) {
        vyre_binding_info binding;
        vyre_kernel_binding(kernel, i, &binding);
        if (binding.mode == VYRE_BUFFER_IN || binding.mode == VYRE_BUFFER_UNIFORM ||
            binding.mode == VYRE_BUFFER_INOUT) {
            print_contents(out, c, &binding);
        }
    }
    for (uint32_t p = 0; p < vyre_kernel_param_count(kernel); p++) {
        uint32_t row = vy_generate_find_type(vyre_type_keyword(vyre_kernel_param_type(kernel, p)));
        uint8_t bytes[16] = {0};
        for (uint32_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (uint8_t)(info->params[row][i / 8] >> 8 * (i % 8));
        }
        vy_text_printf(out, " --param %s=", vyre_kernel_param_name(kernel, p));
        print_element(out, row, bytes);
    }
    const uint32_t *grid = info->grid == VY_GRID_GROUPS ? info->groups : info->elements;
    if (info->grid == VY_GRID_FROM) {
        vy_text_printf(out, " --max-groups %u", vy_generate_max_groups(info));
    } else if (info->grid != VY_GRID_OVER && info->grid != VY_GRID_OF) {
        vy_text_printf(out, " --%s %u,%u,%u", info->grid == VY_GRID_GROUPS ? "grid" : "elements",
                       grid[0], grid[1], grid[2]);
    }
    if (info->workgroup[0]) {
        vy_text_printf(out, " --workgroup %u", info->workgroup[0]);
    }
}

/* By the braces around each line; what was taken away has left it ragged. */
static void print_indented(vy_text *out, const char *text)
{
    int depth = 0;
    while (*text) {
        size_t length = strcspn(text, "\n"), blanks = strspn(text, " ");
        blanks = blanks < length ? blanks : length;
        int opened = 0;
        for (size_t i = blanks; i < length; i++) {
            opened += text[i] == '{';
            opened -= text[i] == '}';
        }
        int indent = depth - (text[blanks] == '}');
        vy_text_printf(out, "%*s", 4 * (indent > 0 ? indent : 0), "");
        vy_text_append(out, text + blanks, length - blanks);
        vy_text_append(out, "\n", 1);
        depth += opened;
        text += length + (text[length] == '\n');
    }
}

void vy_gen_case_print(const vy_gen_case *c, const vy_mode *mode, const vy_comparison *comparison,
                       const char *folder)
{
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    vy_text arguments, all;
    char ways[128], path[512];
    vy_text_init(&arguments, NULL);
    vy_text_init(&all, NULL);
    vy_text_append(&arguments, "", 0);
    vy_mode_print(mode, ways, sizeof ways);
    snprintf(path, sizeof path, "%s/seed-%llu.vyre", folder ? folder : ".",
             (unsigned long long)c->info.seed);
    if (vyre_program_parse(c->text.data, c->text.size, NULL, NULL, &program, &diag) == VYRE_OK &&
        vyre_kernel_compile(program, NULL, &kernel, &diag) == VYRE_OK) {
        print_arguments(&arguments, c, kernel);
    }
    const char *given = arguments.data ? arguments.data : "";
    vy_text_printf(&all, "// Found with: %s. %s\n//! run:%s\n", ways, comparison->message, given);
    print_indented(&all, c->text.data);
    FILE *file = folder ? fopen(path, "wb") : NULL;
    if (file) {
        fwrite(all.data, 1, all.size, file);
        fclose(file);
    }
    printf("%svyre-run --check --interface %s %s%s\n\n", all.data,
           mode->interface == VYRE_INTERFACE_ADDRESS ? "address" : "descriptor",
           file ? path : "FILE.vyre", given);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    vy_text_finish(&arguments);
    vy_text_finish(&all);
}
