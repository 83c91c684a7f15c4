// One step: what tools/vyre-bench/program.c has as a program.
#version 450
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) buffer Data
{
    uint x[];
};
layout(push_constant) uniform Constants
{
    uint count;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < count) {
        x[i] = x[i] * 3u + 1u;
    }
}
