/* .npy files: a magic, a version, the length of a header, and the header, which is a Python
 * dictionary of exactly 'descr', 'fortran_order' and 'shape'; then the elements. */
#include "tools/common/npy.h"

#include "codegen/ir/ops.h"
#include "tools/common/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC      "\x93NUMPY"
#define MAGIC_SIZE 6
#define MAX_HEADER 65536u

static const vy_loc nowhere = {0, 0};

typedef struct header {
    char descr[16];
    bool has_descr, has_order, has_shape;
    bool fortran;
    uint32_t dimensions;
    uint64_t last; /* dimension */
    uint64_t count;
} header;

/* A walk over the header's text; `wrong` says what was found first. */
typedef struct reader {
    const char *at, *end;
    const char *wrong;
} reader;

static vyre_result malformed(vyre_diag *diag, const char *what)
{
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                       "this .npy file is malformed: %s. Fix: write it again with numpy.save",
                       what);
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at) {
        r->at++;
    }
}

static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (r->at < r->end && *r->at == c) {
        r->at++;
        return true;
    }
    return false;
}

static bool take_word(reader *r, const char *word)
{
    skip_blanks(r);
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) >= length && memcmp(r->at, word, length) == 0) {
        r->at += length;
        return true;
    }
    return false;
}

/* A string without escapes, cut at the size; false where there is none. */
static bool take_string(reader *r, char *out, size_t size)
{
    skip_blanks(r);
    if (r->at >= r->end || (*r->at != '\'' && *r->at != '"')) {
        return false;
    }
    const char *close = memchr(r->at + 1, *r->at, (size_t)(r->end - r->at - 1));
    if (!close) {
        return false;
    }
    size_t length = (size_t)(close - r->at - 1);
    snprintf(out, size, "%.*s", (int)(length < size ? length : size - 1), r->at + 1);
    r->at = close + 1;
    return true;
}

static bool take_dimension(reader *r, uint64_t *out_value)
{
    uint64_t value = 0;
    skip_blanks(r);
    const char *start = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        value = value * 10 + (uint64_t)(*r->at - '0');
        if (value > UINT32_MAX) {
            r->wrong = "a dimension is over 2^32 - 1";
            return false;
        }
    }
    *out_value = value;
    return r->at > start;
}

static bool read_shape(reader *r, header *h)
{
    h->count = 1;
    if (!take(r, '(')) {
        r->wrong = "'shape' is no tuple";
        return false;
    }
    for (bool comma = true; !take(r, ')'); h->dimensions++) {
        uint64_t dimension;
        if (!comma || h->dimensions >= 64 || !take_dimension(r, &dimension)) {
            r->wrong = r->wrong ? r->wrong : "'shape' is no tuple of numbers";
            return false;
        }
        if (dimension && h->count > UINT64_MAX / dimension) {
            r->wrong = "the shape has too many elements";
            return false;
        }
        h->count *= dimension;
        h->last = dimension;
        comma = take(r, ',');
        if (!comma && h->dimensions == 0) {
            r->wrong = "'shape' is no tuple";
            return false;
        }
    }
    return true;
}

static bool read_entry(reader *r, header *h)
{
    char key[24] = "";
    bool *seen = NULL;
    if (!take_string(r, key, sizeof key) || !take(r, ':')) {
        r->wrong = "the header is no dictionary";
        return false;
    }
    seen = strcmp(key, "descr") == 0           ? &h->has_descr
           : strcmp(key, "fortran_order") == 0 ? &h->has_order
           : strcmp(key, "shape") == 0         ? &h->has_shape
                                               : NULL;
    if (!seen || *seen) {
        r->wrong = seen ? "a key stands twice in the header" : "the header has an unknown key";
        return false;
    }
    *seen = true;
    if (seen == &h->has_shape) {
        return read_shape(r, h);
    }
    if (seen == &h->has_descr) {
        r->wrong = "'descr' is no single type (arrays of records are not read)";
        bool taken = take_string(r, h->descr, sizeof h->descr);
        r->wrong = taken ? NULL : r->wrong;
        return taken;
    }
    h->fortran = take_word(r, "True");
    if (!h->fortran && !take_word(r, "False")) {
        r->wrong = "'fortran_order' is neither True nor False";
        return false;
    }
    return true;
}

