#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "abi/calls.hpp"
#include "abi/checks.hpp"
#include "abi/info.hpp"
#include "abi/library.hpp"
#include "abi/raise.hpp"
#include "abi/view_types.hpp"
#include "base/attempt.hpp"
#include "comm/task.hpp"
#include "file/view_rules.hpp"
#include "mpi/datatype.hpp"
#include "mpi/error_class.hpp"
#include "mpi/host.hpp"

namespace tamis::abi {
namespace {

Status check_representation(const char* datarep) {
  constexpr std::string_view kExternal = "external32";
  // "internal" may be anything an MPI likes (section 14.5); it is native here.
  constexpr std::array<std::string_view, 2> kNative = {"native", "internal"};
  if (datarep == nullptr) {
    return failure(Errc::arg, "the name of the data representation is a null pointer");
  }
  std::string name = datarep;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (std::ranges::find(kNative, name) != kNative.end()) return {};
  return failure(Errc::unsupported_datarep, name == kExternal
                                                ? "external32 is not supported by Tamis yet"
                                                : "no such data representation");
}

Status check_displacement(const File& file, MPI_Offset disp) {
  const bool is_current = disp == MPI_DISPLACEMENT_CURRENT;
  const bool is_sequential = (file.amode() & kSequential) != 0;
  if (is_current && !is_sequential) {
    return failure(Errc::arg, "MPI_DISPLACEMENT_CURRENT is only for MPI_MODE_SEQUENTIAL");
  }
  if (is_sequential && !is_current) {
    return failure(Errc::arg, "MPI_MODE_SEQUENTIAL takes only MPI_DISPLACEMENT_CURRENT");
  }
  if (is_current) {
    return failure(Errc::unsupported_operation,
                   "MPI_DISPLACEMENT_CURRENT needs shared file pointers, which Tamis has not yet");
  }
  return {};
}

/// The program's view, or why it is none.
Result<View> describe(OpenFile& file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype) {
  const Result<const Dataloop*> unit = checked_type(file, etype);
  if (!unit.ok()) return unit.status();
  const Result<const Dataloop*> tile = checked_type(file, filetype);
  if (!tile.ok()) return tile.status();
  if (Status status = check_displacement(*file.file, disp); !status.ok()) return status;
  const Status rules = check_view({.displacement = disp,
                                   .etype = **unit,
                                   .filetype = **tile,
                                   .writable = (file.file->amode() & kReadOnly) == 0});
  if (!rules.ok()) return rules;
  View view;
  view.layout = {.loop = **tile, .displacement = disp, .repeat = Layout::kEndless};
  view.etype_bytes = std::max<std::int64_t>(1, (*unit)->size());
  view.etype_extent = (*unit)->extent();
  return view;
}

/// The types of a view under way: freed unless they were kept.
struct ViewTypes {
  MPI_Datatype etype = MPI_BYTE;
  MPI_Datatype filetype = MPI_BYTE;

  ViewTypes() = default;
  ViewTypes(const ViewTypes&) = delete;
  ViewTypes& operator=(const ViewTypes&) = delete;
  ~ViewTypes() {
    free_type(etype);
    free_type(filetype);
  }
  Status take(MPI_Datatype from_etype, MPI_Datatype from_filetype) {
    const Result<MPI_Datatype> unit = duplicate_type(from_etype);
    if (!unit.ok()) return unit.status();
    etype = *unit;
    const Result<MPI_Datatype> tile = duplicate_type(from_filetype);
    if (!tile.ok()) return tile.status();
    filetype = *tile;
    return {};
  }
};

}  // namespace

Result<MPI_Datatype> duplicate_type(MPI_Datatype type) {
  if (is_predefined(type)) return type;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  const int code = host().Type_dup(type, &copy);
  if (code != MPI_SUCCESS) return host_status(code, "a datatype could not be duplicated");
  return copy;
}

void free_type(MPI_Datatype type) {
  if (!is_predefined(type)) (void)host().Type_free(&type);
}

int set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
             const char* datarep, MPI_Info info) {
  constexpr const char* kCall = "MPI_File_set_view";
  OpenFile* file = library().files.find(fh);
  if (file == nullptr) return finish_bad_handle(kCall);
  Status error = check_representation(datarep);
  Result<View> wanted = attempt([&] { return describe(*file, disp, etype, filetype); });
  error.keep_first(wanted.status());
  if (error.ok()) wanted->datarep = datarep;
  ViewTypes types;
  if (error.ok()) error = types.take(etype, filetype);
  std::vector<HintText> hints = changed_hints(*file->file, info, error);
  const Status status = complete(
      file->file->set_view(error.ok() ? *wanted : file->file->view(), std::move(hints), error),
      file->file->comm());
  if (status.ok()) {
    std::swap(file->etype, types.etype);
    std::swap(file->filetype, types.filetype);
  }
  return finish(kCall, fh, *file, status);
}

int get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
             char* datarep) {
  constexpr const char* kCall = "MPI_File_get_view";
  OpenFile* file = library().files.find(fh);
  if (file == nullptr) return finish_bad_handle(kCall);
  if (disp == nullptr || etype == nullptr || filetype == nullptr || datarep == nullptr) {
    return finish(kCall, fh, *file, failure(Errc::arg, "a result has no place: null pointer"));
  }
  ViewTypes copies;
  if (Status status = copies.take(file->etype, file->filetype); !status.ok()) {
    return finish(kCall, fh, *file, status);
  }
  const View& view = file->file->view();
  *disp = view.layout.displacement;
  *etype = std::exchange(copies.etype, MPI_BYTE);
  *filetype = std::exchange(copies.filetype, MPI_BYTE);
  datarep[view.datarep.copy(datarep, MPI_MAX_DATAREP_STRING - 1)] = '\0';
  return MPI_SUCCESS;
}

int get_extent(MPI_File fh, MPI_Datatype datatype, std::int64_t* extent) {
  constexpr const char* kCall = "MPI_File_get_type_extent";
  OpenFile* file = library().files.find(fh);
  if (file == nullptr) return finish_bad_handle(kCall);
  if (extent == nullptr) {
    return finish(kCall, fh, *file, failure(Errc::arg, "the result has no place: null pointer"));
  }
  const Result<const Dataloop*> type = checked_type(*file, datatype);
  if (type.ok()) *extent = (*type)->extent();
  return finish(kCall, fh, *file, type.status());
}

}  // namespace tamis::abi
