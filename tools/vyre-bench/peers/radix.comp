// One round of radix_sort.vyre, of digit push.a: counts within blocks of 4096 pairs, sums over the
// blocks, and every pair to its place. push.count: pairs; push.b: blocks.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 0) const uint KIND = 0;
layout(set = 0, binding = 0) buffer Keys { uint keys[]; };
layout(set = 0, binding = 1) buffer Values { uint values[]; };
layout(set = 0, binding = 2) buffer Keys2 { uint keys2[]; };
layout(set = 0, binding = 3) buffer Values2 { uint values2[]; };
layout(set = 0, binding = 4) buffer Counts { uint counts[]; };
layout(set = 0, binding = 5) buffer Totals { uint totals[]; };

shared uint part[256], place[256], who[2048];

uint key_at(uint i)
{
    return push.a % 2 == 0 ? keys[i] : keys2[i];
}

uint group_scan(uint value)
{
    uint lane = gl_LocalInvocationID.x;
    part[lane] = value;
    barrier();
    for (uint near = 1; near < 256; near *= 2) {
        uint add = lane >= near ? part[lane - near] : 0;
        barrier();
        part[lane] += add;
        barrier();
    }
    return part[lane];
}

void count_digits(uint lane, uint block)
{
    place[lane] = 0;
    barrier();
    for (uint tile = 0; tile < 16; tile++) {
        uint i = (block * 16 + tile) * 256 + lane;
        if (i < push.count) {
            atomicAdd(place[key_at(i) >> 8 * push.a & 255], 1);
        }
    }
    barrier();
    counts[lane * push.b + block] = place[lane];
}

void sum_blocks(uint lane, uint digit)
{
    uint before = 0;
    for (uint first = 0; first < push.b; first += 256) {
        uint block = first + lane;
        uint count = block < push.b ? counts[digit * push.b + block] : 0;
        uint sum = group_scan(count);
        if (block < push.b) {
            counts[digit * push.b + block] = before + sum - count;
        }
        before += part[255];
        barrier();
    }
    if (lane == 0) {
        totals[digit] = before;
    }
}

void scatter(uint lane, uint block)
{
    uint total = totals[lane], smaller = group_scan(total) - total;
    place[lane] = smaller + counts[lane * push.b + block];
    for (uint word = 0; word < 8; word++) {
        who[lane * 8 + word] = 0;
    }
    barrier();
    for (uint tile = 0; tile < 16; tile++) {
        uint i = (block * 16 + tile) * 256 + lane, my_word = lane / 32, key = 0, value = 0;
        bool inside = i < push.count;
        if (inside) {
            key = key_at(i);
            value = push.a % 2 == 0 ? values[i] : values2[i];
        }
        uint digit = key >> 8 * push.a & 255;
        if (inside) {
            atomicOr(who[digit * 8 + my_word], 1u << lane % 32);
        }
        barrier();
        if (inside) {
            uint lower = who[digit * 8 + my_word] & ((1u << lane % 32) - 1);
            uint to = place[digit] + bitCount(lower);
            for (uint word = 0; word < my_word; word++) {
                to += bitCount(who[digit * 8 + word]);
            }
            if (push.a % 2 == 0) {
                keys2[to] = key;
                values2[to] = value;
            } else {
                keys[to] = key;
                values[to] = value;
            }
        }
        barrier();
        uint seen = 0;
        for (uint word = 0; word < 8; word++) {
            seen += bitCount(who[lane * 8 + word]);
            who[lane * 8 + word] = 0;
        }
        place[lane] += seen;
        barrier();
    }
}

void main()
{
    uint lane = gl_LocalInvocationID.x, group = group_index();
    if (group >= push.groups) {
        return;
    }
    if (KIND == 0) {
        count_digits(lane, group);
    } else if (KIND == 1) {
        sum_blocks(lane, group);
    } else {
        scatter(lane, group);
    }
}
