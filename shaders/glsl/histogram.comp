// Twin of histogram.vyre. push.count: elements of x.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) buffer Bins { uint bins[]; };

shared uint mine[256];

void main()
{
    uint lane = gl_LocalInvocationID.x;
    uint i = element_index();
    mine[lane] = 0;
    barrier();
    if (group_index() < push.groups && i < push.count) {
        atomicAdd(mine[x[i] & 255], 1);
    }
    barrier();
    if (mine[lane] != 0) {
        atomicAdd(bins[lane], mine[lane]);
    }
}
