/* The parser of package lists. A stanza is a run of lines up to a blank one; a field is a line with
 * a colon and the lines that follow it and begin with a blank. */
#include "tools/vyre-demo/packages.h"

#include <string.h>

typedef struct span {
    const char *begin, *end;
} span;

typedef enum field {
    FIELD_PACKAGE,
    FIELD_STATUS,
    FIELD_DEPENDS,
    FIELD_PRE_DEPENDS,
    FIELD_PROVIDES,
    FIELD_COUNT
} field;

typedef struct stanza {
    span fields[FIELD_COUNT]; /* with continuation lines */
} stanza;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static span trim(span s)
{
    while (s.begin < s.end && is_blank(*s.begin)) {
        s.begin++;
    }
    while (s.begin < s.end && is_blank(s.end[-1])) {
        s.end--;
    }
    return s;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static uint32_t hash_of(const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    }
    return hash;
}

/* The slot of the name, or the free one where it would stand. */
static uint32_t find_slot(const packages *p, const char *name, size_t length)
{
    uint32_t at = hash_of(name, length) & (p->slot_count - 1);
    for (;; at = (at + 1) & (p->slot_count - 1)) {
        uint32_t entry = p->slots[at];
        if (entry == 0) {
            return at;
        }
        const char *known = p->names.data[entry - 1];
        if (strncmp(known, name, length) == 0 && known[length] == 0) {
            return at;
        }
    }
}

uint32_t packages_find_name(const packages *p, const char *name, size_t length)
{
    if (p->slot_count == 0 || memchr(name, 0, length)) {
        return UINT32_MAX;
    }
    uint32_t entry = p->slots[find_slot(p, name, length)];
    return entry ? entry - 1 : UINT32_MAX;
}

static bool grow_slots(packages *p)
{
    uint32_t count = p->slot_count ? p->slot_count * 2 : 4096;
    uint32_t *slots = vy_arena_alloc(&p->arena, count, sizeof *slots);
    if (!slots) {
        return false;
    }
    p->slots = slots;
    p->slot_count = count;
    for (uint32_t i = 0; i < p->names.count; i++) {
        p->slots[find_slot(p, p->names.data[i], strlen(p->names.data[i]))] = i + 1;
    }
    return true;
}

/* UINT32_MAX without memory. */
static uint32_t intern(packages *p, span name)
{
    size_t length = (size_t)(name.end - name.begin);
    if (p->names.count >= p->slot_count / 2 && !grow_slots(p)) {
        return UINT32_MAX;
    }
    uint32_t slot = find_slot(p, name.begin, length);
    if (p->slots[slot]) {
        return p->slots[slot] - 1;
    }
    char *copy = vy_arena_text(&p->arena, name.begin, length);
    if (!copy || !vy_vec_push(&p->arena, &p->names, copy) ||
        !vy_vec_push(&p->arena, &p->owner, 0)) {
        return UINT32_MAX;
    }
    p->slots[slot] = p->names.count;
    return p->names.count - 1;
}

/* ---- Relations ------------------------------------------------------------------------------- */

/* "name:any (>= 1) [amd64] <!nocheck>" is `name`: what is behind it is left out. */
static span bare_name(span s)
{
    s = trim(s);
    const char *at = s.begin;
    while (at < s.end && !is_blank(*at) && !strchr("(:[<", *at) && *at) {
        at++;
    }
    s.end = at;
    return s;
}

/* The part before the next `separator`, which is taken off *rest; false at the end. */
static bool next_part(span *rest, char separator, span *out)
{
    if (rest->begin >= rest->end) {
        return false;
    }
    const char *stop = memchr(rest->begin, separator, (size_t)(rest->end - rest->begin));
    *out = (span){rest->begin, stop ? stop : rest->end};
    rest->begin = stop ? stop + 1 : rest->end;
    return true;
}

static void add_clauses(packages *p, span text)
{
    span part, alternative;
    while (next_part(&text, ',', &part)) {
        clause_info added = {.first = p->alternatives.count};
        while (next_part(&part, '|', &alternative)) {
            span name = bare_name(alternative);
            uint32_t number = name.begin < name.end ? intern(p, name) : UINT32_MAX;
            if (number != UINT32_MAX) {
                added.count += vy_vec_push(&p->arena, &p->alternatives, number) ? 1u : 0u;
            }
        }
        if (added.count) {
            (void)vy_vec_push(&p->arena, &p->clauses, added);
        }
    }
}

