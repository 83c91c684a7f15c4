/* How an OpenCL built-in or test kernel is written in our language, and where the two languages
 * differ. */
#ifndef CONFORM_CL_MAP_H
#define CONFORM_CL_MAP_H

#include "codegen/base/base.h"
#include "tests/conform/cl_file.h"

#define CL_OF_INTEGERS 1u /* signed ones */
#define CL_OF_UNSIGNED 2u
#define CL_OF_FLOATS   4u
#define CL_OF_NUMBERS  (CL_OF_INTEGERS | CL_OF_UNSIGNED | CL_OF_FLOATS)

/* What the expression gives; it is then cast to the type of the output. */
typedef enum cl_gives {
    CL_GIVES_T, /* the type of the first operand */
    CL_GIVES_UNSIGNED,
    CL_GIVES_U32,
    CL_GIVES_OUTPUT,
    CL_GIVES_BOOL /* becomes 1, or -1 in vectors */
} cl_gives;

typedef struct cl_row {
    const char
        *name;   /* of the built-in, or of the kernel of a scalar-*.cl file with a '.' before */
    uint32_t of; /* CL_OF_* of the first operand */
    cl_gives gives;
    /* $0 .. $2: operands; $T $U $R: the keywords of their type, its unsigned one, the output's; $W:
     * bits of T. A second output behind a ';'. */
    const char *expression;
    vyre_op op;          /* the one operator that it is, or NONE */
    const char *differs; /* why an element may be what docs/language.md says instead; or NULL */
} cl_row;

/* NULL where our language has nothing of that name and type. */
const cl_row *cl_row_find(const char *name, conform_id type);
/* Expands the expression of output `output`; false where there is none. */
bool cl_row_write(const cl_row *row, uint32_t output, const char *const *operands, conform_id type,
                  conform_id result, bool is_vector, vy_text *text);

#endif
