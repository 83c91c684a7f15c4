// Two triangles for each square between four cells, far ones first, so that near ones cover them: no
// depth buffer. The heights are read where the program left them.
#version 450

layout(set = 0, binding = 0) readonly buffer Heights { float height[]; };
layout(push_constant) uniform Constants { float aspect; int side; };

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;

const float RELIEF = 0.026;
const vec3 EYE = vec3(0.0, 1.3, 2.2);

float at(ivec2 cell)
{
    cell = clamp(cell, ivec2(0), ivec2(side - 1));
    return RELIEF * height[cell.y * side + cell.x];
}

void main()
{
    // The diagonals of the left half and of the right half mirror each other.
    const ivec2 corners[6] = ivec2[](ivec2(0, 0), ivec2(1, 0), ivec2(0, 1), ivec2(1, 0), ivec2(1, 1),
                                     ivec2(0, 1));
    int square = gl_VertexIndex / 6;
    ivec2 cell = ivec2(square % (side - 1), square / (side - 1));
    ivec2 corner = corners[gl_VertexIndex % 6];
    if (cell.x >= side / 2) {
        corner.x = 1 - corner.x;
    }
    cell += corner;

    vec2 place = (2.0 * vec2(cell) - float(side - 1)) / float(side - 1);
    out_position = vec3(place.x, at(cell), place.y);
    float width = 4.0 / float(side - 1);
    float slope_x = at(cell + ivec2(1, 0)) - at(cell - ivec2(1, 0));
    float slope_z = at(cell + ivec2(0, 1)) - at(cell - ivec2(0, 1));
    out_normal = vec3(-slope_x, width, -slope_z);

    // The eye looks at the middle.
    vec3 seen = out_position - EYE;
    vec3 back = normalize(EYE);
    float depth = -dot(seen, back);
    float up = dot(seen, vec3(0.0, back.z, -back.y));
    gl_Position = vec4(2.75 * seen.x / aspect, -2.75 * up - 0.1 * depth, 0.5 * depth, depth);
}
