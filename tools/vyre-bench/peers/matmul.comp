// c = a b of square matrices, tiled as matmul.vyre: 64 x 64 a workgroup, 4 x 4 an invocation.
// push.count: elements of c; push.a: rows, a multiple of 64.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer C { float c[]; };

shared float strip_a[16 * 65], strip_b[16 * 64];

void main()
{
    uint n = push.a, lane = gl_LocalInvocationID.x, x = lane % 16, y = lane / 16;
    uint tiles = n / 64, top = group_index() / tiles * 64, left = group_index() % tiles * 64;
    float sums[16];
    for (uint i = 0; i < 16; i++) {
        sums[i] = 0.0;
    }
    for (uint first = 0; first < n; first += 16) {
        for (uint k = 0; k < 4; k++) {
            strip_a[x * 65 + k * 16 + y] = a[(top + k * 16 + y) * n + first + x];
            strip_b[k * 256 + lane] = b[(first + k * 4 + lane / 64) * n + left + lane % 64];
        }
        barrier();
        for (uint s = 0; s < 16; s++) {
            float p[4], q[4];
            for (uint k = 0; k < 4; k++) {
                p[k] = strip_a[s * 65 + y + k * 16];
                q[k] = strip_b[s * 64 + x + k * 16];
            }
            for (uint k = 0; k < 16; k++) {
                sums[k] += p[k / 4] * q[k % 4];
            }
        }
        barrier();
    }
    for (uint k = 0; k < 16; k++) {
        c[(top + y + k / 4 * 16) * n + left + x + k % 4 * 16] = sums[k];
    }
}
