#include "drivers/driver.hpp"

#include "base/attempt.hpp"
#include "drivers/queue/thread_queue.hpp"

namespace tamis {

Result<std::unique_ptr<TransferQueue>> Driver::queue(const QueueOptions& options) {
  return attempt([&]() -> Result<std::unique_ptr<TransferQueue>> {
    return std::unique_ptr<TransferQueue>(
        std::make_unique<ThreadQueue>(*this, options.depth, options.bell));
  });
}

}  // namespace tamis
