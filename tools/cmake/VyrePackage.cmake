# `cpack -G DEB` in the build folder: libvyre-vk0, libvyre-vk-dev and, with tools, vyre-vk-tools; and
# the test "package", which looks into them. Configure with CMAKE_INSTALL_PREFIX=/usr, so that
# libraries go where Debian has them.

set(VYRE_PACKAGE_CONTACT "libvyre-vk <vyre-vk@localhost>" CACHE STRING
    "Who makes the Debian packages: Name <address>")
mark_as_advanced(VYRE_PACKAGE_CONTACT)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vyre-vk)
set(CPACK_PACKAGE_CONTACT "${VYRE_PACKAGE_CONTACT}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL library development)
if(vyre_tools)
    list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# DEB-DEFAULT files have this in their names.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libvyre-vk0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
# Loaded when it runs.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "libvulkan1, mesa-vulkan-drivers | vulkan-icd")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Runs compute programs whose workgroups must meet before they go on: cuts them
at the barriers, generates SPIR-V, and replays the parts on a Vulkan device.")
set(vyre_package_dir "${PROJECT_BINARY_DIR}/package-files")
file(WRITE "${vyre_package_dir}/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${vyre_package_dir}/triggers")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libvyre-vk-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libvyre-vk0 (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS libvulkan-dev)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, static library, CMake and pkg-config files of libvyre-vk, and its
library of compute programs.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME vyre-vk-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "libvulkan1, mesa-vulkan-drivers | vulkan-icd")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "graphviz, vulkan-validationlayers")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "vyre-run runs a compute program on a device or the reference interpreter,
vyre-spv shows what it compiles to, vyre-scan finds many patterns in many files, vyre-bench measures.")

# What Debian wants in every package; no part of a plain install.
string(TIMESTAMP vyre_today "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT "${vyre_package_dir}/changelog.Debian" CONTENT
"vyre-vk (${PROJECT_VERSION}-1) unstable; urgency=medium

  * Packaged by cpack; CHANGELOG.md of libvyre-vk says what is new.

 -- ${VYRE_PACKAGE_CONTACT}  ${vyre_today}
")
find_program(VYRE_GZIP NAMES gzip DOC "gzip, for the man pages that are installed")
if(VYRE_GZIP)
    execute_process(COMMAND ${VYRE_GZIP} -9nkf "${vyre_package_dir}/changelog.Debian"
        COMMAND_ERROR_IS_FATAL ANY)
endif()
set(vyre_packages libvyre-vk0 libvyre-vk-dev vyre-vk-tools)
foreach(component package IN ZIP_LISTS CPACK_COMPONENTS_ALL vyre_packages)
    if(NOT component)
        continue()
    endif()
    set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package})
    install(FILES LICENSE DESTINATION ${folder} RENAME copyright COMPONENT ${component}
        EXCLUDE_FROM_ALL)
    if(VYRE_GZIP)
        install(FILES "${vyre_package_dir}/changelog.Debian.gz" DESTINATION ${folder}
            COMPONENT ${component} EXCLUDE_FROM_ALL)
    endif()
endforeach()
include(CPack)

find_program(VYRE_DPKG_DEB NAMES dpkg-deb)
find_program(VYRE_DPKG_SHLIBDEPS NAMES dpkg-shlibdeps)
mark_as_advanced(VYRE_DPKG_DEB VYRE_DPKG_SHLIBDEPS)
if(VYRE_BUILD_TESTS AND NOT VYRE_TEST_DIRS AND NOT VYRE_SANITIZE AND VYRE_DPKG_DEB
        AND VYRE_DPKG_SHLIBDEPS)
    add_test(NAME package
        COMMAND ${CMAKE_COMMAND} -DBINARY_DIR=${PROJECT_BINARY_DIR} -DCPACK=${CMAKE_CPACK_COMMAND}
            -DDPKG_DEB=${VYRE_DPKG_DEB} -DLIBDIR=${CMAKE_INSTALL_LIBDIR}
            -P ${PROJECT_SOURCE_DIR}/tools/cmake/test-package.cmake)
    set_tests_properties(package PROPERTIES LABELS install TIMEOUT 300)
endif()
