# tests/DIR/test_*.c: one executable and one ctest entry each, labelled DIR, linked with the layers
# up to and including its own. Other files of DIR are helpers of its tests; tests/support/*.c of all.
# tests/soak/soak_*.c: the same with the label soak (tools/soak.sh).

set(vyre_test_layers_base base)
set(vyre_test_layers_ir base ir)
set(vyre_test_layers_passes base ir passes)
set(vyre_test_layers_interp base ir interp)
set(vyre_test_layers_spirv base ir passes spirv)
set(vyre_test_layers_kernel ${vyre_codegen_layers})
set(vyre_test_layers_engine ${vyre_all_layers})
set(vyre_test_layers_megakernel ${vyre_all_layers})
set(vyre_test_layers_scan ${vyre_all_layers})
set(vyre_test_layers_tools ${vyre_all_layers})
set(vyre_test_layers_system ${vyre_all_layers})
set(vyre_test_layers_proof ${vyre_all_layers})
set(vyre_test_layers_programs ${vyre_all_layers})
set(vyre_test_layers_conform ${vyre_all_layers})
set(vyre_test_layers_soak ${vyre_all_layers})
# Seconds of work of the longest. ctest starts those first, so that none runs alone at the end.
set(vyre_test_costs test_differential=180 test_programs=100 test_failures=50 test_conform=45
    test_ssa_differential=30 test_grid=30 test_glsl_twins=25 test_ranges_differential=20
    test_type_subgroup=20 test_type_int=15 test_catalogue_arrays=15 test_commands=15 test_piglit=10
    test_catalogue_graphs=10 test_catalogue_hashes=10 test_docs=15)
set(vyre_test_dirs base ir passes interp spirv kernel engine megakernel scan programs system tools proof conform
    soak)
if(VYRE_TEST_DIRS)
    set(vyre_test_dirs ${VYRE_TEST_DIRS})
endif()
if(NOT VYRE_BUILD_TOOLS AND "tools" IN_LIST vyre_test_dirs)
    message(STATUS "tests/tools: left out, for VYRE_BUILD_TOOLS is OFF")
    list(REMOVE_ITEM vyre_test_dirs tools)
endif()

# As on GPUs, also where they run on a processor: it is the way that more can go wrong on.
set(vyre_test_environment
    "MESA_SHADER_CACHE_DIR=${PROJECT_BINARY_DIR}/mesa-cache;VYRE_BINDINGS=address")

add_custom_target(vyre_tests)

function(vyre_test_target target)
    if(MINGW) # tests have threads with stacks of their own choice
        target_link_libraries(${target} PRIVATE -l:libwinpthread.a)
    endif()
    target_link_libraries(${target} PRIVATE vyre_options vyre::dep::cmocka vyre::dep::vulkan
        vyre::dep::volk vyre::dep::spirv_headers)
    target_compile_definitions(${target} PRIVATE VYRE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
        VYRE_BINARY_DIR="${PROJECT_BINARY_DIR}")
endfunction()

