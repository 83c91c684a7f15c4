# tests/fuzz/fuzz_NAME.c: one libFuzzer program each, with all layers of codegen, where
# VYRE_BUILD_FUZZERS is on (which needs clang), and for every compiler replay_NAME, which runs
# inputs: those of tests/fuzz/inputs/NAME in ctest. See tests/fuzz/README.md.

set(vyre_fuzz_sources_npy "${PROJECT_SOURCE_DIR}/tools/common/npy.c"
    "${PROJECT_SOURCE_DIR}/tools/common/value.c")
set(vyre_fuzz_sources_spv "${PROJECT_SOURCE_DIR}/tools/vyre-spv/module.c")
# The host's part of scanning, which is all that catalogues are made by.
set(vyre_fuzz_sources_catalogue "")
foreach(part automaton catalogue classes grouping literals minimise overlap product segments shapes walk)
    list(APPEND vyre_fuzz_sources_catalogue "${PROJECT_SOURCE_DIR}/engine/scan/${part}.c")
endforeach()

function(vyre_fuzz_target name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE vyre_options vyre::dep::vulkan vyre::dep::volk
        vyre::dep::spirv_headers)
    vyre_link_layers(${name} ${vyre_codegen_layers})
endfunction()

file(GLOB sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    string(REPLACE "fuzz_" "" name "${stem}")
    if(VYRE_BUILD_FUZZERS)
        if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
            message(FATAL_ERROR "VYRE_BUILD_FUZZERS needs libFuzzer, which comes with clang: "
                "-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++")
        endif()
        vyre_fuzz_target(${stem} ${source} ${vyre_fuzz_sources_${name}})
        target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    endif()
    if(VYRE_BUILD_TESTS AND NOT VYRE_TEST_DIRS AND NOT VYRE_BUILD_FUZZERS)
        vyre_fuzz_target(replay_${name} ${source} ${vyre_fuzz_sources_${name}}
            tests/fuzz/standalone.c)
        add_dependencies(vyre_tests replay_${name})
        add_test(NAME fuzz_inputs_${name}
            COMMAND replay_${name} "${PROJECT_SOURCE_DIR}/tests/fuzz/inputs/${name}")
        set_tests_properties(fuzz_inputs_${name} PROPERTIES LABELS fuzz TIMEOUT 300)
    endif()
endforeach()
if(VYRE_BUILD_TESTS AND NOT VYRE_TEST_DIRS AND NOT VYRE_BUILD_FUZZERS)
    vyre_fuzz_target(make_corpus tests/fuzz/make_corpus.c ${vyre_fuzz_sources_npy})
    target_link_libraries(make_corpus PRIVATE vyre_test_support)
    vyre_link_layers(make_corpus ${vyre_codegen_layers})
    add_dependencies(vyre_tests make_corpus)
endif()
