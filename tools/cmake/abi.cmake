# The public interface as other people's programs are compiled with it: functions, sizes of structs,
# places of fields, numbers of enums and macros, one line each in docs/abi.txt.
# The ctest entry "abi" compares the library and its headers with what is recorded there, and then
# shows on headers with planted faults that it would find them. The target abi-record (RECORD=1)
# records what was added; with VYRE_ABI_BREAK=1 in the environment also what older programs do not
# survive, which needs another SOVERSION once there has been a release.
# In: BINARY_DIR SOURCE_DIR C_COMPILER NM READELF AWK VULKAN_INCLUDE SOVERSION RECORD.

cmake_policy(VERSION 3.25)
set(root "${BINARY_DIR}/abi-test")
set(recorded_file "${SOURCE_DIR}/docs/abi.txt")
set(heading "# The binary interface of libvyre-vk.so.${SOVERSION} on 64-bit systems.
# Written by: cmake --build build --target abi-record (CONTRIBUTING.md)
")

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
        ERROR_VARIABLE errors)
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "${command}\nended with ${result}:\n${output}${errors}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# write_interface(HEADERS FUNCTIONS OUT): the sorted lines for the headers in a folder.
function(write_interface headers functions out)
    file(MAKE_DIRECTORY "${root}")
    set(unit "#include <vyre/vyre.h>\n#include <vyre/vulkan.h>\n")
    foreach(function IN LISTS functions)
        string(APPEND unit "__typeof__(${function}) *abi_${function};\n")
    endforeach()
    file(WRITE "${root}/unit.c" "${unit}")
    set(compile ${C_COMPILER} -std=gnu11 -w -I "${headers}" -isystem "${VULKAN_INCLUDE}")
    run(${compile} -g -gdwarf-4 -O0 -fno-eliminate-unused-debug-types -c "${root}/unit.c"
        -o "${root}/unit.o")
    run(${READELF} --debug-dump=info --wide "${root}/unit.o")
    file(WRITE "${root}/unit.txt" "${output}")
    run(${AWK} -v prefix=vyre_ -f "${SOURCE_DIR}/tools/cmake/abi.awk" "${root}/unit.txt")
    set(text "${output}")

    # Flags and limits are compiled in, too, and so are the small functions of the headers.
    run(${compile} -dM -E "${root}/unit.c")
    string(REGEX MATCHALL "#define VYRE_[A-Z0-9_]+ [^\n]+" macros "${output}")
    list(FILTER macros EXCLUDE REGEX "^#define VYRE_(API|CHECK) ")
    foreach(macro IN LISTS macros)
        string(REGEX REPLACE "^#define ([A-Z0-9_]+) +(.*)$" "macro \\1: \\2\n" line "${macro}")
        string(REGEX REPLACE " +" " " line "${line}")
        string(APPEND text "${line}")
    endforeach()
    run(${compile} -P -E "${root}/unit.c")
    string(REGEX MATCHALL "static inline [^;{(]*vyre_[a-z0-9_]+\\(" inlines "${output}")
    foreach(inline IN LISTS inlines)
        string(REGEX REPLACE ".*(vyre_[a-z0-9_]+)\\($" "inline \\1\n" inline "${inline}")
        string(APPEND text "${inline}")
    endforeach()
    string(REGEX REPLACE "[ \n]+$" "" text "${text}")
    # In brackets lists keep semicolons and brackets together: none of these is needed.
    if(text MATCHES "[;\\\\]")
        message(FATAL_ERROR "a line of the interface has a character that lists do not take:\n${text}")
    endif()
    string(REPLACE "[" "<" text "${text}")
    string(REPLACE "]" ">" text "${text}")
    string(REPLACE "\n" ";" lines "${text}")
    list(SORT lines COMPARE NATURAL)
    list(REMOVE_DUPLICATES lines)
    list(JOIN lines "\n" text)
    file(WRITE "${out}" "${heading}${text}\n")
endfunction()

# Sets `lines` to those of a file, and what stands behind each name: at_KIND_NAME.
macro(read_interface file side)
    file(STRINGS "${file}" ${side}_lines REGEX "^[a-z]+ ")
    foreach(line IN LISTS ${side}_lines)
        string(REGEX MATCH "^([a-z]+ [^: ]+)(: )?(.*)$" line "${line}")
        set("${side}_at_${CMAKE_MATCH_1}" "${CMAKE_MATCH_3}")
    endforeach()
