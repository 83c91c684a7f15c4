# shaders/glsl/*.comp -> build/shaders/NAME.spv, by glslang.

file(GLOB vyre_glsl CONFIGURE_DEPENDS shaders/glsl/*.comp)
if(vyre_glsl AND NOT VYRE_GLSLANG)
    message(WARNING "glslangValidator was not found: shaders/glsl/ is not compiled")
elseif(vyre_glsl)
    file(GLOB vyre_glsl_includes CONFIGURE_DEPENDS shaders/glsl/*.glsl shaders/glsl/*.h)
    set(vyre_spv "")
    foreach(source IN LISTS vyre_glsl)
        cmake_path(GET source STEM LAST_ONLY stem)
        set(output "${PROJECT_BINARY_DIR}/shaders/${stem}.spv")
        add_custom_command(OUTPUT "${output}"
            COMMAND ${CMAKE_COMMAND} -E make_directory "${PROJECT_BINARY_DIR}/shaders"
            COMMAND ${VYRE_GLSLANG} -V --target-env vulkan1.2 --quiet
                "-I${PROJECT_SOURCE_DIR}/shaders/glsl" -o "${output}" "${source}"
            DEPENDS "${source}" ${vyre_glsl_includes}
            COMMENT "Compiling ${stem}.comp" VERBATIM)
        list(APPEND vyre_spv "${output}")
    endforeach()
    add_custom_target(vyre_shaders ALL DEPENDS ${vyre_spv})
endif()
