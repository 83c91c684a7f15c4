# Finds what the build depends on and makes one target for each: vyre::dep::NAME.
#
# Every dependency is looked for in this order: a given -D<PACKAGE>_DIR, CMAKE_PREFIX_PATH, VULKAN_SDK,
# the system, build/deps (what tools/setup.sh unpacked); in each of these a config package comes before
# plain files. VULKAN_SDK may have the layout of Linux (include, lib, bin) or of Windows (Include, Lib,
# Bin), with volk and VMA in folders of their own; what an SDK comes without is taken from what is next.

set(VYRE_DEPS_DIR "${PROJECT_SOURCE_DIR}/build/deps" CACHE PATH
    "Where tools/setup.sh unpacks what the system does not have")
mark_as_advanced(VYRE_DEPS_DIR)

# The SDK of the first time stays: ninja configures again from shells that know of none.
set(vyre_sdk "$ENV{VULKAN_SDK}")
if(vyre_sdk)
    cmake_path(CONVERT "${vyre_sdk}" TO_CMAKE_PATH_LIST vyre_sdk NORMALIZE)
    string(REGEX REPLACE "/$" "" vyre_sdk "${vyre_sdk}")
endif()
if(DEFINED CACHE{VYRE_USED_SDK} AND vyre_sdk AND NOT vyre_sdk STREQUAL VYRE_USED_SDK)
    if(VYRE_USED_SDK)
        set(used "VULKAN_SDK=${VYRE_USED_SDK}")
    else()
        set(used "no VULKAN_SDK")
    endif()
    message(FATAL_ERROR "this build folder was configured with ${used}, and VULKAN_SDK is ${vyre_sdk} now. "
        "Configure anew (cmake --fresh), or unset VULKAN_SDK")
endif()
if(vyre_sdk)
    if(EXISTS "${vyre_sdk}/x86_64/include/vulkan" AND NOT EXISTS "${vyre_sdk}/include/vulkan")
        message(FATAL_ERROR "VULKAN_SDK=${vyre_sdk} is the folder around an SDK. Point it at the folder "
            "that has include/, ${vyre_sdk}/x86_64 (setup-env.sh of the SDK does)")
    elseif(NOT EXISTS "${vyre_sdk}/include/vulkan/vulkan_core.h"
            AND NOT EXISTS "${vyre_sdk}/Include/vulkan/vulkan_core.h")
        message(FATAL_ERROR "VULKAN_SDK=${vyre_sdk} has neither include/vulkan/vulkan_core.h nor "
            "Include/vulkan/vulkan_core.h. Point it at an SDK, or unset it to build with the system's "
            "Vulkan headers")
    endif()
endif()
if(NOT DEFINED CACHE{VYRE_USED_SDK})
    set(VYRE_USED_SDK "${vyre_sdk}" CACHE INTERNAL "VULKAN_SDK when this was configured first")
endif()
set(vyre_sdk "${VYRE_USED_SDK}")
cmake_path(CONVERT "$ENV{CMAKE_PREFIX_PATH}" TO_CMAKE_PATH_LIST vyre_first)
list(PREPEND vyre_first ${CMAKE_PREFIX_PATH})
list(APPEND vyre_first ${vyre_sdk})
set(vyre_sdk_libraries "")
set(vyre_sdk_programs "")
if(vyre_sdk)
    set(vyre_sdk_libraries "${vyre_sdk}/lib" "${vyre_sdk}/Lib")
    set(vyre_sdk_programs "${vyre_sdk}/bin" "${vyre_sdk}/Bin")
endif()

# vyre_find_package(PACKAGE ROOT TARGETS OUT): the first of TARGETS that the config package in ROOT (or,
# with ROOT system, anywhere) defines.
macro(vyre_find_package package root targets out)
    set(${out} "")
    if("${root}" STREQUAL "system")
        find_package(${package} CONFIG QUIET)
    else()
        find_package(${package} CONFIG QUIET PATHS "${root}" NO_DEFAULT_PATH)
    endif()
    foreach(candidate ${targets})
        if(NOT ${out} AND TARGET ${candidate})
            set(${out} ${candidate})
        endif()
    endforeach()
endmacro()

