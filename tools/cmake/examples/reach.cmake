# Answers of several lengths, in one process; a name that is not there, and a file that is not.
if(has_device)
    run("${build}/reach" "${source}/needs.txt" editor game random nothing)
    must_match("${output}" "^editor needs, in 4 passes: toolkit spelling fonts window-system compression protocol dictionaries
game needs, in 3 passes: window-system protocol sound
random needs, in 1 passes:
nothing: unknown\n$")
endif()
must_fail("usage:" "${build}/reach" "${source}/needs.txt")
must_fail("nowhere.txt: cannot be read" "${build}/reach" "${build}/nowhere.txt" editor)
file(WRITE "${build}/bad.txt" "# edges\none two\nthree\n")
must_fail("bad.txt:3: not two names" "${build}/reach" "${build}/bad.txt" one)
