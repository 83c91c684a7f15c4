/* Reads extended regular expressions and writes what libfa means the same by: sets of bytes in
 * place of classes and of the dot, and anchors, which it has not, kept apart. */
#include "tools/vyre-scan/syntax.h"

#include <ctype.h>
#include <string.h>

enum { MAX_DEPTH = 100, MAX_COUNT = 255, MAX_WEIGHT = 20000 };

typedef struct parser {
    const unsigned char *text;
    size_t size, at;
    bool is_caseless;
    uint32_t depth;
    vyre_result result;
    vyre_diag *diag;
} parser;

static void refuse(parser *p, vyre_result code, size_t at, const char *what)
{
    if (p->result == VYRE_OK) {
        p->result = vy_diag_set(p->diag, code, (vy_loc){1, (uint32_t)at + 1}, "%s", what);
    }
}

static bool peeks(const parser *p, unsigned char c)
{
    return p->at < p->size && p->text[p->at] == c;
}

/* ---- Sets ------------------------------------------------------------------------------------ */

/* What means something in brackets; it is written outside of them. Nor do ranges go beyond 0x7f:
 * libfa takes bytes as signed there. */
static bool is_special(unsigned c)
{
    return c == '-' || c == '[' || c == '\\' || c == ']' || c == '^';
}

static void append_byte(vy_text *out, unsigned char c)
{
    char escaped[2] = {'\\', (char)c};
    bool is_plain = c >= 0x80 || isalnum(c) || c < 0x20 || c == ' ';
    vy_text_append(out, escaped + is_plain, (size_t)(2 - is_plain));
}

void scan_syntax_append_set(vy_text *out, const scan_byte_set *set)
{
    bool is_first = true, is_open = false;
    vy_text_append(out, "(", 1);
    for (unsigned c = 0; c < 256; c++) {
        if (!set->has[c] || is_special(c)) {
            continue;
        }
        unsigned last = c;
        while (last + 1 < 256 && last != 0x7f && set->has[last + 1] && !is_special(last + 1)) {
            last++;
        }
        char range[3] = {(char)c, '-', (char)last};
        vy_text_append(out, "[", is_open ? 0 : 1);
        vy_text_append(out, range, last > c ? 3 : 1);
        is_open = true;
        is_first = false;
        c = last;
    }
    vy_text_append(out, "]", is_open ? 1 : 0);
    for (unsigned c = 0; c < 256; c++) {
        if (set->has[c] && is_special(c)) {
            vy_text_append(out, "|", is_first ? 0 : 1);
            append_byte(out, (unsigned char)c);
            is_first = false;
        }
    }
    vy_text_append(out, ")", 1);
}

/* The other case of letters, where that is the same; no newline, which no line has. */
static void end_set(const parser *p, scan_byte_set *set, bool is_negated)
{
    for (unsigned c = 'a'; p->is_caseless && c <= 'z'; c++) {
        unsigned upper = c - 'a' + 'A';
        set->has[c] = set->has[upper] = set->has[c] || set->has[upper];
    }
    for (unsigned c = 0; is_negated && c < 256; c++) {
        set->has[c] = !set->has[c];
    }
    set->has['\n'] = false;
}

static void add_class(scan_byte_set *set, int (*is_in)(int))
{
    for (int c = 0; c < 128; c++) {
        set->has[c] = set->has[c] || is_in(c) != 0;
    }
}

/* "[:name:]", whose bracket is next. */
static void take_class(parser *p, scan_byte_set *set)
{
    static const struct {
        const char *name;
        int (*is_in)(int);
    } classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank},
                   {"cntrl", iscntrl}, {"digit", isdigit}, {"graph", isgraph},
                   {"lower", islower}, {"print", isprint}, {"punct", ispunct},
                   {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};
    const char *name = (const char *)p->text + p->at + 2;
    size_t left = p->size - p->at - 2;
    for (size_t i = 0; i < VY_COUNT_OF(classes); i++) {
        size_t length = strlen(classes[i].name);
        if (left >= length + 2 && memcmp(name, classes[i].name, length) == 0 &&
            name[length] == ':' && name[length + 1] == ']') {
            add_class(set, classes[i].is_in);
            p->at += length + 4;
            return;
        }
    }
    refuse(p, VYRE_ERROR_INVALID_ARGUMENT, p->at,
           "this is no class of bytes. Fix: use one of alnum, alpha, blank, cntrl, digit, graph, "
           "lower, print, punct, space, upper and xdigit");
}

