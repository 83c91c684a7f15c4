/* Files into loads: bytes are read behind each other, cut where lines begin, and scanned while the
 * next load is filled. Each load's bytes stay in host memory too, for what is printed of its lines.
 *
 * GNU grep calls a file binary from the block of 96 KiB on in which it reads the first zero byte,
 * and has printed the lines before by then. So do we: blocks are followed, and a file that goes on
 * in another load is cut where one of them ends. (Blocks of grep's grow with lines of 92 KiB and
 * more, and stay so: behind such lines, other lines may be printed before a zero byte.) */
#include "tools/vyre-scan/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_SIZE = 98304, PAGE = 4096 };
static const size_t max_load = UINT32_MAX - 4096u;

static void out_of_memory(scan_run *run)
{
    vyre_diag diag;
    vy_diag_clear(&diag);
    (void)vy_diag_no_memory(&diag);
    scan_fatal(run, &diag);
}

/* ---- Scanning -------------------------------------------------------------------------------- */

typedef struct collector {
    scan_load *load;
    uint32_t piece;
    bool failed;
} collector;

static int collect(void *user, const vyre_hit *hit)
{
    collector *c = user;
    scan_load *load = c->load;
    if (load->hit_count == load->hit_capacity) {
        uint64_t capacity = load->hit_capacity ? load->hit_capacity * 2 : 4096;
        vyre_hit *grown = realloc(load->hits, (size_t)capacity * sizeof *grown);
        if (!grown) {
            c->failed = true;
            return 1;
        }
        load->hits = grown;
        load->hit_capacity = capacity;
    }
    load->hits[load->hit_count] = *hit;
    load->hits[load->hit_count++].file = c->piece;
    return 0;
}

static vyre_result scan_reference(const scan_run *run, scan_load *load, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    load->hit_count = 0;
    for (uint32_t i = 0; result == VYRE_OK && i < load->piece_count; i++) {
        collector c = {.load = load, .piece = i};
        result = vyre_catalogue_scan(run->patterns->catalogue, load->bytes + load->pieces[i].begin,
                                     load->pieces[i].size, collect, &c, diag);
        if (result == VYRE_OK && c.failed) {
            result = vy_diag_no_memory(diag);
        }
    }
    return result;
}

/* The first hit in which both differ. */
static vyre_result compare(const scan_run *run, scan_load *load, const vyre_scan_result *found,
                           vyre_diag *diag)
{
    vyre_result result = scan_reference(run, load, diag);
    if (result != VYRE_OK) {
        return result;
    }
    uint64_t i = 0;
    while (i < load->hit_count && i < found->hit_count &&
           memcmp(&load->hits[i], &found->hits[i], sizeof *found->hits) == 0) {
        i++;
    }
    if (i == load->hit_count && i == found->hit_count) {
        return VYRE_OK;
    }
    const vyre_hit *wanted = i < load->hit_count ? &load->hits[i] : &found->hits[i];
    const scan_piece *piece = &load->pieces[wanted->file];
    return vy_diag_set(diag, VYRE_ERROR_DISPATCH_FAILED, (vy_loc){0, 0},
                       "device and processor differ from hit %llu on (%llu and %llu hits): '%s', "
                       "offset %llu, pattern %u. Fix: report it, with the device's name and driver",
                       (unsigned long long)i, (unsigned long long)found->hit_count,
                       (unsigned long long)load->hit_count, piece->source->name,
                       (unsigned long long)(piece->offset + wanted->offset),
                       run->patterns->rules.data[wanted->rule].text + 1);
}

