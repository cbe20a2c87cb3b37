#pragma once

namespace tamis::abi {

/// Words on standard error, a newline behind them: where the program may never hear of an error
/// otherwise (it is about to be aborted, or there is no MPI to make an error of), and for what the
/// user asked to see (TAMIS_STATS, TAMIS_EXPLAIN).
void say(const char* sentence);

}  // namespace tamis::abi
