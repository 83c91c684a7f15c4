// What the hand-written twins share: workgroups of 256, the push constants, and a grid of two
// dimensions that counts linearly, so that it may have more workgroups than a dimension holds.
layout(local_size_x = 256) in;

layout(push_constant) uniform Push {
    uint groups; // workgroups that work; those launched beyond them do nothing
    uint count;  // elements
    uint phase;  // of shaders with several
    uint a;      // each shader says what the others are
    uint b;
} push;

uint group_index()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

uint element_index()
{
    return group_index() * 256 + gl_LocalInvocationID.x;
}
