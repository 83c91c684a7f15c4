// Twin of scan.vyre, by another way through each block: an up-sweep and a down-sweep over a tree.
// Phase 0: scans the blocks of x into y.
// Phase 1: scans the blocks of sums[push.a ..] in place.
//          Both leave the blocks' totals in sums[push.b ..].
// Phase 2: adds sums[push.b + block - 1] to the blocks of y.
// Phase 3: adds it to the blocks of sums[push.a ..].
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) buffer Y { uint y[]; };
layout(set = 0, binding = 2) buffer Sums { uint sums[]; };

shared uint tree[256];

// The sum of what stands before this invocation's value in the workgroup; tree[255] keeps none.
uint exclusive_scan(uint value)
{
    uint lane = gl_LocalInvocationID.x;
    tree[lane] = value;
    barrier();
    for (uint width = 2; width <= 256; width *= 2) {
        if (lane % width == width - 1) {
            tree[lane] += tree[lane - width / 2];
        }
        barrier();
    }
    if (lane == 255) {
        tree[lane] = 0;
    }
    barrier();
    for (uint width = 256; width >= 2; width /= 2) {
        if (lane % width == width - 1) {
            uint left = tree[lane - width / 2];
            tree[lane - width / 2] = tree[lane];
            tree[lane] += left;
        }
        barrier();
    }
    return tree[lane];
}

void scan_block(uint i)
{
    bool inside = i < push.count;
    uint value = 0;
    if (inside) {
        value = push.phase == 0 ? x[i] : sums[push.a + i];
    }
    uint total = exclusive_scan(value) + value;
    if (inside && push.phase == 0) {
        y[i] = total;
    } else if (inside) {
        sums[push.a + i] = total;
    }
    if (gl_LocalInvocationID.x == 255) {
        sums[push.b + group_index()] = total;
    }
}

void main()
{
    uint group = group_index(), i = element_index();
    if (group >= push.groups) {
        return;
    }
    if (push.phase < 2) {
        scan_block(i);
    } else if (group > 0 && i < push.count) {
        uint before = sums[push.b + group - 1];
        if (push.phase == 2) {
            y[i] += before;
        } else {
            sums[push.a + i] += before;
        }
    }
}
