/* Opens a missing file with MPI_ERRORS_ARE_FATAL; comes to its end only where nobody handles that.
 */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  int code = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_Finalize();
  return code;
}
