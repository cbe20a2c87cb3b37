#pragma once

namespace tamis::scale {

/// The Intel Paragon's rows of tables 1 to 6 of Thakur, Gropp, Lusk 1999, measured by them and
/// simulated here.
void print_paragon();

}  // namespace tamis::scale