static bool read_header(reader *r, header *h)
{
    if (!take(r, '{')) {
        r->wrong = "the header is no dictionary";
        return false;
    }
    for (bool comma = true; !take(r, '}');) {
        if (!comma) {
            r->wrong = "the header is no dictionary";
            return false;
        }
        if (!read_entry(r, h)) {
            return false;
        }
        comma = take(r, ',');
    }
    skip_blanks(r);
    if (r->at != r->end) {
        r->wrong = "something stands behind the header's dictionary";
    } else if (!h->has_descr || !h->has_order || !h->has_shape) {
        r->wrong = "the header lacks 'descr', 'fortran_order' or 'shape'";
    }
    return r->wrong == NULL;
}

/* Where the header's text lies; NULL where the file is no .npy of a known version. */
static const char *find_header(const unsigned char *bytes, size_t size, size_t *out_size)
{
    if (size < 10 || memcmp(bytes, MAGIC, MAGIC_SIZE) != 0 || bytes[6] < 1 || bytes[6] > 3 ||
        bytes[7] != 0) {
        return NULL;
    }
    size_t start = bytes[6] == 1 ? 10 : 12, length = bytes[8] | (size_t)bytes[9] << 8;
    if (size < start) {
        return NULL;
    }
    if (start == 12) {
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    if (length > MAX_HEADER || length > size - start) {
        return NULL;
    }
    *out_size = length;
    return (const char *)bytes + start;
}

/* Of the components; NULL where there is none. */
static const char *dtype_of(vyre_type type)
{
    switch (vy_type_component(type)) {
    case VYRE_TYPE_BOOL:
        return "|b1";
    case VYRE_TYPE_U8:
        return "|u1";
    case VYRE_TYPE_I8:
        return "|i1";
    case VYRE_TYPE_U16:
    case VYRE_TYPE_BF16: /* NumPy has no bf16 */
        return "<u2";
    case VYRE_TYPE_I16:
        return "<i2";
    case VYRE_TYPE_U32:
        return "<u4";
    case VYRE_TYPE_I32:
        return "<i4";
    case VYRE_TYPE_U64:
        return "<u8";
    case VYRE_TYPE_I64:
        return "<i8";
    case VYRE_TYPE_F16:
        return "<f2";
    case VYRE_TYPE_F32:
        return "<f4";
    case VYRE_TYPE_F64:
        return "<f8";
    default:
        return "";
    }
}

static bool is_dtype(const char *descr, vyre_type type)
{
    if (vyre_type_size(type) == 0) {
        return false; /* no form in memory */
    }
    return strcmp(descr, dtype_of(type)) == 0 ||
           (type == VYRE_TYPE_BOOL && strcmp(descr, "<u4") == 0) ||
           (type == VYRE_TYPE_BF16 && strcmp(descr, "|V2") == 0);
}

static vyre_result check_shape(const header *h, vyre_type type, vyre_diag *diag)
{
    uint32_t components = vy_type_components(type);
    bool is_right = h->dimensions > 1 ? h->last == components : h->count % components == 0;
    if (components > 1 && !is_right) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the .npy file's shape is no array of %s. Fix: give a last dimension of "
                           "%u with reshape(-1, %u)",
                           vyre_type_keyword(type), components, components);
    }
    if (h->fortran && h->dimensions > 1) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the .npy file is in Fortran order. Fix: convert it with "
                           "numpy.ascontiguousarray");
    }
    if (h->count / components >= UINT32_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the .npy file has %llu elements, and a buffer has less than 2^32 - 1. "
                           "Fix: give a smaller file",
                           (unsigned long long)(h->count / components));
    }
    return VYRE_OK;
}

