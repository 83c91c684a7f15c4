# The ctest entries "example-NAME": builds examples/NAME against an install of the build, as a user
# does, runs it, and looks at what it prints. The entry "example-install" (with EXAMPLE install) makes
# that install for all. The programs need a Vulkan device; VYRE_TESTS_NO_DEVICE=1 leaves it at
# building them.
# In: BINARY_DIR SOURCE_DIR C_COMPILER CXX_COMPILER GENERATOR MAKE_PROGRAM EXAMPLE.

set(root "${BINARY_DIR}/examples-test")
set(prefix "${root}/prefix")
set(build "${root}/${EXAMPLE}")
file(REMOVE_RECURSE "${build}")

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
        ERROR_VARIABLE errors)
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "${command}\nended with ${result}:\n${output}${errors}")
    endif()
    set(output "${output}" PARENT_SCOPE)
    set(errors "${errors}" PARENT_SCOPE)
endfunction()

# must_fail(REGEX command...): ends with an error, and says so.
function(must_fail expected)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
        ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " line "${output}") # CMake breaks long lines
    if(result EQUAL 0 OR NOT line MATCHES "${expected}")
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}\nended with ${result}, without ${expected}:\n${output}")
    endif()
endfunction()

function(must_match text expected)
    if(NOT text MATCHES "${expected}")
        message(FATAL_ERROR "not as expected, which is ${expected}:\n${text}")
    endif()
endfunction()

# configure(SOURCE BUILD option...)
function(configure source build)
    run(${CMAKE_COMMAND} -G "${GENERATOR}" -S "${source}" -B "${build}"
        "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}" "-DCMAKE_C_COMPILER=${C_COMPILER}"
        "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Werror"
        "-DCMAKE_PREFIX_PATH=${prefix}" ${ARGN})
    set(output "${output}" PARENT_SCOPE)
endfunction()

if(EXAMPLE STREQUAL "install")
    file(REMOVE_RECURSE "${root}")
    run(${CMAKE_COMMAND} --install "${BINARY_DIR}" --prefix "${prefix}")
    return()
endif()

set(source "${SOURCE_DIR}/examples/${EXAMPLE}")
configure("${source}" "${build}")
run(${CMAKE_COMMAND} --build "${build}")
set(has_device TRUE)
if("$ENV{VYRE_TESTS_NO_DEVICE}" STREQUAL "1")
    set(has_device FALSE)
    message(STATUS "${EXAMPLE}: built, not run (VYRE_TESTS_NO_DEVICE=1)")
endif()
include("${SOURCE_DIR}/tools/cmake/examples/${EXAMPLE}.cmake")