static void add_provided(packages *p, span text)
{
    span part;
    while (next_part(&text, ',', &part)) {
        span name = bare_name(part);
        uint32_t number = name.begin < name.end ? intern(p, name) : UINT32_MAX;
        if (number != UINT32_MAX) {
            (void)vy_vec_push(&p->arena, &p->provided, number);
        }
    }
}

/* ---- Stanzas --------------------------------------------------------------------------------- */

/* dpkg's status also lists packages that are removed or half there. */
static bool is_installed(span status)
{
    static const char word[] = "installed";
    const size_t length = sizeof word - 1;
    status = trim(status);
    return status.begin == status.end || ((size_t)(status.end - status.begin) > length &&
                                          is_blank(status.end[-(int)length - 1]) &&
                                          memcmp(status.end - length, word, length) == 0);
}

static void add_stanza(packages *p, const stanza *s)
{
    span name = bare_name(s->fields[FIELD_PACKAGE]);
    if (name.begin == name.end) {
        return;
    }
    if (!is_installed(s->fields[FIELD_STATUS])) {
        p->not_installed++;
        return;
    }
    uint32_t number = intern(p, name);
    if (number == UINT32_MAX) {
        return;
    }
    if (p->owner.data[number]) {
        p->repeated++;
        return;
    }
    package_info added = {
        .name = number, .first_clause = p->clauses.count, .first_provided = p->provided.count};
    add_clauses(p, s->fields[FIELD_PRE_DEPENDS]);
    add_clauses(p, s->fields[FIELD_DEPENDS]);
    add_provided(p, s->fields[FIELD_PROVIDES]);
    added.clause_count = p->clauses.count - added.first_clause;
    added.provided_count = p->provided.count - added.first_provided;
    if (vy_vec_push(&p->arena, &p->list, added)) {
        p->owner.data[number] = p->list.count;
    }
}

static bool is_name(span line, size_t length, const char *name)
{
    for (size_t i = 0; i < length; i++) {
        char c = line.begin[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
        if (c != name[i]) { /* also where the name ends: c is no zero */
            return false;
        }
    }
    return name[length] == 0;
}

/* Which field the line begins, FIELD_COUNT for one that does not matter. */
static field find_field(span line, span *out_value)
{
    static const char *const names[FIELD_COUNT] = {"package", "status", "depends", "pre-depends",
                                                   "provides"};
    const char *colon = memchr(line.begin, ':', (size_t)(line.end - line.begin));
    if (!colon || memchr(line.begin, 0, (size_t)(colon - line.begin))) {
        return FIELD_COUNT;
    }
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (is_name(line, (size_t)(colon - line.begin), names[i])) {
            *out_value = (span){colon + 1, line.end};
            return (field)i;
        }
    }
    return FIELD_COUNT;
}

static void take_line(packages *p, stanza *s, field *last, span line)
{
    span inside = trim(line);
    if (inside.begin == inside.end) {
        add_stanza(p, s);
        *s = (stanza){0};
        *last = FIELD_COUNT;
    } else if (*line.begin == ' ' || *line.begin == '\t') {
        /* A continuation lies right behind its field, so the field just grows. */
        if (*last != FIELD_COUNT) {
            s->fields[*last].end = line.end;
        }
    } else {
        span value = {NULL, NULL};
        *last = find_field(line, &value);
        if (*last != FIELD_COUNT && s->fields[*last].begin) {
            *last = FIELD_COUNT; /* a field that stands twice: the first one counts */
        }
        if (*last != FIELD_COUNT) {
            s->fields[*last] = value;
        }
    }
}

vyre_result packages_parse(const char *text, size_t size, packages *out_packages, vyre_diag *diag)
{
    *out_packages = (packages){0};
    vy_arena_init(&out_packages->arena, NULL);
    stanza s = {0};
    field last = FIELD_COUNT;
    const char *end = text + size;
    for (const char *at = text; at < end && !out_packages->arena.failed;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        take_line(out_packages, &s, &last, (span){at, stop});
        at = stop < end ? stop + 1 : end;
    }
    add_stanza(out_packages, &s);
    if (out_packages->arena.failed) {
        packages_finish(out_packages);
        return vy_diag_no_memory(diag);
    }
    return VYRE_OK;
}

void packages_finish(packages *p)
{
    vy_arena_finish(&p->arena);
    *p = (packages){0};
}
