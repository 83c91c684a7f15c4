# The toolchain file for 64-bit Windows by MinGW-w64 on another system: preset "windows", tools/windows.sh.
# Headers of the system are those of another C library: Vulkan's, volk's, VMA's and SPIR-V's come from
# VULKAN_SDK alone, which tools/windows.sh makes.

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(vyre_mingw x86_64-w64-mingw32)

# Debian has two of each: of win32 threads (which need no library beside) and of POSIX threads.
find_program(VYRE_MINGW_CC NAMES ${vyre_mingw}-gcc-win32 ${vyre_mingw}-gcc REQUIRED)
find_program(VYRE_MINGW_CXX NAMES ${vyre_mingw}-g++-win32 ${vyre_mingw}-g++ REQUIRED)
set(CMAKE_C_COMPILER "${VYRE_MINGW_CC}")
set(CMAKE_CXX_COMPILER "${VYRE_MINGW_CXX}")
mark_as_advanced(VYRE_MINGW_CC VYRE_MINGW_CXX)

find_program(VYRE_WINE NAMES wine64 wine DOC "Wine, to run what is built")
mark_as_advanced(VYRE_WINE)
if(VYRE_WINE)
    set(CMAKE_CROSSCOMPILING_EMULATOR "${VYRE_WINE}")
endif()

set(CMAKE_FIND_ROOT_PATH /usr/${vyre_mingw})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
if(NOT "$ENV{VULKAN_SDK}" STREQUAL "")
    list(APPEND CMAKE_FIND_ROOT_PATH "$ENV{VULKAN_SDK}")
endif()
