# Reads `readelf --debug-dump=info --wide` of an object with the public headers' types, and writes one
# line for each thing of ours that other people's programs are compiled with:
#     struct NAME: SIZE bytes
#     field STRUCT.NAME: at OFFSET, SIZE bytes, TYPE
#     value NAME: NUMBER, of ENUM
#     typedef NAME: TYPE
#     function NAME: RESULT (PARAMETERS)     of variables that are named abi_NAME and point to it
#     data NAME: TYPE                        likewise
# In: prefix, with which the names of ours begin.

# An entry of the tree: its place is its name here.
/^ *<[0-9a-f]+><[0-9a-f]+>: Abbrev Number:/ {
    split($0, part, /[<>]+/)
    depth = part[2]
    at = part[3]
    if ($0 !~ /\(DW_TAG_/) {
        at = "" # the end of a list
        next
    }
    tag[at] = $0
    sub(/.*\(DW_TAG_/, "", tag[at])
    sub(/\).*/, "", tag[at])
    order[++entries] = at
    open_at[depth] = at
    parent[at] = depth > 0 ? open_at[depth - 1] : ""
    next
}

# Forms stand in brackets, or not, by the version of readelf; values come after the last colon.
at != "" && /DW_AT_name +:/ {
    name[at] = $0
    sub(/.*: /, "", name[at])
    sub(/^\([a-z0-9_]+\) /, "", name[at])
    sub(/[ \t]+$/, "", name[at])
}
at != "" && /DW_AT_type +:/ {
    type[at] = $0
    sub(/.*DW_AT_type[^<]*<0x/, "", type[at])
    sub(/>.*/, "", type[at])
}
at != "" && /DW_AT_byte_size +:/ { size[at] = get_number() }
at != "" && /DW_AT_data_member_location *:/ { place[at] = get_number() }
at != "" && /DW_AT_const_value +:/ { value[at] = get_number() }
at != "" && /DW_AT_upper_bound +:/ { count[at] = get_number() + 1 }
at != "" && /DW_AT_count +:/ { count[at] = get_number() }

function get_number(text)
{
    text = $0
    sub(/.*DW_AT_[a-z_]+ *: */, "", text)
    sub(/^\([a-z0-9_]+\) */, "", text)
    sub(/[ \t].*/, "", text)
    return text
}

function get_size(t)
{
    while (t in type && (tag[t] == "typedef" || tag[t] == "const_type" || tag[t] == "volatile_type")) {
        t = type[t]
    }
    if (tag[t] == "array_type") {
        return get_size(type[t]) * elements[t]
    }
    return size[t]
}

# What comes in the round brackets of a function.
function get_parameters(t, text, i)
{
    text = ""
    for (i = 1; i <= children[t]; i++) {
        text = text (i > 1 ? ", " : "") get_type(type[child[t, i]])
    }
    return text == "" ? "void" : text
}

function get_type(t)
{
    if (t == "") {
        return "void"
    }
    if (tag[t] == "pointer_type") {
        if (tag[type[t]] == "subroutine_type") {
            return get_type(type[type[t]]) " (*)(" get_parameters(type[t]) ")"
        }
        return get_type(type[t]) " *"
    }
    if (tag[t] == "const_type") {
        return tag[type[t]] == "pointer_type" ? get_type(type[t]) " const" : "const " get_type(type[t])
    }
    if (tag[t] == "array_type") {
        return get_type(type[t]) "[" elements[t] "]"
    }
    if (tag[t] == "subroutine_type") {
        return get_type(type[t]) " (" get_parameters(t) ")"
    }
    return t in name ? name[t] : "unnamed " tag[t]
}

# Fields of unnamed parts are the whole's.
function write_fields(whole, t, base, i, c)
{
    for (i = 1; i <= children[t]; i++) {
        c = child[t, i]
        if (c in name) {
            printf "field %s.%s: at %d, %d bytes, %s\n", whole, name[c], base + place[c], \
                get_size(type[c]), get_type(type[c])
        } else {
            write_fields(whole, type[c], base + place[c])
        }
    }
}

function is_ours(text) { return index(text, prefix) == 1 }

END {
    for (n = 1; n <= entries; n++) {
        t = order[n]
        p = parent[t]
        if (tag[t] == "member" || tag[t] == "formal_parameter" || tag[t] == "enumerator") {
            child[p, ++children[p]] = t
        } else if (tag[t] == "subrange_type") {
            known = p in elements ? elements[p] : 1
            elements[p] = known * count[t]
        }
    }
    for (n = 1; n <= entries; n++) {
        t = order[n]
        if (parent[parent[t]] != "") {
            continue
        }
        if ((tag[t] == "structure_type" || tag[t] == "union_type") && is_ours(name[t]) && t in size) {
            printf "struct %s: %d bytes\n", name[t], size[t]
            write_fields(name[t], t, 0)
        } else if (tag[t] == "enumeration_type" && is_ours(name[t])) {
            for (i = 1; i <= children[t]; i++) {
                printf "value %s: %s, of %s\n", name[child[t, i]], value[child[t, i]], name[t]
            }
        } else if (tag[t] == "typedef" && is_ours(name[t]) && name[type[t]] != name[t]) {
            printf "typedef %s: %s\n", name[t], get_type(type[t])
        } else if (tag[t] == "variable" && index(name[t], "abi_" prefix) == 1) {
            printf "%s %s: %s\n", tag[type[type[t]]] == "subroutine_type" ? "function" : "data", \
                substr(name[t], 5), get_type(type[type[t]])
        }
    }
}