function(vyre_test_helpers target)
    add_library(${target} STATIC EXCLUDE_FROM_ALL ${ARGN})
    set_target_properties(${target} PROPERTIES
        ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/private")
    vyre_test_target(${target})
endfunction()

file(GLOB sources CONFIGURE_DEPENDS tests/support/*.c)
if(WIN32)
    # Processes, and a layer of our own by the dynamic linker, as POSIX has them.
    list(FILTER sources EXCLUDE REGEX "/(differential_mode|vk_layer[a-z_]*)\\.c$")
endif()
if(sources)
    vyre_test_helpers(vyre_test_support ${sources})
endif()

foreach(dir IN LISTS vyre_test_dirs)
    set(prefix test)
    set(seconds 1500) # drivers of processors compile slowly, more so on busy machines
    if(dir STREQUAL "soak")
        set(prefix soak)
        set(seconds 86400)
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS tests/${dir}/${prefix}_*.c)
    file(GLOB_RECURSE helpers CONFIGURE_DEPENDS tests/${dir}/*.c)
    if(sources)
        list(REMOVE_ITEM helpers ${sources})
    endif()
    if(helpers)
        vyre_test_helpers(vyre_test_support_${dir} ${helpers})
        if(dir MATCHES "^(spirv|kernel|tools|proof|soak)$")
            vyre_link_spirv_tools(vyre_test_support_${dir})
        endif()
        if(dir STREQUAL "conform")
            target_link_libraries(vyre_test_support_${dir} PUBLIC vyre::dep::mpfr vyre::dep::gmp)
            target_compile_definitions(vyre_test_support_${dir}
                PUBLIC VYRE_PIGLIT_DIR="${VYRE_DEPS_DIR}/piglit")
        endif()
    endif()
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        add_executable(${name} ${source})
        vyre_test_target(${name})
        foreach(library vyre_test_support_${dir} vyre_test_support vyre_tools_common)
            if(library STREQUAL "vyre_tools_common" AND NOT dir MATCHES "^(tools|system)$")
                continue()
            endif()
            if(TARGET ${library})
                target_link_libraries(${name} PRIVATE ${library})
            endif()
        endforeach()
        vyre_link_layers(${name} ${vyre_test_layers_${dir}})
        if(dir MATCHES "^(spirv|kernel|tools|proof|soak)$")
            vyre_link_spirv_tools(${name})
        endif()
        add_dependencies(vyre_tests ${name})
        if(dir STREQUAL "tools" AND vyre_tools)
            add_dependencies(${name} ${vyre_tools})
        endif()
        add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
        set_tests_properties(${name} PROPERTIES LABELS ${dir} TIMEOUT ${seconds}
            ENVIRONMENT "${vyre_test_environment}")
        if(";${vyre_test_costs};" MATCHES ";${name}=([0-9]+);")
            set_tests_properties(${name} PROPERTIES COST ${CMAKE_MATCH_1})
        endif()
    endforeach()
endforeach()

# Hyperscan as another judge, where it is.
if(TARGET test_scan_hyperscan AND VYRE_HAVE_hyperscan)
    target_link_libraries(test_scan_hyperscan PRIVATE vyre::dep::hyperscan)
    target_compile_definitions(test_scan_hyperscan PRIVATE VYRE_HAVE_HYPERSCAN=1)
endif()

# What runs is counted, in objects of its own, and what walks call on its way.
if(TARGET test_compile_work)
    file(GLOB sources CONFIGURE_DEPENDS codegen/*.c codegen/*/*.c)
    add_library(vyre_counted OBJECT EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(vyre_counted PRIVATE vyre_options vyre::dep::spirv_headers)
    target_compile_options(vyre_counted PRIVATE -fsanitize-coverage=trace-pc)
    target_sources(test_compile_work PRIVATE $<TARGET_OBJECTS:vyre_counted>)
    foreach(function vy_walk_next vy_words_op vy_u2 vy_const_u32)
        target_link_options(test_compile_work PRIVATE "LINKER:--wrap=${function}")
    endforeach()
endif()

# vyre-run --capture is tested with a RenderDoc of our own.
if(TARGET test_capture)
    add_library(vyre_fake_renderdoc MODULE EXCLUDE_FROM_ALL tests/fakes/renderdoc.c)
    set_target_properties(vyre_fake_renderdoc PROPERTIES OUTPUT_NAME renderdoc PREFIX lib SUFFIX .so
        C_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/fakes")
    target_link_libraries(vyre_fake_renderdoc PRIVATE vyre_options)
    add_dependencies(test_capture vyre_fake_renderdoc)
endif()

# The program in docs/renderer.md is built against an install of this build.
if(TARGET test_docs AND vyre_have_library)
    set(docs_sanitize "-g")
    if(VYRE_SANITIZE)
        set(docs_sanitize "-fsanitize=${VYRE_SANITIZE}")
    endif()
    find_library(VYRE_VULKAN_LOADER NAMES vulkan vulkan-1 HINTS ${vyre_sdk_libraries})
    set(docs_loader "-lvulkan")
    if(VYRE_VULKAN_LOADER)
        set(docs_loader "${VYRE_VULKAN_LOADER}")
    endif()
    target_compile_definitions(test_docs PRIVATE DOCS_CMAKE="${CMAKE_COMMAND}"
        DOCS_CC="${CMAKE_C_COMPILER}" DOCS_CXX="${CMAKE_CXX_COMPILER}" DOCS_VULKAN="${VYRE_vulkan_INCLUDE_DIR}"
        DOCS_VMA="${VYRE_vma_INCLUDE_DIR}" DOCS_LIBDIR="${CMAKE_INSTALL_LIBDIR}"
        DOCS_LOADER="${docs_loader}" DOCS_SANITIZE="${docs_sanitize}")
    add_dependencies(test_docs vyre-vk vyre-vk-archive vyre_fake_renderdoc)
endif()

# Man pages and completion are made with the tools; where pages are left out the test is told so.
if(TARGET test_manual AND TARGET vyre-manual)
    add_dependencies(test_manual vyre-manual)
    if(VYRE_HELP2MAN)
        target_compile_definitions(test_manual PRIVATE MANUAL_HAS_PAGES=1)
    endif()
endif()

# A C++ host with a copy of VMA of its own, configured its own way, and the installed archive: the
# two copies live in one program.
if(vyre_have_library AND "engine" IN_LIST vyre_test_dirs)
    add_executable(test_vma_adapter tests/engine/test_vma_adapter.cpp)
    target_include_directories(test_vma_adapter SYSTEM PRIVATE ${VYRE_vma_INCLUDE_DIR})
    target_link_libraries(test_vma_adapter PRIVATE vyre_options vyre::dep::cmocka
        vyre::dep::vulkan vyre-vk-static)
    add_dependencies(vyre_tests test_vma_adapter)
    add_test(NAME test_vma_adapter COMMAND test_vma_adapter
        WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(test_vma_adapter PROPERTIES LABELS engine TIMEOUT 1500
        ENVIRONMENT "${vyre_test_environment}")
endif()

# Each public header compiles alone, as C11 and as C++17. They come with nothing defined by us.
if(NOT VYRE_TEST_DIRS)
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include" include/vyre/*.h)
    set(units "")
    foreach(header IN LISTS headers)
        string(MAKE_C_IDENTIFIER "${header}" name)
        foreach(extension c cpp)
            set(unit "${PROJECT_BINARY_DIR}/header-check/${name}.${extension}")
            file(CONFIGURE OUTPUT "${unit}" CONTENT "#include <${header}>\n#include <${header}>\n")
            list(APPEND units "${unit}")
        endforeach()
    endforeach()
    if(units)
        add_library(vyre_header_check OBJECT ${units})
        target_compile_options(vyre_header_check PRIVATE ${vyre_warnings})
        target_include_directories(vyre_header_check PRIVATE "${PROJECT_SOURCE_DIR}/include")
        target_include_directories(vyre_header_check SYSTEM PRIVATE ${VYRE_vma_INCLUDE_DIR})
        target_link_libraries(vyre_header_check PRIVATE vyre::dep::vulkan)
    endif()
endif()

# What the libraries show and need.
if(vyre_have_library AND NOT VYRE_TEST_DIRS AND NOT VYRE_SANITIZE AND UNIX AND NOT APPLE)
    get_target_property(vyre_soversion vyre-vk SOVERSION)
    add_test(NAME symbols
        COMMAND ${CMAKE_COMMAND} -DBINARY_DIR=${PROJECT_BINARY_DIR}
            -DC_COMPILER=${CMAKE_C_COMPILER} -DNM=${CMAKE_NM} -DREADELF=${CMAKE_READELF}
            -DAR=${CMAKE_AR} -DSOVERSION=${vyre_soversion}
            -P ${PROJECT_SOURCE_DIR}/tools/cmake/test-symbols.cmake)
    set_tests_properties(symbols PROPERTIES LABELS install TIMEOUT 300)

    # GNU's compiler tells of all types, used or not, in its debug information.
    set(vyre_abi_compiler "")
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
        set(vyre_abi_compiler ${CMAKE_C_COMPILER})
    endif()
    find_program(VYRE_AWK NAMES awk)
    mark_as_advanced(VYRE_AWK)
    if(vyre_abi_compiler AND VYRE_AWK)
        set(vyre_abi ${CMAKE_COMMAND} -DBINARY_DIR=${PROJECT_BINARY_DIR}
            -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DC_COMPILER=${vyre_abi_compiler} -DNM=${CMAKE_NM}
            -DREADELF=${CMAKE_READELF} -DAWK=${VYRE_AWK} -DSOVERSION=${vyre_soversion}
            "-DVULKAN_INCLUDE=${VYRE_vulkan_INCLUDE_DIR}")
        set(vyre_abi_script -P ${PROJECT_SOURCE_DIR}/tools/cmake/abi.cmake)
        add_test(NAME abi COMMAND ${vyre_abi} ${vyre_abi_script})
        set_tests_properties(abi PROPERTIES LABELS install TIMEOUT 300)
        add_custom_target(abi-record COMMAND ${vyre_abi} -DRECORD=1 ${vyre_abi_script}
            DEPENDS vyre-vk COMMENT "Recording the binary interface in docs/abi.txt" VERBATIM)
    endif()
endif()

# A Vulkan SDK of links, and builds against it.
if(vyre_have_library AND NOT VYRE_TEST_DIRS AND NOT VYRE_SANITIZE AND UNIX AND NOT APPLE)
    set(vyre_sdk_parts "")
    foreach(name vulkan volk vma spirv_headers)
        list(GET VYRE_${name}_INCLUDE_DIR 0 folder)
        string(TOUPPER "${name}" part)
        string(REPLACE "SPIRV_HEADERS" "SPIRV" part "${part}")
        list(APPEND vyre_sdk_parts "-D${part}_INCLUDE=${folder}")
    endforeach()
    find_library(vyre_spirv_tools NAMES SPIRV-Tools SPIRV-Tools-shared NO_CACHE)
    find_path(vyre_spirv_tools_include spirv-tools/libspirv.h NO_CACHE)
    if(vyre_spirv_tools AND vyre_spirv_tools_include)
        list(APPEND vyre_sdk_parts "-DSPIRV_TOOLS=${vyre_spirv_tools}"
            "-DSPIRV_TOOLS_INCLUDE=${vyre_spirv_tools_include}")
    endif()
    if(VYRE_GLSLANG)
        list(APPEND vyre_sdk_parts "-DGLSLANG=${VYRE_GLSLANG}")
    endif()
    add_test(NAME sdk
        COMMAND ${CMAKE_COMMAND} -DBINARY_DIR=${PROJECT_BINARY_DIR}
            -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DC_COMPILER=${CMAKE_C_COMPILER}
            -DCXX_COMPILER=${CMAKE_CXX_COMPILER} -DLAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}
            -DGENERATOR=${CMAKE_GENERATOR} -DMAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}
            "-DDEPS_DIR=${VYRE_DEPS_DIR}" ${vyre_sdk_parts}
            -P ${PROJECT_SOURCE_DIR}/tools/cmake/test-sdk.cmake)
    set_tests_properties(sdk PROPERTIES LABELS install TIMEOUT 900 COST 40)
endif()

if(vyre_have_library AND NOT VYRE_TEST_DIRS AND NOT VYRE_SANITIZE)
    add_test(NAME scan-switch
        COMMAND ${CMAKE_COMMAND} -DBINARY_DIR=${PROJECT_BINARY_DIR}
            -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DC_COMPILER=${CMAKE_C_COMPILER}
            -DCXX_COMPILER=${CMAKE_CXX_COMPILER} -DGENERATOR=${CMAKE_GENERATOR}
            -DMAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} "-DDEPS_DIR=${VYRE_DEPS_DIR}"
            -P ${PROJECT_SOURCE_DIR}/tools/cmake/test-scan-switch.cmake)
    set_tests_properties(scan-switch PROPERTIES LABELS install TIMEOUT 300)
endif()

# An install into a prefix of its own, and users of it.
if(vyre_have_library AND NOT VYRE_TEST_DIRS AND NOT VYRE_SANITIZE)
    add_test(NAME install
        COMMAND ${CMAKE_COMMAND} -DBINARY_DIR=${PROJECT_BINARY_DIR}
            -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
            -DC_COMPILER=${CMAKE_C_COMPILER} -DCXX_COMPILER=${CMAKE_CXX_COMPILER}
            -DLAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}
            -DGENERATOR=${CMAKE_GENERATOR} -DMAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}
            -DLIBDIR=${CMAKE_INSTALL_LIBDIR} "-DVMA_INCLUDE_DIR=${VYRE_vma_INCLUDE_DIR}"
            "-DDEPS_DIR=${VYRE_DEPS_DIR}"
            -P ${PROJECT_SOURCE_DIR}/tools/cmake/test-install.cmake)
    # The library is built twice more in it.
    set_tests_properties(install PROPERTIES LABELS install TIMEOUT 1500 COST 60)
    add_test(NAME host-renderer
        COMMAND ${CMAKE_COMMAND} -DBINARY_DIR=${PROJECT_BINARY_DIR}
            -DSOURCE_DIR=${PROJECT_SOURCE_DIR}/examples/host_renderer
            -DC_COMPILER=${CMAKE_C_COMPILER} -DGENERATOR=${CMAKE_GENERATOR}
            -DMAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DLIBDIR=${CMAKE_INSTALL_LIBDIR}
            -P ${PROJECT_SOURCE_DIR}/tools/cmake/test-host.cmake)
    set_tests_properties(host-renderer PROPERTIES LABELS install TIMEOUT 300)
