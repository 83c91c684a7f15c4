/* Program files: text read, recognised and parsed. */
#include "tools/common/run.h"

#include "vyre/text.h"

#include <stdlib.h>
#include <string.h>

vyre_result vy_source_read(const char *path, vy_source *out_source, vyre_diag *diag)
{
    *out_source = (vy_source){.path = path};
    vyre_result result =
        vy_file_read(path, VYRE_MAX_SOURCE, &out_source->text, &out_source->size, diag);
    if (result == VYRE_OK && out_source->size >= 4 && memcmp(out_source->text, "VYRK", 4) == 0) {
        result = vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                             "'%s' is a compiled kernel, and kernel files are not available yet. "
                             "Fix: give the program's .vyre text",
                             path);
        vy_source_finish(out_source);
    }
    return result;
}

vyre_result vy_source_parse(vy_source *source, vyre_diag *diag)
{
    const char *name = strcmp(source->path, "-") == 0 ? "standard input" : source->path;
    return vyre_program_parse(source->text, source->size, name, NULL, &source->program, diag);
}

void vy_source_finish(vy_source *source)
{
    vyre_program_destroy(&source->program);
    free(source->text);
    *source = (vy_source){0};
}
