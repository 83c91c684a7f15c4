/* Scanners: a catalogue's tables on a device, and the pipelines that scan by them. */
#include "engine/scan/scanner.h"

#include "engine/scan/kept.h"
#include "vyre/text.h"

#include <string.h>

#define NO_PLACE          ((vy_loc){0, 0})
#define DEFAULT_SEGMENT   512u
#define DEFAULT_WORKGROUP 128u
#define GROUPS_PER_UNIT   16u /* workgroups of 128 that fill a compute unit */
#define GROUPS_OTHERWISE  64u /* where the number of units is not known */

/* ---- Pipelines ------------------------------------------------------------------------------- */

static vyre_result make_pipeline(const vyre_scanner *s, const vy_scan_variant *variant,
                                 vy_scan_pipeline *p, vyre_diag *diag)
{
    vy_text text;
    vyre_kernel_params kernel_params = {.struct_size = sizeof kernel_params};
    vyre_pipeline_params params;
    vyre_pipeline_params_init(&params);
    params.bindings = s->bindings;
    vy_text_init(&text, &s->allocator);
    vy_scan_text(variant, &text);
    vyre_result code = text.failed ? vy_diag_no_memory(diag)
                                   : vyre_program_parse(text.data, text.size, "scan.vyre",
                                                        &s->allocator, &p->program, diag);
    vy_text_finish(&text);
    if (code == VYRE_OK) {
        vyre_device_kernel_params(s->device, &kernel_params);
        kernel_params.allocator = &s->allocator;
        code = vyre_kernel_compile(p->program, &kernel_params, &p->kernel, diag);
    }
    if (code == VYRE_OK) {
        code = vyre_pipeline_create(s->device, p->kernel, &params, &p->pipeline, diag);
    }
    return code == VYRE_OK ? vyre_pipeline_warm_up(p->pipeline, diag) : code;
}

static void unmake_pipeline(vy_scan_pipeline *p)
{
    vyre_pipeline_destroy(&p->pipeline);
    vyre_kernel_destroy(&p->kernel);
    vyre_program_destroy(&p->program);
}

