# Finds what the build depends on and makes one target for each: vyre::dep::NAME.
#
# Every dependency is looked for in this order: a given -D<PACKAGE>_DIR, config packages and
# VULKAN_SDK (with its header folders volk/ and vma/), system paths, build/deps (what
# tools/setup.sh unpacked).

set(VYRE_DEPS_DIR "${PROJECT_SOURCE_DIR}/build/deps" CACHE PATH
    "Where tools/setup.sh unpacks what the system does not have")
mark_as_advanced(VYRE_DEPS_DIR)

set(vyre_sdk_includes "")
set(vyre_sdk_libraries "")
if(DEFINED ENV{VULKAN_SDK})
    list(APPEND CMAKE_PREFIX_PATH "$ENV{VULKAN_SDK}")
    set(vyre_sdk_includes "$ENV{VULKAN_SDK}/include" "$ENV{VULKAN_SDK}/Include")
    set(vyre_sdk_libraries "$ENV{VULKAN_SDK}/lib" "$ENV{VULKAN_SDK}/Lib")
endif()

# vyre_find_headers(NAME HEADER PACKAGE config-package TARGETS t... [SUFFIXES s...])
# Headers only: the first of TARGETS that PACKAGE defines, or else the folder that has HEADER. The
# folder is VYRE_<NAME>_INCLUDE_DIR either way.
function(vyre_find_headers name header)
    cmake_parse_arguments(arg "" "PACKAGE" "TARGETS;SUFFIXES" ${ARGN})
    add_library(vyre_dep_${name} INTERFACE)
    add_library(vyre::dep::${name} ALIAS vyre_dep_${name})
    find_package(${arg_PACKAGE} CONFIG QUIET)
    foreach(target IN LISTS arg_TARGETS)
        if(TARGET ${target})
            target_link_libraries(vyre_dep_${name} INTERFACE ${target})
            get_target_property(include_dir ${target} INTERFACE_INCLUDE_DIRECTORIES)
            set(VYRE_${name}_INCLUDE_DIR "${include_dir}" PARENT_SCOPE)
            message(STATUS "${name}: ${target} of ${${arg_PACKAGE}_DIR}")
            return()
        endif()
    endforeach()
    find_path(VYRE_${name}_INCLUDE_DIR ${header}
        HINTS ${vyre_sdk_includes} PATH_SUFFIXES ${arg_SUFFIXES})
    find_path(VYRE_${name}_INCLUDE_DIR ${header}
        PATHS "${VYRE_DEPS_DIR}/usr/include" PATH_SUFFIXES ${arg_SUFFIXES} NO_DEFAULT_PATH)
    mark_as_advanced(VYRE_${name}_INCLUDE_DIR)
    if(NOT VYRE_${name}_INCLUDE_DIR)
        message(FATAL_ERROR "${name}: ${header} was not found. Run tools/setup.sh, or give "
            "-D${arg_PACKAGE}_DIR=... or -DVYRE_${name}_INCLUDE_DIR=...")
    endif()
    target_include_directories(vyre_dep_${name} SYSTEM INTERFACE "${VYRE_${name}_INCLUDE_DIR}")
    message(STATUS "${name}: ${VYRE_${name}_INCLUDE_DIR}/${header}")
endfunction()

vyre_find_headers(vulkan vulkan/vulkan_core.h PACKAGE VulkanHeaders TARGETS Vulkan::Headers)
vyre_find_headers(volk volk.h PACKAGE volk TARGETS volk::volk_headers SUFFIXES volk)
vyre_find_headers(vma vk_mem_alloc.h PACKAGE VulkanMemoryAllocator
    TARGETS GPUOpen::VulkanMemoryAllocator SUFFIXES vma)
vyre_find_headers(spirv_headers spirv/unified1/spirv.h PACKAGE SPIRV-Headers
    TARGETS SPIRV-Headers::SPIRV-Headers)

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
    find_package(${arg_PACKAGE} CONFIG QUIET)
    foreach(target IN LISTS arg_TARGETS)
        if(TARGET ${target})
            add_library(vyre_dep_${name} INTERFACE)
            add_library(vyre::dep::${name} ALIAS vyre_dep_${name})
            target_link_libraries(vyre_dep_${name} INTERFACE ${target})
            set(VYRE_HAVE_${name} TRUE PARENT_SCOPE)
            message(STATUS "${name}: ${target} of ${${arg_PACKAGE}_DIR}")
            return()
        endif()
    endforeach()
    find_path(VYRE_${name}_INCLUDE_DIR ${header} HINTS ${vyre_sdk_includes})
    find_path(VYRE_${name}_INCLUDE_DIR ${header}
        PATHS "${VYRE_DEPS_DIR}/usr/include" NO_DEFAULT_PATH)
    find_library(VYRE_${name}_LIBRARY NAMES ${arg_LIBRARIES} HINTS ${vyre_sdk_libraries})
    find_library(VYRE_${name}_LIBRARY NAMES ${arg_LIBRARIES}
        PATHS "${VYRE_DEPS_DIR}/usr/lib" "${VYRE_DEPS_DIR}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}"
        NO_DEFAULT_PATH)
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

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(VYRE_BUILD_TESTS OR VYRE_BUILD_TOOLS)
    # Its C interface; the library itself is C++, static or shared.
    vyre_find_library(spirv_tools spirv-tools/libspirv.h PACKAGE SPIRV-Tools LANGUAGE CXX
        TARGETS SPIRV-Tools-static SPIRV-Tools-shared SPIRV-Tools
        LIBRARIES SPIRV-Tools SPIRV-Tools-shared)
    find_program(VYRE_GLSLANG NAMES glslangValidator glslang
        HINTS "$ENV{VULKAN_SDK}/bin" "$ENV{VULKAN_SDK}/Bin")
    find_program(VYRE_GLSLANG NAMES glslangValidator glslang
        PATHS "${VYRE_DEPS_DIR}/usr/bin" NO_DEFAULT_PATH)
    mark_as_advanced(VYRE_GLSLANG)
endif()
if(VYRE_BUILD_TESTS)
    vyre_find_library(cmocka cmocka.h PACKAGE cmocka LANGUAGE C TARGETS cmocka::cmocka
        LIBRARIES cmocka)
    if(NOT VYRE_HAVE_cmocka)
        message(FATAL_ERROR "cmocka was not found. Run tools/setup.sh, give -Dcmocka_DIR=..., or "
            "build without tests: -DVYRE_BUILD_TESTS=OFF")
    endif()
    # Static where there are archives: the conformance tests are carried to machines without it.
    foreach(library gmp mpfr)
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
