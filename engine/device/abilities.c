/* See abilities.h. Reads the snapshot; what it says is what engine/pipeline/limits.c checks, and
 * codegen/spirv/ makes. */
#include "engine/device/abilities.h"

typedef struct printer {
    vy_fixed_text *text;
    const vy_snapshot *s;
    bool is_validated;
} printer;

static void line(const printer *p, const char *what, const char *how)
{
    vy_fixed_text_printf(p->text, "  %-34s %s\n", what, how);
}

/* As `how`, where the device has all of the features (one may be NULL). */
static void needing(const printer *p, const char *what, const char *first, const char *second,
                    const char *how)
{
    const char *lacking = !vy_snapshot_has(p->s, first) ? first : NULL;
    if (!lacking && second && !vy_snapshot_has(p->s, second)) {
        lacking = second;
    }
    if (lacking) {
        vy_fixed_text_printf(p->text, "  %-34s refused (%s)\n", what, lacking);
    } else {
        line(p, what, how);
    }
}

static void elements(const printer *p, const char *what, const char *feature)
{
    bool by_address =
        !p->s->has[VY_FEATURE_bufferDeviceAddress] || p->s->has[VY_FEATURE_shaderInt64];
    needing(p, what, feature, NULL,
            by_address ? "native" : "native by descriptors, refused by addresses (shaderInt64)");
}

static void exact(const printer *p, const char *what, vyre_answer is_native)
{
    line(p, what,
         is_native == VYRE_ANSWER_YES ? "native, as the probe found" : "lowered: by integers");
}

static void print_types(const printer *p)
{
    const vyre_device_info *info = &p->s->info;
    vy_fixed_text_printf(p->text, "types:\n");
    line(p, "bool u32 i32 f32, vectors", "native");
    line(p, "u8 i8 u16 i16, values", "lowered: in 32 bits");
    line(p, "f16, values", "lowered: in f32, rounded after each operation");
    line(p, "bf16, values", "lowered: in f32, rounded where stored");
    elements(p, "u8 i8, in buffers", "storageBuffer8BitAccess");
    elements(p, "u16 i16 f16 bf16, in buffers", "storageBuffer16BitAccess");
    needing(p, "u64 i64", "shaderInt64", NULL, "native");
    needing(p, "f64", "shaderFloat64", "shaderInt64",
            info->doubles == VYRE_ANSWER_YES  ? "native"
            : info->doubles == VYRE_ANSWER_NO ? "refused (denormals or rounding are not kept)"
                                              : "refused until vyre_device_probe");
    exact(p, "f32 division", info->native_divide);
    exact(p, "f32 square root", info->native_sqrt);
    line(p, "f32 fma", "lowered: by integers");
    line(p, "f16 division, square root, fma", "lowered: by those of f32, and exact sums");
    needing(p, "f64 division, square root, fma", "shaderFloat64", "shaderInt64",
            "lowered: by integers");
    line(p, "atomics of 32 bits", "native");
    line(p, "atomic_add of f32", "lowered: by compare and exchange");
    needing(p, "atomics of 64 bits, buffers", "shaderBufferInt64Atomics", "shaderInt64", "native");
    needing(p, "atomics of 64 bits, shared memory", "shaderSharedInt64Atomics", "shaderInt64",
            "native");
}

/* Why no program may use subgroups, or NULL. */
static const char *why_none(const vy_snapshot *s)
{
    if (!vy_snapshot_has(s, "VK_SUBGROUP_FEATURE_BASIC_BIT")) {
        return "refused (VK_SUBGROUP_FEATURE_BASIC_BIT)";
    }
    return s->info.lane_order == VYRE_ANSWER_NO        ? "refused (lanes are not in order)"
           : s->info.lane_order == VYRE_ANSWER_UNKNOWN ? "refused until vyre_device_probe"
                                                       : NULL;
}

static void print_widths(const printer *p)
{
    const vyre_device_info *info = &p->s->info;
    vy_fixed_text_printf(p->text, "  %-34s %u\n", "lanes", (unsigned)info->subgroup_size);
    const char *feature =
        p->s->has[VY_FEATURE_subgroupSizeControl] ? "computeFullSubgroups" : "subgroupSizeControl";
    if (vy_snapshot_has(p->s, feature) && info->min_subgroup_size == 0) {
        line(p, "lanes that a program fixes", "refused (requiredSubgroupSizeStages)");
    } else if (vy_snapshot_has(p->s, feature)) {
        vy_fixed_text_printf(p->text, "  %-34s native, %u to %u\n", "lanes that a program fixes",
                             (unsigned)info->min_subgroup_size, (unsigned)info->max_subgroup_size);
    } else {
        needing(p, "lanes that a program fixes", feature, NULL, "");
    }
}

static void print_subgroups(const printer *p)
{
    static const char ballot[] = "VK_SUBGROUP_FEATURE_BALLOT_BIT",
                      shuffle[] = "VK_SUBGROUP_FEATURE_SHUFFLE_BIT",
                      extension[] = "VK_KHR_shader_maximal_reconvergence";
    const char *none = why_none(p->s);
    vy_fixed_text_printf(p->text, "subgroups:\n");
    print_widths(p);
    if (none) {
        line(p, "lane, lanes, operations", none);
        return;
    }
    line(p, "lane, lanes, elections", "native");
    needing(p, "votes", "VK_SUBGROUP_FEATURE_VOTE_BIT", NULL, "native");
    needing(p, "ballots", ballot, NULL, "native");
    needing(p, "reading other lanes", shuffle, ballot, "native");
    needing(p, "reductions and scans", "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", NULL, "native");
    if (p->s->has[VY_FEATURE_shaderInt64]) {
        needing(p, "reductions of 64 bits", shuffle, ballot, "lowered: lane by lane");
    } else {
        needing(p, "reductions of 64 bits", "shaderInt64", NULL, "");
    }
    if (p->is_validated) {
        line(p, "where only some invocations are", "native, unasked: validation layers refuse it");
    } else {
        needing(p, "where only some invocations are", extension, NULL, "native");
    }
}

void vy_abilities_print(vy_fixed_text *text, const vy_snapshot *snapshot, bool is_validated)
{
    const printer p = {text, snapshot, is_validated};
    print_types(&p);
    print_subgroups(&p);
}
