/* See machine.h. */
#include "tests/support/machine_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 20000000u

static const uint32_t *at_id(const machine *m, uint32_t id)
{
    assert_true(id < m->bound && m->offsets[id] != 0);
    return m->words + m->offsets[id];
}

/* ---- Types and constants --------------------------------------------------------------------- */

static uint32_t size_of(const machine *m, uint32_t type)
{
    const uint32_t *op = at_id(m, type);
    switch (op[0] & 0xffff) {
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        return op[2] > 32 ? 2 : 1;
    case SpvOpTypeVector:
        return op[3];
    case SpvOpTypeArray:
        return size_of(m, op[2]) * at_id(m, op[3])[3];
    case SpvOpTypeStruct: {
        uint32_t size = 0;
        for (uint32_t i = 2; i < op[0] >> 16; i++) {
            size += size_of(m, op[i]);
        }
        return size;
    }
    case SpvOpTypeRuntimeArray:
        return 0;
    default:
        return 1;
    }
}

static uint32_t decoration_of(const machine *m, uint32_t id, uint32_t decoration)
{
    for (uint32_t at = 5; at < m->word_count; at += m->words[at] >> 16) {
        const uint32_t *op = m->words + at;
        if ((op[0] & 0xffff) == SpvOpDecorate && op[1] == id && op[2] == decoration) {
            return op[3];
        }
    }
    return UINT32_MAX;
}

static uint32_t member_offset(const machine *m, uint32_t type, uint32_t member)
{
    for (uint32_t at = 5; at < m->word_count; at += m->words[at] >> 16) {
        const uint32_t *op = m->words + at;
        if ((op[0] & 0xffff) == SpvOpMemberDecorate && op[1] == type && op[2] == member &&
            op[3] == SpvDecorationOffset) {
            assert_true(op[4] % 4 == 0);
            return op[4] / 4;
        }
    }
    return UINT32_MAX;
}

static void write_constant(const machine *m, uint32_t id, uint32_t *out)
{
    const uint32_t *op = at_id(m, id);
    uint32_t code = op[0] & 0xffff;
    switch (code) {
    case SpvOpConstant:
        memcpy(out, op + 3, ((op[0] >> 16) - 3) * sizeof *out);
        break;
    case SpvOpSpecConstant:
    case SpvOpSpecConstantFalse: {
        uint32_t spec = decoration_of(m, id, SpvDecorationSpecId);
        bool is_given = spec < MACHINE_MAX_SPEC && m->has_spec[spec];
        out[0] = is_given ? m->spec[spec] : code == SpvOpSpecConstant ? op[3] : 0;
        break;
    }
    case SpvOpConstantTrue:
        out[0] = 1;
        break;
    case SpvOpConstantFalse:
        out[0] = 0;
        break;
    case SpvOpConstantNull:
        memset(out, 0, size_of(m, op[1]) * sizeof *out);
        break;
    default:
        for (uint32_t i = 3; i < op[0] >> 16; i++) {
            write_constant(m, op[i], out);
            out += size_of(m, at_id(m, op[i])[1]);
        }
        break;
    }
}

static bool is_constant(uint32_t op)
{
    return op >= SpvOpConstantTrue && op <= SpvOpSpecConstantComposite;
}

static void make_variable(machine *m, const uint32_t *op)
{
    uint32_t id = op[2], size = size_of(m, at_id(m, op[1])[3]);
    free(m->memory[id]);
    m->memory[id] = malloc((size ? size : 1) * sizeof(uint32_t));
    assert_non_null(m->memory[id]);
    memset(m->memory[id], 0xdb, (size ? size : 1) * sizeof(uint32_t));
    m->memory_size[id] = size;
    if (op[0] >> 16 > 4) {
        write_constant(m, op[4], m->memory[id]);
    }
}

static bool has_result(uint32_t op)
{
    switch (op) {
    case SpvOpStore:
    case SpvOpAtomicStore:
    case SpvOpReturn:
    case SpvOpReturnValue:
    case SpvOpBranch:
    case SpvOpBranchConditional:
    case SpvOpSwitch:
    case SpvOpLoopMerge:
    case SpvOpSelectionMerge:
    case SpvOpUnreachable:
    case SpvOpControlBarrier:
    case SpvOpFunctionEnd:
    case SpvOpLabel:
    case SpvOpDecorate:
    case SpvOpMemberDecorate:
    case SpvOpName:
    case SpvOpLine:
    case SpvOpCapability:
    case SpvOpMemoryModel:
    case SpvOpEntryPoint:
    case SpvOpExecutionMode:
    case SpvOpString:
    case SpvOpExtInstImport:
        return false;
    default:
        return true;
    }
}

