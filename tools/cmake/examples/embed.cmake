# vyre_add_kernel from the package, from the source tree, and below another project: results, what a
# change of the program does, and how errors of it show.
function(check_embed program)
    if(has_device)
        run("${program}")
        must_match("${output}" "^${ARGN}\nnothing was compiled\n$")
    endif()
endfunction()

set(right "0 8 28 56 70 56 28 8 0")
check_embed("${build}/embed" ${right})
check_embed("${BINARY_DIR}/bin/embed" ${right})

# Errors of the program are the build's, with their place; and once it is right, so is the build.
set(copy "${build}/source")
file(COPY "${source}/" DESTINATION "${copy}")
file(READ "${copy}/rod.vyre" text)
string(REPLACE "before[i] = heat[i]" "before[i] = heats[i]" wrong "${text}")
file(WRITE "${copy}/rod.vyre" "${wrong}")
configure("${copy}" "${build}/copy")
must_fail("rod.vyre:12:[0-9]+: error: .*heats" ${CMAKE_COMMAND} --build "${build}/copy")
file(WRITE "${copy}/rod.vyre" "${text}")
run(${CMAKE_COMMAND} --build "${build}/copy")
check_embed("${build}/copy/embed" ${right})

# Another program: the same build notices, once.
string(REPLACE "fixpoint 4" "fixpoint 1" changed "${text}")
file(WRITE "${copy}/rod.vyre" "${changed}")
run(${CMAKE_COMMAND} --build "${build}/copy")
must_match("${output}" "Compiling rod.vyre")
check_embed("${build}/copy/embed" "0 0 0 64 128 64 0 0 0")
run(${CMAKE_COMMAND} --build "${build}/copy")
if(output MATCHES "Compiling rod.vyre")
    message(FATAL_ERROR "built again, although nothing changed:\n${output}")
endif()

# Below another project, which builds no tools of ours: the compiler is made for the kernel alone.
file(WRITE "${build}/below/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(below LANGUAGES C CXX)
include(FetchContent)
FetchContent_Declare(vyre-vk SOURCE_DIR \"${SOURCE_DIR}\")
FetchContent_MakeAvailable(vyre-vk)
file(WRITE \${CMAKE_CURRENT_BINARY_DIR}/main.c \"int main(void) { return 0; }\")
add_executable(below \${CMAKE_CURRENT_BINARY_DIR}/main.c)
vyre_add_kernel(below rod \"${source}/rod.vyre\" OPTIONS --target vulkan1.3)
vyre_add_kernel(below scan \"\${vyre-vk_SHADER_DIR}/scan.vyre\")
")
configure("${build}/below" "${build}/below/build" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}")
if(GENERATOR STREQUAL "Ninja")
    run(${MAKE_PROGRAM} -C "${build}/below/build" -t commands below)
    must_match("${output}" "-o [^ ]*bin/vyre-spv.*bin/vyre-spv [^\n]*rod.vyre.*below")
    run(${MAKE_PROGRAM} -C "${build}/below/build" -t commands all)
    if(NOT output MATCHES "bin/vyre-spv [^\n]*rod.vyre" OR output MATCHES "vyre-run")
        message(FATAL_ERROR "the tools are built below another project:\n${output}")
    endif()
endif()

# In a project of C++ alone.
file(WRITE "${build}/cpp/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(cpp LANGUAGES CXX)
find_package(vyre-vk 0.1 CONFIG REQUIRED)
file(WRITE \${CMAKE_CURRENT_BINARY_DIR}/main.cpp \"#include <rod.h>
int main() { return rod_size > 100 && rod[0] == 'V' ? 0 : 1; }\")
add_executable(cpp \${CMAKE_CURRENT_BINARY_DIR}/main.cpp)
vyre_add_kernel(cpp rod \"${source}/rod.vyre\" OPTIONS --target vulkan1.2 --interface descriptor)
")
configure("${build}/cpp" "${build}/cpp/build" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Werror")
run(${CMAKE_COMMAND} --build "${build}/cpp/build")
run("${build}/cpp/build/cpp")

# Mistakes in the call.
function(must_refuse expected arguments)
    file(REMOVE_RECURSE "${build}/wrong")
    file(WRITE "${build}/wrong/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(wrong LANGUAGES C)
find_package(vyre-vk 0.1 CONFIG REQUIRED)
file(WRITE \${CMAKE_CURRENT_BINARY_DIR}/main.c \"int main(void) { return 0; }\")
add_executable(wrong \${CMAKE_CURRENT_BINARY_DIR}/main.c)
vyre_add_kernel(${arguments})
")
    must_fail("${expected}" ${CMAKE_COMMAND} -G "${GENERATOR}" -S "${build}/wrong"
        -B "${build}/wrong/build" "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}"
        "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_PREFIX_PATH=${prefix}")
endfunction()
must_refuse("is no name in C" "wrong rod.x ${source}/rod.vyre")
must_refuse("there is no .*cold.vyre" "wrong rod cold.vyre")
must_refuse("no target 'right'" "right rod ${source}/rod.vyre")
must_refuse("unknown: --stats" "wrong rod ${source}/rod.vyre --stats")
run(${CMAKE_COMMAND} --install "${BINARY_DIR}" --prefix "${build}/bare")
file(REMOVE "${build}/bare/bin/vyre-spv")
set(prefix "${build}/bare")
must_refuse("comes without vyre-spv" "wrong rod ${source}/rod.vyre")

# Given by hand, as when cross-compiling.
configure("${source}" "${build}/given" "-DVYRE_SPV=${BINARY_DIR}/bin/vyre-spv")
run(${CMAKE_COMMAND} --build "${build}/given")
check_embed("${build}/given/embed" ${right})
