// The values of a sparse matrix, each times the element of x that it meets; one or four an
// invocation, also with each access checked, as the library does. push.count: invocations.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 0) const uint KIND = 0; // 1: four; 2, 3: the same, checked
layout(set = 0, binding = 0) readonly buffer Column { uint column[]; };
layout(set = 0, binding = 1) readonly buffer Value { float value[]; };
layout(set = 0, binding = 2) readonly buffer X { float x[]; };
layout(set = 0, binding = 3) writeonly buffer Y { float y[]; };
layout(set = 0, binding = 0) readonly buffer Column4 { uvec4 column4[]; };
layout(set = 0, binding = 1) readonly buffer Value4 { vec4 value4[]; };
layout(set = 0, binding = 3) writeonly buffer Y4 { vec4 y4[]; };

float checked_x(uint c)
{
    return c < x.length() ? x[c] : 0.0;
}

void main()
{
    uint i = element_index();
    if (i >= push.count) {
        return;
    }
    if (KIND == 0) {
        y[i] = value[i] * x[column[i]];
    } else if (KIND == 2) {
        uint c = i < column.length() ? column[i] : 0;
        float v = i < value.length() ? value[i] : 0.0;
        if (i < y.length()) {
            y[i] = v * checked_x(c);
        }
    } else if (KIND == 3) {
        uvec4 c = i < column4.length() ? column4[i] : uvec4(0);
        vec4 v = i < value4.length() ? value4[i] : vec4(0.0);
        if (i < y4.length()) {
            y4[i] = v * vec4(checked_x(c.x), checked_x(c.y), checked_x(c.z), checked_x(c.w));
        }
    } else {
        uvec4 c = column4[i];
        y4[i] = value4[i] * vec4(x[c.x], x[c.y], x[c.z], x[c.w]);
    }
}
