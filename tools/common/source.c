/* Program files: text read, recognised and parsed. */
#include "tools/common/run.h"

#include "codegen/kernel_file.h"
#include "vyre/text.h"

#include <stdlib.h>
#include <string.h>

/* Many sets of words beside one program. */
#define MAX_KERNEL_FILE (VYRE_MAX_SOURCE * 16)

vyre_result vy_source_read(const char *path, vy_source *out_source, vyre_diag *diag)
{
    *out_source = (vy_source){.path = path};
    size_t limit = vy_path_has_suffix(path, ".vyk") ? MAX_KERNEL_FILE : VYRE_MAX_SOURCE;
    vyre_result result = vy_file_read(path, limit, &out_source->text, &out_source->size, diag);
    out_source->is_kernel =
        result == VYRE_OK && out_source->size >= 4 && memcmp(out_source->text, "VYRK", 4) == 0;
    return result;
}

vyre_result vy_source_parse(vy_source *source, vyre_diag *diag)
{
    const char *name = strcmp(source->path, "-") == 0 ? "standard input" : source->path;
    if (!source->is_kernel) {
        return vyre_program_parse(source->text, source->size, name, NULL, &source->program, diag);
    }
    vy_kernel_file file;
    vyre_result result = vy_kernel_file_open(source->text, source->size, &file, diag);
    return result == VYRE_OK ? vy_kernel_file_program(&file, NULL, &source->program, diag) : result;
}

vyre_result vy_source_compile(const vy_source *source, const vyre_kernel_params *params,
                              vyre_kernel **out_kernel, vyre_diag *diag)
{
    return source->is_kernel && !params->dump && !source->program->records_bounds
               ? vyre_kernel_load(source->text, source->size, params, out_kernel, diag)
               : vyre_kernel_compile(source->program, params, out_kernel, diag);
}

const char *vy_source_quote(const vy_source *source, const vyre_diag *diag)
{
    return diag->line && !source->is_kernel ? source->text : NULL;
}

void vy_source_finish(vy_source *source)
{
    vyre_program_destroy(&source->program);
    free(source->text);
    *source = (vy_source){0};
}
