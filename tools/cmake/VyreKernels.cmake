# The engine's own kernels: engine/kernels/*.vyre, compiled to words in a C file by the library's own
# compiler. Sets vyre_engine_kernels to that file.
#
# When cross-compiling, the compiler must run on the building machine: through
# CMAKE_CROSSCOMPILING_EMULATOR, or give -DVYRE_EMBED_KERNELS=... (embed-kernels of a native build).

set(VYRE_EMBED_KERNELS "" CACHE FILEPATH "embed-kernels of a native build, for cross-compiling")
mark_as_advanced(VYRE_EMBED_KERNELS)

set(vyre_engine_kernels "${PROJECT_BINARY_DIR}/generated/engine_kernels.c")
if(VYRE_EMBED_KERNELS)
    set(embed "${VYRE_EMBED_KERNELS}")
else()
    add_executable(embed-kernels tools/cmake/embed-kernels.c)
    set_target_properties(embed-kernels PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/private")
    vyre_link_layers(embed-kernels ${vyre_codegen_layers})
    set(embed embed-kernels)
endif()
set(fill "${PROJECT_SOURCE_DIR}/engine/kernels/fill.vyre")
set(copy "${PROJECT_SOURCE_DIR}/engine/kernels/copy.vyre")
set(gather "${PROJECT_SOURCE_DIR}/engine/kernels/gather.vyre")
set(lanes "${PROJECT_SOURCE_DIR}/engine/kernels/lanes.vyre")
set(grid "${PROJECT_SOURCE_DIR}/engine/kernels/grid.vyre")
set(probe "${PROJECT_SOURCE_DIR}/engine/kernels/probe.vyre")
set(exact "${PROJECT_SOURCE_DIR}/engine/kernels/exact.vyre")
set(doubles "${PROJECT_SOURCE_DIR}/engine/kernels/doubles.vyre")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/generated")
# Behind a file: VYRE_FLOAT_* as a number, and the form where it is the one with addresses.
add_custom_command(OUTPUT "${vyre_engine_kernels}"
    COMMAND ${embed} "${vyre_engine_kernels}"
        grid_descriptor "${grid}" 0 grid_address "${grid}" 0:address
        fill "${fill}" 0:address copy "${copy}" 0:address gather "${gather}" 0:address
        lanes "${lanes}" 0
        probe_0 "${probe}" 0 probe_1 "${probe}" 1 probe_2 "${probe}" 2 probe_3 "${probe}" 3
        probe_4 "${probe}" 4 probe_5 "${probe}" 5 probe_6 "${probe}" 6 probe_7 "${probe}" 7
        exact_0 "${exact}" 0 exact_1 "${exact}" 1 exact_2 "${exact}" 2 exact_3 "${exact}" 3
        exact_4 "${exact}" 4 exact_5 "${exact}" 5 exact_6 "${exact}" 6 exact_7 "${exact}" 7
        doubles_0 "${doubles}" 0 doubles_1 "${doubles}" 8 doubles_2 "${doubles}" 16
        doubles_3 "${doubles}" 24 doubles_4 "${doubles}" 32 doubles_5 "${doubles}" 40
        doubles_6 "${doubles}" 48 doubles_7 "${doubles}" 56
    DEPENDS "${fill}" "${copy}" "${gather}" "${grid}" "${lanes}" "${probe}" "${exact}"
        "${doubles}"
        ${embed}
    COMMENT "Compiling the engine's kernels" VERBATIM)
