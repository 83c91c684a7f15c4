// Keeps the odd elements of x in any order and counts them: one atomic for a subgroup, whose elements
// that stay lie side by side; or one for each, as the program is written. push.count: invocations.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_ballot : require
#include "common.glsl"

layout(constant_id = 0) const uint KIND = 0; // a word; 1: four; 2: four times four; 3: an atomic each
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 0) readonly buffer X4 { uvec4 x4[]; };
layout(set = 0, binding = 1) writeonly buffer Y { uint y[]; };
layout(set = 0, binding = 2) buffer Count { uint count[]; };

uint take(uint total)
{
    uint first = 0;
    if (total > 0 && subgroupElect()) {
        first = atomicAdd(count[0], total);
    }
    return subgroupBroadcastFirst(first);
}

// The words of one place of all lanes go to `to`, and those of the next place behind.
void put(uint v, inout uint to)
{
    uvec4 kept = subgroupBallot((v & 1) == 1);
    if ((v & 1) == 1) {
        y[to + subgroupBallotExclusiveBitCount(kept)] = v;
    }
    to += subgroupBallotBitCount(kept);
}

uint kept_of(uint v)
{
    return subgroupBallotBitCount(subgroupBallot((v & 1) == 1));
}

uint kept_of_four(uvec4 v)
{
    return kept_of(v.x) + kept_of(v.y) + kept_of(v.z) + kept_of(v.w);
}

void put_four(uvec4 v, inout uint to)
{
    put(v.x, to);
    put(v.y, to);
    put(v.z, to);
    put(v.w, to);
}

void main()
{
    uint i = element_index();
    bool is_inside = i < push.count;
    if (KIND == 0) {
        uint v = is_inside ? x[i] : 0;
        uint to = take(kept_of(v));
        put(v, to);
    } else if (KIND == 1) {
        uvec4 v = is_inside ? x4[i] : uvec4(0);
        uint to = take(kept_of_four(v));
        put_four(v, to);
    } else if (KIND == 3) {
        uint v = i < x.length() ? x[i] : 0;
        if (is_inside && (v & 1) == 1) {
            uint to = atomicAdd(count[0], 1);
            if (to < y.length()) {
                y[to] = v;
            }
        }
    } else {
        // As far apart as there are invocations.
        uvec4 v[4];
        uint total = 0;
        for (uint k = 0; k < 4; k++) {
            v[k] = is_inside ? x4[i + k * push.count] : uvec4(0);
        }
        for (uint k = 0; k < 4; k++) {
            total += kept_of_four(v[k]);
        }
        uint to = take(total);
        for (uint k = 0; k < 4; k++) {
            put_four(v[k], to);
        }
    }
}