static uint32_t result_of(const uint32_t *op)
{
    uint32_t code = op[0] & 0xffff;
    if (code == SpvOpLabel || code == SpvOpExtInstImport || code == SpvOpString ||
        (code >= SpvOpTypeVoid && code <= SpvOpTypeForwardPointer)) {
        return op[1];
    }
    return has_result(code) ? op[2] : 0;
}

void machine_init(machine *m, const uint32_t *words, uint32_t word_count)
{
    memset(m, 0, sizeof *m);
    m->words = words;
    m->word_count = word_count;
    m->bound = words[3];
    m->values = calloc(m->bound, sizeof *m->values);
    m->memory = calloc(m->bound, sizeof *m->memory);
    m->memory_size = calloc(m->bound, sizeof *m->memory_size);
    m->offsets = calloc(m->bound, sizeof *m->offsets);
    assert_true(m->values && m->memory && m->memory_size && m->offsets);
    for (uint32_t i = 0; i < 3; i++) {
        m->launched[i] = 1;
    }
    for (uint32_t at = 5; at < word_count; at += words[at] >> 16) {
        uint32_t id = result_of(words + at);
        if (id) {
            m->offsets[id] = at;
        }
    }
}

void machine_finish(machine *m)
{
    for (uint32_t i = 0; i < m->bound; i++) {
        free(m->memory[i]);
    }
    free(m->values);
    free(m->memory);
    free(m->memory_size);
    free(m->offsets);
}

/* ---- Pointers: variable and word, or the two words of an address ----------------------------- */

uint64_t machine_address(uint32_t binding)
{
    return ((uint64_t)binding + 3) << 32 | 0xfffff000u;
}

static uint32_t *dereference_address(machine *m, uint64_t address)
{
    if (m->find) {
        return m->find(address);
    }
    for (uint32_t i = 0; i < MACHINE_MAX_BINDINGS; i++) {
        uint64_t first = machine_address(i), end = first + 4ull * m->buffers[i].count;
        if (address >= first && address < end) {
            assert_true(address % 4 == 0);
            return m->buffers[i].words + (address - first) / 4;
        }
    }
    fail_msg("no buffer lies at address 0x%llx", (unsigned long long)address);
    return NULL;
}

static uint32_t storage_of(const machine *m, uint32_t pointer)
{
    return at_id(m, at_id(m, pointer)[1])[2];
}

static uint64_t address_of(const machine *m, uint32_t pointer)
{
    return m->values[pointer][0] | (uint64_t)m->values[pointer][1] << 32;
}

static uint32_t *dereference(machine *m, uint32_t pointer, uint32_t size)
{
    uint32_t variable = m->values[pointer][0], word = m->values[pointer][1];
    switch (storage_of(m, pointer)) {
    case SpvStorageClassPhysicalStorageBuffer:
        m->access_count++;
        return dereference_address(m, address_of(m, pointer));
    case SpvStorageClassUniform:
    case SpvStorageClassStorageBuffer: {
        uint32_t binding = decoration_of(m, variable, SpvDecorationBinding);
        binding += storage_of(m, pointer) == SpvStorageClassUniform ? m->block_at : 0;
        assert_true(binding < MACHINE_MAX_BINDINGS);
        assert_true(word < m->buffers[binding].count);
        m->access_count++;
        return m->buffers[binding].words + word;
    }
    case SpvStorageClassPushConstant:
        assert_true((uint64_t)word + size <= MACHINE_PUSH_WORDS);
        return m->push + word;
    default:
        assert_true((uint64_t)word + size <= m->memory_size[variable]);
        return m->memory[variable] + word;
    }
}

static bool is_small(const machine *m, uint32_t type)
{
    const uint32_t *row = at_id(m, type);
    return (row[0] & 0xffff) == SpvOpTypeInt && row[2] < 32;
}

/* Words between the base and what the indices lead to, which are numbers with a sign. Elements of
 * less than a word are only reached by index 0. */
static int64_t chain_words(const machine *m, const uint32_t *op)
{
    uint32_t type = at_id(m, at_id(m, op[3])[1])[3];
    int64_t words = 0;
    for (uint32_t i = 4; i < op[0] >> 16; i++) {
        const uint32_t *row = at_id(m, type);
        uint32_t index = m->values[op[i]][0];
        if ((row[0] & 0xffff) == SpvOpTypeStruct) {
            uint32_t offset = member_offset(m, type, index);
            assert_int_not_equal(offset, UINT32_MAX);
            words += offset;
            type = row[2 + index];
        } else {
            type = row[2];
            assert_true(index == 0 || !is_small(m, type));
            words += (int64_t)(int32_t)index * size_of(m, type);
        }
    }
    return words;
}

