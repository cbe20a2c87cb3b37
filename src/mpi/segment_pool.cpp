#include "mpi/segment_pool.hpp"

#include <algorithm>
#include <utility>

#include "mpi/shared_segment.hpp"

namespace tamis {

/// A segment in use; goes back to the pool.
class SegmentPool::Loan final : public Segment {
 public:
  Loan(std::shared_ptr<SegmentPool> pool, Kept kept)
      : pool_(std::move(pool)), kept_(std::move(kept)) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() override { pool_->keep(std::move(kept_)); }

  std::byte* data() override { return kept_.segment->data(); }
  std::int64_t size() const override { return kept_.segment->size(); }
  SegmentName name() const override { return kept_.segment->name(); }
  Status reserve(std::int64_t offset, std::int64_t bytes) override {
    return kept_.segment->reserve(offset, bytes);
  }

 private:
  std::shared_ptr<SegmentPool> pool_;
  Kept kept_;
};

Result<std::unique_ptr<Segment>> SegmentPool::create(std::int64_t bytes) {
  std::unique_ptr<Segment> again =
      take([&](const Kept& kept) { return kept.made_here && kept.segment->size() == bytes; });
  if (again != nullptr) return lend(std::move(again), true);
  return lend(create_shared_segment(bytes), true);
}

Result<std::unique_ptr<Segment>> SegmentPool::attach(const SegmentName& name) {
  std::unique_ptr<Segment> again =
      take([&](const Kept& kept) { return !kept.made_here && kept.segment->name() == name; });
  if (again != nullptr) return lend(std::move(again), false);
  return lend(attach_shared_segment(name), false);
}

template <typename Fits>
std::unique_ptr<Segment> SegmentPool::take(Fits fits) {
  const std::lock_guard held(mutex_);
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), fits);
  if (found == kept_.rend()) return nullptr;
  std::unique_ptr<Segment> segment = std::move(found->segment);
  kept_.erase(std::prev(found.base()));
  return segment;
}

Result<std::unique_ptr<Segment>> SegmentPool::lend(Result<std::unique_ptr<Segment>> segment,
                                                   bool made_here) {
  if (!segment.ok()) return segment.status();
  return std::unique_ptr<Segment>(
      std::make_unique<Loan>(shared_from_this(), Kept{std::move(*segment), made_here}));
}

void SegmentPool::keep(Kept kept) {
  if (kept.segment->size() > kLargestKept) return;
  Kept oldest;  // unmapped after the lock
  const std::lock_guard held(mutex_);
  if (kept_.size() == kMostKept) {
    oldest = std::move(kept_.front());
    kept_.erase(kept_.begin());
  }
  kept_.push_back(std::move(kept));
}

}  // namespace tamis
