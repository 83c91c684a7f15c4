/* Bad input: where it is refused and what the message says. */
#include "tests/ir/text_support.h"

typedef struct bad_row {
    const char *text;
    uint32_t line, column;
    const char *part;
} bad_row;

static void refuse_all(const bad_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        refuse(rows[i].text, rows[i].line, rows[i].column, rows[i].part);
    }
}

static void test_bytes_and_tokens(void **state)
{
    (void)state;
    static const bad_row rows[] = {
        {"", 1, 1, "program NAME"},
        {"\n\n  kernel { }", 3, 3, "program NAME"},
        {"program x\n/* never\nclosed", 2, 1, "no end"},
        {"program x\n\xc3\xa9", 2, 1, "not ASCII"},
        {"program x\nkernel { let \xe2\x88\x92 = 1 }", 2, 14, "byte 0xe2"},
        {"\xff\xfep", 1, 1, "UTF-16"},
        {"program x\x01", 1, 10, "control byte 0x01"},
        {"program x `", 1, 11, "character `"},
        {"program x 'a'", 1, 11, "character literals"},
        {"program x #include", 1, 11, "expected a declaration"},
        {"program x kernel { region \"a\n", 1, 27, "no end on its line"},
        {"program x kernel { region \"a\\q\" { } }", 1, 27, "escape"},
        {"program x kernel { region \"\t\" { } }", 1, 28, "byte 0x09"},
        {"program x kernel { region \"\\x00\" { } }", 1, 27, "zero byte"},
        {"program x const A = 0x", 1, 21, "without digits"},
        {"program x const A = 0b2", 1, 23, "binary"},
        {"program x const A = 12ab", 1, 21, "runs into the name ab"},
        {"program x const A = 1lu", 1, 21, "one of the suffixes u i l ul h f d"},
        {"program x const A = 1U", 1, 21, "runs into the name U"},
        {"program x const A = 0x1h", 1, 21, "the suffix of f16 on an integer"},
        {"program x const A = 0b1d", 1, 21, "the suffix of f64 on an integer"},
        {"program x const A = 1.0u", 1, 21, "the suffix of an integer on a number"},
        {"program x const A = 1e3ul", 1, 21, "the suffix of an integer on a number"},
        {"program x const A = 1. ", 1, 21, "write 1.0"},
        {"program x const A = .5", 1, 21, "write 0 in front"},
        {"program x const A = 0x1.8", 1, 21, "p0"},
        {"program x const A = 1e39", 1, 21, "larger than any f32"},
        {"program x const A = 65520.0h", 1, 21, "larger than any f16"},
        {"program x const A = 65520h", 1, 21, "larger than any f16"},
        {"program x const A = 1.8e308d", 1, 21, "larger than any f64"},
        {"program x const A = 0x1p1024d", 1, 21, "larger than any f64"},
        {"program x const A = 4294967296", 1, 21, "0 .. 4294967295, or u64 with the suffix ul"},
        {"program x const A = 4294967296u", 1, 21, "4294967295"},
        {"program x const A = 2147483648i", 1, 21, "2147483647"},
        {"program x const A = 9223372036854775808l", 1, 21, "9223372036854775807"},
        {"program x const A = 18446744073709551616ul", 1, 21, "2^64"},
        {"program x const A = 0x1_0000_0000_0000_0000", 1, 21, "2^64"},
        {"program x const A = 99999999999999999999999999999999999999", 1, 21, "2^64"}};
    refuse_all(rows, VY_COUNT_OF(rows));
    static const char zero[] = "program x\n\0kernel { }";
    refuse_sized(zero, sizeof zero - 1, 2, 1, "zero byte");
    static const char comment[] = "program x\n// \0 \nkernel { }";
    refuse_sized(comment, sizeof comment - 1, 2, 4, "zero byte");
}

