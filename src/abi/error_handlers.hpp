#pragma once

#include <list>
#include <mutex>

#include "mpi/mpi.hpp"

namespace tamis::abi {

/// What an MPI_Errhandler does with an error of a file.
struct Reaction {
  enum class Kind {
    give_back,    ///< MPI_ERRORS_RETURN
    abort_all,    ///< MPI_ERRORS_ARE_FATAL
    abort_group,  ///< MPI_ERRORS_ABORT
    c_function,   ///< MPI_File_errhandler_function
    fortran,      ///< FortranHandler
    with_state,   ///< void(MPI_File, int, void*)
  };
  Kind kind = Kind::give_back;
  void (*function)() = nullptr;  ///< of the type its kind says
  void* state = nullptr;
};

/// The error handlers that files may have. Their handles are true ones of the host MPI, so that
/// comparing, converting and freeing them work; what they do is known here. The host cannot know
/// which files have a handler, so it is freed when neither the program nor a file has it any more
/// (MPI 4.1, section 9.3.4).
/// Any thread may call.
class ErrorHandlers {
 public:
  /// A handler and who has it.
  struct Entry {
    MPI_Errhandler handle;
    Reaction reaction;
    void (*free_state)(void*) = nullptr;
    bool predefined = false;
    int users = 0;  ///< handles the program has and may free
    int files = 0;  ///< files that have it, MPI_FILE_NULL counted as one
  };
  /// The handler a file has: MPI_ERRORS_RETURN at first.
  struct Holding {
    Entry* entry = nullptr;
  };

  /// A new handler under a handle of the host. An error code of the host.
  int create(const Reaction& reaction, void (*free_state)(void*), MPI_Errhandler* handle);
  /// MPI_Errhandler_free for any handler, of files or not. An error code of the host.
  int free(MPI_Errhandler* handle);

  /// What MPI_FILE_NULL has: serves failing opens and is given to new files.
  Holding& of_null() { return null_; }
  void inherit(Holding& holding);
  /// False where `handle` is no error handler for files; nothing is changed then.
  bool set(Holding& holding, MPI_Errhandler handle);
  void release(Holding& holding);
  /// The handle once more, for the program, which frees it.
  MPI_Errhandler hand_out(const Holding& holding);
  Reaction reaction(const Holding& holding);

 private:
  // All REQUIRE that mutex_ is held.
  Entry* find(MPI_Errhandler handle);
  Entry* find_or_add_predefined(MPI_Errhandler handle);
  void move(Holding& holding, Entry* entry);
  int drop_unused(Entry& entry);

  std::mutex mutex_;
  std::list<Entry> entries_;
  Holding null_;
};

}  // namespace tamis::abi
