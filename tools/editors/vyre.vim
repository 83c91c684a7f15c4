" Vim syntax of .vyre programs. tests/ir/test_editors.c compares its words with the language's.
" Copy it to ~/.vim/syntax/ and add to the vimrc:
"     autocmd BufRead,BufNewFile *.vyre setfiletype vyre
if exists("b:current_syntax")
    finish
endif

syn keyword vyreDeclaration in out inout scratch uniform shared param const fn kernel let var
syn keyword vyreDirective program workgroup grid over from of fixpoint until loop_limit fast_math keep step
syn keyword vyreDirective down subgroup from
syn keyword vyreConditional if else switch case default
syn keyword vyreRepeat for while
syn keyword vyreStatement break continue return region barrier grid_sync trap printf
syn keyword vyreOrder relaxed acquire release acq_rel
syn keyword vyreConstant true false inf nan
syn keyword vyreType void bool u32 i32 f32 u8 i8 u16 i16 u64 i64 f16 bf16 f64 bool2 bool4 u32x2
syn keyword vyreType u32x4 i32x2 i32x4 f32x2 f32x4
syn keyword vyreBuiltin gid lid wid group_size num_groups pass lane lanes
syn keyword vyreFunction len bitcast min max clamp abs sign abs_diff mul_high add_sat sub_sat
syn keyword vyreFunction mul_sat rotate_left rotate_right clz ctz popcount reverse_bits extract_bits
syn keyword vyreFunction insert_bits unpack_byte unpack_nibble dot4 select floor ceil trunc fract
syn keyword vyreFunction round round_even sqrt rsqrt reciprocal exp exp2 log log2 sin cos tan asin
syn keyword vyreFunction acos atan sinh cosh tanh atan2 pow copysign fma is_nan is_inf is_finite any
syn keyword vyreFunction all dot
syn keyword vyreAtomic atomic_add atomic_sub atomic_min atomic_max atomic_and atomic_or atomic_xor
syn keyword vyreAtomic atomic_exchange atomic_compare_exchange atomic_load atomic_store
syn keyword vyreSubgroup subgroup_elect subgroup_any subgroup_all subgroup_ballot
syn keyword vyreSubgroup subgroup_broadcast_first subgroup_broadcast subgroup_shuffle
syn keyword vyreSubgroup subgroup_shuffle_xor subgroup_shuffle_up subgroup_shuffle_down subgroup_add
syn keyword vyreSubgroup subgroup_mul subgroup_min subgroup_max subgroup_and subgroup_or
syn keyword vyreSubgroup subgroup_xor subgroup_inclusive_add subgroup_inclusive_mul
syn keyword vyreSubgroup subgroup_inclusive_min subgroup_inclusive_max subgroup_inclusive_and
syn keyword vyreSubgroup subgroup_inclusive_or subgroup_inclusive_xor subgroup_exclusive_add
syn keyword vyreSubgroup subgroup_exclusive_mul subgroup_exclusive_min subgroup_exclusive_max
syn keyword vyreSubgroup subgroup_exclusive_and subgroup_exclusive_or subgroup_exclusive_xor

syn match vyreNumber "\<0[xX][0-9a-fA-F_]\+\(u\|i\|l\|ul\)\?\>"
syn match vyreNumber "\<0[bB][01_]\+\(u\|i\|l\|ul\)\?\>"
syn match vyreNumber "\<[0-9][0-9_]*\(u\|i\|l\|ul\|h\|f\|d\)\?\>"
syn match vyreFloat "\<0[xX][0-9a-fA-F_]\+\(\.[0-9a-fA-F_]\+\)\?[pP][-+]\?[0-9]\+[hfd]\?\>"
syn match vyreFloat "\<[0-9][0-9_]*\.[0-9][0-9_]*\([eE][-+]\?[0-9]\+\)\?[hfd]\?\>"
syn match vyreFloat "\<[0-9][0-9_]*[eE][-+]\?[0-9]\+[hfd]\?\>"
syn match vyreEscape contained "\\\(x[0-9a-fA-F]\{2}\|[\\"]\)"
syn region vyreString start=+"+ skip=+\\.+ end=+"+ oneline contains=vyreEscape
syn keyword vyreTodo contained TODO FIXME
syn match vyreComment "//.*$" contains=vyreTodo
syn region vyreComment start="/\*" end="\*/" contains=vyreTodo

hi def link vyreDeclaration Keyword
hi def link vyreDirective PreProc
hi def link vyreConditional Conditional
hi def link vyreRepeat Repeat
hi def link vyreStatement Statement
hi def link vyreOrder StorageClass
hi def link vyreConstant Constant
hi def link vyreType Type
hi def link vyreBuiltin Identifier
hi def link vyreFunction Function
hi def link vyreAtomic Function
hi def link vyreSubgroup Function
hi def link vyreNumber Number
hi def link vyreFloat Float
hi def link vyreEscape SpecialChar
hi def link vyreString String
hi def link vyreTodo Todo
hi def link vyreComment Comment

let b:current_syntax = "vyre"