endif()

# examples/NAME with a script tools/cmake/examples/NAME.cmake: built against one install for all of
# them, run, and looked at.
if(VYRE_BUILD_EXAMPLES AND vyre_have_library AND NOT VYRE_TEST_DIRS AND NOT VYRE_SANITIZE)
    file(GLOB scripts CONFIGURE_DEPENDS tools/cmake/examples/*.cmake)
    foreach(name IN ITEMS install LISTS scripts)
        cmake_path(GET name STEM name)
        if(NOT name STREQUAL "install" AND NOT TARGET ${name})
            continue() # left out, with a message
        endif()
        add_test(NAME example-${name}
            COMMAND ${CMAKE_COMMAND} -DEXAMPLE=${name} -DBINARY_DIR=${PROJECT_BINARY_DIR}
                -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DC_COMPILER=${CMAKE_C_COMPILER}
                -DCXX_COMPILER=${CMAKE_CXX_COMPILER}
                -DGENERATOR=${CMAKE_GENERATOR} -DMAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}
                -P ${PROJECT_SOURCE_DIR}/tools/cmake/test-example.cmake)
        set_tests_properties(example-${name} PROPERTIES LABELS examples TIMEOUT 300
            ENVIRONMENT "${vyre_test_environment}")
        if(name STREQUAL "install")
            set_tests_properties(example-${name} PROPERTIES FIXTURES_SETUP vyre-installed)
        else()
            set_tests_properties(example-${name} PROPERTIES FIXTURES_REQUIRED vyre-installed)
        endif()
    endforeach()
endif()

if(TARGET example-tiles)
    add_test(NAME tiles COMMAND ${CMAKE_COMMAND} -DBINARY_DIR=${PROJECT_BINARY_DIR}
        -P ${PROJECT_SOURCE_DIR}/tools/cmake/test-tiles.cmake)
    set_tests_properties(tiles PROPERTIES LABELS examples TIMEOUT 300
        ENVIRONMENT "MESA_SHADER_CACHE_DIR=${PROJECT_BINARY_DIR}/mesa-cache")
endif()
