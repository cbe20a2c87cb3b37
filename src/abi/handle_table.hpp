#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "abi/open_file.hpp"
#include "base/result.hpp"
#include "mpi/mpi.hpp"

namespace tamis::abi {

/// Gives every open file its MPI_File and its integer (Fortran's handle).
///
/// An MPI_File is a pointer to the program and a number here: a mark, the generation of a slot and
/// the slot's index, which is also the integer. So a closed or garbage handle is recognised without
/// touching the memory it might point to; the mark makes a number that is no address.
class HandleTable {
 public:
  HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  /// Takes a place; fails (no_memory) where a million files are open.
  Result<MPI_File> insert(std::unique_ptr<OpenFile> file);
  /// The file and its place back; nullptr where the handle is none of an open file.
  std::unique_ptr<OpenFile> remove(MPI_File handle);

  /// The file, or nullptr where the handle is none of an open file. HOT PATH: takes no lock.
  OpenFile* find(MPI_File handle) const;

  int to_integer(MPI_File handle) const;     ///< 0 where the handle is none of an open file
  MPI_File from_integer(int integer) const;  ///< MPI_FILE_NULL where there is no such open file

 private:
  struct Slot {
    std::atomic<std::uint64_t> handle{0};  ///< 0: free
    std::uint64_t generation = 0;
    OpenFile* file = nullptr;
  };
  static constexpr std::uint64_t kIndexBits = 20;
  static constexpr std::uint64_t kGenerationBits = 28;
  static constexpr std::uint64_t kMark = std::uint64_t{0x7A15} << (kIndexBits + kGenerationBits);
  static constexpr std::uint64_t kBlockSlots = 1024;
  static constexpr std::uint64_t kBlocks = (std::uint64_t{1} << kIndexBits) / kBlockSlots;
  using Block = std::array<Slot, kBlockSlots>;

  Slot* slot_at(std::uint64_t index) const;
  Slot* slot_of(std::uint64_t handle) const;
  Result<std::uint64_t> free_index();

  // Blocks are made on demand and never moved or given back, so readers need no lock.
  std::array<std::atomic<Block*>, kBlocks> blocks_{};
  std::mutex mutex_;                 // guards what follows, and every change of a slot
  std::vector<std::uint64_t> free_;  // indices given back
  std::uint64_t used_ = 1;           // indices ever given out; 0 is MPI_FILE_NULL
};

}  // namespace tamis::abi