endmacro()

# compare(RECORDED NOW out_faults out_added): what older programs do not survive, one text for all of
# it, and the lines that are new.
function(compare recorded now out_faults out_added)
    read_interface("${recorded}" old)
    read_interface("${now}" new)
    set(faults "")
    set(added "")
    foreach(line IN LISTS old_lines)
        string(REGEX REPLACE ": .*" "" name "${line}")
        set(before "${old_at_${name}}")
        if(NOT DEFINED "new_at_${name}")
            string(APPEND faults "  ${name} is gone\n")
        elseif(NOT before STREQUAL new_at_${name})
            # A struct grows behind what older programs know of, where it says how long it is.
            string(REGEX REPLACE "^struct " "" struct "${name}")
            if(name MATCHES "^struct " AND DEFINED "old_at_field ${struct}.struct_size"
                    AND "${new_at_${name}}" GREATER "${before}")
                list(APPEND added "${name}: ${new_at_${name}}")
                continue()
            endif()
            string(APPEND faults "  ${name} was ${before}; it is ${new_at_${name}}\n")
        endif()
    endforeach()
    foreach(line IN LISTS new_lines)
        string(REGEX REPLACE ": .*" "" name "${line}")
        if(DEFINED "old_at_${name}")
            continue()
        endif()
        list(APPEND added "${line}")
        # Where older programs left padding they wrote nothing.
        string(REGEX REPLACE "^field ([^.]+)\\..*" "\\1" struct "${name}")
        if(name MATCHES "^field " AND DEFINED "old_at_struct ${struct}")
            set(whole "struct ${struct}")
            set(size "${old_at_${whole}}")
            string(REGEX REPLACE ".*: at ([0-9]+),.*" "\\1" place "${line}")
            string(REGEX REPLACE " .*" "" size "${size}")
            if(place LESS size)
                string(APPEND faults "  ${name} lies at ${place}, within the ${size} bytes that older "
                    "programs have: new fields come after all others\n")
            endif()
        endif()
    endforeach()
    set(${out_faults} "${faults}" PARENT_SCOPE)
    set(${out_added} "${added}" PARENT_SCOPE)
endfunction()

run(${NM} -D --defined-only "${BINARY_DIR}/lib/libvyre-vk.so")
string(REGEX MATCHALL "vyre_[a-z0-9_]+" functions "${output}")
list(SORT functions)

# What is shown is declared, and what is declared is shown.
file(GLOB headers "${SOURCE_DIR}/include/vyre/*.h")
set(declared "")
foreach(header IN LISTS headers)
    file(READ "${header}" text)
    string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" "" text "${text}")
    string(REGEX MATCHALL "VYRE_API [^;(]*vyre_[a-z0-9_]+\\(" names "${text}")
    list(TRANSFORM names REPLACE ".*(vyre_[a-z0-9_]+)\\($" "\\1")
    list(APPEND declared ${names})
    string(REGEX MATCHALL "VYRE_API extern [^;(]*vyre_[a-z0-9_]+[[;]" names "${text}")
    list(TRANSFORM names REPLACE ".*(vyre_[a-z0-9_]+)[[;]$" "\\1")
    list(APPEND declared ${names})
endforeach()
list(SORT declared)
set(missing ${declared})
list(REMOVE_ITEM missing ${functions})
set(hidden ${functions})
list(REMOVE_ITEM hidden ${declared})
if(missing OR hidden OR NOT declared)
    message(FATAL_ERROR "public headers and library differ.\nDeclared with VYRE_API and not in the "
        "library: ${missing}\nIn the library and in no public header: ${hidden}")
endif()

set(now_file "${root}/now.txt")
write_interface("${SOURCE_DIR}/include" "${functions}" "${now_file}")
if(NOT EXISTS "${recorded_file}")
    file(WRITE "${recorded_file}" "${heading}")
endif()
compare("${recorded_file}" "${now_file}" faults added)
list(LENGTH added added_count)
list(JOIN added "\n  " added_text)
if(faults AND NOT (RECORD AND "$ENV{VYRE_ABI_BREAK}" STREQUAL "1"))
    message(FATAL_ERROR "programs that were built with an older libvyre-vk.so.${SOVERSION} would "
        "break:\n${faults}Undo it, or, where that is meant, raise SOVERSION in CMakeLists.txt (before "
        "the first release it stays) and record it: VYRE_ABI_BREAK=1 cmake --build build --target "
        "abi-record")
