# Layers, and the executables that are linked with them.
#
# A layer is an object library vy_NAME, so that one that does not compile stops no other, and an
# archive vy_NAME_ar of the same objects with every private symbol, for tests and tools.

set(vyre_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(VYRE_WERROR)
    list(APPEND vyre_warnings -Werror)
endif()

if(MINGW)
    list(APPEND vyre_warnings -Wno-float-conversion) # its isfinite is a macro with casts
endif()

add_library(vyre_options INTERFACE)
target_compile_options(vyre_options INTERFACE ${vyre_warnings} -ffp-contract=off
    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
if(UNIX)
    # C without extensions hides POSIX; a source file may say the same again.
    target_compile_definitions(vyre_options INTERFACE $<$<COMPILE_LANGUAGE:C>:_POSIX_C_SOURCE=200809L>)
endif()
if(MINGW)
    # C's own formats, such as %zu, and not those of Windows.
    target_compile_definitions(vyre_options INTERFACE __USE_MINGW_ANSI_STDIO=1)
endif()
target_include_directories(vyre_options INTERFACE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}")

# vyre_layer(NAME SOURCES f... [LIBRARIES l...]): nothing at all where there are no sources.
function(vyre_layer name)
    cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
    if(NOT arg_SOURCES)
        return()
    endif()
    add_library(vy_${name} OBJECT ${arg_SOURCES})
    target_link_libraries(vy_${name} PRIVATE vyre_options ${arg_LIBRARIES})
    set(objects $<TARGET_OBJECTS:vy_${name}>)
    set_property(GLOBAL APPEND PROPERTY vyre_layer_objects ${objects})
    vyre_archive(${name} ${objects})
endfunction()

# From objects, which have no language: what links the archive is not made C++ by vma.cpp in it.
function(vyre_archive name)
    add_library(vy_${name}_ar STATIC EXCLUDE_FROM_ALL ${ARGN})
    set_target_properties(vy_${name}_ar PROPERTIES LINKER_LANGUAGE C
        ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/private")
    target_link_libraries(vy_${name}_ar INTERFACE m ${CMAKE_DL_LIBS} Threads::Threads)
endfunction()

# vyre_link_layers(TARGET layer...): those of them that exist, with each other.
function(vyre_link_layers target)
    set(archives "")
    foreach(layer IN LISTS ARGN)
        if(TARGET vy_${layer}_ar)
            list(APPEND archives vy_${layer}_ar)
        endif()
    endforeach()
    target_link_libraries(${target} PRIVATE vyre_options)
    if(archives)
        list(REVERSE archives)
        list(JOIN archives "," group)
        target_link_libraries(${target} PRIVATE "$<LINK_GROUP:RESCAN,${group}>")
    endif()
    target_link_libraries(${target} PRIVATE m ${CMAKE_DL_LIBS} Threads::Threads)
endfunction()

function(vyre_link_spirv_tools target)
    if(VYRE_HAVE_spirv_tools)
        target_link_libraries(${target} PRIVATE vyre::dep::spirv_tools)
        target_compile_definitions(${target} PRIVATE VYRE_HAVE_SPIRV_TOOLS=1)
    endif()
endfunction()
