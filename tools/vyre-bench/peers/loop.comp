// A fixpoint within one workgroup: x = 3 x + 1 in each pass, until a pass changes nothing more, which
// is pass push.a. push.count: elements of x, at most 256.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(set = 0, binding = 0) buffer X { uint x[]; };

shared uint changed;

void main()
{
    uint i = gl_LocalInvocationID.x;
    for (uint pass = 0;; pass++) {
        if (i == 0) {
            changed = 0;
        }
        barrier();
        if (i < push.count) {
            x[i] = x[i] * 3 + 1;
        }
        if (i == 0 && pass + 1 < push.a) {
            changed = 1;
        }
        memoryBarrierBuffer();
        barrier();
        bool again = changed != 0;
        barrier();
        if (!again) {
            return;
        }
    }
}