static vyre_result wait_for(scan_run *run, scan_load *load, vyre_scan_result *found,
                            vyre_diag *diag)
{
    vyre_scan_report report;
    vyre_result result =
        vyre_scanner_wait(run->scanner, load->batch, UINT64_MAX, found, &report, diag);
    load->in_flight = false;
    if (result != VYRE_OK) {
        return result;
    }
    run->totals.launches += report.launches;
    run->totals.moved_size += report.moved_size;
    run->totals.segment_size = report.segment_size;
    run->totals.device_ns += report.device_ns == VYRE_NS_NONE ? 0 : report.device_ns;
    return run->command->check ? compare(run, load, found, diag) : VYRE_OK;
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static void free_source(scan_source *source)
{
    free(source->name);
    free(source);
}

static void print_load(scan_run *run, scan_load *load, const vyre_scan_result *found)
{
    uint64_t at = 0;
    run->totals.hits += found->hit_count;
    for (uint32_t i = 0; i < load->piece_count; i++) {
        scan_piece *piece = &load->pieces[i];
        uint64_t first = at;
        while (at < found->hit_count && found->hits[at].file == i) {
            at++;
        }
        if (!run->stop) {
            scan_print_piece(run, load, piece, found->hits ? found->hits + first : NULL,
                             at - first);
        }
        if (piece->is_last) {
            scan_print_source(run, piece->source);
            free_source(piece->source);
        }
    }
}

/* Waits for a load that is under way, or scans it, prints what is found and empties it. */
static void end_load(scan_run *run, scan_load *load)
{
    vyre_diag diag;
    vyre_scan_result found = {0};
    uint64_t begin = vyre_clock_ns();
    vyre_result result = VYRE_OK;
    vy_diag_clear(&diag);
    if (load->piece_count == 0) {
        return;
    }
    if (load->in_flight) {
        result = wait_for(run, load, &found, &diag);
    } else if (!run->device && !run->fatal) {
        result = scan_reference(run, load, &diag);
        found = (vyre_scan_result){load->hits, load->hit_count};
    }
    run->totals.scan_ns += vyre_clock_ns() - begin;
    if (result != VYRE_OK) {
        scan_fatal(run, &diag);
    }
    if (run->fatal) {
        for (uint32_t i = 0; i < load->piece_count; i++) {
            if (load->pieces[i].is_last) {
                free_source(load->pieces[i].source);
            }
        }
    } else {
        /* On one terminal the line makes room for what is printed. */
        if (run->out_is_terminal) {
            vy_progress_end(&run->progress);
        }
        print_load(run, load, &found);
        if (run->out_is_terminal) {
            (void)fflush(run->out);
        }
        vy_progress_show(&run->progress, (double)run->totals.bytes / 1e6,
                         (double)run->total_size / 1e6, "MB", run->stop);
    }
    load->piece_count = 0;
    load->size = 0;
}

static vyre_result submit(scan_run *run, scan_load *load, vyre_diag *diag)
{
    vyre_result result = vyre_scan_batch_clear(load->batch, diag);
    for (uint32_t i = 0; result == VYRE_OK && i < load->piece_count; i++) {
        const scan_piece *piece = &load->pieces[i];
        vyre_scan_file file = {.bytes = load->bytes + piece->begin, .size = piece->size};
        result = vyre_scan_batch_add(load->batch, &file, diag);
    }
    if (result == VYRE_OK && run->command->calibrate && !run->is_calibrated) {
        result = vyre_scanner_calibrate(run->scanner, load->batch, NULL, &run->calibration, diag);
        run->is_calibrated = result == VYRE_OK;
    }
    uint32_t flags = run->command->report ? VYRE_SCAN_TIMED : 0;
    if (result == VYRE_OK) {
        result = vyre_scanner_submit(run->scanner, load->batch, flags, diag);
        load->in_flight = result == VYRE_OK;
    }
    return result;
}

/* The load that is filled is scanned, and the next one is there to be filled. */
static void turn(scan_run *run)
{
    scan_load *load = &run->loads[run->at];
    if (load->piece_count == 0) {
        return;
    }
    run->totals.loads++;
    if (run->device && !run->fatal) {
        vyre_diag diag;
        vy_diag_clear(&diag);
        if (submit(run, load, &diag) != VYRE_OK) {
            scan_fatal(run, &diag);
        }
    }
    run->at = (run->at + 1) % run->load_count;
    end_load(run, &run->loads[run->at]);
}

void scan_feed_end(scan_run *run)
{
    turn(run);
    for (uint32_t i = 0; i < run->load_count; i++) {
        run->at = (run->at + 1) % run->load_count;
        end_load(run, &run->loads[run->at]);
    }
}

/* ---- Filling --------------------------------------------------------------------------------- */

static bool grow_load(scan_run *run, scan_load *load, size_t capacity)
{
    unsigned char *grown = capacity > load->capacity ? realloc(load->bytes, capacity) : NULL;
    if (capacity > load->capacity && !grown) {
        out_of_memory(run);
        return false;
    }
    if (grown) {
        load->bytes = grown;
        load->capacity = capacity;
    }
    return true;
}

static scan_piece *add_piece(scan_run *run, scan_load *load, const scan_piece *piece)
{
    if (load->piece_count == load->piece_capacity) {
        uint32_t capacity = load->piece_capacity ? load->piece_capacity * 2 : 64;
        scan_piece *grown = realloc(load->pieces, capacity * sizeof *grown);
        if (!grown) {
            out_of_memory(run);
            return NULL;
        }
        load->pieces = grown;
        load->piece_capacity = capacity;
    }
    load->pieces[load->piece_count] = *piece;
    return &load->pieces[load->piece_count++];
}

/* Reads up to `size` bytes, fewer at the end alone. -1: failed. */
static int64_t read_bytes(int file, unsigned char *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        size_t wanted = size - done < ((size_t)1 << 30) ? size - done : (size_t)1 << 30;
        ssize_t got = read(file, to + done, wanted);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        done += (size_t)got;
    }
    return (int64_t)done;
}