vyre_result vy_scanner_pipeline(vyre_scanner *s, const vy_scan_bank *bank, bool is_staged,
                                bool is_again, vyre_pipeline **out_pipeline, vyre_diag *diag)
{
    vy_scan_variant variant = {.is_wide = s->is_wide,
                               .is_staged = is_staged && !is_again, /* writing does not stage */
                               .is_multiple = bank->automaton_count > 1,
                               .is_again = is_again,
                               .is_reset = bank->start == VY_SCAN_BY_RESET,
                               .workgroup = s->workgroup};
    uint32_t index = (variant.is_staged ? 8u : 0u) + (variant.is_multiple ? 4u : 0u) +
                     (variant.is_again ? 2u : 0u) + (variant.is_reset ? 1u : 0u);
    vyre_result code = VYRE_OK;
    vy_mutex_lock(&s->mutex);
    vy_scan_pipeline *p = &s->pipelines[index];
    if (!p->pipeline) {
        code = make_pipeline(s, &variant, p, diag);
        if (code != VYRE_OK) {
            unmake_pipeline(p);
        }
    }
    *out_pipeline = p->pipeline;
    vy_mutex_unlock(&s->mutex);
    return code;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static vyre_result upload(const vyre_scanner *s, const uint32_t *words, size_t count,
                          const char *name, vyre_buffer *out_buffer, vyre_diag *diag)
{
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = (uint64_t)count * sizeof *words;
    params.flags = VYRE_BUFFER_UNINITIALIZED;
    params.name = name;
    vyre_result code = vyre_buffer_create(s->device, &params, out_buffer, diag);
    return code == VYRE_OK ? vyre_buffer_upload(s->device, *out_buffer, 0, words, params.size, diag)
                           : code;
}

static vyre_result fill_bank(const vyre_scanner *s, const vy_automaton *const *automata,
                             vy_scan_bank *bank, vyre_diag *diag)
{
    vy_scan_tables t;
    vyre_result code =
        vy_scan_tables_build(automata, bank->automaton_count, s->is_wide, &s->allocator, &t, diag);
    if (code == VYRE_OK) {
        code = upload(s, t.table, t.table_words, "scan table", &bank->table, diag);
    }
    if (code == VYRE_OK) {
        code = upload(s, t.automata, t.automata_words, "scan automata", &bank->automata, diag);
    }
    if (code == VYRE_OK) {
        code = upload(s, t.outputs, t.output_words, "scan outputs", &bank->outputs, diag);
    }
    vy_scan_tables_finish(&s->allocator, &t);
    return code;
}

static vy_scan_start start_of(const vy_automaton *a)
{
    uint32_t bits[VY_SCAN_RESET_WORDS];
    return a->overlap != VYRE_OVERLAP_NONE ? VY_SCAN_BY_OVERLAP
           : vy_scan_resets(a, bits)       ? VY_SCAN_BY_RESET
                                           : VY_SCAN_WHOLE;
}

/* Whether the bytes that reset `bits` and those that reset the automaton have any in common. */
static bool has_common(const vy_automaton *a, uint32_t *bits, bool is_first)
{
    uint32_t own[VY_SCAN_RESET_WORDS], common = 0;
    (void)vy_scan_resets(a, own);
    for (uint32_t k = 0; k < VY_SCAN_RESET_WORDS; k++) {
        own[k] = is_first ? own[k] : own[k] & bits[k];
        common |= own[k];
    }
    if (common) {
        memcpy(bits, own, sizeof own);
    }
    return common != 0;
}

/* The banks of one way of beginning. */
static vyre_result fill_banks_of(vyre_scanner *s, vy_scan_start start, vyre_diag *diag)
{
    const vyre_catalogue *c = s->catalogue;
    const vy_automaton *some[VY_SCAN_MOST_AUTOMATA];
    uint32_t count = 0, overlap = 0, bits[VY_SCAN_RESET_WORDS] = {0};
    vyre_result code = VYRE_OK;
    for (uint32_t i = 0; i <= c->automaton_count && code == VYRE_OK; i++) {
        const vy_automaton *a = i < c->automaton_count ? &c->automata[i] : NULL;
        if (a && start_of(a) != start) {
            continue;
        }
        bool fits = a && count < VY_SCAN_MOST_AUTOMATA &&
                    (start != VY_SCAN_BY_RESET || has_common(a, bits, count == 0));
        if (count && !fits) {
            vy_scan_bank *bank = &s->banks[s->bank_count++];
            bank->automaton_count = count;
            bank->start = start;
            bank->overlap = overlap;
            code = s->device ? fill_bank(s, some, bank, diag) : VYRE_OK;
            count = overlap = 0;
            if (a && start == VY_SCAN_BY_RESET) {
                (void)has_common(a, bits, true);
            }
        }
        if (a) {
            some[count++] = a;
            overlap = a->overlap > overlap && start == VY_SCAN_BY_OVERLAP ? a->overlap : overlap;
        }
    }
    return code;
}

static vyre_result fill_banks(vyre_scanner *s, vyre_diag *diag)
{
    s->banks = vy_alloc_zeroed(&s->allocator, s->catalogue->automaton_count + 1, sizeof *s->banks);
    vyre_result code = s->banks ? VYRE_OK : vy_diag_no_memory(diag);
    for (int start = 0; start < VY_SCAN_START_COUNT && code == VYRE_OK; start++) {
        code = fill_banks_of(s, (vy_scan_start)start, diag);
    }
    return code;
}

/* ---- Choices --------------------------------------------------------------------------------- */

static uint32_t whole_units(uint32_t size)
{
    return size == VYRE_SEGMENT_WHOLE ? size : (size + VY_SCAN_UNIT - 1) & ~(VY_SCAN_UNIT - 1);
}

/* Segments next to which the overlap is not much. */
static uint32_t default_segment(const vyre_scanner *s)
{
    uint32_t size = DEFAULT_SEGMENT;
    for (uint32_t i = 0; i < s->bank_count; i++) {
        uint32_t overlap = s->banks[i].overlap;
        while (overlap > size / 2 && size < (1u << 30)) {
            size *= 2;
        }
    }
    return size;
}

static void choose(vyre_scanner *s, const vyre_scanner_params *p)
{
    vyre_device_info info;
    vyre_device_get_info(s->device, &info);
    bool is_processor = info.type == VYRE_DEVICE_PROCESSOR;
    s->choice = (vy_scan_choice){default_segment(s), VYRE_SCAN_STAGING_DIRECT};
    vy_scan_kept_find(s->device, vy_scan_kept_key(s), &s->choice);
    if (p->segment_size) {
        s->choice.segment_size = whole_units(p->segment_size);
    }
    if (p->staging != VYRE_SCAN_STAGING_AUTO) {
        s->choice.staging = p->staging;
    }
    uint32_t units = info.compute_units;
    s->worker_groups = p->worker_groups ? p->worker_groups
                       : units          ? units * (GROUPS_PER_UNIT * 128 / s->workgroup)
                       : is_processor   ? 16
                                        : GROUPS_OTHERWISE * 16;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static vyre_result check(const vyre_scanner_params *p, const vyre_catalogue *catalogue,
                         vyre_diag *diag)
{
    vyre_catalogue_info info;
    vyre_catalogue_get_info(catalogue, &info);
    if (p->workgroup && p->workgroup != 64 && p->workgroup != 128 && p->workgroup != 256) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           "workgroups of %u invocations do not scan. Fix: 64, 128 or 256, or 0 "
                           "for the library's choice",
                           (unsigned)p->workgroup);
    }
    if ((unsigned)p->width > VYRE_TRANSITION_32 ||
        (unsigned)p->staging > VYRE_SCAN_STAGING_DIRECT) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           "width %u or staging %u is none. Fix: use the enumerators",
                           (unsigned)p->width, (unsigned)p->staging);
    }
    if (p->width == VYRE_TRANSITION_16 && !info.fits_16_bits) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
                           "an automaton of the catalogue has more than 32768 states, which 16 "
                           "bits do not number. Fix: use VYRE_TRANSITION_AUTO");
    }
    return VYRE_OK;
}