# vyre_find_headers(NAME HEADER PACKAGE config-package TARGETS t... [SUFFIXES s...])
# Headers only: the first of TARGETS that PACKAGE defines, or else the folder that has HEADER. The
# folder is VYRE_<NAME>_INCLUDE_DIR either way.
function(vyre_find_headers name header)
    cmake_parse_arguments(arg "" "PACKAGE" "TARGETS;SUFFIXES" ${ARGN})
    add_library(vyre_dep_${name} INTERFACE)
    add_library(vyre::dep::${name} ALIAS vyre_dep_${name})
    foreach(root IN LISTS vyre_first ITEMS system)
        if(VYRE_${name}_INCLUDE_DIR)
            break() # given, or found before
        endif()
        vyre_find_package(${arg_PACKAGE} "${root}" "${arg_TARGETS}" target)
        if(target)
            target_link_libraries(vyre_dep_${name} INTERFACE ${target})
            get_target_property(include_dir ${target} INTERFACE_INCLUDE_DIRECTORIES)
            set(VYRE_${name}_INCLUDE_DIR "${include_dir}" PARENT_SCOPE)
            message(STATUS "${name}: ${target} of ${${arg_PACKAGE}_DIR}")
            return()
        endif()
        if(root STREQUAL "system")
            find_path(VYRE_${name}_INCLUDE_DIR ${header} PATH_SUFFIXES ${arg_SUFFIXES})
            find_path(VYRE_${name}_INCLUDE_DIR ${header}
                PATHS "${VYRE_DEPS_DIR}/usr/include" PATH_SUFFIXES ${arg_SUFFIXES} NO_DEFAULT_PATH)
        else()
            find_path(VYRE_${name}_INCLUDE_DIR ${header} PATHS "${root}/include" "${root}/Include"
                PATH_SUFFIXES ${arg_SUFFIXES} NO_DEFAULT_PATH)
        endif()
    endforeach()
    mark_as_advanced(VYRE_${name}_INCLUDE_DIR)
    if(NOT VYRE_${name}_INCLUDE_DIR)
        message(FATAL_ERROR "${name}: ${header} was not found. Run tools/setup.sh, or give "
            "-D${arg_PACKAGE}_DIR=... or -DVYRE_${name}_INCLUDE_DIR=...")
    endif()
    target_include_directories(vyre_dep_${name} SYSTEM INTERFACE "${VYRE_${name}_INCLUDE_DIR}")
    message(STATUS "${name}: ${VYRE_${name}_INCLUDE_DIR}/${header}")
endfunction()

vyre_find_headers(vulkan vulkan/vulkan_core.h PACKAGE VulkanHeaders TARGETS Vulkan::Headers)
vyre_find_headers(volk volk.h PACKAGE volk TARGETS volk::volk_headers SUFFIXES volk Volk)
vyre_find_headers(vma vk_mem_alloc.h PACKAGE VulkanMemoryAllocator
    TARGETS GPUOpen::VulkanMemoryAllocator SUFFIXES vma)
vyre_find_headers(spirv_headers spirv/unified1/spirv.h PACKAGE SPIRV-Headers
    TARGETS SPIRV-Headers::SPIRV-Headers)
foreach(folder IN LISTS VYRE_vulkan_INCLUDE_DIR)
    if(EXISTS "${folder}/vulkan/vulkan_core.h")
        file(STRINGS "${folder}/vulkan/vulkan_core.h" version REGEX "define VK_API_VERSION_1_3 ")
        if(NOT version)
            message(FATAL_ERROR "${folder}/vulkan/vulkan_core.h is of a Vulkan before 1.3. Take newer "
                "Vulkan headers: another VULKAN_SDK, -DVulkanHeaders_DIR=..., or tools/setup.sh")
        endif()
    endif()
endforeach()

# One configuration for every file that includes these headers: VMA's structures change with its
# macros. They are defined as a source file would define them, so a file may do so again.
target_compile_definitions(vyre_dep_volk INTERFACE VK_NO_PROTOTYPES=)
target_compile_definitions(vyre_dep_vma INTERFACE VK_NO_PROTOTYPES= VMA_STATIC_VULKAN_FUNCTIONS=0
    VMA_DYNAMIC_VULKAN_FUNCTIONS=0 VMA_VULKAN_VERSION=1003000)

