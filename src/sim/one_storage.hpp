#pragma once

#include <string>

#include "drivers/driver.hpp"

namespace tamis::sim {

/// Leads every name to one storage.
class OneStorage : public StorageTable {
 public:
  explicit OneStorage(Storage& storage) : storage_(storage) {}
  Result<Storage*> find(const std::string& name, std::string& path) override {
    path = name;
    return &storage_;
  }

 private:
  Storage& storage_;
};

}  // namespace tamis::sim
