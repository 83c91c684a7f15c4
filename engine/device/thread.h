/* Mutexes and a clock for the engine: those of codegen/base/thread.h. */
#include "codegen/base/thread.h"
