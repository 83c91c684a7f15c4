// Twin of reduce.vyre: the same tree of sums, since its order is the result.
// Phase 0: the blocks of x; phase 1: the blocks of sums[push.a ..]. The blocks' sums go to
// sums[push.b ..], and the sum of a single block to total.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Total { float total[]; };
layout(set = 0, binding = 2) buffer Sums { float sums[]; };

shared float part[256];

void main()
{
    uint lane = gl_LocalInvocationID.x;
    uint i = element_index();
    if (group_index() >= push.groups) {
        return;
    }
    part[lane] = 0.0;
    if (i < push.count) {
        part[lane] = push.phase == 0 ? x[i] : sums[push.a + i];
    }
    barrier();
    // The first half of the invocations that are left adds neighbours and packs the sums.
    for (uint left = 128; left > 0; left /= 2) {
        precise float sum = 0.0;
        if (lane < left) {
            sum = part[2 * lane] + part[2 * lane + 1];
        }
        barrier();
        if (lane < left) {
            part[lane] = sum;
        }
        barrier();
    }
    if (lane == 0) {
        sums[push.b + group_index()] = part[0];
        if (push.groups == 1) {
            total[0] = part[0];
        }
    }
}