static void test_declarations(void **state)
{
    (void)state;
    static const bad_row rows[] = {
        {"program", 1, 8, "name of the program"},
        {"program 3", 1, 9, "name of the program"},
        {"program x", 1, 10, "no kernel"},
        {"program x program y", 1, 11, "second time"},
        {"program x kernel { } in a : u32[]", 1, 22, "last part"},
        {"program x kernel { } }", 1, 22, "last part"},
        {"program x kernel main { }", 1, 18, "no name of its own"},
        {"program x let y = 1", 1, 11, "outside of the kernel"},
        {"program x float y", 1, 11, "'float'"},
        {"program x workgroup 8 workgroup 9 kernel { }", 1, 23, "second time"},
        {"program x fast_math fast_math kernel { }", 1, 21, "second time"},
        {"program x grid level kernel { }", 1, 16, "expected 'over', 'from' or 'of'"},
        {"program x grid over 3 kernel { }", 1, 21, "name of a buffer"},
        {"program x grid from 3 kernel { }", 1, 21, "name of a buffer"},
        {"program x grid of kernel { }", 1, 19, "kernel"},
        {"program x in n : u32[] grid of len(n), kernel { }", 1, 40, "kernel"},
        {"program x\ngrid of len(n)\nin n : u32[] kernel { }", 2, 13, "'n'"},
        {"program x grid of 1.5 kernel { }", 1, 19, "u32"},
        {"program x grid of 1 grid of 2 kernel { }", 1, 21, "second time"},
        {"program x in n : u32[] grid of n[0] kernel { }", 1, 32, "cannot evaluate the workgroups"},
        {"program x grid of num_groups.x kernel { }", 1, 19, "follow num_groups"},
        {"program x\ngrid from m\nin mm : u32[]\nkernel { }", 2, 11, "'m' is not declared"},
        {"program x\ngrid from n grid over n\nin n : u32[]\nkernel { }", 2, 13, "second time"},
        {"program x\ngrid from n\ninout n : u32[]\nkernel { }", 3, 7, "in or uniform"},
        {"program x\ngrid over lvel\nin level : u32[]\nkernel { }", 2, 11, "did you mean 'level'"},
        {"program x param n : u32\ngrid over n kernel { }", 2, 11, "is a param"},
        {"program x fixpoint 3 until flag kernel { }", 1, 28, "'flag'"},
        {"program x workgroup pu kernel { }", 1, 21, "'pu'"},
        {"program x workgroup -1 kernel { }", 1, 21, "negative"},
        {"program x in a u32 kernel { }", 1, 16, "expected ':'"},
        {"program x in a : u32 kernel { }", 1, 22, "u32[]"},
        {"program x in a : double[] kernel { }", 1, 18, "write f64"},
        {"program x in a : half[] kernel { }", 1, 18, "write f16"},
        {"program x in a : uint8_t[] kernel { }", 1, 18, "write u8"},
        {"program x in a : bool2[] kernel { }", 1, 14, "values only"},
        {"program x param a : bf16 kernel { }", 1, 17, "bf16"},
        {"program x in a : uint[] kernel { }", 1, 18, "write u32"},
        {"program x in a : float[] kernel { }", 1, 18, "write f32"},
        {"program x in a : vec4[] kernel { }", 1, 18, "no type"},
        {"program x in a : void[] kernel { }", 1, 18, "void"},
        {"program x in a : [] kernel { }", 1, 18, "expected a type"},
        {"program x in u32 : u32[] kernel { }", 1, 14, "is a type"},
        {"program x in if : u32[] kernel { }", 1, 14, "word of the language"},
        {"program x in min : u32[] kernel { }", 1, 14, "built-in function"},
        {"program x in gid : u32[] kernel { }", 1, 14, "built-in value"},
        {"program x in lanes : u32[] kernel { }", 1, 14, "built-in value"},
        {"program x in subgroup_any : u32[] kernel { }", 1, 14, "built-in function"},
        {"program x in f32x4 : u32[] kernel { }", 1, 14, "is a type"},
        {"program x\nin a : u32[]\nout a : u32[]\nkernel { }", 3, 5, "line 2 column 4"},
        {"program x in a : u32[len(b)] in b : u32[] kernel { }", 1, 26, "'b' is not declared"},
        {"program x shared a : u32[num_groups.x] kernel { }", 1, 26, "not a constant"},
        {"program x param n : u32 = 3 kernel { }", 1, 25, "at dispatch"},
        {"program x param n : u32[4] kernel { }", 1, 24, "one value"},
        {"program x const A kernel { }", 1, 19, "expected '='"},
        {"program x const A = B kernel { }", 1, 21, "'B' is not declared"},
        {"program x const A : u32 = 1.5 kernel { }", 1, 27, "u32 is needed"},
        {"program x const A = -1 kernel { }", 1, 21, "suffix i"},
        {"program x const A : i32 = 2147483648 kernel { }", 1, 27, "does not fit i32"},
        {"program x const A : f32 = 16777217 kernel { }", 1, 27, "exactly"},
        {"program x const A = 1 / 0 kernel { }", 1, 21, "zero"},
        {"program x const A = 1 << 32 kernel { }", 1, 21, "u64 with the suffix ul"},
        {"program x const A = 1u << 32 kernel { }", 1, 21, "shifted by 32"},
        {"program x const A = 1 << 64 kernel { }", 1, 21, "shifted by 64"},
        {"program x const A = 65536 * 65536 kernel { }", 1, 21, "does not fit"},
        {"program x const A = 4000000000u + 400000000u kernel { }", 1, 21, "does not fit u32"},
        {"program x const A = 1u + 1i kernel { }", 1, 26, "mixes u32 with i32"},
        {"program x const A = 1.0 + 1.0 kernel { }", 1, 27, "only integers"},
        {"program x const A = 1 < 2 kernel { }", 1, 25, "only integers"},
        {"program x const A = !1 kernel { }", 1, 21, "no constant"},
        {"program x const A = [1, 2] kernel { }", 1, 21, "says its type"},
        {"program x const A : u32[3] = [1, 2] kernel { }", 1, 17, "2 elements"},
        {"program x const A : u32[] = [1, 2.0] kernel { }", 1, 33, "u32 is needed"},
        {"program x const A : u32[] = [1, 2 kernel { }", 1, 35, "expected ']'"},
        {"program x fn f { } kernel { }", 1, 16, "expected '('"},
        {"program x fn f(u32 a) { } kernel { }", 1, 16, "does not begin with its type"},
        {"program x fn f(a) { } kernel { }", 1, 17, "expected ':'"},
        {"program x fn f(a: u32, a: u32) { } kernel { }", 1, 24, "two parameters"},
        {"program x fn f(f: u32) { } kernel { }", 1, 16, "of that name"},
        {"program x fn f(): u32 { } kernel { }", 1, 17, "->"},
        {"program x fn f(a: u32) { }\nin a : u32[]\nkernel { }", 2, 4, "further up"},
        {"program x in a : u32[]\nfn f(a: u32) { }\nkernel { }", 2, 6, "declared already"},
        {"program x fn f() { kernel { } }", 1, 20, "expected a statement"}};
    refuse_all(rows, VY_COUNT_OF(rows));
}

