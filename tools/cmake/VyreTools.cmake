# tools/vyre-NAME/*.c: one executable each, with all layers and tools/common/*.c. vyre-bench has peers
# beside: peers/*.c, shaders by glslang, and vyre-bench-cuda, another executable, by nvcc; and programs
# of shaders/ as arrays. Without VYRE_BUILD_TOOLS there is vyre-spv alone, built where something of a
# project around this one needs it (vyre_add_kernel).

if(WIN32)
    enable_language(RC) # for the manifest, with which paths are UTF-8
endif()
file(GLOB sources CONFIGURE_DEPENDS tools/common/*.c)
if(sources)
    add_library(vyre_tools_common STATIC EXCLUDE_FROM_ALL ${sources})
    set_target_properties(vyre_tools_common PROPERTIES
        ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/private")
    target_link_libraries(vyre_tools_common PRIVATE vyre_options
        PUBLIC vyre::dep::vulkan vyre::dep::volk)
endif()

set(vyre_tools "")
file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true tools/vyre-*)
foreach(folder IN LISTS folders)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c ${folder}/peers/*.c)
    if(NOT sources)
        continue()
    endif()
    cmake_path(GET folder FILENAME name)
    if(WIN32 AND name MATCHES "^vyre-(bench|demo|scan)$")
        continue() # processes, apt's lists and folders of POSIX systems
    endif()
    if(NOT VYRE_BUILD_SCAN AND name MATCHES "^vyre-(bench|scan)$")
        continue() # both scan
    endif()
    if(WIN32)
        list(APPEND sources tools/cmake/windows.rc)
    endif()
    if(VYRE_BUILD_TOOLS)
        add_executable(${name} ${sources})
        list(APPEND vyre_tools ${name})
    elseif(name STREQUAL "vyre-spv")
        add_executable(${name} EXCLUDE_FROM_ALL ${sources})
    else()
        continue()
    endif()
    target_compile_definitions(${name} PRIVATE VYRE_VERSION_STRING="${PROJECT_VERSION}")
    target_link_libraries(${name} PRIVATE vyre::dep::vulkan vyre::dep::volk
        vyre::dep::spirv_headers)
    if(TARGET vyre_tools_common)
        target_link_libraries(${name} PRIVATE vyre_tools_common)
    endif()
    vyre_link_layers(${name} ${vyre_all_layers})
    if(name MATCHES "^vyre-(spv|bench)$")
        vyre_link_spirv_tools(${name})
    endif()
endforeach()
if(NOT VYRE_BUILD_TOOLS)
    return()
endif()
if(TARGET vyre-scan AND VYRE_HAVE_fa)
    target_link_libraries(vyre-scan PRIVATE vyre::dep::fa)
    target_compile_definitions(vyre-scan PRIVATE VYRE_HAVE_FA=1)
endif()
if(TARGET vyre-bench AND VYRE_GLSLANG)
    file(GLOB shaders CONFIGURE_DEPENDS tools/vyre-bench/peers/*.comp)
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/generated/bench")
    set(twins ${PROJECT_SOURCE_DIR}/shaders/glsl)
    list(APPEND shaders ${twins}/bfs.comp ${twins}/histogram.comp ${twins}/scan.comp)
    foreach(shader IN LISTS shaders)
        cmake_path(GET shader STEM name)
        set(words "${PROJECT_BINARY_DIR}/generated/bench/bench_${name}_spv.h")
        add_custom_command(OUTPUT "${words}"
            COMMAND ${VYRE_GLSLANG} -V --target-env vulkan1.2 --quiet --vn bench_${name}_spv
                "-I${twins}" -o "${words}" "${shader}"
            DEPENDS "${shader}" "${twins}/common.glsl" "${twins}/tiles.glsl"
            COMMENT "Compiling ${name}.comp" VERBATIM)
        target_sources(vyre-bench PRIVATE "${words}")
    endforeach()
    target_compile_definitions(vyre-bench PRIVATE VYRE_BENCH_HAVE_SHADERS=1)
endif()
if(TARGET vyre-bench)
    # build/generated/bench/bench_programs.h: bench_NAME_vyre is the text of shaders/NAME.vyre.
    set(texts "/* Made by VyreTools.cmake. */\n")
    foreach(name IN ITEMS bfs bfs_queue compact histogram matmul radix_sort scan spmv)
        set(text "${PROJECT_SOURCE_DIR}/shaders/${name}.vyre")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${text}")
        file(READ "${text}" bytes HEX)
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
        string(APPEND texts "static const char bench_${name}_vyre[] = {${bytes}0};\n")
    endforeach()
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/bench/bench_programs.h"
        CONTENT "${texts}" @ONLY)
    target_include_directories(vyre-bench SYSTEM PRIVATE "${PROJECT_BINARY_DIR}/generated/bench")
    # The peers in plain C have what a compiler gives, and all cores where it has OpenMP.
    find_package(OpenMP COMPONENTS C QUIET)
    set(peers_on_cpu tools/vyre-bench/peers/cpu.c tools/vyre-bench/peers/kernels_cpu.c)
    set_source_files_properties(${peers_on_cpu} PROPERTIES COMPILE_OPTIONS -O3)
    if(OpenMP_C_FOUND)
        set_source_files_properties(tools/vyre-bench/peers/kernels_cpu.c PROPERTIES
            COMPILE_OPTIONS "-O3;${OpenMP_C_FLAGS}")
        # Linked in where it can be, so that the tool runs where no compiler is.
        execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libgomp.a
            OUTPUT_VARIABLE gomp OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND IS_ABSOLUTE "${gomp}")
            target_link_libraries(vyre-bench PRIVATE "${gomp}" Threads::Threads ${CMAKE_DL_LIBS})
        else()
            target_link_libraries(vyre-bench PRIVATE OpenMP::OpenMP_C)
        endif()
    endif()
