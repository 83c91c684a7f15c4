# The result, and the diagnostic where there is no such device.
if(has_device)
    run("${build}/hello")
    must_match("${output}" "^1 4 9 16 25 36 49 64\n$")
    set(ENV{VYRE_DEVICE} "a device that is not there")
    must_fail("^error: .*a device that is not there.*Fix: " "${build}/hello")
endif()
