/* A part of vyre-demo that has tests of its own: the files of a tool are in no library. */
#include "tools/vyre-demo/packages.c"
