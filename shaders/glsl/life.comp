// Twin of life.vyre. push.count: cells, push.a: width. Phase 0 makes the next generation, phase 1
// takes it over.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) buffer Cells { uint cells[]; };
layout(set = 0, binding = 1) buffer Next { uint next[]; };

uint cell(uint x, uint y)
{
    return cells[y * push.a + x] != 0 ? 1 : 0;
}

void main()
{
    uint i = element_index();
    if (group_index() >= push.groups || i >= push.count) {
        return;
    }
    if (push.phase == 1) {
        cells[i] = next[i];
        return;
    }
    uint width = push.a, height = push.count / push.a;
    uint x = i % width, y = i / width;
    uint left = x > 0 ? x - 1 : width - 1, right = x + 1 < width ? x + 1 : 0;
    uint above = y > 0 ? y - 1 : height - 1, below = y + 1 < height ? y + 1 : 0;
    uint alive = cell(left, above) + cell(x, above) + cell(right, above) + cell(left, y) +
                 cell(right, y) + cell(left, below) + cell(x, below) + cell(right, below);
    next[i] = alive == 3 || (alive == 2 && cells[i] != 0) ? 1 : 0;
}