static void access_chain(machine *m, const uint32_t *op)
{
    int64_t words = chain_words(m, op);
    if (storage_of(m, op[3]) == SpvStorageClassPhysicalStorageBuffer) {
        uint64_t address = address_of(m, op[3]) + 4ull * (uint64_t)words;
        m->values[op[2]][0] = (uint32_t)address;
        m->values[op[2]][1] = (uint32_t)(address >> 32);
        return;
    }
    m->values[op[2]][0] = m->values[op[3]][0];
    int64_t word = m->values[op[3]][1] + words;
    assert_true(word >= 0 && word <= UINT32_MAX);
    m->values[op[2]][1] = (uint32_t)word;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void run_atomic(machine *m, const uint32_t *op)
{
    uint32_t code = op[0] & 0xffff, length = op[0] >> 16;
    bool is_store = code == SpvOpAtomicStore;
    uint32_t *word = dereference(m, is_store ? op[1] : op[3], 1), old = *word;
    if (code == SpvOpAtomicCompareExchange) {
        *word = old == m->values[op[8]][0] ? m->values[op[7]][0] : old;
    } else if (code != SpvOpAtomicLoad) {
        *word = machine_atomic(code, old, m->values[op[length - 1]][0]);
    }
    if (!is_store) {
        m->values[op[2]][0] = old;
    }
}

static void run_wide(machine *m, const uint32_t *op)
{
    uint64_t product = machine_product(op[0] & 0xffff, m->values[op[3]][0], m->values[op[4]][0]);
    m->values[op[2]][0] = (uint32_t)product;
    m->values[op[2]][1] = (uint32_t)(product >> 32);
}

static void run_convert(machine *m, const uint32_t *op)
{
    uint32_t width = at_id(m, op[1])[2], value = m->values[op[3]][0];
    m->values[op[2]][0] = width < 32 ? value & ((1u << width) - 1) : value;
    m->values[op[2]][1] = 0;
}

static void run_load(machine *m, const uint32_t *op)
{
    uint32_t size = size_of(m, op[1]);
    assert_true(size <= 4);
    memcpy(m->values[op[2]], dereference(m, op[3], size), size * sizeof(uint32_t));
}

static void run_store(machine *m, const uint32_t *op)
{
    uint32_t type = at_id(m, op[2])[1], size = size_of(m, type);
    uint32_t *to = dereference(m, op[1], size);
    if (is_constant(at_id(m, op[2])[0] & 0xffff)) {
        write_constant(m, op[2], to);
    } else {
        memcpy(to, m->values[op[2]], size * sizeof(uint32_t));
    }
}

static uint32_t call(machine *m, uint32_t function, const uint32_t *arguments, uint32_t *out);

/* Instructions that neither end a block nor begin one. */
static void run_plain(machine *m, const uint32_t *op)
{
    uint32_t code = op[0] & 0xffff, length = op[0] >> 16;
    switch (code) {
    case SpvOpVariable:
        make_variable(m, op);
        m->values[op[2]][0] = op[2];
        m->values[op[2]][1] = 0;
        return;
    case SpvOpAccessChain:
        access_chain(m, op);
        return;
    case SpvOpLoad:
        run_load(m, op);
        return;
    case SpvOpStore:
        run_store(m, op);
        return;
    case SpvOpUMulExtended:
    case SpvOpSMulExtended:
        run_wide(m, op);
        return;
    case SpvOpCompositeExtract:
        m->values[op[2]][0] = m->values[op[3]][op[4]];
        return;
    case SpvOpCompositeConstruct:
        for (uint32_t i = 3; i < length; i++) {
            m->values[op[2]][i - 3] = m->values[op[i]][0];
        }
        return;
    case SpvOpBitcast:
    case SpvOpConvertUToPtr:
        memcpy(m->values[op[2]], m->values[op[3]], sizeof m->values[0]);
        return;
    case SpvOpUConvert:
        run_convert(m, op);
        return;
    case SpvOpSelect: /* by one condition */
        memcpy(m->values[op[2]], m->values[m->values[op[3]][0] ? op[4] : op[5]],
               sizeof m->values[0]);
        return;
    case SpvOpExtInst:
        m->values[op[2]][0] =
            machine_glsl(m, op[4], m->values[op[5]][0], length > 6 ? m->values[op[6]][0] : 0);
        return;
    case SpvOpFunctionCall: {
        uint32_t value[4] = {0};
        (void)call(m, op[3], op + 4, value);
        memcpy(m->values[op[2]], value, sizeof value);
        return;
    }
    case SpvOpControlBarrier:
    case SpvOpLine:
    case SpvOpSelectionMerge:
    case SpvOpLoopMerge:
        return;
    default:
        break;
    }
    if (code >= SpvOpAtomicLoad && code <= SpvOpAtomicXor) {
        run_atomic(m, op);
        return;
    }
    m->values[op[2]][0] =
        machine_scalar(code, m->values[op[3]][0], length > 4 ? m->values[op[4]][0] : 0);
}

/* All phis of a block at once. Returns the offset behind them. */
static uint32_t run_phis(machine *m, uint32_t at, uint32_t from)
{
    uint32_t first = at, count = 0, values[256];
    for (; (m->words[at] & 0xffff) == SpvOpPhi; at += m->words[at] >> 16) {
        const uint32_t *op = m->words + at;
        bool found = false;
        assert_true(count < 256);
        for (uint32_t i = 3; i + 1 < op[0] >> 16; i += 2) {
            if (op[i + 1] == from) {
                values[count] = m->values[op[i]][0];
                found = true;
            }
        }
        assert_true(found);
        count++;
    }
    for (uint32_t i = 0; i < count; i++, first += m->words[first] >> 16) {
        m->values[m->words[first + 2]][0] = values[i];
    }
    return at;
}

static uint32_t switch_target(const machine *m, const uint32_t *op)
{
    for (uint32_t i = 3; i + 1 < op[0] >> 16; i += 2) {
        if (op[i] == m->values[op[1]][0]) {
            return op[i + 1];
        }
    }
    return op[2];
}

/* Runs a function; *out its value. Functions do not recurse, so values lie by id. */
static uint32_t call(machine *m, uint32_t function, const uint32_t *arguments, uint32_t *out)
{
    uint32_t at = m->offsets[function], label = 0;
    at += m->words[at] >> 16;
    for (; (m->words[at] & 0xffff) == SpvOpFunctionParameter; at += m->words[at] >> 16) {
        memcpy(m->values[m->words[at + 2]], m->values[*arguments++], sizeof m->values[0]);
    }
    for (;;) {
        const uint32_t *op = m->words + at;
        uint32_t next = 0;
        if (++m->steps > MAX_STEPS) {
            fail_msg("the module runs for too long");
        }
        switch (op[0] & 0xffff) {
        case SpvOpLabel:
            at = run_phis(m, at + 2, label);
            label = op[1];
            continue;
        case SpvOpBranch:
            next = op[1];
            break;
        case SpvOpBranchConditional:
            next = m->values[op[1]][0] ? op[2] : op[3];
            break;
        case SpvOpSwitch:
            next = switch_target(m, op);
            break;
        case SpvOpReturnValue:
            memcpy(out, m->values[op[1]], sizeof m->values[0]);
            return 0;
        case SpvOpReturn:
            return 0;
        case SpvOpUnreachable:
            fail_msg("an unreachable block was reached");
            return 0;
        default:
            run_plain(m, op);
            break;
        }
        at = next ? m->offsets[next] : at + (op[0] >> 16);
    }
}

static void set_input(machine *m, uint32_t variable)
{
    const uint32_t *from = NULL;
    switch (decoration_of(m, variable, SpvDecorationBuiltIn)) {
    case SpvBuiltInWorkgroupId:
        from = m->workgroup;
        break;
    case SpvBuiltInNumWorkgroups:
        from = m->launched;
        break;
    case SpvBuiltInLocalInvocationId:
        from = m->local;
        break;
    default:
        m->memory[variable][0] = m->local_index;
        return;
    }
    memcpy(m->memory[variable], from, 3 * sizeof *from);
}

void machine_run(machine *m)
{
    uint32_t entry = 0;
    m->steps = m->access_count = 0;
    for (uint32_t at = 5; at < m->word_count; at += m->words[at] >> 16) {
        const uint32_t *op = m->words + at;
        uint32_t code = op[0] & 0xffff;
        if (code == SpvOpFunction) {
            break;
        }
        if (code == SpvOpEntryPoint) {
            entry = op[2];
        } else if (code == SpvOpVariable) {
            if (!m->memory[op[2]] || op[3] != SpvStorageClassWorkgroup) {
                make_variable(m, op);
            }
            m->values[op[2]][0] = op[2];
            m->values[op[2]][1] = 0;
            if (op[3] == SpvStorageClassInput) {
                set_input(m, op[2]);
            }
        } else if (is_constant(code) && size_of(m, op[1]) <= 4) {
            write_constant(m, op[2], m->values[op[2]]);
        }
    }
    uint32_t nothing[4];
    (void)call(m, entry, NULL, nothing);
}
