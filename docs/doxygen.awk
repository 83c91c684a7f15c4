# Lets Doxygen read the public headers, whose comments are plain: /* before a declaration and /* behind
# one become those that it takes for documentation. Lines stay where they are.

# Not in comments: what Doxygen takes for commands and tags.
function plain(text)
{
    gsub(/\\/, "\\\\\\\\", text)
    gsub(/[@<>#%]/, "\\\\&", text)
    return text
}

# What they all do is said once.
/^static inline void vyre_[a-z_]+_params_init\(/ && last !~ /\*\/$/ {
    $0 = "/** Makes every field its default, mostly zero, and struct_size what it is here. */ " $0
    last = ""
    print
    next
}

{
    last = $0
    line = $0
    begin = inside ? 1 : index(line, "/*")
    if (!begin) {
        print line
        next
    }
    end = index(line, "*/")
    code = inside ? "" : substr(line, 1, begin - 1)
    mark = ""
    text = line
    if (!inside) {
        text = substr(line, begin + 2)
        mark = "/*"
        if (FNR == 1) {
            name = FILENAME
            sub(/.*\//, "", name)
            mark = "/** @file " name
        } else if (text !~ /^ ----/ && code !~ /^#(include|if|e)/ && code !~ /^  +X\(/) {
            mark = code ~ /^[ \t]*$/ ? "/**" : "/**<"
        }
    }
    inside = !end
    rest = ""
    if (end) {
        end = index(text, "*/")
        rest = substr(text, end)
        text = substr(text, 1, end - 1)
    }
    print code mark plain(text) rest
}
