// One step as step.comp has it, with nothing pushed and nothing bound but a uniform block.
#version 450
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Data
{
    uint x[];
};
layout(std140, set = 0, binding = 0) uniform Block
{
    Data data;
    uint count;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < count) {
        data.x[i] = data.x[i] * 3u + 1u;
    }
}
