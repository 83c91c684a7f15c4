/* The programs of vyre-bench compile: the files of a tool are in no library. */
#include "tools/vyre-bench/compile_text.c"
