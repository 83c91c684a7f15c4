// y = x, or 3 x + 1, a word or four an invocation. push.count: invocations.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 0) const uint KIND = 0; // bit 0: 3 x + 1; bit 1: four words
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Y { uint y[]; };
layout(set = 0, binding = 0) readonly buffer X4 { uvec4 x4[]; };
layout(set = 0, binding = 1) writeonly buffer Y4 { uvec4 y4[]; };

void main()
{
    uint i = element_index();
    if (i >= push.count) {
        return;
    }
    if (KIND == 0) {
        y[i] = x[i];
    } else if (KIND == 1) {
        y[i] = x[i] * 3 + 1;
    } else if (KIND == 2) {
        y4[i] = x4[i];
    } else {
        y4[i] = x4[i] * 3 + 1;
    }
}
