/* One line of a terminal, written over and over. */
#include "tools/common/progress.h"

#include "tools/common/system.h"
#include "vyre/dispatch.h"

#define FIRST_NS 500000000u
#define NEXT_NS  200000000u

#define CLEAR   "\r\033[K"
#define COLUMNS 79 /* a longer line would be broken, and stay */

void vy_progress_init(vy_progress *p, FILE *stream)
{
    *p = (vy_progress){.stream = vy_is_terminal(stream) ? stream : NULL};
}

void vy_progress_begin(vy_progress *p, const char *label)
{
    p->label = label;
    p->begin_ns = vyre_clock_ns();
    p->shown_ns = p->begin_ns + FIRST_NS - NEXT_NS;
}

static void format_time(double seconds, char *out, size_t size)
{
    if (seconds < 100) {
        snprintf(out, size, "%.1f s", seconds);
    } else if (seconds < 6000) {
        snprintf(out, size, "%.0f min", seconds / 60);
    } else {
        snprintf(out, size, "%.0f h", seconds / 3600);
    }
}

void vy_progress_show(vy_progress *p, double done, double total, const char *unit, bool is_limit)
{
    uint64_t now = p->stream ? vyre_clock_ns() : 0;
    if (!p->stream || now < p->shown_ns + NEXT_NS) {
        return;
    }
    double seconds = (double)(now - p->begin_ns) / 1e9;
    char line[160], time[32];
    size_t length = (size_t)snprintf(line, sizeof line, "%s%s%s: ", p->context ? p->context : "",
                                     p->context ? ", " : "", p->label);
    length = length < sizeof line ? length : sizeof line - 1;
    if (done > 0 && total > 0) {
        double rate = done / seconds;
        format_time((total - done) / rate, time, sizeof time);
        snprintf(line + length, sizeof line - length, "%s %.0f of %.0f (%.0f%%), %.*f/s, %s%s left",
                 unit, done, total, 100 * done / total, rate < 10 ? 1 : 0, rate,
                 is_limit ? "up to " : "", time);
    } else {
        format_time(seconds, time, sizeof time);
        snprintf(line + length, sizeof line - length, "%s so far", time);
    }
    fprintf(p->stream, CLEAR "%.*s", COLUMNS, line);
    fflush(p->stream);
    p->shown_ns = now;
    p->is_shown = true;
}

void vy_progress_end(vy_progress *p)
{
    if (p->is_shown) {
        fprintf(p->stream, CLEAR);
        fflush(p->stream);
    }
    p->is_shown = false;
}
