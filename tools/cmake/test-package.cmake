# The ctest entry "package": makes the Debian packages in a folder of its own, looks at what they say
# and have, and runs a tool out of them; with lintian, that finds no error.
# In: BINARY_DIR CPACK DPKG_DEB LIBDIR.

set(root "${BINARY_DIR}/package-test")
file(REMOVE_RECURSE "${root}")
file(MAKE_DIRECTORY "${root}")

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
        ERROR_VARIABLE errors)
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "${command}\nended with ${result}:\n${output}\n${errors}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# The package of that name, unpacked; its fields must match each of the patterns given.
function(check_package name)
    file(GLOB files "${root}/${name}_*.deb")
    list(LENGTH files count)
    if(NOT count EQUAL 1)
        message(FATAL_ERROR "${count} packages are named ${name}: ${files}")
    endif()
    run(${DPKG_DEB} -I "${files}")
    foreach(pattern "Package: ${name}\n" "Maintainer: [^\n]+<[^\n]+>" "Version: [0-9.]+-1\n" ${ARGN})
        if(NOT output MATCHES "${pattern}")
            message(FATAL_ERROR "${name} has no field '${pattern}':\n${output}")
        endif()
    endforeach()
    run(${DPKG_DEB} -x "${files}" "${root}/${name}")
    if(NOT EXISTS "${root}/${name}/usr/share/doc/${name}/copyright")
        message(FATAL_ERROR "${name} has no copyright")
    endif()
endfunction()

# The package has the files, and no other one has them.
function(check_files name)
    foreach(file IN LISTS ARGN)
        file(GLOB found "${root}/*/usr/${file}")
        if(NOT found STREQUAL "${root}/${name}/usr/${file}")
            message(FATAL_ERROR "${file} belongs into ${name}, and lies in: ${found}")
        endif()
    endforeach()
endfunction()

# Fast rather than small.
run(${CPACK} -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip --config "${BINARY_DIR}/CPackConfig.cmake" -B "${root}")
check_package(libvyre-vk0 "Depends: [^\n]*libc6" "Section: libs\n" "Description: [A-Z]")
check_package(libvyre-vk-dev "Depends: [^\n]*libvyre-vk0 \\(= " "Section: libdevel\n")
file(GLOB shared RELATIVE "${root}/libvyre-vk0/usr" "${root}/libvyre-vk0/usr/${LIBDIR}/libvyre-vk.so.0*")
list(LENGTH shared count)
if(NOT count EQUAL 2) # and its link
    message(FATAL_ERROR "libvyre-vk0 has of the library: ${shared}")
endif()
check_files(libvyre-vk0 ${shared})
check_files(libvyre-vk-dev ${LIBDIR}/libvyre-vk.so ${LIBDIR}/libvyre-vk.a include/vyre/vyre.h
    ${LIBDIR}/pkgconfig/vyre-vk.pc ${LIBDIR}/cmake/vyre-vk/vyre-vk-config.cmake
    share/vyre-vk/shaders/bfs.vyre)
if(EXISTS "${BINARY_DIR}/bin/vyre-run")
    check_package(vyre-vk-tools "Depends: [^\n]*libc6")
    check_files(vyre-vk-tools bin/vyre-run bin/vyre-spv share/bash-completion/completions/vyre-run)
    run("${root}/vyre-vk-tools/usr/bin/vyre-run" --version)
    if(NOT output MATCHES "^vyre-run [0-9]")
        message(FATAL_ERROR "vyre-run --version says: ${output}")
    endif()
    if(EXISTS "${BINARY_DIR}/manual/vyre-run.1.gz")
        check_files(vyre-vk-tools share/man/man1/vyre-run.1.gz)
    endif()
endif()

find_program(LINTIAN lintian)
if(LINTIAN)
    # The address is the packager's to give.
    set(suppressed bogus-mail-host,bogus-mail-host-in-debian-changelog)
    file(GLOB files "${root}/*.deb")
    run(${LINTIAN} --allow-root --fail-on error --suppress-tags ${suppressed} ${files})
    message(STATUS "lintian finds no error")
endif()
message(STATUS "packages: done")
