/* A module's assembly in lines and words, with keys that do not know the numbers of ids: what
 * --diff compares. Names, lines and debug information are no part of it; decorations belong to what
 * has them. */
#ifndef VYRE_SPV_LISTING_H
#define VYRE_SPV_LISTING_H

#include "tools/vyre-spv/spv.h"

typedef struct token {
    const char *text;
    uint32_t length;
    uint32_t id; /* 0: it is none */
} token;

typedef struct line {
    uint32_t first, count; /* tokens */
    uint32_t place;        /* token of the opcode */
    uint32_t result;       /* id; 0: none */
    uint32_t opcode, words;
    uint32_t function; /* 1: the first; 0: outside */
    /* What it is, by what its operands are: shape knows of values of functions only that they are
     * there, key how they are computed. */
    uint64_t shape, key;
    bool is_ignored;
    uint32_t pair; /* line of the other listing + 1; 0: none */
    bool differs;  /* from its pair */
} line;

typedef struct listing {
    module plain;   /* the module, with each name once */
    vy_arena arena; /* of all that follows */
    vy_text text, friendly;
    VY_VEC(token) tokens;
    VY_VEC(line) lines;
    uint32_t bound, function_count;
    token *names;          /* by id: as people read it, "%x" */
    uint64_t *keys;        /* by id: of what is no value of a function; 0: such a value */
    uint64_t *values;      /* by id: how it is computed */
    uint64_t *decorations; /* by id */
    uint64_t *functions;   /* by function, from 1 */
    bool has_names;        /* of all functions */
    uint32_t *pairs;       /* by id: that of the other listing; 0: none */
} listing;

/* Without keys. Errors: as disassemble; finish_listing also after a failure. */
vyre_result make_listing(const module *m, listing *out, vyre_diag *diag);
/* by_names: functions are found again by their names, else by their numbers. */
void make_keys(listing *l, bool by_names);
void finish_listing(listing *l);
static inline token *token_of(const listing *l, const line *at, uint32_t i)
{
    return &l->tokens.data[at->first + i];
}
bool token_is(const token *t, const char *text);

#endif
