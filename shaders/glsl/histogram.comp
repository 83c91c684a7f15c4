// Twin of histogram.vyre. push.groups: workgroups; push.count: elements of x.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 0) readonly buffer X4 { uvec4 x4[]; };
layout(set = 0, binding = 1) buffer Bins { uint bins[]; };

const uint TILE = 4096, COPIES = 8;

shared uint mine[256 * COPIES]; // by byte, then copy

void count(uint value)
{
    atomicAdd(mine[(value & 255) * COPIES + gl_LocalInvocationID.x % COPIES], 1);
}

void count_four(uvec4 values)
{
    count(values.x);
    count(values.y);
    count(values.z);
    count(values.w);
}

void main()
{
    uint lane = gl_LocalInvocationID.x, group = group_index(), tiles = push.count / TILE;
    for (uint copy = 0; copy < COPIES; copy++) {
        mine[copy * 256 + lane] = 0;
    }
    barrier();
    if (group < push.groups) {
        for (uint tile = group; tile < tiles; tile += push.groups) {
            uint at = tile * (TILE / 4) + lane;
            uvec4 a = x4[at], b = x4[at + 256], c = x4[at + 512], d = x4[at + 768];
            count_four(a);
            count_four(b);
            count_four(c);
            count_four(d);
        }
        for (uint i = tiles * TILE + element_index(); i < push.count; i += push.groups * 256) {
            count(x[i]);
        }
    }
    barrier();
    uint sum = 0;
    for (uint copy = 0; copy < COPIES; copy++) {
        sum += mine[lane * COPIES + copy];
    }
    if (sum != 0) {
        atomicAdd(bins[lane], sum);
    }
}