#define L KERNEL_LINE + 1 /* the line of the statements in KERNEL(...) */

static void test_statements(void **state)
{
    (void)state;
    static const bad_row rows[] = {
        {KERNEL("int x = 5"), L, 1, "no type int. Fix: write i32"},
        {KERNEL("uint x = 5"), L, 1, "write u32"},
        {KERNEL("u32 x = 5"), L, 1, "let x : u32"},
        {KERNEL("const x = 5"), L, 1, "write let"},
        {KERNEL("shared x : u32[4]"), L, 1, "outside of the kernel"},
        {KERNEL("fn f() { }"), L, 1, "move it up"},
        {KERNEL("var x = 1 x++"), L, 12, "write x += 1"},
        {KERNEL("var x = 1 x--"), L, 12, "write x -= 1"},
        {KERNEL("var x = 1 ++x"), L, 11, "no operator ++"},
        {KERNEL("var x = 1; ++x"), L, 12, "no operator ++"},
        {KERNEL("var x = true x &&= false"), L, 16, "x = x && ..."},
        {KERNEL("var x = true x ||= false"), L, 16, "x = x || ..."},
        {KERNEL("var x = 1 x := 2"), L, 13, "no operator :="},
        {KERNEL("var x = 1 x == 2"), L, 13, "write = to assign"},
        {KERNEL("var x = 1 x[0] = 2"), L, 12, "not an array"},
        {KERNEL("var x = 1 x"), L + 1, 1, "expected '='"},
        {KERNEL("let x = 1 x = 2"), L, 11, "declare a var"},
        {KERNEL("pu = 2"), L, 1, "is a param"},
        {KERNEL("N = 2"), L, 1, "is a constant"},
        {KERNEL("T[0] = 2"), L, 1, "is a table"},
        {KERNEL("min(1, 2)"), L, 1, "built-in function"},
        {KERNEL("b = 2"), L, 3, "b[i] = ..."},
        {KERNEL("5 = x"), L, 1, "expected a statement"},
        {KERNEL("let 5 = x"), L, 5, "expected the name"},
        {KERNEL("let x"), L + 1, 1, "expected '='"},
        {KERNEL("let x = 1 let x = 2"), L, 15, "declared already, at line 18 column 5"},
        {KERNEL("let a = 1"), L, 5, "declared already"},
        {KERNEL("let twice = 1"), L, 5, "declared already"},
        {KERNEL("let step = 1 for step in 0 .. 2 { }"), L, 18, "declared already"},
        {KERNEL("let for = 1"), L, 5, "word of the language"},
        {KERNEL("let x = x + 1"), L, 9, "'x' is not declared"},
        {KERNEL("{ let x = 1 } b[0] = x"), L, 22, "'x' is not declared"},
        {KERNEL("var x : u32"), L + 1, 1, "first value"},
        {KERNEL("var x : u32[4] = 0"), L, 16, "no initialiser"},
        {KERNEL("var x : u32[pu]"), L, 13, "not a constant"},
        {KERNEL("var x = atomic_add(b[0], 1)"), L, 9, "let old = atomic_add"},
        {KERNEL("let x = atomic_store(b[0], 1)"), L, 9, "gives no value"},
        {KERNEL("let x = atomic_add(b[0], 1) + 1"), L, 29, "bind it first"},
        {KERNEL("let x = 1 + atomic_add(b[0], 1)"), L, 13, "let old = atomic_add"},
        {KERNEL("if atomic_load(b[0]) == 1 { }"), L, 4, "let old = atomic_load"},
        {KERNEL("let x : i32 = atomic_load(b[0])"), L, 15, "i32 is needed"},
        {KERNEL("atomic_add(b[0])"), L, 16, "1 value behind the place, but 0 are given"},
        {KERNEL("atomic_compare_exchange(b[0], 1)"), L, 32, "expected, new"},
        {KERNEL("atomic_add(b[0], 1, 2)"), L, 21, "acq_rel"},
        {KERNEL("atomic_add(b[0], 1, acqrel)"), L, 21, "acq_rel"},
        {KERNEL("atomic_add(pu, 1)"), L, 12, "element of a buffer"},
        {KERNEL("atomic_add(b, 1)"), L, 13, "expected '['"},
        {KERNEL("let x = uniform w[0] + 1"), L, 22, "bind it first"},
        {KERNEL("let x = 1 + uniform w[0]"), L, 13, "let x = uniform b[i]"},
        {KERNEL("let x : i32 = uniform w[0]"), L, 15, "i32 is needed"},
        {KERNEL("let x : i32 = twice(1)"), L, 15, "i32 is needed"},
        {KERNEL("twice(1, 2)"), L, 1, "takes 1 argument, but 2 are given"}};
    refuse_all(rows, VY_COUNT_OF(rows));
}

