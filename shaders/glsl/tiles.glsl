// What twins share that go through rows of tiles, 16 elements an invocation: which tiles a workgroup
// has, and how they are scanned. Included behind common.glsl.
const uint TILE = 4096;

shared uint part[512]; // sums of the subgroups; of every other tile in the second half

uint whole_tiles()
{
    return push.count / TILE;
}

// The tiles of workgroup `group` end where those of the next one begin.
uint first_tile(uint group)
{
    return group * ((push.count + TILE - 1) / TILE) / push.groups;
}

// Where the invocation's k-th four lie in a tile, in fours.
uint place(uint k)
{
    uint lane = gl_LocalInvocationID.x, own = gl_SubgroupInvocationID;
    return (lane - own) * 4 + k * gl_SubgroupSize + own;
}

uint sum_of(uvec4 v)
{
    return v.x + v.y + v.z + v.w;
}

// At every invocation.
uint group_sum(uint value)
{
    uint sum = subgroupAdd(value), all_of_them = 0;
    if (gl_SubgroupInvocationID == 0) {
        part[gl_SubgroupID] = sum;
    }
    barrier();
    for (uint s = 0; s < gl_NumSubgroups; s++) {
        all_of_them += part[s];
    }
    barrier();
    return all_of_them;
}

// What stands in the tile before each of the invocation's fours, of which the sums are given; and the
// sum of the tile.
uvec4 before_fours(uint tile, uvec4 fours, out uint total)
{
    uvec4 up_to = subgroupInclusiveAdd(fours);
    uvec4 rows = subgroupAdd(fours);
    uint part_of = tile % 2 * 256, start = 0;
    if (gl_SubgroupInvocationID == 0) {
        part[part_of + gl_SubgroupID] = sum_of(rows);
    }
    barrier();
    total = 0;
    for (uint s = 0; s < gl_NumSubgroups; s++) {
        uint sum = part[part_of + s];
        start += s < gl_SubgroupID ? sum : 0;
        total += sum;
    }
    return up_to - fours + uvec4(start, start + rows.x, start + rows.x + rows.y,
                                 start + rows.x + rows.y + rows.z);
}
