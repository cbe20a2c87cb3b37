#ifndef TAMIS_REALMS_H
#define TAMIS_REALMS_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Says which aggregator shall move which bytes of the file in the collective accesses to come: its
 * realm. Realm i is made of filetypes[i], laid end to end from byte displacements[i] of the file on
 * without end, and is served by the i-th of `count` aggregators: ranks in ascending order, of those
 * that cb_config_list allows where these are enough. It stays so, whatever view and hints are set,
 * until it is said anew or the file is closed; a count of 0 takes it back. The types may be freed
 * after the call.
 *
 * Collective: all ranks give the same, with types that are made alike, or all get an error of
 * class MPI_ERR_NOT_SAME. At most as many realms as ranks; a filetype must be committed, go forward
 * in the file only and not meet itself, also where it is laid end to end; it may hold no byte.
 * Otherwise all ranks get an error (MPI_ERR_ARG, MPI_ERR_TYPE), and what was in force stays so.
 *
 * Together the realms have to hold every byte between the first and the last one of an access
 * exactly once. Each collective access finds out; where they do not, all ranks get an error of
 * class MPI_ERR_ARG that says the first byte in question, and nothing is moved. Independent
 * accesses know no realms. Errors go to the file's error handler, as those of MPI_File_ calls.
 */
int tamis_file_set_realms(MPI_File file, int count, const MPI_Offset displacements[],
                          const MPI_Datatype filetypes[]);

#ifdef __cplusplus
}
#endif

#endif
