// Twin of spmv.vyre. push.count: rows.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) readonly buffer RowStart { uint row_start[]; };
layout(set = 0, binding = 1) readonly buffer Column { uint column[]; };
layout(set = 0, binding = 2) readonly buffer Value { float value[]; };
layout(set = 0, binding = 3) readonly buffer X { float x[]; };
layout(set = 0, binding = 4) writeonly buffer Y { float y[]; };

const uint TILE = 2048;

shared float product[TILE + TILE / 32]; // one place in 33 is left out

uint place(uint e)
{
    return e + e / 32;
}

void main()
{
    uint row = element_index(), lane = gl_LocalInvocationID.x, first = group_index() * 256;
    if (first >= push.count) {
        return;
    }
    uint begin = row < push.count ? row_start[row] : 0;
    uint end = row < push.count ? row_start[row + 1] : 0;
    uint group_begin = row_start[first], group_end = row_start[min(first + 256, push.count)];
    float sum = 0.0;
    for (uint tile = group_begin; tile < group_end; tile += TILE) {
        for (uint e = lane; e < min(TILE, group_end - tile); e += 256) {
            product[place(e)] = value[tile + e] * x[column[tile + e]];
        }
        barrier();
        for (uint e = max(begin, tile); e < min(end, tile + TILE); e++) {
            sum += product[place(e - tile)];
        }
        barrier();
    }
    if (row < push.count) {
        y[row] = sum;
    }
}
