# The ctest entry "install": the ways in which programs come to libvyre-vk, with the programs of
# consumer/, built and run, without any network. An install of the build into a prefix of its own, by
# find_package, and by pkg-config with the shared library and with the archive; the source tree below
# another project (add_subdirectory); a packed source tree fetched into one (FetchContent).
# In: BINARY_DIR SOURCE_DIR C_COMPILER CXX_COMPILER LAUNCHER (may be empty) GENERATOR MAKE_PROGRAM LIBDIR
# VMA_INCLUDE_DIR (may be empty) DEPS_DIR.

set(root "${BINARY_DIR}/install-test")
set(consumer "${SOURCE_DIR}/tools/cmake/consumer")
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

function(run_consumer program)
    run("${program}")
    if(NOT output STREQUAL "1 4 9\n")
        message(FATAL_ERROR "${program} prints: ${output}")
    endif()
endfunction()

# consume(WAY option...): the project of consumer/, in one of its ways.
function(consume way)
    set(build "${root}/${way}")
    run(${CMAKE_COMMAND} -G "${GENERATOR}" -S "${consumer}" -B "${build}" -DWAY=${way}
        "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}" "-DCMAKE_C_COMPILER=${C_COMPILER}"
        "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER}"
        "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" ${ARGN})
    run(${CMAKE_COMMAND} --build "${build}")
    foreach(library shared static)
        run_consumer("${build}/consumer-${library}")
    endforeach()
    message(STATUS "${way}: ran with both libraries")
endfunction()

# Moved after the install: nothing in it may know where it was put.
run(${CMAKE_COMMAND} --install "${BINARY_DIR}" --prefix "${root}/first")
file(RENAME "${root}/first" "${root}/prefix")
set(prefix "${root}/prefix")
consume(package "-DCMAKE_PREFIX_PATH=${prefix}" "-DVMA_INCLUDE_DIR=${VMA_INCLUDE_DIR}")
if(EXISTS "${root}/package/consumer-host")
    run("${root}/package/consumer-host")
    message(STATUS "consumer-host: ran")
endif()

# pkg_config(NAME PREFIX FLAGS option...): compiles with what pkg-config says for the prefix, and runs.
find_program(PKG_CONFIG NAMES pkg-config pkgconf REQUIRED)
function(pkg_config name where)
    set(ENV{PKG_CONFIG_PATH} "${where}/${LIBDIR}/pkgconfig")
    run(${PKG_CONFIG} --cflags --libs ${ARGN} vyre-vk)
    if(NOT output MATCHES "-lvyre-vk")
        message(FATAL_ERROR "pkg-config ${ARGN} says: ${output}")
    endif()
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(${C_COMPILER} -std=c11 -o "${root}/${name}" "${consumer}/main.c" ${flags}
        "-Wl,-rpath,${where}/${LIBDIR}")
    run_consumer("${root}/${name}")
    message(STATUS "${name}: ran")
endfunction()
pkg_config(pkg-config-shared "${prefix}")
# Where the archive is alone -lvyre-vk is the archive, which needs what --static tells.
file(COPY "${prefix}/include" DESTINATION "${root}/alone")
file(COPY "${prefix}/${LIBDIR}/libvyre-vk.a" "${prefix}/${LIBDIR}/pkgconfig"
    DESTINATION "${root}/alone/${LIBDIR}")
pkg_config(pkg-config-static "${root}/alone" --static)

consume(folder "-DVYRE_FOLDER=${SOURCE_DIR}")
# What a release has: the files and folders that the library is built of, and nothing beside.
file(GLOB parts RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/*")
list(FILTER parts EXCLUDE REGEX "^(build.*|tests|docs|examples)$")
run(${CMAKE_COMMAND} -E chdir "${SOURCE_DIR}" ${CMAKE_COMMAND} -E tar czf "${root}/vyre-vk.tar.gz" -- ${parts})
file(SHA256 "${root}/vyre-vk.tar.gz" hash)
consume(fetch "-DVYRE_ARCHIVE=file://${root}/vyre-vk.tar.gz" "-DVYRE_ARCHIVE_HASH=${hash}"
    "-DVYRE_DEPS_DIR=${DEPS_DIR}")

# The tools run from there; their man pages and completion are where man and the shells look.
foreach(tool vyre-run vyre-spv vyre-demo vyre-bench)
    if(NOT EXISTS "${BINARY_DIR}/bin/${tool}")
        continue() # built without tools
    endif()
    run("${prefix}/bin/${tool}" --version)
    if(NOT output MATCHES "^${tool} [0-9]")
        message(FATAL_ERROR "${tool} --version says: ${output}")
    endif()
    foreach(file bash-completion/completions/${tool} fish/vendor_completions.d/${tool}.fish
            man/man1/${tool}.1)
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