static void test_control_flow(void **state)
{
    (void)state;
    static const bad_row rows[] = {
        {KERNEL("if (pu < 1) b[0] = 1"), L, 13, "expected '{'"},
        {KERNEL("if pu = 1 { }"), L, 7, "write == to compare"},
        {KERNEL("while pu += 1 { }"), L, 10, "no part of an expression"},
        {KERNEL("var x = 1 let y = x = 2"), L, 21, "write == to compare"},
        {KERNEL("else { }"), L, 1, "without an if"},
        {KERNEL("elif pu < 1 { }"), L, 1, "write else if"},
        {KERNEL("if pu < 1 { } else b[0] = 1"), L, 20, "expected '{'"},
        {KERNEL("for (int i = 0; i < 4; i++) { }"), L, 5, "for i in 0 .. n"},
        {KERNEL("for i = 0 { }"), L, 7, "expected 'in'"},
        {KERNEL("for i in 4 { }"), L, 12, "expected '..'"},
        {KERNEL("for i in 0 ..= 4 { }"), L, 14, "half open"},
        {KERNEL("for i in 0 .. 4 step { }"), L, 22, "expected a value"},
        {KERNEL("for i in 0 .. 4 b[0] = 1"), L, 17, "expected '{'"},
        {KERNEL("while (pu < 1)"), L + 1, 1, "expected '{'"},
        {KERNEL("do { } while true"), L, 1, "condition first"},
        {KERNEL("switch pu { 1 { } }"), L, 13, "expected case"},
        {KERNEL("switch pu { case 1: b[0] = 1 }"), L, 19, "fall through"},
        {KERNEL("switch pu { case -1 { } }"), L, 18, "negative"},
        {KERNEL("switch pu { case pu { } }"), L, 18, "not a constant"},
        {KERNEL("case 1 { }"), L, 1, "outside of a switch"},
        {KERNEL("default { }"), L, 1, "outside of a switch"},
        {KERNEL("region r { }"), L, 8, "region \"name\""},
        {KERNEL("return 1"), L, 8, "takes none"},
        {KERNEL("return (1)"), L, 8, "takes none"},
        {KERNEL("trap"), L + 1, 1, "expected '('"},
        {KERNEL("trap(pu)"), L, 6, "not a constant"},
        {KERNEL("barrier(1)"), L, 9, "no operands"},
        {KERNEL("goto end"), L, 1, "break, continue"},
        {KERNEL("kernel { }"), L, 1, "expected a statement"},
        {KERNEL("if pu < 1 {"), L + 2, 1, "line 17 column 8 has no end"},
        {KERNEL("}"), L + 1, 1, "last part"}};
    refuse_all(rows, VY_COUNT_OF(rows));
}

