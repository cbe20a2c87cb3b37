#include "file/shared_hints.hpp"

#include "base/attempt.hpp"

namespace tamis {

Task<Status> share_hints(Comm& comm, std::span<const HintText> texts, Hints& hints) {
  Result<std::string> text = std::string();
  if (comm.rank() == 0) {
    text = attempt([&]() -> Result<std::string> {
      static_cast<void>(apply_hints(texts, hints));
      return encode(hints);
    });
  }
  text = co_await broadcast_text(comm, std::move(text));
  if (!text.ok()) co_return text.status();
  co_return attempt([&] {
    return decode(*text, hints) ? Status{}
                                : failure(Errc::internal, "hints of rank 0 are unreadable");
  });
}

}  // namespace tamis