static const unsigned char *last_newline(const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        if (bytes[--size] == '\n') {
            return bytes + size;
        }
    }
    return NULL;
}

/* Goes on to the block that ends behind the piece's bytes, or has its first zero byte. */
static void follow_blocks(const unsigned char *bytes, scan_piece *piece)
{
    scan_source *s = piece->source;
    if (s->is_binary) {
        return;
    }
    const unsigned char *zero = memchr(bytes, 0, piece->size);
    uint64_t end = piece->offset + piece->size;
    uint64_t first = zero ? piece->offset + (uint64_t)(zero - bytes) : UINT64_MAX;
    while (s->block_end <= end && first >= s->block_end) {
        size_t known = (size_t)(s->block_end - piece->offset);
        const unsigned char *newline = last_newline(bytes, known);
        if (newline && piece->offset + (uint64_t)(newline - bytes) >= s->block_line) {
            s->block_line = piece->offset + (uint64_t)(newline - bytes) + 1;
        }
        uint64_t kept = s->block_end - s->block_line + 17;
        kept = (kept + PAGE - 1) / PAGE * PAGE;
        s->block_end += kept < BLOCK_SIZE ? BLOCK_SIZE + PAGE - kept : BLOCK_SIZE;
    }
    if (zero) {
        s->is_binary = true;
        piece->binary_begin =
            (uint32_t)(s->block_line > piece->offset ? s->block_line - piece->offset : 0);
    }
}

/* Pieces go over each other: hits need no lines, and no more bytes before than that. */
static bool overlaps(const scan_run *run)
{
    return !run->command->finds_lines && run->patterns->info.overlap != VYRE_OVERLAP_NONE &&
           !run->patterns->has_expressions;
}

/* How many of the piece's bytes are scanned now, where the file goes on behind them; 0: none, as
 * no line, or no block of lines, begins in it. */
static uint32_t find_cut(const scan_run *run, const unsigned char *bytes, const scan_piece *piece)
{
    if (overlaps(run)) {
        return piece->size > run->patterns->info.overlap ? piece->size : 0;
    }
    if (run->command->finds_lines && run->command->binary != BINARY_TEXT &&
        !piece->source->is_binary) {
        uint64_t line = piece->source->block_line;
        return line > piece->offset ? (uint32_t)(line - piece->offset) : 0;
    }
    const unsigned char *newline = last_newline(bytes, piece->size);
    return newline ? (uint32_t)(newline - bytes) + 1 : 0;
}

/* Scans what is read of a file so far. The rest, in front of which the next piece begins, goes into
 * the next load. */
