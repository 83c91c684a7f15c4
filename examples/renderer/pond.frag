// Water under an evening sky: what is mirrored, what shines through, and the sun behind the pond.
#version 450

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 0) out vec4 colour;

const vec3 EYE = vec3(0.0, 1.3, 2.2);

vec3 sky(vec3 direction)
{
    float high = clamp(direction.y, 0.0, 1.0);
    vec3 horizon = mix(vec3(1.0, 0.42, 0.16), vec3(0.75, 0.16, 0.30), min(4.0 * high, 1.0));
    return mix(horizon, vec3(0.03, 0.06, 0.20), smoothstep(0.1, 0.8, high));
}

void main()
{
    vec3 n = normalize(normal);
    vec3 view = normalize(position - EYE);
    vec3 mirrored = reflect(view, n);
    float fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(-view, n), 0.0), 4.0);
    vec3 sun = normalize(vec3(0.0, 0.42, -1.0));
    float glitter = pow(max(dot(mirrored, sun), 0.0), 180.0);
    float lift = clamp(0.5 + 14.0 * position.y, 0.0, 1.0);
    vec3 water = mix(vec3(0.0, 0.015, 0.05), vec3(0.01, 0.20, 0.26), lift);
    colour = vec4(mix(water, sky(mirrored), clamp(1.6 * fresnel, 0.0, 1.0)) +
                      2.5 * glitter * vec3(1.0, 0.75, 0.45),
                  1.0);
}
