/* See shapes.h. */
#include "tests/kernel/shapes.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const shapes[] = {
    "for i in 0 .. k { break }",
    "for i in 0 .. k { continue }",
    "for i in 0 .. k { return }",
    "for i in 0 .. k { if x[i] == 1 { break } else { continue } }",
    "for i in 0 .. k { if x[i] == 1 { break } else { return } }",
    "while true { }",
    "while false { y[0] = 1 }",
    "while true { if x[0] == 1 { break } }",
    "while early(k) > early(x[0]) { if x[0] == 1 { continue } y[0] = 1 }",
    "switch k { }",
    "switch k { default { } }",
    "switch k { default { y[0] = 1 } case 3 { return } case 4 { y[1] = 1 } }",
    "switch k { case 1 { return } default { return } } y[0] = 1",
    "for i in 0 .. k { switch x[i] { case 1 { break } case 2 { continue } case 3 { return } "
    "default { y[i] = 1 } } }",
    "for i in 0 .. k { for j in 0 .. i { switch x[j] { case 1 { break } case 2 { continue } } "
    "if x[j] == 9 { break } } if x[i] == 8 { break } }",
    "var s = 0 for i in 0 .. k { while s < i { s = s + 1 if s == 7 { break } } if s == 9 { "
    "continue "
    "} s = s + 2 } y[0] = s",
    "if k > 1 { if k > 2 { return } else { return } } else { y[0] = 1 } y[1] = 1",
    "if 1 == 1 { return } y[0] = 1",
    "for i in 0 .. k { if 1 == 1 { break } y[i] = 1 }",
    "for i in 0 .. k { if 1 == 2 { break } switch 3 { case 3 { y[i] = 1 } } }",
    "y[0] = early(early(k)) + deep(k)",
    "for i in 0 .. k { y[i] = deep(i) if deep(i) == 4 { break } }",
    "let u = uniform w[0] var s = u while s > 3 { s = s - 1 barrier } y[0] = s",
    /* Across cuts: left before a binding, assigned on some ways, in host loops, arrays. */
    "if x[0] > 4 { return } let v = gid.x + 7 grid_sync y[0] = v",
    "for i in 0 .. k { if x[i] == 3 { return } } let v = k * 3 var t = x[1] grid_sync y[0] = v + t",
    "var s = x[0] for h in 0 .. k { if s > 90 { return } s = s + h + 1 grid_sync s = s * 2 let z = "
    "s "
    "grid_sync y[h] = z + s } y[15] = s",
    "var a : u32[5] a[x[0]] = 4 if x[1] > 6 { return } a[1] = 9 grid_sync a[x[2]] = a[x[0]] + 1 "
    "if x[3] > 6 { a[0] = 1 return } grid_sync for i in 0 .. 5 { y[i] = a[i] }",
    "let c = x[0] > 3 var t = 1 grid_sync if c { t = 2 if x[1] > 3 { return } t = 3 } grid_sync "
    "y[0] = t + u32(c) if k > 4 { let q = y[1] y[2] = 5 grid_sync y[3] = q + h2(t) } else { t = 8 "
    "} "
    "y[4] = t",
    "while x[0] > 3 { y[0] = y[0] + 1 } grid_sync while x[1] > 3 { y[1] = y[1] + 1 }",
    "for i in 0 .. k step x[0] down { y[i] = 1 } for j in n[0] .. 5i step 2i { n[1] = j }",
};

static const char head[] =
    "in x : u32[]\ninout y : u32[]\ninout n : i32[]\n"
    "shared w : u32[64]\nparam k : u32\n"
    "fn h2(a: u32) -> u32 { if a > 2 { return a } return a * 5 }\n"
    "fn early(a: u32) -> u32 {\n    for i in 0 .. a { if x[i] == a { return i } }\n"
    "    return 9\n}\n"
    "fn deep(a: u32) -> u32 {\n    for i in 0 .. a {\n        var j = i\n"
    "        while j > 2 {\n            switch x[j] {\n                case 1 { return j }\n"
    "                case 2 { break }\n                case 3 { continue }\n"
    "                default { if early(j) == 3 { return early(i) } }\n            }\n"
    "            j = j - 1\n        }\n        if j == 1 { return 5 }\n    }\n"
    "    if a == 4 { return 1 } else { return 2 }\n}\n";

bool shape_text(uint32_t i, uint32_t workgroup, char out[SHAPE_SIZE])
{
    if (i >= sizeof shapes / sizeof shapes[0]) {
        return false;
    }
    int size = snprintf(out, SHAPE_SIZE,
                        "program shapes\nworkgroup %u\nloop_limit 50\n%skernel {\n%s\n}\n",
                        (unsigned)workgroup, head, shapes[i]);
    if (size < 0 || size >= SHAPE_SIZE) {
        abort();
    }
    return true;
}
