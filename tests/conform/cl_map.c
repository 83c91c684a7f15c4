/* OpenCL's built-ins in our language; see cl_map.h. */
#include "tests/conform/cl_map.h"

#include <string.h>

#define WIDER "the tolerance of docs/language.md is wider, or the argument outside its domain"
#define FRACT "fract(x) is x - floor(x): 1 just below 0, and NaN for infinities"
#define COPYSIGN                                                                                   \
    "the file has NaN where the second operand is NaN; copysign takes its sign, as IEEE 754's "    \
    "does"
#define INT     CL_OF_INTEGERS
#define UINT    CL_OF_UNSIGNED
#define INTEGER (CL_OF_INTEGERS | CL_OF_UNSIGNED)
#define FLOAT   CL_OF_FLOATS
#define NUMBER  CL_OF_NUMBERS

/* Of several rows with one name the first one that takes the type. */
static const cl_row rows[] = {
    /* integer functions */
    {"abs", INT, CL_GIVES_T, "abs($0)", VYRE_OP_ABS, NULL},
    {"abs", UINT, CL_GIVES_T, "$0", VYRE_OP_NONE, NULL},
    {"abs_diff", INTEGER, CL_GIVES_UNSIGNED, "abs_diff($0, $1)", VYRE_OP_ABS_DIFF, NULL},
    {"add_sat", INTEGER, CL_GIVES_T, "add_sat($0, $1)", VYRE_OP_ADD_SAT, NULL},
    {"sub_sat", INTEGER, CL_GIVES_T, "sub_sat($0, $1)", VYRE_OP_SUB_SAT, NULL},
    {"mul_hi", INTEGER, CL_GIVES_T, "mul_high($0, $1)", VYRE_OP_MUL_HIGH, NULL},
    {"mad_hi", INTEGER, CL_GIVES_T, "mul_high($0, $1) + $2", VYRE_OP_NONE, NULL},
    {"mul24", INTEGER, CL_GIVES_T, "$0 * $1", VYRE_OP_MUL, NULL},
    {"mad24", INTEGER, CL_GIVES_T, "$0 * $1 + $2", VYRE_OP_NONE, NULL},
    {"hadd", INTEGER, CL_GIVES_T, "($0 & $1) + (($0 ^ $1) >> 1u)", VYRE_OP_NONE, NULL},
    {"rhadd", INTEGER, CL_GIVES_T, "($0 | $1) - (($0 ^ $1) >> 1u)", VYRE_OP_NONE, NULL},
    {"clz", INTEGER, CL_GIVES_U32, "clz($0)", VYRE_OP_CLZ, NULL},
    {"popcount", INTEGER, CL_GIVES_U32, "popcount($0)", VYRE_OP_POPCOUNT, NULL},
    {"rotate", INTEGER, CL_GIVES_T, "rotate_left($0, u32($1))", VYRE_OP_ROTATE_LEFT, NULL},
    {"upsample", INTEGER, CL_GIVES_OUTPUT, "$R($0) << $Wu | $R($1)", VYRE_OP_NONE, NULL},
    {"clamp", NUMBER, CL_GIVES_T, "clamp($0, $1, $2)", VYRE_OP_CLAMP, NULL},
    {"min", NUMBER, CL_GIVES_T, "min($0, $1)", VYRE_OP_MIN, NULL},
    {"max", NUMBER, CL_GIVES_T, "max($0, $1)", VYRE_OP_MAX, NULL},
    /* float functions */
    {"sign", FLOAT, CL_GIVES_T, "sign($0)", VYRE_OP_SIGN, NULL},
    {"fabs", FLOAT, CL_GIVES_T, "abs($0)", VYRE_OP_ABS, NULL},
    {"fmin", FLOAT, CL_GIVES_T, "min($0, $1)", VYRE_OP_MIN, NULL},
    {"fmax", FLOAT, CL_GIVES_T, "max($0, $1)", VYRE_OP_MAX, NULL},
    {"ceil", FLOAT, CL_GIVES_T, "ceil($0)", VYRE_OP_CEIL, NULL},
    {"floor", FLOAT, CL_GIVES_T, "floor($0)", VYRE_OP_FLOOR, NULL},
    {"trunc", FLOAT, CL_GIVES_T, "trunc($0)", VYRE_OP_TRUNC, NULL},
    {"round", FLOAT, CL_GIVES_T, "round($0)", VYRE_OP_ROUND, NULL},
    {"rint", FLOAT, CL_GIVES_T, "round_even($0)", VYRE_OP_ROUND_EVEN, NULL},
    {"fract", FLOAT, CL_GIVES_T, "fract($0);floor($0)", VYRE_OP_FRACT, FRACT},
    {"modf", FLOAT, CL_GIVES_T, "copysign(select(is_inf($0), 0.0, $0 - trunc($0)), $0);trunc($0)",
     VYRE_OP_NONE, NULL},
    {"copysign", FLOAT, CL_GIVES_T, "copysign($0, $1)", VYRE_OP_COPYSIGN, COPYSIGN},
    {"fma", FLOAT, CL_GIVES_T, "fma($0, $1, $2)", VYRE_OP_FMA, NULL},
    {"mad", FLOAT, CL_GIVES_T, "$0 * $1 + $2", VYRE_OP_NONE, NULL},
    {"fdim", FLOAT, CL_GIVES_T, "select($0 <= $1, 0.0, $0 - $1)", VYRE_OP_NONE, NULL},
    {"sqrt", FLOAT, CL_GIVES_T, "sqrt($0)", VYRE_OP_SQRT, NULL},
    {"rsqrt", FLOAT, CL_GIVES_T, "rsqrt($0)", VYRE_OP_RSQRT, WIDER},
    {"exp", FLOAT, CL_GIVES_T, "exp($0)", VYRE_OP_EXP, WIDER},
    {"exp2", FLOAT, CL_GIVES_T, "exp2($0)", VYRE_OP_EXP2, WIDER},
    {"log", FLOAT, CL_GIVES_T, "log($0)", VYRE_OP_LOG, WIDER},
    {"log2", FLOAT, CL_GIVES_T, "log2($0)", VYRE_OP_LOG2, WIDER},
    {"sin", FLOAT, CL_GIVES_T, "sin($0)", VYRE_OP_SIN, WIDER},
    {"sincos", FLOAT, CL_GIVES_T, "sin($0);cos($0)", VYRE_OP_SIN, WIDER},
    {"cos", FLOAT, CL_GIVES_T, "cos($0)", VYRE_OP_COS, WIDER},
    {"tan", FLOAT, CL_GIVES_T, "tan($0)", VYRE_OP_TAN, WIDER},
    {"asin", FLOAT, CL_GIVES_T, "asin($0)", VYRE_OP_ASIN, WIDER},
    {"acos", FLOAT, CL_GIVES_T, "acos($0)", VYRE_OP_ACOS, WIDER},
    {"atan", FLOAT, CL_GIVES_T, "atan($0)", VYRE_OP_ATAN, WIDER},
    {"sinh", FLOAT, CL_GIVES_T, "sinh($0)", VYRE_OP_SINH, WIDER},
    {"cosh", FLOAT, CL_GIVES_T, "cosh($0)", VYRE_OP_COSH, WIDER},
    {"tanh", FLOAT, CL_GIVES_T, "tanh($0)", VYRE_OP_TANH, WIDER},
    {"atan2", FLOAT, CL_GIVES_T, "atan2($0, $1)", VYRE_OP_ATAN2, WIDER},
    {"pow", FLOAT, CL_GIVES_T, "pow($0, $1)", VYRE_OP_POW, WIDER},
    {"powr", FLOAT, CL_GIVES_T, "pow($0, $1)", VYRE_OP_POW,
     "pow is C's pow, which unlike powr gives numbers for 1^inf, 0^0 and inf^0; " WIDER},
    /* relations */
    {"isequal", FLOAT, CL_GIVES_BOOL, "$0 == $1", VYRE_OP_EQ, NULL},
    {"isnotequal", FLOAT, CL_GIVES_BOOL, "$0 != $1", VYRE_OP_NE, NULL},
    {"isgreater", FLOAT, CL_GIVES_BOOL, "$0 > $1", VYRE_OP_GT, NULL},
    {"isgreaterequal", FLOAT, CL_GIVES_BOOL, "$0 >= $1", VYRE_OP_GE, NULL},
    {"isless", FLOAT, CL_GIVES_BOOL, "$0 < $1", VYRE_OP_LT, NULL},
    {"islessequal", FLOAT, CL_GIVES_BOOL, "$0 <= $1", VYRE_OP_LE, NULL},
    {"islessgreater", FLOAT, CL_GIVES_BOOL, "$0 < $1 || $0 > $1", VYRE_OP_NONE, NULL},
    {"isordered", FLOAT, CL_GIVES_BOOL, "!is_nan($0) && !is_nan($1)", VYRE_OP_NONE, NULL},
    {"isunordered", FLOAT, CL_GIVES_BOOL, "is_nan($0) || is_nan($1)", VYRE_OP_NONE, NULL},
    {"isfinite", FLOAT, CL_GIVES_BOOL, "is_finite($0)", VYRE_OP_IS_FINITE, NULL},
    {"isinf", FLOAT, CL_GIVES_BOOL, "is_inf($0)", VYRE_OP_IS_INF, NULL},
    {"isnan", FLOAT, CL_GIVES_BOOL, "is_nan($0)", VYRE_OP_IS_NAN, NULL},
    {"isnormal", FLOAT, CL_GIVES_BOOL, "is_finite($0) && abs($0) >= 0x1p-126", VYRE_OP_NONE, NULL},
    {"signbit", FLOAT, CL_GIVES_BOOL, "bitcast<u32>($0) >> 31u != 0", VYRE_OP_NONE, NULL},
    /* kernels of scalar-*.cl and vector-*.program_test */
    {".load_global", NUMBER, CL_GIVES_T, "$0", VYRE_OP_NONE, NULL},
    {".load_param", NUMBER, CL_GIVES_T, "$0", VYRE_OP_NONE, NULL},
    {".load_constant", NUMBER, CL_GIVES_T, "$0", VYRE_OP_NONE, NULL},
    {".add", NUMBER, CL_GIVES_T, "$0 + $1", VYRE_OP_ADD, NULL},
    {".sub", NUMBER, CL_GIVES_T, "$0 - $1", VYRE_OP_SUB, NULL},
    {".mul", NUMBER, CL_GIVES_T, "$0 * $1", VYRE_OP_MUL, NULL},
    {".div", NUMBER, CL_GIVES_T, "$0 / $1", VYRE_OP_DIV, NULL},
    {".mod", INTEGER, CL_GIVES_T, "$0 % $1", VYRE_OP_REM, NULL},
    {".plus", NUMBER, CL_GIVES_T, "$0", VYRE_OP_NONE, NULL},
    {".minus", NUMBER, CL_GIVES_T, "-$0", VYRE_OP_NEGATE, NULL},
    {".postinc", NUMBER, CL_GIVES_T, "$0", VYRE_OP_NONE, NULL},
    {".preinc", NUMBER, CL_GIVES_T, "$0 + $T(1)", VYRE_OP_NONE, NULL},
    {".postdec", NUMBER, CL_GIVES_T, "$0", VYRE_OP_NONE, NULL},
    {".predec", NUMBER, CL_GIVES_T, "$0 - $T(1)", VYRE_OP_NONE, NULL},
    {".sdiv24", INT, CL_GIVES_T, "(($0 << 8u) >> 8u) / (($1 << 8u) >> 8u)", VYRE_OP_NONE, NULL},
    {".srem24", INT, CL_GIVES_T, "(($0 << 8u) >> 8u) % (($1 << 8u) >> 8u)", VYRE_OP_NONE, NULL},
    {".udiv24", UINT, CL_GIVES_T, "(($0 << 8u) >> 8u) / (($1 << 8u) >> 8u)", VYRE_OP_NONE, NULL},
    {".urem24", UINT, CL_GIVES_T, "(($0 << 8u) >> 8u) % (($1 << 8u) >> 8u)", VYRE_OP_NONE, NULL},
    {".sdiv25", INT, CL_GIVES_T, "(($0 << 7u) >> 7u) / (($1 << 7u) >> 7u)", VYRE_OP_NONE, NULL},
    {".srem25", INT, CL_GIVES_T, "(($0 << 7u) >> 7u) % (($1 << 7u) >> 7u)", VYRE_OP_NONE, NULL},
    {".udiv25", UINT, CL_GIVES_T, "(($0 << 7u) >> 7u) / (($1 << 7u) >> 7u)", VYRE_OP_NONE, NULL},
    {".urem25", UINT, CL_GIVES_T, "(($0 << 7u) >> 7u) % (($1 << 7u) >> 7u)", VYRE_OP_NONE, NULL},
    {".udiv26", UINT, CL_GIVES_T, "(($0 << 6u) >> 6u) / (($1 << 6u) >> 6u)", VYRE_OP_NONE, NULL},
    {".udiv25_1", UINT, CL_GIVES_T, "($0 >> 7u) / (($1 << 7u) >> 7u)", VYRE_OP_NONE, NULL},
    {".urem25_1", UINT, CL_GIVES_T, "(($0 << 7u) >> 7u) % ($1 >> 7u)", VYRE_OP_NONE, NULL},
    {".urem25_2", UINT, CL_GIVES_T, "(($0 << 7u) >> 7u) % (($1 << 7u) >> 7u)", VYRE_OP_NONE, NULL},
    {".sdiv26", INT, CL_GIVES_T, "(($0 << 6u) >> 6u) / (($1 << 6u) >> 6u)", VYRE_OP_NONE, NULL},
    {".sdiv25_1", INT, CL_GIVES_T, "($0 >> 7u) / (($1 << 7u) >> 7u)", VYRE_OP_NONE, NULL},
    {".srem25_1", INT, CL_GIVES_T, "(($0 << 7u) >> 7u) % ($1 >> 7u)", VYRE_OP_NONE, NULL},
    {".srem25_2", INT, CL_GIVES_T, "(-(($0 << 7u) >> 7u)) % (($1 << 7u) >> 7u)", VYRE_OP_NONE,
     NULL},
    {".eq", NUMBER, CL_GIVES_BOOL, "$0 == $1", VYRE_OP_EQ, NULL},
    {".neq", NUMBER, CL_GIVES_BOOL, "$0 != $1", VYRE_OP_NE, NULL},
    {".gt", NUMBER, CL_GIVES_BOOL, "$0 > $1", VYRE_OP_GT, NULL},
    {".gte", NUMBER, CL_GIVES_BOOL, "$0 >= $1", VYRE_OP_GE, NULL},
    {".lt", NUMBER, CL_GIVES_BOOL, "$0 < $1", VYRE_OP_LT, NULL},
    {".lte", NUMBER, CL_GIVES_BOOL, "$0 <= $1", VYRE_OP_LE, NULL},
    {".and", INTEGER, CL_GIVES_T, "$0 & $1", VYRE_OP_AND, NULL},
    {".or", INTEGER, CL_GIVES_T, "$0 | $1", VYRE_OP_OR, NULL},
    {".xor", INTEGER, CL_GIVES_T, "$0 ^ $1", VYRE_OP_XOR, NULL},
    {".not", INTEGER, CL_GIVES_T, "~$0", VYRE_OP_COMPLEMENT, NULL},
    {".ls", INTEGER, CL_GIVES_T, "$0 << u32($1)", VYRE_OP_SHL, NULL},
    {".rs", INTEGER, CL_GIVES_T, "$0 >> u32($1)", VYRE_OP_SHR, NULL},
    {".test_not", NUMBER, CL_GIVES_BOOL, "!bool($0)", VYRE_OP_NONE, NULL},
    {".test_and", NUMBER, CL_GIVES_BOOL, "bool($0) && bool($1)", VYRE_OP_NONE, NULL},
    {".test_or", NUMBER, CL_GIVES_BOOL, "bool($0) || bool($1)", VYRE_OP_NONE, NULL},
};

