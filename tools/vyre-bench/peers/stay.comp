// Steps x = 3 x + 1 by workgroups that stay and meet behind each, push.a of them. push.count: elements of
// x. arrived: 0 before the launch, whose workgroups must all run at once.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#include "common.glsl"

layout(set = 0, binding = 0) nonprivate buffer X { uint x[]; };
layout(set = 0, binding = 1) nonprivate buffer Sync { uint arrived; };

void meet(uint goal)
{
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    if (gl_LocalInvocationIndex == 0) {
        atomicAdd(arrived, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                  gl_SemanticsRelease | gl_SemanticsMakeAvailable);
        while (atomicLoad(arrived, gl_ScopeDevice, 0, 0) < goal) {
        }
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer,
                      gl_SemanticsAcquire | gl_SemanticsMakeVisible);
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}

void main()
{
    uint stride = gl_NumWorkGroups.x * 256;
    for (uint s = 0; s < push.a; s++) {
        for (uint i = gl_GlobalInvocationID.x; i < push.count; i += stride) {
            x[i] = x[i] * 3 + 1;
        }
        meet((s + 1) * gl_NumWorkGroups.x);
    }
}
