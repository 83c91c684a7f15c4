/* --watch: runs again whenever a file of the run has changed. Looks at what the files are a few
 * times a second, which works on every file system and with editors that put a new file in the old
 * one's place. */
#include "tools/common/system.h"
#include "tools/vyre-run/session.h"

#include <string.h>

#define LOOK_NS 100000000u
/* Whoever writes a file in pieces is through with it. */
#define SETTLED_NS 50000000u

typedef struct file_state {
    const char *path;
    vy_file_mark mark;
} file_state;

typedef VY_VEC(file_state) file_states;

static file_state look_at(const char *path)
{
    return (file_state){.path = path, .mark = vy_path_look(path)};
}

static bool is_same(const vy_file_mark *a, const vy_file_mark *b)
{
    return a->kind == b->kind && a->device == b->device && a->file == b->file &&
           a->size == b->size && a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

/* Takes what the files are now; the first that is another than before, or NULL. */
static const char *look(file_states *files)
{
    const char *changed = NULL;
    for (uint32_t i = 0; i < files->count; i++) {
        file_state now = look_at(files->data[i].path);
        changed = changed || is_same(&now.mark, &files->data[i].mark) ? changed : now.path;
        files->data[i] = now;
    }
    return changed;
}

static bool are_there(const file_states *files)
{
    bool all = true;
    for (uint32_t i = 0; i < files->count; i++) {
        all = all && files->data[i].mark.kind != VY_PATH_NONE;
    }
    return all;
}

/* Until a file has changed, all are there and nothing changes any more. */
static const char *wait_for_change(file_states *files)
{
    const char *changed = NULL;
    while (!changed) {
        vy_pause_ns(LOOK_NS);
        changed = look(files);
    }
    do {
        vy_pause_ns(SETTLED_NS);
    } while (look(files) || !are_there(files));
    return changed;
}

/* The programs, and what --in reads. */
static void list_files(command *c, file_states *files)
{
    vy_arena *arena = c->spec.arena;
    for (uint32_t i = 0; i < c->files.count; i++) {
        (void)vy_vec_push(arena, files, look_at(c->files.data[i]));
    }
    for (uint32_t i = 0; i < c->spec.inputs.count; i++) {
        const char *value = c->spec.inputs.data[i].value;
        if (value && value[0] == '@') {
            (void)vy_vec_push(arena, files, look_at(value + 1));
        }
    }
}

/* What the run itself wrote is no change. */
static void forget_own(const command *c, file_states *files)
{
    for (uint32_t i = 0; i < files->count; i++) {
        for (uint32_t k = 0; k < c->spec.outputs.count; k++) {
            const char *written = c->spec.outputs.data[k].value;
            if (written && strcmp(written, files->data[i].path) == 0) {
                files->data[i] = look_at(files->data[i].path);
            }
        }
    }
}

int run_watch(command *c, run_function run, FILE *out, FILE *err)
{
    file_states files = {0};
    list_files(c, &files);
    while (!c->spec.arena->failed) {
        int code = run(c, out, err);
        forget_own(c, &files);
        if (code == VY_EXIT_INTERRUPTED) {
            return code;
        }
        if (fflush(out) != 0) {
            return VY_EXIT_FAILED; /* nobody reads it */
        }
        fprintf(err, "---- exit %d; watching %s%s, control-C ends ----\n", code, files.data[0].path,
                files.count > 1 ? " and other files" : "");
        fprintf(err, "---- %s has changed ----\n", wait_for_change(&files));
    }
    return VY_EXIT_FAILED;
}
