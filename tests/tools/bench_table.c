/* A part of vyre-bench that has tests of its own: the files of a tool are in no library. */
#include "tools/vyre-bench/table.c"
