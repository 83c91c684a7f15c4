/* Random programs of one invocation with loops that count up: loads of all kinds, atomics and
 * stores to the same buffers and to others, branches and switches behind them, bounds of data,
 * signed and unsigned indices, and now and then what no pass may touch: values carried from trip to
 * trip, `break`, `continue`, loops within. The same seed gives the same text everywhere. */
#ifndef VY_TESTS_TRIPS_H
#define VY_TESTS_TRIPS_H

#include "codegen/base/base.h"

/* in x : u32[], inout y : u32[], inout z : u32[], inout k : u32[8], param p : u32; one invocation.
 */
void vy_trips_write(vy_text *out, uint64_t seed);

#endif
