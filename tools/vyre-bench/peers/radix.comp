// One round of radix_sort.vyre, of digit push.a. push.count: pairs; push.groups: workgroups, of KIND 1 of
// which push.b had counted. KIND 0: each workgroup counts the digits of its tiles. KIND 1: the counts are
// summed over the workgroups, a digit a workgroup. KIND 2: every pair goes to its place.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "common.glsl"
#include "tiles.glsl"

layout(constant_id = 0) const uint KIND = 0;
layout(set = 0, binding = 0) buffer Keys { uint keys[]; };
layout(set = 0, binding = 1) buffer Values { uint values[]; };
layout(set = 0, binding = 2) buffer Keys2 { uint keys2[]; };
layout(set = 0, binding = 3) buffer Values2 { uint values2[]; };
layout(set = 0, binding = 0) readonly buffer Keys4 { uvec4 fours[]; };
layout(set = 0, binding = 2) readonly buffer Keys24 { uvec4 fours2[]; };
layout(set = 0, binding = 4) buffer Counts { uint counts[]; };
layout(set = 0, binding = 5) buffer Totals { uint totals[]; };

const uint COPIES = 8;

shared uint place_of[256], shift[256], seen[256 * COPIES], room[TILE];

uint digit_of(uint key)
{
    return key >> 8 * push.a & 255;
}

uint group_scan(uint value)
{
    uint up_to = subgroupInclusiveAdd(value), before = 0;
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1) {
        part[gl_SubgroupID] = up_to;
    }
    barrier();
    for (uint s = 0; s < gl_SubgroupID; s++) {
        before += part[s];
    }
    barrier();
    return before + up_to;
}

uvec4 four_keys(uint at)
{
    return push.a % 2 == 0 ? fours[at] : fours2[at];
}

uint key_at(uint i)
{
    return push.a % 2 == 0 ? keys[i] : keys2[i];
}

void count_key(uint key)
{
    atomicAdd(seen[digit_of(key) * COPIES + gl_LocalInvocationID.x % COPIES], 1);
}

void count_four(uvec4 key)
{
    count_key(key.x);
    count_key(key.y);
    count_key(key.z);
    count_key(key.w);
}

void count_digits(uint lane, uint group)
{
    uint end = first_tile(group + 1), count = 0;
    for (uint tile = min(end, whole_tiles()); tile-- > first_tile(group);) {
        uint at = tile * (TILE / 4) + lane;
        uvec4 a = four_keys(at), b = four_keys(at + 256), c = four_keys(at + 512),
              d = four_keys(at + 768);
        count_four(a);
        count_four(b);
        count_four(c);
        count_four(d);
    }
    if (end > whole_tiles()) {
        for (uint i = whole_tiles() * TILE + lane; i < push.count; i += 256) {
            count_key(key_at(i));
        }
    }
    barrier();
    for (uint copy = 0; copy < COPIES; copy++) {
        count += seen[lane * COPIES + copy];
    }
    counts[lane * push.groups + group] = count;
}

void sum_groups(uint lane, uint digit)
{
    uint before = 0;
    for (uint first = 0; first < push.b; first += 256) {
        uint group = first + lane, count = group < push.b ? counts[digit * push.b + group] : 0;
        uint up_to = group_scan(count);
        if (group < push.b) {
            counts[digit * push.b + group] = before + up_to - count;
        }
        if (lane == 255) {
            place_of[0] = up_to;
        }
        barrier();
        before += place_of[0];
    }
    if (lane == 0) {
        totals[digit] = before;
    }
}

void scatter_tile(uint lane, uint tile, uint n)
{
    uint row = lane / 32, bit = lane % 32, first = row * 512 + bit, base = tile * TILE + first;
    uint key[16], to[16], goal[16], total = 0;
    [[unroll]] for (uint r = 0; r < 16; r++) {
        key[r] = n == TILE || first + r * 32 < n ? key_at(base + r * 32) : 0xffffffff;
    }
    [[unroll]] for (uint r = 0; r < 16; r++) {
        uint mine = row * 256 + digit_of(key[r]), who = r % 2 * 2048 + mine;
        atomicOr(room[who], 1u << bit);
        barrier();
        uint same = room[who], before = seen[mine];
        to[r] = before + bitCount(same & ((1u << bit) - 1));
        barrier();
        if (same >> bit == 1) {
            seen[mine] = before + bitCount(same);
            room[who] = 0;
        }
    }
    barrier();
    for (uint r = 0; r < 8; r++) {
        total += seen[r * 256 + lane];
    }
    uint start = group_scan(total) - total;
    shift[lane] = place_of[lane] - start;
    place_of[lane] += total;
    for (uint r = 0; r < 8; r++) {
        uint count = seen[r * 256 + lane];
        seen[r * 256 + lane] = start;
        start += count;
    }
    barrier();
    [[unroll]] for (uint r = 0; r < 16; r++) {
        to[r] += seen[row * 256 + digit_of(key[r])];
        room[to[r]] = key[r];
    }
    barrier();
    for (uint r = 0; r < 8; r++) {
        seen[r * 256 + lane] = 0;
    }
    [[unroll]] for (uint r = 0; r < 16; r++) {
        uint at = r * 256 + lane, sorted = room[at];
        goal[r] = at + shift[digit_of(sorted)];
        if (at < n) {
            if (push.a % 2 == 0) {
                keys2[goal[r]] = sorted;
            } else {
                keys[goal[r]] = sorted;
            }
        }
    }
    barrier();
    [[unroll]] for (uint r = 0; r < 16; r++) {
        if (n == TILE || first + r * 32 < n) {
            room[to[r]] = push.a % 2 == 0 ? values[base + r * 32] : values2[base + r * 32];
        }
    }
    barrier();
    [[unroll]] for (uint r = 0; r < 16; r++) {
        uint at = r * 256 + lane;
        if (at < n) {
            if (push.a % 2 == 0) {
                values2[goal[r]] = room[at];
            } else {
                values[goal[r]] = room[at];
            }
        }
        room[at] = 0;
    }
    barrier();
}

void scatter(uint lane, uint group)
{
    uint end = first_tile(group + 1), total = totals[lane];
    place_of[lane] = group_scan(total) - total + counts[lane * push.groups + group];
    for (uint tile = first_tile(group); tile < min(end, whole_tiles()); tile++) {
        scatter_tile(lane, tile, TILE);
    }
    if (end > whole_tiles()) {
        scatter_tile(lane, whole_tiles(), push.count % TILE);
    }
}

void main()
{
    uint lane = gl_LocalInvocationID.x, group = group_index();
    if (group >= push.groups) {
        return;
    }
    for (uint i = lane; i < 256 * COPIES; i += 256) {
        seen[i] = 0;
    }
    for (uint i = lane; i < TILE && KIND == 2; i += 256) {
        room[i] = 0;
    }
    barrier();
    if (KIND == 0) {
        count_digits(lane, group);
    } else if (KIND == 1) {
        sum_groups(lane, group);
    } else {
        scatter(lane, group);
    }
}
