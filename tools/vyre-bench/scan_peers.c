/* Peers of group scan: Hyperscan on one core and on all, grep -F on one. */
#include "tools/vyre-bench/scan_work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Hyperscan ------------------------------------------------------------------------------- */

typedef struct hyperscan_state {
    const scan_work *work;
    peer_hyperscan *peer;
    uint32_t threads;
    scan_digest found; /* of the last scan */
} hyperscan_state;

static void digest_matches(hyperscan_state *s)
{
    s->found = (scan_digest){0, 0};
    for (uint32_t i = 0; i < s->threads; i++) {
        uint64_t count;
        const peer_match *matches = peer_hyperscan_matches(s->peer, i, &count);
        for (uint64_t k = 0; k < count; k++) {
            scan_digest_add(&s->found, matches[k].rule, matches[k].offset);
        }
    }
}

static vyre_result sample_hyperscan(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    hyperscan_state *s = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint64_t begin = bench_now_ns();
        result = peer_hyperscan_run(s->peer, s->work->data->text, s->work->data->size, diag);
        out[i] = (double)(bench_now_ns() - begin) / 1e3;
    }
    return result;
}

static vyre_result check_hyperscan(void *state, bench_check *out, vyre_diag *diag)
{
    hyperscan_state *s = state;
    (void)diag;
    digest_matches(s);
    scan_compare(s->work, &s->found, out);
    return VYRE_OK;
}

static vyre_result create_hyperscan(hyperscan_state *s, vyre_diag *diag)
{
    const scan_work *w = s->work;
    const char **patterns = malloc(w->count * sizeof *patterns);
    size_t *sizes = malloc(w->count * sizeof *sizes);
    vyre_result result = patterns && sizes ? VYRE_OK : vy_diag_no_memory(diag);
    for (uint32_t i = 0; result == VYRE_OK && i < w->count; i++) {
        patterns[i] = w->patterns[i].literal;
        sizes[i] = w->patterns[i].size;
    }
    if (result == VYRE_OK) {
        result = peer_hyperscan_create(patterns, sizes, w->count, w->longest, s->threads, &s->peer,
                                       diag);
    }
    free(patterns);
    free(sizes);
    return result;
}

static void add_hyperscan(scan_work *w, bench_case *c, uint32_t threads, const char *way,
                          vyre_diag *diag)
{
    hyperscan_state *s = vy_arena_alloc(&w->bench->arena, 1, sizeof *s);
    if (!s) {
        return;
    }
    *s = (hyperscan_state){.work = w, .threads = threads};
    uint64_t begin = bench_now_ns();
    vyre_result created = create_hyperscan(s, diag);
    double ms = (double)(bench_now_ns() - begin) / 1e6;
    if (created != VYRE_OK) {
        bench_series_leave_out(c, "hyperscan", way, diag->message);
        vy_diag_clear(diag);
        return;
    }
    w->hyperscans[w->hyperscan_count++] = s->peer;
    bench_series *series =
        bench_series_add(c, "hyperscan", way, sample_hyperscan, check_hyperscan, s);
    snprintf(series->note, sizeof series->note, "Hyperscan %.20s, %u thread%s, compiled in %.0f ms",
             peer_hyperscan_version(), threads, threads == 1 ? "" : "s", ms);
}

/* ---- grep ------------------------------------------------------------------------------------ */

typedef struct grep_state {
    const scan_work *work;
    uint64_t lines; /* that it counted at last */
} grep_state;

static bool write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(bytes, 1, size, file) == size;
    return file && fclose(file) == 0 && written;
}

/* The text and the patterns as files, in memory where the system has such a folder. */
static bool write_files(scan_work *w)
{
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    size_t size = 0, at = 0;
    snprintf(w->text_path, sizeof w->text_path, "%s/vyre-bench-%ld.text", folder, (long)getpid());
    snprintf(w->list_path, sizeof w->list_path, "%s/vyre-bench-%ld.list", folder, (long)getpid());
    for (uint32_t i = 0; i < w->count; i++) {
        size += w->patterns[i].size + 1;
    }
    char *list = malloc(size);
    for (uint32_t i = 0; list && i < w->count; i++) {
        memcpy(list + at, w->patterns[i].literal, w->patterns[i].size);
        at += w->patterns[i].size;
        list[at++] = '\n';
    }
    bool written = list && write_file(w->list_path, list, size) &&
                   write_file(w->text_path, w->data->text, w->data->size);
    free(list);
    return written;
}

static vyre_result run_grep(const scan_work *w, uint64_t *out_lines, vyre_diag *diag)
{
    char command[512], line[64] = "";
    snprintf(command, sizeof command, "LC_ALL=C grep -a -F -c -f '%s' '%s'", w->list_path,
             w->text_path);
    FILE *pipe = popen(command, "r");
    bool is_read = pipe && fgets(line, sizeof line, pipe) != NULL;
    int status = pipe ? pclose(pipe) : -1;
    if (!is_read || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
        return vy_diag_set(diag, VYRE_ERROR_IO, (vy_loc){0, 0}, "grep cannot be run");
    }
    *out_lines = strtoull(line, NULL, 10);
    return VYRE_OK;
}

static vyre_result sample_grep(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    grep_state *s = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint64_t begin = bench_now_ns();
        result = run_grep(s->work, &s->lines, diag);
        out[i] = (double)(bench_now_ns() - begin) / 1e3;
    }
    return result;
}

static vyre_result check_grep(void *state, bench_check *out, vyre_diag *diag)
{
    const grep_state *s = state;
    (void)diag;
    out->compared = s->work->lines + 1;
    out->wrong = s->lines > s->work->lines ? s->lines - s->work->lines : s->work->lines - s->lines;
    return VYRE_OK;
}

void scan_add_peers(scan_work *w, bench_case *c, vyre_diag *diag)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t threads = cores > 1 ? (uint32_t)(cores < 256 ? cores : 256) : 1;
    add_hyperscan(w, c, 1, "one core", diag);
    if (threads > 1) {
        add_hyperscan(w, c, threads, "all cores", diag);
    }
    grep_state *s = vy_arena_alloc(&w->bench->arena, 1, sizeof *s);
    if (!s || !write_files(w)) {
        bench_series_leave_out(c, "grep", "-F -c, one core", "its files cannot be written");
        return;
    }
    *s = (grep_state){.work = w};
    bench_series *series =
        bench_series_add(c, "grep", "-F -c, one core", sample_grep, check_grep, s);
    snprintf(series->note, sizeof series->note,
             "lines with a match are counted, of each line the first is looked for");
}
