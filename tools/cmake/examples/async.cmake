# Every frame's measure, in order; the program compares each with what it drew.
if(has_device)
    run("${build}/async")
    must_match("${output}" "^frame 1: 256 pixels around 30, 44\nframe 2: 256 pixels around 53, 81\n")
    must_match("${output}" "\nframe 24: [^\n]*\nevery measure is right; validation [a-z]*, 0 messages\n$")
endif()