static void test_expressions(void **state)
{
    (void)state;
    static const bad_row rows[] = {
        {KERNEL("let x = "), L + 1, 1, "expected a value"},
        {KERNEL("let x = 1 +"), L + 1, 1, "expected a value"},
        {KERNEL("let x = (1 + 2"), L + 1, 1, "expected ')'"},
        {KERNEL("let x = (1 + 2]"), L, 15, "expected ')'"},
        {KERNEL("let x = 1 + 2)"), L, 14, "expected a statement"},
        {KERNEL("let x = a[1"), L + 1, 1, "expected ']'"},
        {KERNEL("let x = a"), L, 9, "a[i]"},
        {KERNEL("let x = T + 1"), L, 9, "T[i]"},
        {KERNEL("var y : u32[4] let x = y"), L, 24, "y[i]"},
        {KERNEL("let x = pu[1]"), L, 11, "only buffers, arrays and tables"},
        {KERNEL("let x = pu.x"), L, 11, "no components"},
        {KERNEL("let x = gid"), L, 9, "write gid.x"},
        {KERNEL("let x = gid.w"), L, 13, "no component 'w'"},
        {KERNEL("let x = lid + 1"), L, 9, "write lid.x"},
        {KERNEL("let x = pass.x"), L, 13, "no components"},
        {KERNEL("let x = +1"), L, 9, "no prefix '+'"},
        {KERNEL("let x = &b"), L, 9, "no pointers"},
        {KERNEL("let x = pu++"), L, 11, "no operator ++"},
        {KERNEL("let x = pu < 1 ? 2 : 3"), L, 16, "select(condition, a, b)"},
        {KERNEL("let x = pu < pu < pu"), L, 17, "comparisons do not chain"},
        {KERNEL("let x = pu == pu != true"), L, 18, "comparisons do not chain"},
        {KERNEL("let x = pu < pu + 1 == true"), L, 21, "comparisons do not chain"},
        {KERNEL("let x = if pu < 1 { 1 }"), L, 9, "select"},
        {KERNEL("let x = min(1)"), L, 9, "takes 2 operands, but 1 is given"},
        {KERNEL("let x = sqrt(1.0, 2.0)"), L, 9, "takes 1 operand, but 2 are given"},
        {KERNEL("let x = min"), L + 1, 1, "expected '('"},
        {KERNEL("let x = clz()"), L, 9, "but 0 are given"},
        {KERNEL("let x = twice() + 1"), L, 9, "takes 1 argument, but 0 are given"},
        {KERNEL("let x = len(pu)"), L, 13, "name of a buffer"},
        {KERNEL("let x = len(q)"), L, 13, "'q' is not declared"},
        {KERNEL("let x = len"), L + 1, 1, "expected '('"},
        {KERNEL("let x = bitcast(1)"), L, 16, "bitcast<u32>(x)"},
        {KERNEL("let x = bitcast<u64>(pu)"), L, 9, "bitcast from u32 to u64 changes the size"},
        {KERNEL("let x = bitcast<u8>(256)"), L, 21, "256 does not fit u8"},
        {KERNEL("let x = bitcast<bf16>(1)"), L, 9, "cannot have the type bf16"},
        {KERNEL("let x = u64(5000000000)"), L, 13, "u64 with the suffix ul"},
        {KERNEL("let x = bf16(pf)"), L, 9, "cannot have the type bf16"},
        {KERNEL("let x = 1 + subgroup_add(1)"), L, 13, "bind it first: let x = subgroup_add(...)"},
        {KERNEL("let x = subgroupAdd(1)"), L, 9, "let x = subgroup_add(v)"},
        {KERNEL("let x = vec4(1)"), L, 9, "write f32x4"},
        {KERNEL("let x = warpSize"), L, 9, "write lanes"},
        {KERNEL("let x = float(1)"), L, 9, "write f32"},
        {KERNEL("let x = u32 1"), L, 13, "expected '('"},
        {KERNEL("let x = let"), L, 9, "expected a value"},
        {KERNEL("let x = threadIdx"), L, 9, "write lid.x"},
        {KERNEL("let x = atomicAdd(b[0], 1)"), L, 9, "atomic_add(b[i], v)"},
        {KERNEL("let x = blobal"), L, 9, "Fix: declare it above"},
        {KERNEL("let counter = 1 let x = cuonter"), L, 25, "did you mean 'counter'"},
        {KERNEL("let x = slect(true, 1, 2)"), L, 9, "did you mean 'select'"},
        {KERNEL("let x = tiwce(1)"), L, 9, "did you mean 'twice'"},
        {KERNEL("let x = 2147483648i"), L, 9, "does not fit i32"},
        {KERNEL("let x = 4294967296u"), L, 9, "does not fit u32"},
        {KERNEL("let x = \"text\""), L, 9, "expected a value"},
        {KERNEL("let x = 1(2)"), L, 10, "cannot be called"}};
    refuse_all(rows, VY_COUNT_OF(rows));
}

