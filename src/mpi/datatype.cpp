#include "mpi/datatype.hpp"

#include <memory>
#include <mutex>
#include <vector>

#include "mpi/constructors.hpp"
#include "mpi/error_class.hpp"
#include "mpi/host.hpp"
#include "mpi/predefined_types.hpp"
#include "mpi/type_contents.hpp"

namespace tamis {
namespace {

/// Nests deeper than any program's, yet harmless to a thread's stack.
constexpr int kMaxDepth = 500;

constinit std::mutex decoding;  // held by whoever adds to what is known of types
constinit std::atomic<int> keyval{MPI_KEYVAL_INVALID};

int drop(MPI_Datatype, int, void* loop, void*) {
  delete static_cast<Dataloop*>(loop);
  return MPI_SUCCESS;
}

int copy_nothing(MPI_Datatype, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

/// What was decoded before; nullptr where this type has not been met.
const Dataloop* known(MPI_Datatype type) {
  if (const Dataloop* loop = find_predefined(type)) [[likely]]
    return loop;
  const int key = keyval.load(std::memory_order_acquire);
  if (key == MPI_KEYVAL_INVALID || type == MPI_DATATYPE_NULL) return nullptr;
  Dataloop* loop = nullptr;
  int found = 0;
  host().Type_get_attr(type, key, &loop, &found);
  return found != 0 ? loop : nullptr;
}

/// Keeps a dataloop on its type. REQUIRES: `decoding` is held.
Result<const Dataloop*> keep(MPI_Datatype type, const Dataloop& loop) {
  if (keyval.load(std::memory_order_relaxed) == MPI_KEYVAL_INVALID) {
    int key = MPI_KEYVAL_INVALID;
    const int rc = host().Type_create_keyval(copy_nothing, drop, &key, nullptr);
    if (rc != MPI_SUCCESS) return host_status(rc, "the host MPI gives no datatype attributes");
    keyval.store(key, std::memory_order_release);
  }
  auto owned = std::make_unique<Dataloop>(loop);
  const int rc = host().Type_set_attr(type, keyval.load(std::memory_order_relaxed), owned.get());
  if (rc != MPI_SUCCESS) return host_status(rc, "the datatype takes no attribute");
  return owned.release();
}

Result<const Dataloop*> learn(MPI_Datatype type, int depth);

/// The data from the constructor's arguments, the bounds from the host: only it knows how it pads.
Result<Dataloop> describe_derived(MPI_Datatype type, const Envelope& envelope, int depth) {
  const Result<TypeContents> made = TypeContents::of(type, envelope);
  if (!made.ok()) return made.status();
  std::vector<Dataloop> children;
  children.reserve(made->types().size());
  for (MPI_Datatype child : made->types()) {
    const Result<const Dataloop*> loop = learn(child, depth + 1);
    if (!loop.ok()) return loop.status();
    children.push_back(**loop);
  }
  Result<Dataloop> data =
      construct({.combiner = envelope.combiner, .numbers = made->numbers(), .types = children});
  if (!data.ok()) return data;

  MPI_Count size = 0;
  MPI_Count lb = 0;
  MPI_Count extent = 0;
  int rc = host().Type_size_x(type, &size);
  if (rc == MPI_SUCCESS) rc = host().Type_get_extent_x(type, &lb, &extent);
  if (rc != MPI_SUCCESS) return host_status(rc, "the host MPI does not know the datatype");
  if (data->size() != size) {
    return failure(Errc::internal, "the host MPI contradicts itself about a datatype");
  }
  if (data->lb() == lb && data->extent() == extent) return data;
  return Dataloop::resized(lb, extent, *data);
}

/// Decodes a type and the types it was made from, and keeps what it finds on each of them, so that
/// a type that occurs many times costs once (but not under Open MPI, which hands out copies).
/// REQUIRES: `decoding` is held.
Result<const Dataloop*> learn(MPI_Datatype type, int depth) {
  if (const Dataloop* loop = known(type)) return loop;
  if (depth > kMaxDepth) return failure(Errc::type, "the datatype is nested too deeply");
  const Result<Envelope> envelope = envelope_of(type);
  if (!envelope.ok()) return envelope.status();
  const Result<Dataloop> loop = envelope->is_predefined()
                                    ? describe_predefined(type)
                                    : describe_derived(type, *envelope, depth);
  if (!loop.ok()) return loop.status();
  if (envelope->combiner == MPI_COMBINER_NAMED) {
    if (const Dataloop* place = keep_predefined(type, *loop)) return place;
  }
  return keep(type, *loop);
}

}  // namespace

Result<const Dataloop*> decode(MPI_Datatype type) {
  if (const Dataloop* loop = known(type)) [[likely]]
    return loop;
  if (type == MPI_DATATYPE_NULL) return failure(Errc::type, "MPI_DATATYPE_NULL");
  const std::lock_guard lock(decoding);
  return learn(type, 0);
}

bool is_predefined(MPI_Datatype type) {
  const Result<Envelope> envelope = envelope_of(type);
  return envelope.ok() && envelope->is_predefined();
}

}  // namespace tamis