static vyre_result check_header(const header *h, vyre_type type, vyre_diag *diag)
{
    if (!is_dtype(h->descr, type)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "the .npy file has dtype '%s' and the buffer's type is %s. Fix: convert "
                           "it with %s('%s')",
                           h->descr, vyre_type_keyword(type),
                           type == VYRE_TYPE_BF16 ? "view" : "astype", dtype_of(type));
    }
    return check_shape(h, type, diag);
}

/* A bool of one byte in the file is one of four in memory; all else is the same in both. */
static vyre_result copy_elements(const unsigned char *bytes, size_t size, vyre_type type,
                                 bool is_widened, void **out_elements, vyre_diag *diag)
{
    size_t wide = 0;
    bool fits = vy_mul_size(size, is_widened ? 4 : 1, &wide);
    void *elements = fits ? malloc(wide ? wide : 1) : NULL;
    if (!elements) {
        return vy_diag_no_memory(diag);
    }
    if (!is_widened && size) {
        memcpy(elements, bytes, size);
    }
    for (size_t i = 0; type == VYRE_TYPE_BOOL && i < wide / 4; i++) {
        vy_value value = {{is_widened ? bytes[i] : vy_value_load(type, elements, i).bits[0]}};
        vy_value_store(type, elements, i, &value);
    }
    *out_elements = elements;
    return VYRE_OK;
}

vyre_result vy_npy_parse(const void *data, size_t size, vyre_type type, void **out_elements,
                         uint32_t *out_count, vyre_diag *diag)
{
    *out_elements = NULL;
    *out_count = 0;
    size_t header_size = 0;
    const char *text = find_header(data, size, &header_size);
    if (!text) {
        return malformed(diag, "it does not begin as .npy 1.0, 2.0 or 3.0 does");
    }
    header h = {0};
    reader r = {.at = text, .end = text + header_size};
    if (!read_header(&r, &h)) {
        return malformed(diag, r.wrong ? r.wrong : "the header is no dictionary");
    }
    vyre_result result = check_header(&h, type, diag);
    if (result != VYRE_OK) {
        return result;
    }
    const unsigned char *bytes = (const unsigned char *)text + header_size;
    uint32_t components = vy_type_components(type);
    bool is_widened = strcmp(h.descr, "|b1") == 0;
    /* At most 2^34 components of at most 8 bytes. */
    uint64_t wanted = h.count * (is_widened ? 1 : vyre_type_size(type) / components);
    size_t there = size - (size_t)(bytes - (const unsigned char *)data);
    if (there != wanted) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "this .npy file is malformed: its shape needs %llu bytes of elements "
                           "and it has %zu. Fix: write it again with numpy.save",
                           (unsigned long long)wanted, there);
    }
    result = copy_elements(bytes, there, type, is_widened, out_elements, diag);
    *out_count = result == VYRE_OK ? (uint32_t)(h.count / components) : 0;
    return result;
}

void vy_npy_format(vyre_type type, const void *elements, uint32_t count, vy_text *out)
{
    char text[128], last[16] = "";
    uint32_t components = vy_type_components(type);
    if (components > 1) {
        snprintf(last, sizeof last, " %u", components);
    }
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%lu,%s), }",
                 dtype_of(type), (unsigned long)count, last);
    /* The elements begin at a multiple of 64, and the header's last byte is a new line. */
    size_t padded = ((size_t)length + 11 + 63) / 64 * 64 - 10;
    unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0};
    start[8] = (unsigned char)(padded & 0xff);
    start[9] = (unsigned char)(padded >> 8);
    vy_text_append(out, (const char *)start, sizeof start);
    vy_text_printf(out, "%-*s\n", (int)padded - 1, text);
    if (type != VYRE_TYPE_BOOL) {
        vy_text_append(out, elements, (size_t)count * vyre_type_size(type));
        return;
    }
    for (uint32_t i = 0; i < count && !out->failed; i++) {
        vy_text_append(out, vy_value_load(type, elements, i).bits[0] ? "\1" : "\0", 1);
    }
}
