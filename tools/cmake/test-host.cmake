# The ctest entry "host-renderer": installs the build into a prefix of its own, builds
# examples/host_renderer against it with find_package and with pkg-config, and runs both. They need a
# Vulkan device; VYRE_TESTS_NO_DEVICE=1 leaves it at building them.
# In: BINARY_DIR SOURCE_DIR C_COMPILER GENERATOR MAKE_PROGRAM LIBDIR.

set(root "${BINARY_DIR}/host-test")
file(REMOVE_RECURSE "${root}")
file(MAKE_DIRECTORY "${root}")

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
        ERROR_VARIABLE errors)
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "${command}\nended with ${result}:\n${output}${errors}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

function(run_program program)
    if("$ENV{VYRE_TESTS_NO_DEVICE}" STREQUAL "1")
        message(STATUS "${program}: built, not run (VYRE_TESTS_NO_DEVICE=1)")
    else()
        run("${program}")
        message(STATUS "${program}: ${output}")
    endif()
endfunction()

set(prefix "${root}/prefix")
run(${CMAKE_COMMAND} --install "${BINARY_DIR}" --prefix "${prefix}")
run(${CMAKE_COMMAND} -G "${GENERATOR}" -S "${SOURCE_DIR}" -B "${root}/build"
    "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}" "-DCMAKE_C_COMPILER=${C_COMPILER}"
    "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror" "-DCMAKE_PREFIX_PATH=${prefix}")
run(${CMAKE_COMMAND} --build "${root}/build")
run_program("${root}/build/host_renderer")

find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
    set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
    run(${PKG_CONFIG} --cflags --libs vyre-vk vulkan)
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(${C_COMPILER} -std=c11 -o "${root}/host_renderer" "${SOURCE_DIR}/main.c"
        "${SOURCE_DIR}/host.c" ${flags} "-Wl,-rpath,${prefix}/${LIBDIR}")
    run_program("${root}/host_renderer")
endif()
