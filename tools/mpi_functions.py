"""The table of the functions that Tamis takes over from the MPI library.

One line per function; tools/gen_abi.py turns it into the entry points of libtamis-<mpi>.so, the
trampolines of libtamis.so and the list of names the symbol test reads.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    """One exported function. Its PMPI_ twin is made with it.

    parameters: C declarations, each "type name" (without a name where the action needs none).
    action: the C++ expression that answers the call (functions of src/abi/calls.hpp).
    returns: "int": an MPI error code, answered inside guard(). Anything else: a conversion, which
        cannot fail and is answered by the action alone.
    """

    name: str
    parameters: tuple[str, ...]
    action: str
    returns: str = "int"
    twin: bool = True


def _arguments(parameters):
    return [declaration.replace("*", " ").split()[-1] for declaration in parameters]


def _call(handler, parameters):
    return f"{handler}({', '.join(_arguments(parameters))})"


def _plain(name, *parameters, handler=None):
    """A function whose handler has its name in lower case and takes its arguments as they are."""
    handler = handler or name.removeprefix("MPI_File_").lower()
    return Function(name, parameters, _call(handler, parameters))


def _convert(name, returns, parameter, handler):
    return Function(name, (parameter,), _call(handler, (parameter,)), returns=returns)


FILE = "MPI_File fh"
COUNT_TYPES = {"": "int", "_c": "MPI_Count"}


def _data(verb, count_type):
    const = "const " if "write" in verb else ""
    return (f"{const}void* buf", f"{count_type} count", "MPI_Datatype datatype")


def _offset(verb):
    return ("MPI_Offset offset",) if "_at" in verb else ()


def _transfers():
    """Blocking data access, individual and explicit offset, independent and collective."""
    for direction in ("read", "write"):
        for position in ("", "_at"):
            for group in ("", "_all"):
                verb = direction + position + group
                for suffix, count_type in COUNT_TYPES.items():
                    name = f"MPI_File_{verb}{suffix}"
                    parameters = (FILE, *_offset(verb), *_data(verb, count_type),
                                  "MPI_Status* status")
                    offset = ".offset = offset, " if position else ""
                    action = (f"transfer({{.name = \"{name}\", .kind = TransferKind::{verb}, "
                              f".file = fh, {offset}.buffer = buf, .count = count, "
                              f".datatype = datatype, .status = status}})")
                    yield Function(name, parameters, action)


def _refused(name, *parameters):
    """A function that is ours but not supported: says so through the file's error handler."""
    used = {"fh": "file", "status": "status", "request": "request"}
    fields = [f".name = \"{name}\""]
    declarations = []
    for declaration, argument in zip(parameters, _arguments(parameters)):
        if argument in used:
            fields.append(f".{used[argument]} = {argument}")
            declarations.append(declaration)
        else:
            declarations.append(declaration.removesuffix(argument).rstrip())
    return Function(name, tuple(declarations), f"refuse({{{', '.join(fields)}}})")


def _refused_data_access():
    for direction in ("read", "write"):
        status, request = "MPI_Status* status", "MPI_Request* request"
        forms = [(f"{direction}_shared", status), (f"{direction}_ordered", status)]
        forms += [(f"i{direction}{p}", request) for p in ("", "_all", "_at", "_at_all", "_shared")]
        forms += [(f"{direction}{p}_begin", None) for p in ("_all", "_at_all", "_ordered")]
        for verb, last in forms:
            for suffix, count_type in COUNT_TYPES.items():
                parameters = (FILE, *_offset(verb), *_data(verb, count_type))
                yield _refused(f"MPI_File_{verb}{suffix}", *parameters, *((last,) if last else ()))
        for verb in (f"{direction}{p}_end" for p in ("_all", "_at_all", "_ordered")):
            const = "const " if direction == "write" else ""
            yield _refused(f"MPI_File_{verb}", FILE, f"{const}void* buf", status)


def _register_datarep():
    for suffix in COUNT_TYPES:
        name = f"MPI_Register_datarep{suffix}"
        conversion = f"MPI_Datarep_conversion_function{suffix}*"
        parameters = ("const char*", conversion, conversion, "MPI_Datarep_extent_function*",
                      "void*")
        yield Function(name, parameters, f"refuse_globally(\"{name}\")")


