# The ctest entry "scan-switch": with VYRE_BUILD_SCAN=OFF nothing of batch scanning is compiled, the rest is,
# and tests, which are of the whole library, are refused.
# In: BINARY_DIR SOURCE_DIR C_COMPILER CXX_COMPILER GENERATOR MAKE_PROGRAM DEPS_DIR.

cmake_policy(VERSION 3.25)
set(root "${BINARY_DIR}/scan-switch-test")
file(REMOVE_RECURSE "${root}")

function(configure out_result out_output)
    execute_process(COMMAND ${CMAKE_COMMAND} -S "${SOURCE_DIR}" -B "${root}" -G "${GENERATOR}"
            "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}" "-DCMAKE_C_COMPILER=${C_COMPILER}"
            "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DVYRE_DEPS_DIR=${DEPS_DIR}"
            -DVYRE_BUILD_EXAMPLES=OFF ${ARGN}
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    set(${out_result} "${result}" PARENT_SCOPE)
    set(${out_output} "${output}" PARENT_SCOPE)
endfunction()

function(count_commands pattern out_count)
    file(STRINGS "${root}/compile_commands.json" found REGEX "\"file\": .*${pattern}")
    list(LENGTH found count)
    set(${out_count} ${count} PARENT_SCOPE)
endfunction()

configure(result output -DVYRE_BUILD_SCAN=OFF -DVYRE_BUILD_TESTS=ON)
if(result EQUAL 0 OR NOT output MATCHES "set VYRE_BUILD_SCAN")
    message(FATAL_ERROR "tests without scanning are not refused:\n${output}")
endif()
configure(result output -DVYRE_BUILD_SCAN=OFF -DVYRE_BUILD_TESTS=OFF)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "the library without scanning is not configured:\n${output}")
endif()
count_commands("/engine/scan/|/vyre-scan/|/vyre-bench/" left)
count_commands("/engine/exec/" there)
if(NOT left EQUAL 0 OR there EQUAL 0)
    message(FATAL_ERROR "without scanning ${left} of its files are compiled, and ${there} of the engine's")
endif()
configure(result output -DVYRE_BUILD_SCAN=ON)
count_commands("/engine/scan/" left)
if(left EQUAL 0)
    message(FATAL_ERROR "with scanning nothing of it is compiled:\n${output}")
endif()