vyre_result vyre_scanner_create(vyre_device *device, const vyre_catalogue *catalogue,
                                const vyre_scanner_params *params, vyre_scanner **out_scanner,
                                vyre_diag *diag)
{
    vyre_scanner_params p;
    vy_diag_clear(diag);
    *out_scanner = NULL;
    vyre_result code = vy_params_read(vyre_scanner_params, &p, params, diag);
    code = code == VYRE_OK ? check(&p, catalogue, diag) : code;
    if (code != VYRE_OK) {
        return code;
    }
    vyre_allocator allocator = vy_allocator_or_default(p.allocator);
    vyre_scanner *s = vy_alloc_zeroed(&allocator, 1, sizeof *s);
    if (!s || vy_mutex_init(&s->mutex) != 0) {
        vy_free(&allocator, s, sizeof *s);
        return vy_diag_no_memory(diag);
    }
    s->allocator = allocator;
    s->device = device;
    s->catalogue = catalogue;
    s->is_wide = p.width != VYRE_TRANSITION_16;
    s->workgroup = p.workgroup ? p.workgroup : DEFAULT_WORKGROUP;
    s->bindings = p.bindings;
    code = fill_banks(s, diag);
    if (code == VYRE_OK && device) {
        choose(s, &p);
        for (uint32_t i = 0; i < s->bank_count && code == VYRE_OK; i++) {
            vyre_pipeline *pipeline = NULL;
            code =
                vy_scanner_pipeline(s, &s->banks[i], s->choice.staging == VYRE_SCAN_STAGING_SHARED,
                                    false, &pipeline, diag);
        }
    }
    if (code != VYRE_OK) {
        vyre_scanner_destroy(&s);
    }
    *out_scanner = s;
    return code;
}

void vyre_scanner_destroy(vyre_scanner **scanner)
{
    vyre_scanner *s = *scanner;
    if (!s) {
        return;
    }
    while (s->busy) {
        vy_scan_give_up(s, s->busy);
    }
    for (uint32_t i = 0; i < VY_COUNT_OF(s->pipelines); i++) {
        unmake_pipeline(&s->pipelines[i]);
    }
    for (uint32_t i = 0; i < s->bank_count; i++) {
        vyre_buffer *buffers[] = {&s->banks[i].table, &s->banks[i].automata, &s->banks[i].outputs};
        for (uint32_t k = 0; k < VY_COUNT_OF(buffers); k++) {
            if (buffers[k]->bits) {
                vyre_result code = vyre_buffer_release(s->device, buffers[k], NULL);
                (void)code; /* of a lost device there is nothing to do about it */
            }
        }
    }
    vyre_allocator allocator = s->allocator;
    vy_free(&allocator, s->banks, (s->catalogue->automaton_count + 1) * sizeof *s->banks);
    vy_mutex_finish(&s->mutex);
    vy_free(&allocator, s, sizeof *s);
    *scanner = NULL;
}
