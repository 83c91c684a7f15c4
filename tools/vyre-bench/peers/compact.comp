// Keeps the odd elements of x, as compact.vyre does. push.groups: workgroups; push.count: elements of x.
// Phase 0: what each workgroup keeps is counted. Phase 1: what stays goes to its place.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "common.glsl"
#include "tiles.glsl"

layout(constant_id = 0) const uint PHASE = 0;
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 0) readonly buffer X4 { uvec4 x4[]; };
layout(set = 0, binding = 1) buffer Y { uint y[]; };
layout(set = 0, binding = 2) buffer Counts { uint counts[]; };
layout(set = 0, binding = 3) buffer Kept { uint kept[]; };

shared uint stage[TILE];

uint word_at(uint i)
{
    return i < push.count ? x[i] : 0; // which does not stay
}

uvec4 load(uint at)
{
    if (at / (TILE / 4) < whole_tiles()) {
        return x4[at];
    }
    return uvec4(word_at(at * 4), word_at(at * 4 + 1), word_at(at * 4 + 2), word_at(at * 4 + 3));
}

void count_tiles(uint group)
{
    uint count = 0;
    for (uint tile = first_tile(group + 1); tile-- > first_tile(group);) {
        uint at = tile * (TILE / 4);
        uvec4 a = load(at + place(0)), b = load(at + place(1)), c = load(at + place(2)),
              d = load(at + place(3));
        count += sum_of((a & 1) + (b & 1) + (c & 1) + (d & 1));
    }
    count = group_sum(count);
    if (gl_LocalInvocationID.x == 0) {
        counts[group] = count;
    }
}

void put_four(uint to, uvec4 v)
{
    for (uint k = 0; k < 4; k++) {
        if ((v[k] & 1) == 1) {
            stage[to++] = v[k];
        }
    }
}

void compact_tiles(uint group)
{
    uint lane = gl_LocalInvocationID.x, before = 0, total;
    for (uint other = lane; other < group; other += 256) {
        before += counts[other];
    }
    before = group_sum(before);
    for (uint tile = first_tile(group); tile < first_tile(group + 1); tile++) {
        uint at = tile * (TILE / 4);
        uvec4 a = load(at + place(0)), b = load(at + place(1)), c = load(at + place(2)),
              d = load(at + place(3));
        uvec4 fours = uvec4(sum_of(a & 1), sum_of(b & 1), sum_of(c & 1), sum_of(d & 1));
        uvec4 to = before_fours(tile, fours, total);
        put_four(to.x, a);
        put_four(to.y, b);
        put_four(to.z, c);
        put_four(to.w, d);
        barrier();
        for (uint i = lane; i < total; i += 256) {
            y[before + i] = stage[i];
        }
        before += total;
    }
    if (lane == 0 && group == push.groups - 1) {
        kept[0] = before;
    }
}

void main()
{
    uint group = group_index();
    if (group >= push.groups) {
        return;
    }
    if (PHASE == 0) {
        count_tiles(group);
    } else {
        compact_tiles(group);
    }
}
