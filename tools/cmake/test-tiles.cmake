# The ctest entry "tiles": examples/tiles.c paints the same picture on the interpreter and on the device,
# in the waves that its items need. VYRE_TESTS_NO_DEVICE=1 leaves it at the interpreter.
# In: BINARY_DIR.

set(root "${BINARY_DIR}/tiles-test")
file(REMOVE_RECURSE "${root}")
file(MAKE_DIRECTORY "${root}")

function(paint picture)
    execute_process(COMMAND "${BINARY_DIR}/bin/tiles" ${ARGN} "${root}/${picture}"
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
    if(NOT result EQUAL 0 OR NOT output MATCHES "^426 of 426 items in 3 waves")
        message(FATAL_ERROR "tiles ${ARGN} ended with ${result}:\n${output}${errors}")
    endif()
    message(STATUS "${picture}: ${output}")
endfunction()

paint(interpreted.ppm --interpret)
file(SIZE "${root}/interpreted.ppm" size)
file(SHA256 "${root}/interpreted.ppm" interpreted)
if(NOT size EQUAL 196623) # the head, and 256 x 256 pixels of 3 bytes
    message(FATAL_ERROR "the picture has ${size} bytes")
endif()
if(NOT "$ENV{VYRE_TESTS_NO_DEVICE}" STREQUAL "1")
    paint(device.ppm)
    file(SHA256 "${root}/device.ppm" device)
    if(NOT device STREQUAL interpreted)
        message(FATAL_ERROR "the device painted another picture than the interpreter: see ${root}")
    endif()
endif()