endif()
if(TARGET vyre-bench AND VYRE_HAVE_spirv_tools)
    target_compile_definitions(vyre-bench PRIVATE VYRE_BENCH_HAVE_SPIRV_TOOLS=1)
endif()
# The peer of vyre-bench scan; setup.sh does not install it (libhyperscan-dev).
if(TARGET vyre-bench AND VYRE_HAVE_hyperscan)
    target_link_libraries(vyre-bench PRIVATE vyre::dep::hyperscan Threads::Threads)
    target_compile_definitions(vyre-bench PRIVATE VYRE_HAVE_HYPERSCAN=1)
endif()
# The peer of vyre-bench compile; setup.sh does not install it.
find_package(glslang CONFIG QUIET)
if(TARGET vyre-bench AND VYRE_HAVE_spirv_tools AND TARGET glslang::SPIRV
        AND TARGET glslang::glslang-default-resource-limits)
    target_link_libraries(vyre-bench PRIVATE glslang::SPIRV
        glslang::glslang-default-resource-limits)
    target_compile_definitions(vyre-bench PRIVATE VYRE_BENCH_HAVE_GLSLANG=1)
    message(STATUS "glslang: ${glslang_DIR}")
    # Behind it the optimiser of SPIRV-Tools, a library of its own that is C++.
    find_package(SPIRV-Tools-opt CONFIG QUIET)
    if(TARGET SPIRV-Tools-opt)
        target_sources(vyre-bench PRIVATE tools/vyre-bench/peers/optimise.cpp)
        target_link_libraries(vyre-bench PRIVATE SPIRV-Tools-opt)
        target_compile_definitions(vyre-bench PRIVATE VYRE_BENCH_HAVE_SPIRV_OPT=1)
        message(STATUS "SPIRV-Tools' optimiser: ${SPIRV-Tools-opt_DIR}")
    endif()
endif()

# The OpenCL peer of vyre-bench kernels, for processors: the headers here, the loader when it runs.
# setup.sh does not install them (ocl-icd-opencl-dev, pocl-opencl-icd).
find_path(VYRE_OPENCL_INCLUDE NAMES CL/cl.h)
mark_as_advanced(VYRE_OPENCL_INCLUDE)
if(TARGET vyre-bench AND VYRE_OPENCL_INCLUDE AND UNIX)
    set(text "${PROJECT_SOURCE_DIR}/tools/vyre-bench/peers/kernels.cl")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${text}")
    file(READ "${text}" bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/bench/bench_kernels_cl.h"
        CONTENT "/* Made by VyreTools.cmake. */\nstatic const char bench_kernels_cl[] = {${bytes}0};\n"
        @ONLY)
    target_include_directories(vyre-bench SYSTEM PRIVATE "${VYRE_OPENCL_INCLUDE}")
    target_link_libraries(vyre-bench PRIVATE ${CMAKE_DL_LIBS})
    target_compile_definitions(vyre-bench PRIVATE VYRE_BENCH_HAVE_OPENCL=1)
    message(STATUS "OpenCL headers: ${VYRE_OPENCL_INCLUDE}")
endif()

# The CUDA peers are built where they are asked for: by the target vyre-bench-cuda, or by the option.
option(VYRE_BUILD_CUDA_PEERS "Build vyre-bench-cuda with everything else (needs nvcc)" OFF)
set(VYRE_CUDA_ARCH "all-major" CACHE STRING "nvcc's -arch for vyre-bench-cuda")
find_program(VYRE_NVCC NAMES nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
    PATH_SUFFIXES bin)
mark_as_advanced(VYRE_NVCC)
if(VYRE_NVCC)
    set(cuda_peers "${PROJECT_BINARY_DIR}/bin/vyre-bench-cuda")
    set(cuda_sources "")
    foreach(name IN ITEMS cuda kernels fixpoint)
        list(APPEND cuda_sources "${PROJECT_SOURCE_DIR}/tools/vyre-bench/peers/${name}.cu")
    endforeach()
    file(GLOB cuda_headers CONFIGURE_DEPENDS tools/vyre-bench/peers/*.h
        tools/vyre-bench/peers/*.cuh)
    add_custom_command(OUTPUT "${cuda_peers}"
        COMMAND ${CMAKE_COMMAND} -E make_directory "${PROJECT_BINARY_DIR}/bin"
        COMMAND ${VYRE_NVCC} -O2 -std=c++17 -arch=${VYRE_CUDA_ARCH} -o "${cuda_peers}"
            ${cuda_sources}
        DEPENDS ${cuda_sources} ${cuda_headers}
        COMMENT "Compiling vyre-bench-cuda with nvcc" VERBATIM)
    if(VYRE_BUILD_CUDA_PEERS)
        add_custom_target(vyre-bench-cuda ALL DEPENDS "${cuda_peers}")
    else()
        add_custom_target(vyre-bench-cuda DEPENDS "${cuda_peers}")
    endif()
elseif(VYRE_BUILD_CUDA_PEERS)
    message(WARNING "nvcc was not found: vyre-bench-cuda is not built")
endif()

if(vyre_tools)
    install(TARGETS ${vyre_tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
    if(NOT WIN32)
        include(VyreManual) # man and shells are of other systems
    endif()
endif()
