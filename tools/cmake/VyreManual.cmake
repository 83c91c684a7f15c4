# Man pages (by help2man, where it is) and completion for bash, zsh and fish, made from what the
# tools print with --help and --version: build/manual/NAME.1, build/manual/bash/NAME,
# build/manual/zsh/_NAME, build/manual/fish/NAME.fish.

set(vyre_about_vyre-run "run a compute program on a Vulkan device or the reference interpreter")
set(vyre_about_vyre-spv "compile a compute program to SPIR-V and look at it")
set(vyre_about_vyre-demo "compute what breaks when a Debian package goes away")
set(vyre_about_vyre-scan "find many patterns in many files at once")
set(vyre_about_vyre-bench "measure libvyre-vk on a device beside hand-written peers")

if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "man pages and completion are left out: the tools do not run here")
    return()
endif()
find_program(VYRE_HELP2MAN NAMES help2man DOC "help2man, for the man pages of the tools")
find_program(VYRE_GZIP NAMES gzip DOC "gzip, for the man pages that are installed")
mark_as_advanced(VYRE_HELP2MAN VYRE_GZIP)
if(NOT VYRE_HELP2MAN)
    message(STATUS "man pages of the tools are left out: there is no help2man (tools/setup.sh)")
endif()

# Debian's zsh looks elsewhere for what packages bring.
set(zsh_dir ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
    set(zsh_dir ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
endif()
set(VYRE_ZSH_DIR ${zsh_dir} CACHE STRING "Where completion for zsh is installed, below the prefix")
mark_as_advanced(VYRE_ZSH_DIR)

set(vyre_manual_dir "${PROJECT_BINARY_DIR}/manual")
file(MAKE_DIRECTORY "${vyre_manual_dir}/bash" "${vyre_manual_dir}/zsh"
    "${vyre_manual_dir}/fish")
set(vyre_manual_files "")
foreach(name IN LISTS vyre_tools)
    set(bash "${vyre_manual_dir}/bash/${name}")
    set(zsh "${vyre_manual_dir}/zsh/_${name}")
    set(fish "${vyre_manual_dir}/fish/${name}.fish")
    set(script "${PROJECT_SOURCE_DIR}/tools/cmake/make-completion.cmake")
    add_custom_command(OUTPUT "${bash}" "${zsh}" "${fish}"
        COMMAND ${CMAKE_COMMAND} "-DTOOL=$<TARGET_FILE:${name}>" -DNAME=${name} "-DBASH=${bash}"
            "-DZSH=${zsh}" "-DFISH=${fish}" -P "${script}"
        DEPENDS ${name} "${script}" tools/cmake/completion.bash.in tools/cmake/completion.zsh.in
            tools/cmake/completion.fish.in
        COMMENT "Making the completion of ${name}" VERBATIM)
    list(APPEND vyre_manual_files "${bash}" "${zsh}" "${fish}")
    install(FILES "${bash}" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        COMPONENT tools)
    install(FILES "${zsh}" DESTINATION ${VYRE_ZSH_DIR} COMPONENT tools)
    install(FILES "${fish}" DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        COMPONENT tools)
    if(VYRE_HELP2MAN)
        set(page "${vyre_manual_dir}/${name}.1")
        set(see "${PROJECT_SOURCE_DIR}/tools/cmake/manual.h2m")
        add_custom_command(OUTPUT "${page}"
            COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${VYRE_HELP2MAN} --no-info --section=1
                --source=libvyre-vk "--name=${vyre_about_${name}}" "--include=${see}"
                "--output=${page}" "$<TARGET_FILE:${name}>"
            DEPENDS ${name} "${see}" COMMENT "Making the man page of ${name}" VERBATIM)
        list(APPEND vyre_manual_files "${page}")
        if(VYRE_GZIP)
            add_custom_command(OUTPUT "${page}.gz" COMMAND ${VYRE_GZIP} -9nkf "${page}"
                DEPENDS "${page}" COMMENT "" VERBATIM)
            set(page "${page}.gz")
            list(APPEND vyre_manual_files "${page}")
        endif()
        install(FILES "${page}" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
    endif()
endforeach()
add_custom_target(vyre-manual ALL DEPENDS ${vyre_manual_files})
