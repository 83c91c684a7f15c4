# The ctest entry "install": installs the build into a prefix of its own, builds and runs the
# programs of consumer/ against it with find_package and with pkg-config.
# In: BINARY_DIR SOURCE_DIR C_COMPILER CXX_COMPILER GENERATOR MAKE_PROGRAM LIBDIR VMA_INCLUDE_DIR (may
# be empty).

set(root "${BINARY_DIR}/install-test")
file(REMOVE_RECURSE "${root}")
file(MAKE_DIRECTORY "${root}")

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
        ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# Moved after the install: nothing in it may know where it was put.
run(${CMAKE_COMMAND} --install "${BINARY_DIR}" --prefix "${root}/first")
file(RENAME "${root}/first" "${root}/prefix")
set(prefix "${root}/prefix")

run(${CMAKE_COMMAND} -G "${GENERATOR}" -S "${SOURCE_DIR}" -B "${root}/build"
    "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}" "-DCMAKE_C_COMPILER=${C_COMPILER}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DVMA_INCLUDE_DIR=${VMA_INCLUDE_DIR}")
run(${CMAKE_COMMAND} --build "${root}/build")
foreach(program consumer-shared consumer-static consumer-host)
    if(EXISTS "${root}/build/${program}")
        run("${root}/build/${program}")
        message(STATUS "${program}: ran")
    elseif(NOT program STREQUAL "consumer-host")
        message(FATAL_ERROR "${program} was not built")
    endif()
endforeach()

find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
    set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
    run(${PKG_CONFIG} --cflags --libs vyre-vk)
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(${C_COMPILER} -std=c11 -o "${root}/pc-shared" "${SOURCE_DIR}/main.c" ${flags}
        "-Wl,-rpath,${prefix}/${LIBDIR}")
    run("${root}/pc-shared")
    run(${PKG_CONFIG} --static --cflags vyre-vk)
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(${C_COMPILER} -std=c11 -o "${root}/pc-static" "${SOURCE_DIR}/main.c" ${flags}
        "${prefix}/${LIBDIR}/libvyre-vk.a" -lm -ldl -pthread)
    run("${root}/pc-static")
    message(STATUS "pkg-config: ran")
endif()

# The tools run from there; their man pages and completion are where man, bash and zsh look.
foreach(tool vyre-run vyre-spv vyre-demo vyre-bench)
    if(NOT EXISTS "${BINARY_DIR}/bin/${tool}")
        continue() # built without tools
    endif()
    run("${prefix}/bin/${tool}" --version)
    if(NOT output MATCHES "^${tool} [0-9]")
        message(FATAL_ERROR "${tool} --version says: ${output}")
    endif()
    foreach(file bash-completion/completions/${tool} man/man1/${tool}.1)
        if(file MATCHES "^man" AND NOT EXISTS "${BINARY_DIR}/manual/${tool}.1")
            continue() # made without help2man
        endif()
        if(NOT EXISTS "${prefix}/share/${file}" AND NOT EXISTS "${prefix}/share/${file}.gz")
            message(FATAL_ERROR "there is no ${prefix}/share/${file}")
        endif()
    endforeach()
    file(GLOB zsh "${prefix}/share/zsh/*/_${tool}")
    if(NOT zsh)
        message(FATAL_ERROR "there is no completion of ${tool} for zsh below ${prefix}/share/zsh")
    endif()
    message(STATUS "${tool}: ran")
endforeach()
