// One work item of group megakernel for each dispatch (OPCODE: its own pipeline for each), or a
// queue of them (OPCODE 0). items.h has the same in C.
#version 450
layout(constant_id = 0) const uint OPCODE = 0;
layout(local_size_x_id = 1) in;
layout(std430, set = 0, binding = 0) buffer Data
{
    uint data[];
};
layout(std430, set = 0, binding = 1) readonly buffer Items
{
    uvec4 items[]; // opcode, input, output, param
};
layout(push_constant) uniform Constants
{
    uint first, second, third; // input, output, param; of a queue: how many items
};

uint value_of(uint opcode, uint place, uint param)
{
    uint x = data[place], v = x ^ param;
    switch (opcode) {
    case 8:
        return x * 3u + param;
    case 9:
        return x + param;
    case 10:
        return v << 13 | v >> 19;
    case 11:
        for (uint r = 0; r < 4; r++) {
            v *= 0x9e3779b1u;
            v ^= v >> 15;
        }
        return v;
    case 12:
        return data[x % 65536u] ^ param;
    case 13:
        return uint(bitCount(v)) * 0x01000193u + x;
    case 14:
        return min(max(x, param & 0xffffu), param);
    case 15:
        for (uint k = 0; k < 16; k++) {
            v = v * 5u + (v >> 7 ^ k);
        }
        return v;
    }
    return 0;
}

void main()
{
    uvec4 item = uvec4(OPCODE, first, second, third);
    if (OPCODE == 0) {
        if (gl_GlobalInvocationID.x >= first) {
            return;
        }
        item = items[gl_GlobalInvocationID.x];
    }
    data[item.z] = value_of(item.x, item.y, item.w);
}
