// The sum of x, or how many of it are odd: every workgroup sums a part and adds it to the total.
// push.count: elements of x.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 0) const uint KIND = 0; // 1: the odd ones are counted
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) buffer Total { uint total[]; };

shared uint part[256];

void main()
{
    uint lane = gl_LocalInvocationID.x, sum = 0;
    for (uint i = element_index(); i < push.count; i += push.groups * 256) {
        sum += KIND == 0 ? x[i] : x[i] & 1;
    }
    part[lane] = sum;
    barrier();
    for (uint left = 128; left > 0; left /= 2) {
        if (lane < left) {
            part[lane] += part[lane + left];
        }
        barrier();
    }
    if (lane == 0) {
        atomicAdd(total[0], part[0]);
    }
}