FUNCTIONS = (
    _plain("MPI_File_open", "MPI_Comm comm", "const char* filename", "int amode", "MPI_Info info",
           "MPI_File* fh"),
    _plain("MPI_File_close", "MPI_File* fh"),
    _plain("MPI_File_delete", "const char* filename", "MPI_Info info", handler="delete_file"),
    _plain("MPI_File_set_size", FILE, "MPI_Offset size"),
    _plain("MPI_File_preallocate", FILE, "MPI_Offset size"),
    _plain("MPI_File_get_size", FILE, "MPI_Offset* size"),
    _plain("MPI_File_get_group", FILE, "MPI_Group* group"),
    _plain("MPI_File_get_amode", FILE, "int* amode"),
    _plain("MPI_File_set_info", FILE, "MPI_Info info"),
    _plain("MPI_File_get_info", FILE, "MPI_Info* info_used"),
    _plain("MPI_File_set_view", FILE, "MPI_Offset disp", "MPI_Datatype etype",
           "MPI_Datatype filetype", "const char* datarep", "MPI_Info info"),
    _plain("MPI_File_get_view", FILE, "MPI_Offset* disp", "MPI_Datatype* etype",
           "MPI_Datatype* filetype", "char* datarep"),
    *_transfers(),
    _plain("MPI_File_seek", FILE, "MPI_Offset offset", "int whence"),
    _plain("MPI_File_get_position", FILE, "MPI_Offset* offset"),
    _plain("MPI_File_get_byte_offset", FILE, "MPI_Offset offset", "MPI_Offset* disp"),
    _plain("MPI_File_get_type_extent", FILE, "MPI_Datatype datatype", "MPI_Aint* extent"),
    _plain("MPI_File_get_type_extent_c", FILE, "MPI_Datatype datatype", "MPI_Count* extent",
           handler="get_type_extent"),
    _plain("MPI_File_set_atomicity", FILE, "int flag"),
    _plain("MPI_File_get_atomicity", FILE, "int* flag"),
    _plain("MPI_File_sync", FILE),
    _plain("MPI_File_create_errhandler", "MPI_File_errhandler_function* function",
           "MPI_Errhandler* errhandler"),
    _plain("MPI_File_set_errhandler", FILE, "MPI_Errhandler errhandler"),
    _plain("MPI_File_get_errhandler", FILE, "MPI_Errhandler* errhandler"),
    _plain("MPI_File_call_errhandler", FILE, "int errorcode"),
    _plain("MPI_Errhandler_free", "MPI_Errhandler* errhandler", handler="free_errhandler"),
    _plain("MPI_Error_string", "int errorcode", "char* string", "int* length",
           handler="error_string"),
    # What the Fortran layer of MPICH 5 calls to register a Fortran error handler.
    Function("MPIX_File_create_errhandler_x",
             ("void (*function)(MPI_File, int, void*)", "void (*free_state)(void*)",
              "void* extra_state", "MPI_Errhandler* errhandler"),
             "create_errhandler_x(function, free_state, extra_state, errhandler)"),
    _convert("MPI_File_c2f", "MPI_Fint", "MPI_File file", "to_integer"),
    _convert("MPI_File_f2c", "MPI_File", "MPI_Fint file", "from_integer"),
    _convert("MPI_File_toint", "int", "MPI_File file", "to_integer"),
    _convert("MPI_File_fromint", "MPI_File", "int file", "from_integer"),
    _refused("MPI_File_seek_shared", FILE, "MPI_Offset offset", "int whence"),
    _refused("MPI_File_get_position_shared", FILE, "MPI_Offset* offset"),
    *_refused_data_access(),
    *_register_datarep(),
)

# Creation of an error handler from Fortran: one function under the names that the Fortran bindings
# of MPICH and Open MPI give it. Arguments: the procedure, the handle (an integer), the error code.
FORTRAN_CREATE_ERRHANDLER = (
    "mpi_file_create_errhandler",
    "mpi_file_create_errhandler_",
    "mpi_file_create_errhandler__",
    "MPI_FILE_CREATE_ERRHANDLER",
    "pmpi_file_create_errhandler",
    "pmpi_file_create_errhandler_",
    "pmpi_file_create_errhandler__",
    "PMPI_FILE_CREATE_ERRHANDLER",
    "mpi_file_create_errhandler_f08_",
    "pmpi_file_create_errhandler_f08_",
    "pmpir_file_create_errhandler_f08_",
    "ompi_file_create_errhandler_f",
)

# Functions of include/tamis/, with what a stub answers where no implementation can be had.
OWN = {
    "tamis_version": "nothing",
    "tamis_host": "nothing",
    "tamis_file_counters": "error",
    "tamis_file_ways": "error",
    "tamis_file_way": "error",
    "tamis_file_set_realms": "error",
}


def twin_of(name):
    """PMPI_X of MPI_X, PMPIX_X of MPIX_X."""
    return "P" + name
