// Twin of spmv.vyre. push.count: rows.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) readonly buffer RowStart { uint row_start[]; };
layout(set = 0, binding = 1) readonly buffer Column { uint column[]; };
layout(set = 0, binding = 2) readonly buffer Value { float value[]; };
layout(set = 0, binding = 3) readonly buffer X { float x[]; };
layout(set = 0, binding = 4) writeonly buffer Y { float y[]; };

shared float product[1024];

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
    for (uint tile = group_begin; tile < group_end; tile += 1024) {
        for (uint e = tile + lane; e < min(tile + 1024, group_end); e += 256) {
            product[e - tile] = value[e] * x[column[e]];
        }
        barrier();
        for (uint e = max(begin, tile); e < min(end, tile + 1024); e++) {
            sum += product[e - tile];
        }
        barrier();
    }
    if (row < push.count) {
        y[row] = sum;
    }
}
