# The installed tree: both libraries, headers, shaders, find_package and pkg-config. Components, of
# which VyrePackage.cmake makes packages: library (what programs run with), development, tools.

set(vyre_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/vyre-vk")
set(vyre_config_dir "${PROJECT_BINARY_DIR}/config")

install(TARGETS vyre-vk EXPORT vyre-vk-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development) # of Windows: for linking
install(FILES "${archive}" DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/vyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
    FILES_MATCHING PATTERN "*.h")
install(DIRECTORY shaders/ DESTINATION ${CMAKE_INSTALL_DATADIR}/vyre-vk/shaders COMPONENT development
    FILES_MATCHING PATTERN "*.vyre" PATTERN "*.bin" PATTERN "glsl" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)

install(EXPORT vyre-vk-targets NAMESPACE vyre:: DESTINATION ${vyre_cmake_dir}
    COMPONENT development)
configure_package_config_file(tools/cmake/vyre-vk-config.cmake.in
    "${vyre_config_dir}/vyre-vk-config.cmake" INSTALL_DESTINATION ${vyre_cmake_dir}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_DATADIR
        CMAKE_INSTALL_BINDIR)
write_basic_package_version_file("${vyre_config_dir}/vyre-vk-config-version.cmake"
    COMPATIBILITY SameMajorVersion)
install(FILES "${vyre_config_dir}/vyre-vk-config.cmake"
    "${vyre_config_dir}/vyre-vk-config-version.cmake" tools/cmake/VyreAddKernel.cmake
    DESTINATION ${vyre_cmake_dir} COMPONENT development)

# Relative to where the file lies, so that an installed tree can be moved.
file(RELATIVE_PATH vyre_pc_prefix "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
set(vyre_pc_private "-lm -ldl -pthread")
if(WIN32)
    set(vyre_pc_private "-lm")
endif()
configure_file(tools/cmake/vyre-vk.pc.in "${vyre_config_dir}/vyre-vk.pc" @ONLY)
install(FILES "${vyre_config_dir}/vyre-vk.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