/* A byte, a range or a class of a bracket expression. */
static void take_item(parser *p, scan_byte_set *set)
{
    size_t at = p->at;
    unsigned char from = p->text[p->at];
    if (from == '[' && p->at + 1 < p->size && strchr(":=.", p->text[p->at + 1])) {
        if (p->text[p->at + 1] == ':') {
            take_class(p, set);
        } else {
            refuse(p, VYRE_ERROR_UNSUPPORTED_FEATURE, at,
                   "[= and [. are not supported. Fix: give the bytes themselves");
        }
        return;
    }
    unsigned char to = from;
    p->at++;
    if (peeks(p, '-') && p->at + 1 < p->size && p->text[p->at + 1] != ']') {
        to = p->text[p->at + 1];
        p->at += 2;
    }
    if (to < from) {
        refuse(p, VYRE_ERROR_INVALID_ARGUMENT, at,
               "the range ends before it begins. Fix: give the lower byte first");
    }
    for (unsigned c = from; c <= to; c++) {
        set->has[c] = true;
    }
}

static void take_bracket(parser *p, vy_text *out)
{
    scan_byte_set set = {{false}};
    size_t begin = p->at++;
    bool is_negated = peeks(p, '^'), is_first = true, is_any = false;
    p->at += is_negated;
    bool looks_bare = peeks(p, ':');
    for (; p->result == VYRE_OK && p->at < p->size && (is_first || !peeks(p, ']'));
         is_first = false) {
        take_item(p, &set);
    }
    if (p->result != VYRE_OK) {
        return;
    }
    if (p->at >= p->size) {
        refuse(p, VYRE_ERROR_INVALID_ARGUMENT, begin,
               "a bracket is opened and never closed. Fix: close it");
        return;
    }
    if (looks_bare && p->text[p->at - 1] == ':' && p->at - begin > 2) {
        refuse(p, VYRE_ERROR_INVALID_ARGUMENT, begin,
               "a class stands in brackets of its own: [[:space:]]");
    }
    p->at++;
    end_set(p, &set, is_negated);
    for (unsigned c = 0; c < 256; c++) {
        is_any = is_any || set.has[c];
    }
    if (!is_any) {
        refuse(p, VYRE_ERROR_INVALID_ARGUMENT, begin, "no byte is in this set. Fix: leave it out");
        return;
    }
    scan_syntax_append_set(out, &set);
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static uint64_t take_alternatives(parser *p, vy_text *out);

static void take_literal(parser *p, vy_text *out, unsigned char c)
{
    scan_byte_set set = {{false}};
    set.has[c] = true;
    if (p->is_caseless && isalpha(c)) {
        end_set(p, &set, false);
        scan_syntax_append_set(out, &set);
    } else {
        append_byte(out, c);
    }
}

static void take_escape(parser *p, vy_text *out)
{
    size_t begin = p->at++;
    if (p->at >= p->size) {
        refuse(p, VYRE_ERROR_INVALID_ARGUMENT, begin,
               "a backslash ends the expression. Fix: write two");
        return;
    }
    unsigned char c = p->text[p->at++];
    scan_byte_set set = {{false}};
    switch (c) {
    case 'w':
    case 'W':
        add_class(&set, isalnum);
        set.has['_'] = true;
        break;
    case 's':
    case 'S':
        add_class(&set, isspace);
        break;
    case '<':
    case '>':
    case '`':
    case '\'':
        refuse(p, VYRE_ERROR_UNSUPPORTED_FEATURE, begin,
               "borders of words and buffers are not supported. Fix: use -w, ^ or $");
        return;
    default:
        if (isalnum(c) || c >= 0x80) {
            refuse(p, VYRE_ERROR_UNSUPPORTED_FEATURE, begin,
                   "this escape is not supported. Fix: leave the backslash out, or write what is "
                   "meant without it; \\w, \\W, \\s, \\S and escapes of punctuation are known");
            return;
        }
        take_literal(p, out, c);
        return;
    }
    end_set(p, &set, isupper(c) != 0);
    scan_syntax_append_set(out, &set);
}

static uint64_t take_group(parser *p, vy_text *out)
{
    size_t begin = p->at++;
    if (++p->depth > MAX_DEPTH) {
        refuse(p, VYRE_ERROR_UNSUPPORTED_FEATURE, begin,
               "groups are nested deeper than 100. Fix: write it flatter");
        return 1;
    }
    vy_text_append(out, "(", 1);
    uint64_t weight = take_alternatives(p, out);
    vy_text_append(out, ")", 1);
    p->depth--;
    if (p->result == VYRE_OK && !peeks(p, ')')) {
        refuse(p, VYRE_ERROR_INVALID_ARGUMENT, begin,
               "a group is opened and never closed. Fix: close it");
    }
    p->at++;
    return weight;
}

/* Anything that can be repeated. */
static uint64_t take_atom(parser *p, vy_text *out)
{
    scan_byte_set any = {{false}};
    unsigned char c = p->text[p->at];
    switch (c) {
    case '(':
        return take_group(p, out);
    case '[':
        take_bracket(p, out);
        return 1;
    case '.':
        p->at++;
        end_set(p, &any, true);
        scan_syntax_append_set(out, &any);
        return 1;
    case '\\':
        take_escape(p, out);
        return 1;
    case '*':
    case '+':
    case '?':
    case '{':
        refuse(p, VYRE_ERROR_INVALID_ARGUMENT, p->at,
               "there is nothing to repeat. Fix: write a backslash before it where the character "
               "is meant");
        return 1;
    case '^':
    case '$':
        refuse(p, VYRE_ERROR_UNSUPPORTED_FEATURE, p->at,
               "^ and $ are supported at the ends of the whole expression and of its alternatives, "
               "not within. Fix: write alternatives, or a backslash before it where the character "
               "is meant");
        return 1;
    default:
        p->at++;
        take_literal(p, out, c);
        return 1;
    }
}

static bool take_number(parser *p, uint32_t *out)
{
    size_t begin = p->at;
    *out = 0;
    while (p->at < p->size && isdigit(p->text[p->at])) {
        *out = *out > MAX_COUNT ? *out : *out * 10 + (uint32_t)(p->text[p->at] - '0');
        p->at++;
    }
    return p->at > begin;
}

/* "{n}", "{n,}", "{,m}" or "{n,m}"; *out_most is UINT32_MAX without an end. */
static void take_interval(parser *p, uint32_t *out_least, uint32_t *out_most)
{
    size_t begin = p->at++;
    bool has_least = take_number(p, out_least), has_comma = peeks(p, ',');
    *out_most = *out_least;
    if (has_comma) {
        p->at++;
        if (!take_number(p, out_most)) {
            *out_most = UINT32_MAX;
        }
    }
    bool has_most = has_comma && *out_most != UINT32_MAX;
    if ((!has_least && !has_most) || !peeks(p, '}') || *out_most < *out_least) {
        refuse(p, VYRE_ERROR_INVALID_ARGUMENT, begin,
               "this is no count of repetitions. Fix: write {n}, {n,}, {,m} or {n,m}, or a "
               "backslash before { where the character is meant");
    } else if (*out_least > MAX_COUNT || (has_most && *out_most > MAX_COUNT)) {
        refuse(p, VYRE_ERROR_UNSUPPORTED_FEATURE, begin,
               "an expression is repeated more than 255 times. Fix: give a smaller count");
    }
    p->at++;
}

static void append_repeated(vy_text *out, const vy_text *atom, uint32_t least, uint32_t most)
{
    const char *data = atom->data ? atom->data : "";
    if (most == 0) {
        vy_text_append(out, "()", 2);
        return;
    }
    if (least > 0 || most != UINT32_MAX) {
        uint32_t last = most == UINT32_MAX ? least : most;
        vy_text_append(out, "(", 1);
        vy_text_append(out, data, atom->size);
        vy_text_printf(out, "){%u,%u}", least, last);
    }
    if (most == UINT32_MAX) {
        vy_text_append(out, "(", 1);
        vy_text_append(out, data, atom->size);
        vy_text_append(out, ")*", 2);
    }
}

/* An atom with what repeats it. */
static uint64_t take_repeated(parser *p, vy_text *out)
{
    vy_text atom, next;
    size_t begin = p->at;
    vy_text_init(&atom, NULL);
    uint64_t weight = take_atom(p, &atom);
    while (p->result == VYRE_OK && p->at < p->size && strchr("*+?{", p->text[p->at]) &&
           p->text[p->at]) {
        uint32_t least = 0, most = UINT32_MAX;
        unsigned char c = p->text[p->at];
        if (c == '{') {
            take_interval(p, &least, &most);
        } else {
            least = c == '+';
            most = c == '?' ? 1 : UINT32_MAX;
            p->at++;
        }
        vy_text_init(&next, NULL);
        append_repeated(&next, &atom, least, most);
        next.failed = next.failed || atom.failed;
        vy_text_finish(&atom);
        atom = next;
        weight *= most == UINT32_MAX ? (uint64_t)least + 1 : most ? most : 1;
        if (weight > MAX_WEIGHT) {
            refuse(p, VYRE_ERROR_UNSUPPORTED_FEATURE, begin,
                   "repetitions make more than 20,000 parts of this. Fix: give smaller counts");
        }
    }
    vy_text_append(out, atom.data ? atom.data : "", atom.size);
    out->failed = out->failed || atom.failed;
    vy_text_finish(&atom);
    return weight;
}

/* What stands side by side, up to a bar or the end. */
static uint64_t take_sequence(parser *p, vy_text *out)
{
    uint64_t weight = 0;
    size_t begin = p->at;
    while (p->result == VYRE_OK && p->at < p->size && !peeks(p, '|') &&
           !(p->depth && peeks(p, ')'))) {
        bool is_last = p->at + 1 == p->size || p->text[p->at + 1] == '|';
        if (p->depth == 0 && peeks(p, ')')) {
            refuse(p, VYRE_ERROR_INVALID_ARGUMENT, p->at,
                   "a group is closed that is not open. Fix: write \\)");
        } else if (p->depth == 0 && peeks(p, '$') && is_last) {
            break;
        } else {
            weight += take_repeated(p, out);
        }
    }
    if (p->at == begin) {
        vy_text_append(out, "()", 2);
    }
    if (weight > MAX_WEIGHT) {
        refuse(p, VYRE_ERROR_UNSUPPORTED_FEATURE, begin,
               "the expression has more than 20,000 parts. Fix: give several shorter ones");
    }
    return weight;
}

static uint64_t take_alternatives(parser *p, vy_text *out)
{
    uint64_t weight = take_sequence(p, out);
    while (p->result == VYRE_OK && peeks(p, '|')) {
        p->at++;
        vy_text_append(out, "|", 1);
        weight += take_sequence(p, out);
    }
    return weight;
}

vyre_result scan_syntax_parse(const char *text, size_t size, bool is_caseless, scan_syntax *out,
                              vyre_diag *diag)
{
    parser p = {.text = (const unsigned char *)text,
                .size = size,
                .is_caseless = is_caseless,
                .diag = diag};
    for (uint32_t i = 0; i < SYNTAX_KINDS; i++) {
        vy_text_init(&out->alternatives[i], NULL);
        out->is_there[i] = false;
    }
    for (bool goes_on = true; goes_on && p.result == VYRE_OK; p.at++) {
        vy_text one;
        unsigned kind = 0;
        vy_text_init(&one, NULL);
        if (peeks(&p, '^')) {
            kind |= SYNTAX_LINE_START;
            p.at++;
        }
        (void)take_sequence(&p, &one);
        if (peeks(&p, '$')) {
            kind |= SYNTAX_LINE_END;
            p.at++;
        }
        vy_text *all = &out->alternatives[kind];
        vy_text_append(all, "|", out->is_there[kind] ? 1 : 0);
        vy_text_append(all, one.data ? one.data : "", one.size);
        all->failed = all->failed || one.failed;
        out->is_there[kind] = true;
        if (all->failed && p.result == VYRE_OK) {
            p.result = vy_diag_no_memory(diag);
        }
        vy_text_finish(&one);
        goes_on = peeks(&p, '|');
    }
    return p.result;
}

void scan_syntax_finish(scan_syntax *syntax)
{
    for (uint32_t i = 0; i < SYNTAX_KINDS; i++) {
        vy_text_finish(&syntax->alternatives[i]);
    }
}
