// Keeps the odd elements of x, as compact.vyre does. Phase 0: ranks within blocks, and the blocks'
// counts, which scan.comp sums. Phase 1: every element that stays goes to its place.
// push.count: elements of x.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 0) const uint PHASE = 0;
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) buffer Y { uint y[]; };
layout(set = 0, binding = 2) buffer Sums { uint sums[]; };
layout(set = 0, binding = 3) buffer Rank { uint rank[]; };
layout(set = 0, binding = 4) buffer Kept { uint kept[]; };

shared uint part[256];

void main()
{
    uint lane = gl_LocalInvocationID.x, i = element_index(), group = group_index();
    if (group >= push.groups) {
        return;
    }
    bool inside = i < push.count;
    bool stays = inside && (x[i] & 1) == 1;
    if (PHASE == 0) {
        part[lane] = stays ? 1 : 0;
        barrier();
        for (uint near = 1; near < 256; near *= 2) {
            uint add = lane >= near ? part[lane - near] : 0;
            barrier();
            part[lane] += add;
            barrier();
        }
        if (inside) {
            rank[i] = part[lane];
        }
        if (lane == 255) {
            sums[group] = part[255];
        }
    } else if (inside) {
        uint place = rank[i] + (group > 0 ? sums[group - 1] : 0);
        if (stays) {
            y[place - 1] = x[i];
        }
        if (i == push.count - 1) {
            kept[0] = place;
        }
    }
}
