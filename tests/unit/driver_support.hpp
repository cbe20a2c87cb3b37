#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/driver.hpp"

namespace tamis::test {

/// A directory of its own that goes away with the object.
class ScratchDirectory {
 public:
  ScratchDirectory() : path_(::testing::TempDir() + "tamis-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no scratch directory at " << path_;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline const OpenMode kReadWriteCreate{.read = true, .write = true, .create = true};

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline Outcome write_text(Driver& driver, std::int64_t offset, std::string_view text) {
  std::vector<std::byte> bytes = bytes_of(text);
  const Transfer transfer{{offset, static_cast<std::int64_t>(bytes.size())}, bytes.data()};
  return driver.transfer(Direction::write, {&transfer, 1});
}

struct Text {
  Outcome outcome;
  std::string text;  ///< the bytes read
};

inline Text read_text(Driver& driver, std::int64_t offset, std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '?');
  const Transfer transfer{{offset, bytes}, reinterpret_cast<std::byte*>(text.data())};
  const Outcome outcome = driver.transfer(Direction::read, {&transfer, 1});
  text.resize(static_cast<std::size_t>(outcome.bytes));
  return {outcome, text};
}

inline std::unique_ptr<Driver> open_or_fail(Storage& storage, const std::string& path,
                                            const OpenMode& mode = kReadWriteCreate) {
  Result<std::unique_ptr<Driver>> driver = storage.open(path, mode);
  if (driver.ok()) return std::move(*driver);
  ADD_FAILURE() << "open " << path << ": " << driver.status().to_string();
  return nullptr;
}

}  // namespace tamis::test
