// Twin of bfs.vyre: one pass. push.count: nodes, push.a: the pass.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) readonly buffer RowStart { uint row_start[]; };
layout(set = 0, binding = 1) readonly buffer Column { uint column[]; };
layout(set = 0, binding = 2) buffer Level { uint level[]; };
layout(set = 0, binding = 3) buffer Changed { uint changed[]; };

void main()
{
    uint v = element_index();
    if (group_index() >= push.groups || v >= push.count) {
        return;
    }
    // Levels only fall towards values above the pass, so a stale one is never taken for it.
    if (atomicOr(level[v], 0) != push.a) {
        return;
    }
    uint next = push.a + 1;
    for (uint e = row_start[v]; e < row_start[v + 1]; e++) {
        if (atomicMin(level[column[e]], next) > next) {
            atomicOr(changed[0], 1);
        }
    }
}
