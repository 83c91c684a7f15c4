// One pass of a fixpoint that ends itself: a pass whose predecessor left its flag zero does nothing.
// Which of four flags is whose, and which count, stands in the uniform block that is bound; the first
// invocation makes the flag of the next pass zero and hands the count on.
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Data
{
    uint x[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Turn
{
    uint flag, passes; // set by the pass; run before it
};
layout(std140, set = 0, binding = 0) uniform Block
{
    Data data;
    Turn before, own, next;
    uint count, last;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    bool over = before.flag == 0u;
    uint pass = own.passes;
    if (i == 0u) {
        next.flag = 0u;
        next.passes = pass + uint(!over);
    }
    if (over) {
        return;
    }
    if (i < count) {
        data.x[i] = data.x[i] * 3u + 1u;
    }
    if (i == 0u && pass + 1u < last) {
        atomicStore(own.flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed);
    }
}
