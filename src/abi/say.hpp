#pragma once

namespace tamis::abi {

/// One line on standard error, for the two cases in which the program may never hear of an error
/// otherwise: it is about to be aborted, or there is no MPI to make an error of.
void say(const char* sentence);

}  // namespace tamis::abi
