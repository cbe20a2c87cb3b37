#pragma once

#include "abi/error_codes.hpp"
#include "abi/error_handlers.hpp"
#include "abi/handle_table.hpp"
#include "abi/ledger.hpp"
#include "drivers/storages.hpp"

namespace tamis::abi {

/// Everything that lives as long as the process. There is one, because the program's handles and
/// error codes are the process's.
struct Library {
  HandleTable files;
  ErrorHandlers handlers;
  ErrorCodes codes;
  Storages storages;
  Ledger ledger;
};

/// Made at the first call, never destroyed: programs close files from exit handlers.
Library& library();

}  // namespace tamis::abi
