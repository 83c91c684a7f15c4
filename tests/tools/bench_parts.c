/* Sampling and the step's check of vyre-bench, as they are there. */
#include "tools/vyre-bench/measure.c"
#include "tools/vyre-bench/program.c"
