// c = a b of square matrices, tiled as matmul.vyre: 64 x 64 a workgroup, 4 neighbours in each of 4 rows an
// invocation. push.count: elements of c; push.a: rows, a multiple of 64.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) readonly buffer A { vec4 a[]; };
layout(set = 0, binding = 1) readonly buffer B { vec4 b[]; };
layout(set = 0, binding = 2) writeonly buffer C { vec4 c[]; };

shared vec4 strip_a[256]; // 64 rows of 4 times 4
shared vec4 strip_b[256]; // 16 rows of 16 times 4

void main()
{
    uint fours = push.a / 4, lane = gl_LocalInvocationID.x, x = lane % 16, y = lane / 16;
    uint tiles = push.a / 64, top = group_index() / tiles * 64, left = group_index() % tiles * 16;
    uint from_a = (top + lane / 4) * fours + lane % 4, from_b = y * fours + left + x;
    precise vec4 sums[4]; // products and sums rounded by themselves
    for (uint i = 0; i < 4; i++) {
        sums[i] = vec4(0.0);
    }
    vec4 next_a = a[from_a], next_b = b[from_b];
    for (uint first = 0; first < fours; first += 4) {
        strip_a[lane] = next_a;
        strip_b[lane] = next_b;
        barrier();
        if (first + 4 < fours) {
            next_a = a[from_a + first + 4];
            next_b = b[from_b + (first + 4) * 4 * fours];
        }
        for (uint k = 0; k < 4; k++) {
            vec4 p[4], q[4];
            for (uint i = 0; i < 4; i++) {
                p[i] = strip_a[(y + i * 16) * 4 + k];
                q[i] = strip_b[(k * 4 + i) * 16 + x];
            }
            for (uint i = 0; i < 4; i++) {
                sums[i] += p[i].x * q[0];
                sums[i] += p[i].y * q[1];
                sums[i] += p[i].z * q[2];
                sums[i] += p[i].w * q[3];
            }
        }
        barrier();
    }
    for (uint i = 0; i < 4; i++) {
        c[(top + y + i * 16) * fours + left + x] = sums[i];
    }
}
