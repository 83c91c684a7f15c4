/* Parts of vyre-bench that have tests of their own: the files of a tool are in no library. */
#include "tools/vyre-bench/measure.c"
#include "tools/vyre-bench/program.c"