/* Found by the builder and the validator; the place is the parser's. */
static void test_types_and_rules(void **state)
{
    (void)state;
    static const bad_row rows[] = {
        {KERNEL("let x = pu + pi"), L, 12, "u32 with i32"},
        {KERNEL("let x = pu < 1 + 0.5"), L, 12, "u32 with f32"},
        {KERNEL("let x = pu + -1"), L, 14, "-1i"},
        {KERNEL("let x = -1"), L, 9, "-1i"},
        {KERNEL("let x = pf * 16777217"), L, 14, "f32 exactly"},
        {KERNEL("let x = pu * 99999999999999999999999"), L, 14, "2^64"},
        {KERNEL("if pu { }"), L, 4, "x != 0"},
        {KERNEL("let x = !pu"), L, 9, "x != 0"},
        {KERNEL("let x = fma(pu, pu, pu)"), L, 9, "'fma' takes a float, not u32"},
        {KERNEL("a[0] = 1"), L, 1, "`a`"},
        {KERNEL("break"), L, 1, "outside a loop"},
        {KERNEL("let x = bump(1)"), L, 9, "gives no value"},
        {KERNEL("if gid.x < 3 { barrier }"), L, 16, "barrier"},
        {KERNEL("while true { grid_sync }"), L, 14, "grid_sync"},
        {KERNEL("switch pu { case 1 { } case 1 { } }"), L, 24, "1"}};
    refuse_all(rows, VY_COUNT_OF(rows));
    refuse("program x workgroup 0 inout b : u32[] kernel { }", 0, 0, "workgroup");
    refuse("program x fn f() { f() } kernel { }", 1, 20, "f");
}

static void test_the_first_error_is_reported(void **state)
{
    (void)state;
    /* The builder's error stands before the parser's, and the other way round. */
    refuse(KERNEL("let x = pu + pi\nlet y = ("), L, 12, "u32 with i32");
    refuse(KERNEL("let y = ()\nlet x = pu + pi"), L, 10, "expected a value");
}

/* ---- vyre_diag_format --------------------------------------------------------------------------
 */

