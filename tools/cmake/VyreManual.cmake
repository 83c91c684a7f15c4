# Man pages (by help2man, where it is) and completion for bash and zsh, made from what the tools
# print with --help and --version: build/manual/NAME.1, build/manual/bash/NAME, build/manual/zsh/_NAME.

set(vyre_about_vyre-run "run a compute program on a Vulkan device or the reference interpreter")
set(vyre_about_vyre-spv "compile a compute program to SPIR-V and look at it")
set(vyre_about_vyre-demo "compute what breaks when a Debian package goes away")
set(vyre_about_vyre-bench "measure libvyre-vk on a device beside hand-written peers")

if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "man pages and completion are left out: the tools do not run here")
    return()
endif()
find_program(VYRE_HELP2MAN NAMES help2man DOC "help2man, for the man pages of the tools")
mark_as_advanced(VYRE_HELP2MAN)
if(NOT VYRE_HELP2MAN)
    message(STATUS "man pages of the tools are left out: there is no help2man (tools/setup.sh)")
endif()

set(vyre_manual_dir "${PROJECT_BINARY_DIR}/manual")
file(MAKE_DIRECTORY "${vyre_manual_dir}/bash" "${vyre_manual_dir}/zsh")
set(vyre_manual_files "")
foreach(name IN LISTS vyre_tools)
    set(bash "${vyre_manual_dir}/bash/${name}")
    set(zsh "${vyre_manual_dir}/zsh/_${name}")
    set(script "${PROJECT_SOURCE_DIR}/tools/cmake/make-completion.cmake")
    add_custom_command(OUTPUT "${bash}" "${zsh}"
        COMMAND ${CMAKE_COMMAND} "-DTOOL=$<TARGET_FILE:${name}>" -DNAME=${name} "-DBASH=${bash}"
            "-DZSH=${zsh}" -P "${script}"
        DEPENDS ${name} "${script}" tools/cmake/completion.bash.in tools/cmake/completion.zsh.in
        COMMENT "Making the completion of ${name}" VERBATIM)
    list(APPEND vyre_manual_files "${bash}" "${zsh}")
    install(FILES "${bash}" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES "${zsh}" DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    if(VYRE_HELP2MAN)
        set(page "${vyre_manual_dir}/${name}.1")
        set(see "${PROJECT_SOURCE_DIR}/tools/cmake/manual.h2m")
        add_custom_command(OUTPUT "${page}"
            COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${VYRE_HELP2MAN} --no-info --section=1
                --source=libvyre-vk "--name=${vyre_about_${name}}" "--include=${see}"
                "--output=${page}" "$<TARGET_FILE:${name}>"
            DEPENDS ${name} "${see}" COMMENT "Making the man page of ${name}" VERBATIM)
        list(APPEND vyre_manual_files "${page}")
        install(FILES "${page}" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    endif()
endforeach()
add_custom_target(vyre-manual ALL DEPENDS ${vyre_manual_files})
