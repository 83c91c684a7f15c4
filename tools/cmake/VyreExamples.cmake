# examples/NAME.c and examples/NAME/*.c: programs of a user, so with the public library alone (and
# the Vulkan loader where it is found). A folder with a CMakeLists.txt is a project of its own;
# examples/embed is also built as a part of this one.

function(vyre_example name)
    add_executable(example-${name} ${ARGN})
    set_target_properties(example-${name} PROPERTIES OUTPUT_NAME ${name})
    target_compile_options(example-${name} PRIVATE ${vyre_warnings})
    target_link_libraries(example-${name} PRIVATE vyre::vyre-vk m Threads::Threads)
    target_compile_definitions(example-${name} PRIVATE _POSIX_C_SOURCE=200809L)
    if(VYRE_VULKAN_LOADER)
        target_link_libraries(example-${name} PRIVATE "${VYRE_VULKAN_LOADER}")
    endif()
    # A host's own VMA, compiled in its own C++ file and configured by itself.
    target_include_directories(example-${name} SYSTEM PRIVATE ${VYRE_vma_INCLUDE_DIR})
endfunction()

file(GLOB sources CONFIGURE_DEPENDS examples/*.c)
foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    vyre_example(${name} ${source})
endforeach()
file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true examples/*)
foreach(folder IN LISTS folders)
    if(IS_DIRECTORY "${folder}" AND NOT EXISTS "${folder}/CMakeLists.txt")
        file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cpp)
        if(sources)
            cmake_path(GET folder FILENAME name)
            vyre_example(${name} ${sources})
        endif()
    endif()
endforeach()

add_subdirectory(examples/embed)
