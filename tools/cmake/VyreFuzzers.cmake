# tests/fuzz/fuzz_*.c: one libFuzzer program each (LLVMFuzzerTestOneInput), with all layers of
# codegen. Another compiler than clang needs tests/fuzz/standalone.c, a main() that reads files.

file(GLOB sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
set(standalone "${PROJECT_SOURCE_DIR}/tests/fuzz/standalone.c")
foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    if(CMAKE_C_COMPILER_ID MATCHES "Clang")
        add_executable(${name} ${source})
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    elseif(EXISTS "${standalone}")
        add_executable(${name} ${source} "${standalone}")
    else()
        message(WARNING "${name}: libFuzzer needs clang (-DCMAKE_C_COMPILER=clang "
            "-DCMAKE_CXX_COMPILER=clang++)")
        continue()
    endif()
    vyre_link_layers(${name} ${vyre_codegen_layers})
    if(TARGET vyre_test_support)
        target_link_libraries(${name} PRIVATE vyre_test_support)
    endif()
    target_link_libraries(${name} PRIVATE vyre::dep::spirv_headers)
    vyre_link_spirv_tools(${name})
endforeach()
