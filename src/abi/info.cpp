#include "abi/info.hpp"

#include <array>

#include "base/attempt.hpp"
#include "file/hint_sources.hpp"
#include "mpi/error_class.hpp"
#include "mpi/host.hpp"

namespace tamis::abi {
namespace {

std::string value_of(MPI_Info info, const char* key) {
  int length = 0;
  int found = 0;
  if (host().Info_get_valuelen(info, key, &length, &found) != MPI_SUCCESS || found == 0) return {};
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  if (host().Info_get(info, key, length, value.data(), &found) != MPI_SUCCESS) return {};
  value.resize(value.find('\0'));
  return value;
}

}  // namespace

std::vector<HintText> texts_of(MPI_Info info) {
  std::vector<HintText> texts;
  int count = 0;
  if (info == MPI_INFO_NULL || host().Info_get_nkeys(info, &count) != MPI_SUCCESS) return texts;
  for (int i = 0; i < count; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    if (host().Info_get_nthkey(info, i, key.data()) != MPI_SUCCESS) continue;
    texts.push_back({.key = key.data(), .value = value_of(info, key.data())});
  }
  return texts;
}

std::vector<HintText> changed_hints(const File& file, MPI_Info info, Status& error) {
  std::vector<HintText> texts;
  error.keep_first(attempt([&] {
    texts = changed_hint_texts(file.name(), texts_of(info));
    return Status{};
  }));
  return texts;
}

Result<MPI_Info> make_info(std::span<const HintText> texts) {
  MPI_Info info = MPI_INFO_NULL;
  const int code = host().Info_create(&info);
  if (code != MPI_SUCCESS) return host_status(code, "no info object could be made");
  for (const HintText& text : texts) {
    const bool fits = text.key.size() < MPI_MAX_INFO_KEY && text.value.size() < MPI_MAX_INFO_VAL;
    if (fits && !text.value.empty()) {
      (void)host().Info_set(info, text.key.c_str(), text.value.c_str());
    }
  }
  return info;
}

}  // namespace tamis::abi
