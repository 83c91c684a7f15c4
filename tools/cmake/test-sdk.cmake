# The ctest entry "sdk": builds parts of the library against a Vulkan SDK that is made here of links to
# the files that this build found, in the layouts of Linux and of Windows. Its headers leave a mark in
# what is compiled with them, its compiler of GLSL one in a file. An SDK that lacks parts, that is none,
# or that is another one than before is told from one that is right.
# In: BINARY_DIR SOURCE_DIR C_COMPILER CXX_COMPILER LAUNCHER GENERATOR MAKE_PROGRAM VULKAN_INCLUDE
# VOLK_INCLUDE VMA_INCLUDE SPIRV_INCLUDE DEPS_DIR, and where they were found SPIRV_TOOLS (the library),
# SPIRV_TOOLS_INCLUDE, GLSLANG.

cmake_policy(VERSION 3.25)
set(root "${BINARY_DIR}/sdk-test")
file(REMOVE_RECURSE "${root}")

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
        ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

function(must_match text expected)
    if(NOT text MATCHES "${expected}")
        message(FATAL_ERROR "not as expected, which is ${expected}:\n${text}")
    endif()
endfunction()

# marked(FROM TO WORD): a copy of a header that leaves the word in each object.
function(marked from to word)
    file(READ "${from}" text)
    file(WRITE "${to}" "${text}
#ifndef VYRE_SDK_MARK_${word}
#define VYRE_SDK_MARK_${word}
__attribute__((used)) static const char vyre_sdk_mark_${word}[] = \"made with ${word} of the SDK\";
#endif
")
endfunction()

# make_sdk(FOLDER INCLUDE LIB BIN VOLK)
function(make_sdk sdk include lib bin volk)
    set(include "${sdk}/${include}")
    file(MAKE_DIRECTORY "${include}/vulkan" "${include}/spirv/unified1" "${sdk}/${lib}" "${sdk}/${bin}")
    file(GLOB files "${VULKAN_INCLUDE}/vulkan/*.h")
    foreach(file IN LISTS files)
        file(COPY "${file}" DESTINATION "${include}/vulkan")
    endforeach()
    marked("${VULKAN_INCLUDE}/vulkan/vulkan_core.h" "${include}/vulkan/vulkan_core.h" vulkan)
    file(CREATE_LINK "${VULKAN_INCLUDE}/vk_video" "${include}/vk_video" SYMBOLIC)
    marked("${VOLK_INCLUDE}/volk.h" "${include}/${volk}/volk.h" volk)
    file(CREATE_LINK "${VOLK_INCLUDE}/volk.c" "${include}/${volk}/volk.c" SYMBOLIC)
    marked("${VMA_INCLUDE}/vk_mem_alloc.h" "${include}/vma/vk_mem_alloc.h" vma)
    marked("${SPIRV_INCLUDE}/spirv/unified1/spirv.h" "${include}/spirv/unified1/spirv.h" spirv)
    file(CREATE_LINK "${SPIRV_INCLUDE}/spirv/unified1/GLSL.std.450.h"
        "${include}/spirv/unified1/GLSL.std.450.h" SYMBOLIC)
    if(SPIRV_TOOLS AND SPIRV_TOOLS_INCLUDE)
        cmake_path(GET SPIRV_TOOLS FILENAME name)
        file(CREATE_LINK "${SPIRV_TOOLS_INCLUDE}/spirv-tools" "${include}/spirv-tools" SYMBOLIC)
        file(CREATE_LINK "${SPIRV_TOOLS}" "${sdk}/${lib}/${name}" SYMBOLIC)
    endif()
    if(GLSLANG)
        file(WRITE "${sdk}/${bin}/glslangValidator"
            "#!/bin/sh\necho \"$@\" >>\"${sdk}/called\"\nexec \"${GLSLANG}\" \"$@\"\n")
        file(CHMOD "${sdk}/${bin}/glslangValidator"
            PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    endif()
endfunction()

set(configure_options -G "${GENERATOR}" -S "${SOURCE_DIR}" "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}"
    "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    "-DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
    "-DVYRE_DEPS_DIR=${DEPS_DIR}" -DVYRE_BUILD_TESTS=OFF -DVYRE_BUILD_EXAMPLES=OFF)

# configure(SDK BUILD): with that VULKAN_SDK.
function(configure sdk build)
    run(${CMAKE_COMMAND} -E env --unset=CMAKE_PREFIX_PATH "VULKAN_SDK=${sdk}" ${CMAKE_COMMAND}
        ${configure_options} -B "${build}")
    set(output "${output}" PARENT_SCOPE)
endfunction()
function(must_refuse sdk build expected)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env "VULKAN_SDK=${sdk}" ${CMAKE_COMMAND}
        ${configure_options} -B "${build}"
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " line "${output}") # CMake breaks long lines
    if(result EQUAL 0 OR NOT line MATCHES "${expected}")
        message(FATAL_ERROR "VULKAN_SDK=${sdk} ended with ${result}, without ${expected}:\n${output}")
    endif()
endfunction()
# What the build says that it found, each in the SDK.
function(must_be_of text folder)
    foreach(name IN LISTS ARGN)
        must_match("${text}" "-- ${name}: ${folder}/")
    endforeach()
endfunction()

set(parts vulkan volk vma spirv_headers)
if(SPIRV_TOOLS AND SPIRV_TOOLS_INCLUDE)
    list(APPEND parts spirv_tools)
endif()
if(GLSLANG)
    list(APPEND parts glslang)
endif()

# Linux's layout: all of it is used, and the objects tell.
make_sdk("${root}/1.2.3/x86_64" include lib bin volk)
configure("${root}/1.2.3/x86_64" "${root}/linux")
must_be_of("${output}" "${root}/1.2.3/x86_64" ${parts})
set(targets vy_vma vy_spirv vy_engine)
if(GENERATOR STREQUAL "Ninja")
    # One object of each is enough.
    set(objects CMakeFiles/vy_)
    set(targets vy_vma ${objects}spirv.dir/codegen/spirv/module.c.o
        ${objects}engine.dir/engine/device/loader.c.o)
endif()
if(GLSLANG)
    list(APPEND targets vyre_shaders)
endif()
run(${CMAKE_COMMAND} --build "${root}/linux" --target ${targets})
foreach(mark vma=vulkan vma=vma engine=volk spirv=spirv)
    string(REGEX REPLACE "(.*)=(.*)" "vy_\\1;\\2" mark "${mark}")
    list(GET mark 0 layer)
    list(GET mark 1 word)
    file(GLOB_RECURSE objects "${root}/linux/CMakeFiles/${layer}.dir/*.o")
    set(found FALSE)
    foreach(object IN LISTS objects)
        file(STRINGS "${object}" marks REGEX "made with ${word} of the SDK" LIMIT_COUNT 1)
        if(marks)
            set(found TRUE)
            break()
        endif()
    endforeach()
    if(NOT found)
        message(FATAL_ERROR "no object of ${layer} was made with ${word} of the SDK")
    endif()
endforeach()
if(GLSLANG)
    file(STRINGS "${root}/1.2.3/x86_64/called" calls REGEX "\\.comp")
    must_match("${calls}" "\\.comp")
endif()
message(STATUS "Linux's layout: used, as objects and calls tell")

# Configured again without it, the build stays with it; another one is refused.
run(${CMAKE_COMMAND} -E env --unset=VULKAN_SDK ${CMAKE_COMMAND} "${root}/linux")
must_be_of("${output}" "${root}/1.2.3/x86_64" vulkan volk vma spirv_headers)
make_sdk("${root}/windows-sdk" Include Lib Bin Volk)
must_refuse("${root}/windows-sdk" "${root}/linux"
    "configured with VULKAN_SDK=${root}/1.2.3/x86_64, and VULKAN_SDK is .*cmake --fresh")

configure("${root}/windows-sdk" "${root}/windows")
must_be_of("${output}" "${root}/windows-sdk" ${parts})
message(STATUS "Windows's layout: found")

# What an SDK comes without is the system's.
file(COPY "${root}/1.2.3/x86_64/include/vulkan" DESTINATION "${root}/small/include")
configure("${root}/small" "${root}/small-build")
must_be_of("${output}" "${root}/small" vulkan)
foreach(name volk vma spirv_headers)
    if(NOT output MATCHES "-- ${name}: " OR output MATCHES "-- ${name}: ${root}")
        message(FATAL_ERROR "${name} is not the system's:\n${output}")
    endif()
endforeach()

# None at all, the folder around it, and one that is too old.
must_refuse("${root}/nowhere" "${root}/wrong" "VULKAN_SDK=${root}/nowhere has neither .*unset it")
must_refuse("${root}/1.2.3" "${root}/wrong" "is the folder around an SDK.*${root}/1.2.3/x86_64")
file(WRITE "${root}/old/include/vulkan/vulkan_core.h" "#define VK_API_VERSION_1_0 0\n")
must_refuse("${root}/old" "${root}/wrong" "of a Vulkan before 1.3.*another VULKAN_SDK")
message(STATUS "wrong ones: refused")

# Users of an installed library see its headers, too.
if(EXISTS "${BINARY_DIR}/lib/libvyre-vk.a")
    run(${CMAKE_COMMAND} --install "${BINARY_DIR}" --prefix "${root}/prefix")
    foreach(sdk 1.2.3/x86_64 windows-sdk)
        run(${CMAKE_COMMAND} -E env "VULKAN_SDK=${root}/${sdk}" ${CMAKE_COMMAND} -G "${GENERATOR}"
            -S "${SOURCE_DIR}/tools/cmake/consumer" -B "${root}/${sdk}-consumer"
            "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}" "-DCMAKE_C_COMPILER=${C_COMPILER}"
            "-DCMAKE_PREFIX_PATH=${root}/prefix")
        run(${CMAKE_COMMAND} --build "${root}/${sdk}-consumer")
        file(STRINGS "${root}/${sdk}-consumer/consumer-static" marks
            REGEX "made with vulkan of the SDK" LIMIT_COUNT 1)
        must_match("${marks}" "vulkan of the SDK")
    endforeach()
    message(STATUS "users of the installed library: its Vulkan headers")
endif()
