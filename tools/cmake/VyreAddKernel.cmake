# vyre_add_kernel(TARGET NAME FILE.vyre [OPTIONS option...])
#
# Compiles a program to a kernel file when TARGET is built, and links it into TARGET as an array:
#     #include "NAME.h"
#     vyre_kernel_load(NAME, NAME_size, &params, &kernel, &diag)
# OPTIONS are handed to vyre-spv, such as --target vulkan1.3 --interface address: without them the file
# has words for every device. To be called in the folder that makes TARGET. The compiler is
# VYRE_SPV where that is set (when cross-compiling: the vyre-spv of a native build of the same
# version), else the one that comes with the package or is built with the library.
#
# As a script, what is built calls: -DIN=FILE.vyk -DOUT=FILE.c -DNAME=NAME -P.

cmake_policy(VERSION 3.25)

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    file(READ "${IN}" bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REPEAT "." 80 row)
    string(REGEX REPLACE "(${row})" "\\1\n" bytes "${bytes}")
    file(WRITE "${OUT}" "/* Made by vyre_add_kernel. */\n#include \"${NAME}.h\"\n\n"
        "const unsigned char ${NAME}[] = {\n${bytes}\n};\nconst size_t ${NAME}_size = sizeof ${NAME};\n")
    return()
endif()

# Sets in the caller what to call, and what to depend on.
function(vyre_find_spv out_command)
    get_property(packaged GLOBAL PROPERTY vyre_spv)
    if(VYRE_SPV)
        set(command "${VYRE_SPV}")
    elseif(TARGET vyre-spv)
        set(command vyre-spv)
    elseif(packaged AND EXISTS "${packaged}")
        set(command "${packaged}")
    else()
        message(FATAL_ERROR "vyre_add_kernel: this libvyre-vk comes without vyre-spv. Install it with "
            "its tools (VYRE_BUILD_TOOLS), or give the vyre-spv of the same version: -DVYRE_SPV=PATH")
    endif()
    set(${out_command} "${command}" PARENT_SCOPE)
endfunction()

function(vyre_add_kernel target name file)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "OPTIONS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "vyre_add_kernel: unknown: ${arg_UNPARSED_ARGUMENTS}. Options of vyre-spv "
            "follow the word OPTIONS")
    elseif(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
        message(FATAL_ERROR "vyre_add_kernel: '${name}' is no name in C")
    elseif(NOT TARGET ${target})
        message(FATAL_ERROR "vyre_add_kernel: there is no target '${target}'. Call add_executable or "
            "add_library before")
    endif()
    get_target_property(folder ${target} SOURCE_DIR)
    if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "vyre_add_kernel: '${target}' is made in ${folder}. Call it there, since "
            "what is generated belongs to one folder")
    endif()
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    if(NOT EXISTS "${file}")
        message(FATAL_ERROR "vyre_add_kernel: there is no ${file}")
    endif()

    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    set(extension cpp)
    if("C" IN_LIST languages)
        set(extension c)
    endif()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/vyre-kernels/${target}")
    set(base "${folder}/${name}")
    string(TOUPPER "${name}" guard)
    file(CONFIGURE OUTPUT "${base}.h" @ONLY CONTENT
"/* Made by vyre_add_kernel: a kernel file, for vyre_kernel_load. */
#ifndef VYRE_KERNEL_@guard@_H
#define VYRE_KERNEL_@guard@_H

#include <stddef.h>

#ifdef __cplusplus
extern \"C\" {
#endif

extern const unsigned char @name@[];
extern const size_t @name@_size; /* in bytes */

#ifdef __cplusplus
}
#endif
#endif
")
    vyre_find_spv(spv)
    cmake_path(GET file FILENAME label)
    add_custom_command(OUTPUT "${base}.${extension}" BYPRODUCTS "${base}.vyk"
        COMMAND ${spv} "${file}" -o "${base}.vyk" --format kernel ${arg_OPTIONS}
        COMMAND ${CMAKE_COMMAND} "-DIN=${base}.vyk" "-DOUT=${base}.${extension}" -DNAME=${name}
            -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
        DEPENDS "${file}" ${spv} "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
        COMMENT "Compiling ${label}" VERBATIM)
    target_sources(${target} PRIVATE "${base}.${extension}" "${base}.h")
    target_include_directories(${target} PRIVATE "${folder}")
endfunction()