static void check_format(const char *text, const char *expected)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    char out[2048];
    assert_int_not_equal(vyre_program_parse(text, strlen(text), "a.vyre", NULL, &program, &diag),
                         VYRE_OK);
    size_t size = vyre_diag_format(&diag, text, strlen(text), out, sizeof out);
    assert_string_equal(out, expected);
    assert_int_equal(size, strlen(expected));
}

static void test_diag_format_shows_the_place(void **state)
{
    (void)state;
    check_format(
        "program x\nkernel {\n\tlet i = gid\n}\n",
        "a.vyre:3:10: error: 'gid' has three components and is no value itself. Fix: write "
        "gid.x\n    \tlet i = gid\n    \t        ^");
    check_format("program x",
                 "a.vyre:1:10: error: the program has no kernel. Fix: write kernel { ... }\n"
                 "    program x\n             ^");
    check_format("\xef\xbb\xbfprogram x\r\n/*\xc3\xa9*/ ?\r\n",
                 "a.vyre:2:8: error: expected a declaration, but found '?'. Fix: write a "
                 "directive, a buffer, param, const, fn, or kernel { ... }\n"
                 "    /*\xc3\xa9*/ ?\n          ^");
}

static void test_diag_format_cuts_long_lines(void **state)
{
    (void)state;
    static char line[5000];
    memset(line, '-', sizeof line - 1);
    memcpy(line + 3000, "HERE", 4);
    vyre_diag diag = {
        .code = VYRE_ERROR_INVALID_PROGRAM, .line = 1, .column = 3001, .message = "m. Fix: f"};
    char out[1024];
    vyre_diag_format(&diag, line, sizeof line - 1, out, sizeof out);
    assert_non_null(strstr(out, "1:3001: error: m. Fix: f\n    ...---"));
    assert_null(strstr(out, ": 1"));
    const char *shown = strchr(out, '\n') + 1, *caret = strrchr(out, '\n') + 1;
    assert_int_equal(strstr(shown, "HERE") - shown, strchr(caret, '^') - caret);
    assert_true(strlen(out) < 400);
}

static void test_diag_format_never_writes_too_much(void **state)
{
    (void)state;
    vyre_diag diag = {.code = VYRE_ERROR_IO, .line = 2, .column = 99, .file = "f", .message = "m"};
    static const char text[] = "one\ntwo";
    char whole[64];
    size_t length = vyre_diag_format(&diag, text, sizeof text - 1, whole, sizeof whole);
    assert_string_equal(whole, "f:2:99: error: m\n    two\n       ^");
    for (size_t size = 1; size <= length + 1; size++) {
        char out[64];
        memset(out, 'x', sizeof out);
        assert_int_equal(vyre_diag_format(&diag, text, sizeof text - 1, out, size), size - 1);
        assert_memory_equal(out, whole, size - 1);
        assert_int_equal(out[size - 1], 0);
        assert_int_equal(out[size], 'x');
    }
    char out[64] = "y";
    assert_int_equal(vyre_diag_format(&diag, text, 3, NULL, 0), 0);
    assert_int_equal(vyre_diag_format(NULL, text, 3, out, sizeof out), 0);
    assert_string_equal(out, "");
    diag = (vyre_diag){.code = VYRE_ERROR_TIMEOUT};
    vyre_diag_format(&diag, NULL, 0, out, sizeof out);
    assert_string_equal(out, "error: timeout");
    diag = (vyre_diag){.code = VYRE_ERROR_TIMEOUT, .line = 9, .column = 1, .message = "m"};
    vyre_diag_format(&diag, text, sizeof text - 1, out, sizeof out);
    assert_string_equal(out, "9:1: error: m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes_and_tokens),
                                       cmocka_unit_test(test_declarations),
                                       cmocka_unit_test(test_statements),
                                       cmocka_unit_test(test_control_flow),
                                       cmocka_unit_test(test_expressions),
                                       cmocka_unit_test(test_types_and_rules),
                                       cmocka_unit_test(test_the_first_error_is_reported),
                                       cmocka_unit_test(test_diag_format_shows_the_place),
                                       cmocka_unit_test(test_diag_format_cuts_long_lines),
                                       cmocka_unit_test(test_diag_format_never_writes_too_much)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
