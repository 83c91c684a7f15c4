# The target docs: the reference of the public headers by Doxygen, in build/reference/html, where
# Doxygen and awk are; and the test "reference", that nothing is missing in it.

find_program(VYRE_DOXYGEN NAMES doxygen DOC "Doxygen, for the target docs")
find_program(VYRE_AWK NAMES awk mawk gawk DOC "awk, for the target docs")
mark_as_advanced(VYRE_DOXYGEN VYRE_AWK)
if(NOT VYRE_DOXYGEN OR NOT VYRE_AWK)
    message(STATUS "the target docs is left out: it needs doxygen and awk")
    return()
endif()
set(vyre_doxyfile "${PROJECT_BINARY_DIR}/reference/Doxyfile")
configure_file(docs/Doxyfile.in "${vyre_doxyfile}" @ONLY)
set(vyre_reference ${CMAKE_COMMAND} "-DDOXYGEN=${VYRE_DOXYGEN}" "-DDOXYFILE=${vyre_doxyfile}"
    -P "${PROJECT_SOURCE_DIR}/tools/cmake/make-reference.cmake")
add_custom_target(docs COMMAND ${vyre_reference}
    COMMENT "Making the reference in build/reference/html" VERBATIM)
if(VYRE_BUILD_TESTS AND NOT VYRE_TEST_DIRS)
    add_test(NAME reference COMMAND ${vyre_reference})
    set_tests_properties(reference PROPERTIES LABELS install TIMEOUT 300)
endif()