# vyre_find_library(NAME HEADER LIBRARIES l... PACKAGE p TARGETS t... [LANGUAGE l]): sets
# VYRE_HAVE_<NAME> in the caller; optional, so nothing fails here.
function(vyre_find_library name header)
    cmake_parse_arguments(arg "" "PACKAGE;LANGUAGE" "TARGETS;LIBRARIES" ${ARGN})
    set(VYRE_HAVE_${name} FALSE PARENT_SCOPE)
    foreach(root IN LISTS vyre_first ITEMS system)
        if(VYRE_${name}_INCLUDE_DIR AND VYRE_${name}_LIBRARY)
            break()
        endif()
        vyre_find_package(${arg_PACKAGE} "${root}" "${arg_TARGETS}" target)
        if(target)
            add_library(vyre_dep_${name} INTERFACE)
            add_library(vyre::dep::${name} ALIAS vyre_dep_${name})
            target_link_libraries(vyre_dep_${name} INTERFACE ${target})
            set(VYRE_HAVE_${name} TRUE PARENT_SCOPE)
            message(STATUS "${name}: ${target} of ${${arg_PACKAGE}_DIR}")
            return()
        endif()
        if(root STREQUAL "system")
            find_path(VYRE_${name}_INCLUDE_DIR ${header})
            find_library(VYRE_${name}_LIBRARY NAMES ${arg_LIBRARIES})
            find_path(VYRE_${name}_INCLUDE_DIR ${header}
                PATHS "${VYRE_DEPS_DIR}/usr/include" NO_DEFAULT_PATH)
            find_library(VYRE_${name}_LIBRARY NAMES ${arg_LIBRARIES} NO_DEFAULT_PATH
                PATHS "${VYRE_DEPS_DIR}/usr/lib"
                    "${VYRE_DEPS_DIR}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
        else()
            # Both of one place, or neither.
            find_path(vyre_there_${name} ${header} PATHS "${root}/include" "${root}/Include"
                NO_DEFAULT_PATH NO_CACHE)
            if(vyre_there_${name})
                find_library(VYRE_${name}_LIBRARY NAMES ${arg_LIBRARIES} NO_DEFAULT_PATH
                    PATHS "${root}/lib" "${root}/lib64" "${root}/Lib"
                        "${root}/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
            endif()
            if(vyre_there_${name} AND VYRE_${name}_LIBRARY)
                set(VYRE_${name}_INCLUDE_DIR "${vyre_there_${name}}" CACHE PATH "${header}")
            endif()
            unset(vyre_there_${name})
        endif()
    endforeach()
    mark_as_advanced(VYRE_${name}_INCLUDE_DIR VYRE_${name}_LIBRARY)
    if(NOT VYRE_${name}_INCLUDE_DIR OR NOT VYRE_${name}_LIBRARY)
        message(STATUS "${name}: not found")
        return()
    endif()
    add_library(vyre::dep::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(vyre::dep::${name} PROPERTIES
        IMPORTED_LOCATION "${VYRE_${name}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${VYRE_${name}_INCLUDE_DIR}"
        IMPORTED_LINK_INTERFACE_LANGUAGES "${arg_LANGUAGE}")
    set(VYRE_HAVE_${name} TRUE PARENT_SCOPE)
    message(STATUS "${name}: ${VYRE_${name}_LIBRARY}")
endfunction()

# Windows has threads of its own: what CMake finds with MinGW are POSIX ones, a library more.
if(NOT WIN32)
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads REQUIRED)
elseif(NOT TARGET Threads::Threads)
    add_library(Threads::Threads INTERFACE IMPORTED GLOBAL)
endif()

if(VYRE_BUILD_TESTS OR VYRE_BUILD_TOOLS)
    # Its C interface; the library itself is C++, static or shared.
    vyre_find_library(spirv_tools spirv-tools/libspirv.h PACKAGE SPIRV-Tools LANGUAGE CXX
        TARGETS SPIRV-Tools-static SPIRV-Tools-shared SPIRV-Tools
        LIBRARIES SPIRV-Tools SPIRV-Tools-shared)
    find_program(VYRE_GLSLANG NAMES glslangValidator glslang HINTS ${vyre_sdk_programs})
    find_program(VYRE_GLSLANG NAMES glslangValidator glslang
        PATHS "${VYRE_DEPS_DIR}/usr/bin" NO_DEFAULT_PATH)
    mark_as_advanced(VYRE_GLSLANG)
    message(STATUS "glslang: ${VYRE_GLSLANG}")
    # Of vyre-scan -E. Static where there is an archive: tools are carried to machines without it.
    vyre_find_library(fa fa.h PACKAGE fa LANGUAGE C TARGETS fa::fa LIBRARIES libfa.a fa)
    # The peer of vyre-bench scan.
    vyre_find_library(hyperscan hs/hs.h PACKAGE hyperscan LANGUAGE CXX TARGETS hyperscan::hs
        LIBRARIES libhs.a hs)
endif()
if(VYRE_BUILD_TESTS)
    vyre_find_library(cmocka cmocka.h PACKAGE cmocka LANGUAGE C TARGETS cmocka::cmocka
        LIBRARIES cmocka cmocka-static)
    if(NOT VYRE_HAVE_cmocka)
        message(FATAL_ERROR "cmocka was not found. Run tools/setup.sh, give -Dcmocka_DIR=..., or "
            "build without tests: -DVYRE_BUILD_TESTS=OFF")
    endif()
    # Static where there are archives: the conformance tests, which alone need them, are carried to
    # machines without it.
    set(vyre_needed gmp mpfr)
    if(VYRE_TEST_DIRS AND NOT "conform" IN_LIST VYRE_TEST_DIRS)
        set(vyre_needed "")
    endif()
    foreach(library IN LISTS vyre_needed)
        vyre_find_library(${library} ${library}.h PACKAGE ${library} LANGUAGE C
            TARGETS ${library}::${library} LIBRARIES lib${library}.a ${library})
        if(NOT VYRE_HAVE_${library})
            message(FATAL_ERROR "${library} was not found. Run tools/setup.sh, or build without "
                "tests: -DVYRE_BUILD_TESTS=OFF")
        endif()
    endforeach()
endif()
if(VYRE_BUILD_EXAMPLES)
    find_library(VYRE_VULKAN_LOADER NAMES vulkan vulkan-1 HINTS ${vyre_sdk_libraries})
    mark_as_advanced(VYRE_VULKAN_LOADER)
endif()
