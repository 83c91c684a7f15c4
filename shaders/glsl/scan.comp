// Twin of scan.vyre. push.groups: workgroups; push.count: elements of x.
// Phase 0: what each workgroup has goes to sums. Phase 1: scans.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "common.glsl"
#include "tiles.glsl"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 0) readonly buffer X4 { uvec4 x4[]; };
layout(set = 0, binding = 1) buffer Y { uint y[]; };
layout(set = 0, binding = 1) writeonly buffer Y4 { uvec4 y4[]; };
layout(set = 0, binding = 2) buffer Sums { uint sums[]; };

uint word_at(uint i)
{
    return i < push.count ? x[i] : 0;
}

// Of a tile that is short.
uvec4 load(uint at)
{
    return uvec4(word_at(at * 4), word_at(at * 4 + 1), word_at(at * 4 + 2), word_at(at * 4 + 3));
}

void store(uint at, uvec4 v)
{
    for (uint k = 0; k < 4; k++) {
        if (at * 4 + k < push.count) {
            y[at * 4 + k] = v[k];
        }
    }
}

uvec4 up_to(uvec4 v, uint before)
{
    uvec4 sums = v;
    sums.yw += sums.xz;
    sums.zw += sums.yy;
    return sums + before;
}

void sum_tiles(uint group)
{
    uint sum = 0, end = first_tile(group + 1);
    for (uint tile = min(end, whole_tiles()); tile-- > first_tile(group);) {
        uint at = tile * (TILE / 4);
        sum += sum_of(x4[at + place(0)] + x4[at + place(1)] + x4[at + place(2)] + x4[at + place(3)]);
    }
    if (end > whole_tiles()) {
        uint at = whole_tiles() * (TILE / 4);
        sum += sum_of(load(at + place(0)) + load(at + place(1)) + load(at + place(2)) +
                      load(at + place(3)));
    }
    sum = group_sum(sum);
    if (gl_LocalInvocationID.x == 0) {
        sums[group] = sum;
    }
}

void scan_tiles(uint group)
{
    uint before = 0, end = first_tile(group + 1), total;
    for (uint other = gl_LocalInvocationID.x; other < group; other += 256) {
        before += sums[other];
    }
    before = group_sum(before);
    for (uint tile = first_tile(group); tile < min(end, whole_tiles()); tile++) {
        uint at = tile * (TILE / 4);
        uvec4 a = x4[at + place(0)], b = x4[at + place(1)], c = x4[at + place(2)],
              d = x4[at + place(3)];
        uvec4 starts =
            before + before_fours(tile, uvec4(sum_of(a), sum_of(b), sum_of(c), sum_of(d)), total);
        y4[at + place(0)] = up_to(a, starts.x);
        y4[at + place(1)] = up_to(b, starts.y);
        y4[at + place(2)] = up_to(c, starts.z);
        y4[at + place(3)] = up_to(d, starts.w);
        before += total;
    }
    if (end > whole_tiles()) {
        uint at = whole_tiles() * (TILE / 4);
        uvec4 a = load(at + place(0)), b = load(at + place(1)), c = load(at + place(2)),
              d = load(at + place(3));
        uvec4 starts = before + before_fours(whole_tiles(),
                                             uvec4(sum_of(a), sum_of(b), sum_of(c), sum_of(d)), total);
        store(at + place(0), up_to(a, starts.x));
        store(at + place(1), up_to(b, starts.y));
        store(at + place(2), up_to(c, starts.z));
        store(at + place(3), up_to(d, starts.w));
    }
}

void main()
{
    uint group = group_index();
    if (group >= push.groups) {
        return;
    }
    if (push.phase == 0) {
        sum_tiles(group);
    } else {
        scan_tiles(group);
    }
}
