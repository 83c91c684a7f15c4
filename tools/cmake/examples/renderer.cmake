# Without a window: the picture of frame 90, by renderer-check.c; VYRE_UPDATE_GOLDEN=1 writes its
# reference anew. With one, on a display of its own: resized, closed, and validation silent.
must_fail("usage:" "${build}/renderer" --headless)
if(NOT has_device)
    return()
endif()

set(picture "${build}/pond.png")
run("${build}/renderer" --headless --frames 90 --png "${picture}")
must_match("${output}" "^90 frames\nvalidation [a-z]+, 0 messages\n$")
set(check "${BINARY_DIR}/bin/renderer-check")
set(squares "${SOURCE_DIR}/tools/cmake/examples/renderer-squares.txt")
set(write "")
if("$ENV{VYRE_UPDATE_GOLDEN}" STREQUAL "1")
    set(write --write)
endif()
run("${check}" "${picture}" "${squares}" ${write})
message(STATUS "${output}")
# The check sees one that is wrong: of another frame.
run("${build}/renderer" --headless --frames 20 --png "${build}/other.png")
must_fail("squares differ by up to [1-9][0-9]" "${check}" "${build}/other.png"
    "${squares}")

find_program(XVFB_RUN xvfb-run)
find_program(XAUTH xauth)
if(XVFB_RUN AND XAUTH)
    run("${XVFB_RUN}" -a -s "-screen 0 1280x1024x24" "${build}/renderer" --frames 45 --resize)
    must_match("${output}" "^45 frames\n([3-9]|[1-9][0-9]) swapchains\nvalidation [a-z]+, 0 messages\n$")
else()
    message(STATUS "the window is left out: xvfb and xauth are needed (tools/setup.sh)")
endif()