endif()
if(RECORD)
    file(COPY_FILE "${now_file}" "${recorded_file}")
    message(STATUS "docs/abi.txt: ${added_count} lines added or changed\n  ${added_text}\n${faults}")
    return()
endif()
if(added)
    message(FATAL_ERROR "the interface has ${added_count} additions, which older programs survive:\n  "
        "${added_text}\nRecord them: cmake --build build --target abi-record")
endif()
file(READ "${recorded_file}" recorded)
file(READ "${now_file}" now)
if(NOT recorded STREQUAL now)
    message(FATAL_ERROR "docs/abi.txt was edited, or is another SOVERSION's. Record the interface: "
        "cmake --build build --target abi-record")
endif()
list(LENGTH functions count)
message(STATUS "${count} functions and what they take are as recorded")

# ---- It finds what it is for ----------------------------------------------------------------------

# planted(HEADER FROM TO EXPECTED): headers with one change, and what must be said of it.
function(planted header from to expected)
    set(copy "${root}/planted")
    file(REMOVE_RECURSE "${copy}")
    file(COPY "${SOURCE_DIR}/include/vyre" DESTINATION "${copy}")
    file(READ "${copy}/vyre/${header}" text)
    string(REPLACE "${from}" "${to}" changed "${text}")
    if(changed STREQUAL text)
        message(FATAL_ERROR "${header} has no '${from}': plant this fault elsewhere")
    endif()
    file(WRITE "${copy}/vyre/${header}" "${changed}")
    set(names ${functions})
    list(FILTER names EXCLUDE REGEX "^vyre_(${ARGN})$") # of the library
    write_interface("${copy}" "${names}" "${root}/planted.txt")
    compare("${recorded_file}" "${root}/planted.txt" faults added)
    list(JOIN added "\n" added)
    if(NOT "faults:\n${faults}added:\n${added}\n" MATCHES "${expected}")
        message(FATAL_ERROR "planted '${to}'; expected ${expected}; said\n${faults}\nadded\n${added}")
    endif()
endfunction()

set(flags "uint32_t flags;   /* VYRE_BUFFER_* */")
planted(buffer.h "${flags}" "uint64_t flags;" "field vyre_buffer_params.size was at 8, .*; it is at 16")
planted(buffer.h "${flags}" "float flags;" "field vyre_buffer_params.flags was at 4, 4 bytes, uint32_t; it is")
planted(buffer.h "const char *name; /* for debuggers" "const char *name; uint32_t more; /* for debuggers"
    "faults:\nadded:\nstruct vyre_buffer_params: 32 bytes\nfield vyre_buffer_params.more: at 24")
planted(buffer.h "uint32_t word;\n} vyre_fill" "uint32_t word, more;\n} vyre_fill"
    "field vyre_fill.more lies at 28, within the 32 bytes")
planted(buffer.h "uint64_t bits;" "uint64_t bits, more;" "struct vyre_buffer was 8 bytes; it is 16")
planted(buffer.h "VYRE_MAPPED_TO_DEVICE," "VYRE_MAPPED_TO_DEVICE = 4," "VYRE_MAPPED_TO_DEVICE was 0, .*; it is 4")
planted(buffer.h "MAPPABLE 2u" "MAPPABLE 16u" "macro VYRE_BUFFER_MAPPABLE was 2u; it is 16u")
planted(buffer.h "uint64_t *out_size, vyre_diag *diag" "uint32_t *out_size, vyre_diag *diag"
    "function vyre_buffer_query_size was ")
planted(buffer.h "vyre_buffer_params_init" "vyre_buffer_params_start" "inline vyre_buffer_params_init is gone")
planted(dispatch.h "uint64_t vyre_clock_ns" "uint64_t vyre_clock" "function vyre_clock_ns is gone" clock_ns)
planted(scan.h "vyre_scan_default_candidates[7]" "vyre_scan_default_candidates[8]"
    "data vyre_scan_default_candidates was const uint32_t<7>; it is const uint32_t<8>")
message(STATUS "planted faults are found")