static bool go_on(scan_run *run, scan_load *load, scan_piece *piece, uint32_t cut)
{
    size_t size = piece->size, begin = piece->begin;
    uint32_t overlap = overlaps(run) ? run->patterns->info.overlap : 0;
    size_t rest = size - cut + overlap;
    unsigned char *kept = malloc(rest ? rest : 1);
    if (!kept) {
        out_of_memory(run);
        return false;
    }
    memcpy(kept, load->bytes + begin + size - rest, rest);
    scan_piece next = *piece;
    piece->size = cut;
    load->size = begin + cut;
    turn(run);
    load = &run->loads[run->at];
    next.begin = 0;
    next.offset += size - rest;
    next.size = (uint32_t)rest;
    next.own_begin = overlap;
    next.binary_begin = next.source->is_binary ? 0 : SCAN_NEVER;
    bool is_there = grow_load(run, load, run->load_size > rest ? run->load_size : rest + PAGE);
    if (is_there) {
        memcpy(load->bytes, kept, rest);
        load->size = rest;
        is_there = add_piece(run, load, &next) != NULL;
    }
    free(kept);
    return is_there;
}

static scan_source *make_source(scan_run *run, const char *name, bool with_name)
{
    scan_source *source = calloc(1, sizeof *source);
    char *copy = source ? malloc(strlen(name) + 1) : NULL;
    if (!copy) {
        free(source);
        out_of_memory(run);
        return NULL;
    }
    memcpy(copy, name, strlen(name) + 1);
    source->name = copy;
    source->with_name = with_name;
    source->block_end = BLOCK_SIZE;
    return source;
}

/* A place for the file's first bytes: behind others where they fit. */
static scan_load *begin_load(scan_run *run, int file)
{
    struct stat status;
    scan_load *load = &run->loads[run->at];
    bool is_sized = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    uint64_t wanted = is_sized && status.st_size > 0 ? (uint64_t)status.st_size : 1;
    uint64_t room = run->load_size > load->size ? run->load_size - load->size : 0;
    if (load->piece_count > 0 && (wanted >= room || load->piece_count >= (1u << 20))) {
        turn(run);
        load = &run->loads[run->at];
    }
    return grow_load(run, load, run->load_size + 1) ? load : NULL;
}

void scan_feed(scan_run *run, int file, const char *name, bool with_name)
{
    scan_load *load = begin_load(run, file);
    scan_source *source = load && !run->fatal ? make_source(run, name, with_name) : NULL;
    scan_piece first = {
        .source = source, .begin = load ? load->size : 0, .binary_begin = SCAN_NEVER};
    if (!source || !add_piece(run, load, &first)) {
        if (source) {
            free_source(source);
        }
        return;
    }
    run->totals.files++;
    for (bool is_open = true; is_open;) {
        load = &run->loads[run->at];
        scan_piece *piece = &load->pieces[load->piece_count - 1];
        size_t room = load->capacity - load->size;
        int64_t got = read_bytes(file, load->bytes + load->size, room);
        if (got < 0) {
            scan_fail_file(run, name, strerror(errno), "check that it can be read");
            got = 0;
            room = 1;
        }
        load->size += (size_t)got;
        piece->size += (uint32_t)got;
        run->totals.bytes += (uint64_t)got;
        source->size += (uint64_t)got;
        follow_blocks(load->bytes + piece->begin, piece);
        is_open = (size_t)got == room && !run->stop && !source->is_done;
        if (!is_open) {
            piece->is_last = true;
            break;
        }
        uint32_t cut = find_cut(run, load->bytes + piece->begin, piece);
        if (cut) {
            is_open = go_on(run, load, piece, cut) && !run->fatal;
        } else if (load->capacity >= max_load) {
            scan_fail_file(run, name, "a line has 4 GiB or more", "give a file of shorter lines");
            piece->is_last = true;
            is_open = false;
        } else {
            size_t capacity = load->capacity > max_load / 2 ? max_load : load->capacity * 2;
            is_open = grow_load(run, load, capacity);
            load->pieces[load->piece_count - 1].is_last = !is_open;
        }
    }
}
