#include "abi/handle_table.hpp"

#include <bit>
#include <utility>

namespace tamis::abi {

HandleTable::Slot* HandleTable::slot_at(std::uint64_t index) const {
  Block* block = blocks_[index / kBlockSlots].load(std::memory_order_acquire);
  return block == nullptr ? nullptr : &(*block)[index % kBlockSlots];
}

HandleTable::Slot* HandleTable::slot_of(std::uint64_t handle) const {
  if ((handle ^ kMark) >> (kIndexBits + kGenerationBits) != 0) return nullptr;
  Slot* slot = slot_at(handle & ((std::uint64_t{1} << kIndexBits) - 1));
  if (slot == nullptr || slot->handle.load(std::memory_order_acquire) != handle) return nullptr;
  return slot;
}

Result<std::uint64_t> HandleTable::free_index() {
  if (!free_.empty()) {
    const std::uint64_t index = free_.back();
    free_.pop_back();
    return index;
  }
  if (used_ == kBlocks * kBlockSlots) return failure(Errc::no_memory, "too many open files");
  std::atomic<Block*>& block = blocks_[used_ / kBlockSlots];
  if (block.load(std::memory_order_relaxed) == nullptr) {
    block.store(new Block, std::memory_order_release);
  }
  free_.reserve(used_);  // so that remove() cannot fail
  return used_++;
}

Result<MPI_File> HandleTable::insert(std::unique_ptr<OpenFile> file) {
  const std::lock_guard lock(mutex_);
  const Result<std::uint64_t> index = free_index();
  if (!index.ok()) return index.status();
  Slot& slot = *slot_at(*index);
  slot.file = file.release();
  slot.generation = (slot.generation + 1) % (std::uint64_t{1} << kGenerationBits);
  const std::uint64_t handle = kMark | slot.generation << kIndexBits | *index;
  slot.handle.store(handle, std::memory_order_release);
  return std::bit_cast<MPI_File>(handle);
}

std::unique_ptr<OpenFile> HandleTable::remove(MPI_File handle) {
  const std::lock_guard lock(mutex_);
  Slot* slot = slot_of(std::bit_cast<std::uint64_t>(handle));
  if (slot == nullptr) return nullptr;
  free_.push_back(static_cast<std::uint64_t>(to_integer(handle)));
  slot->handle.store(0, std::memory_order_release);
  return std::unique_ptr<OpenFile>(std::exchange(slot->file, nullptr));
}

OpenFile* HandleTable::find(MPI_File handle) const {
  const Slot* slot = slot_of(std::bit_cast<std::uint64_t>(handle));
  return slot == nullptr ? nullptr : slot->file;
}

int HandleTable::to_integer(MPI_File handle) const {
  const auto number = std::bit_cast<std::uint64_t>(handle);
  if (slot_of(number) == nullptr) return 0;
  return static_cast<int>(number & ((std::uint64_t{1} << kIndexBits) - 1));
}

MPI_File HandleTable::from_integer(int integer) const {
  const auto index = static_cast<std::uint64_t>(integer);
  const Slot* slot = integer <= 0 || index >= kBlocks * kBlockSlots ? nullptr : slot_at(index);
  const std::uint64_t handle = slot == nullptr ? 0 : slot->handle.load(std::memory_order_acquire);
  return handle == 0 ? MPI_FILE_NULL : std::bit_cast<MPI_File>(handle);
}

}  // namespace tamis::abi