const cl_row *cl_row_find(const char *name, conform_id type)
{
    uint32_t of = conform_is_float(type)                         ? CL_OF_FLOATS
                  : conform_types[type].kind == CONFORM_SIGNED   ? CL_OF_INTEGERS
                  : conform_types[type].kind == CONFORM_UNSIGNED ? CL_OF_UNSIGNED
                                                                 : 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((rows[i].of & of) && strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static void expand(char mark, const char *const *operands, conform_id type, conform_id result,
                   vy_text *text)
{
    switch (mark) {
    case 'T':
        vy_text_printf(text, "%s", conform_types[type].keyword);
        break;
    case 'U':
        vy_text_printf(text, "%s", conform_types[conform_unsigned_of(type)].keyword);
        break;
    case 'R':
        vy_text_printf(text, "%s", conform_types[result].keyword);
        break;
    case 'W':
        vy_text_printf(text, "%u", conform_types[type].width);
        break;
    default:
        vy_text_printf(text, "%s", operands[mark - '0']);
    }
}

static conform_id given(const cl_row *row, conform_id type, conform_id result)
{
    switch (row->gives) {
    case CL_GIVES_T:
        return type;
    case CL_GIVES_UNSIGNED:
        return conform_unsigned_of(type);
    case CL_GIVES_U32:
        return CONFORM_U32;
    case CL_GIVES_BOOL:
        return CONFORM_BOOL;
    default:
        return result;
    }
}

bool cl_row_write(const cl_row *row, uint32_t output, const char *const *operands, conform_id type,
                  conform_id result, bool is_vector, vy_text *text)
{
    const char *at = row->expression, *keyword = conform_types[result].keyword;
    bool is_cast = given(row, type, result) != result;
    for (; output > 0; output--) {
        at = strchr(at, ';');
        if (!at++) {
            return false;
        }
    }
    if (is_cast && row->gives == CL_GIVES_BOOL && is_vector) {
        vy_text_printf(text, "%s(0) - ", keyword);
    }
    vy_text_printf(text, is_cast ? "%s(" : "", keyword);
    for (; *at && *at != ';'; at++) {
        if (*at == '$') {
            expand(*++at, operands, type, result, text);
        } else {
            vy_text_append(text, at, 1);
        }
    }
    vy_text_printf(text, is_cast ? ")" : "");
    return true;
}
