#ifndef TAMIS_TAMIS_H
#define TAMIS_TAMIS_H

/* What Tamis offers beside mpi.h. The functions may be called at any time by any thread. A program
 * that is not linked with Tamis finds them by dlsym(RTLD_DEFAULT, "tamis_version"): they are there
 * when, and only when, Tamis serves the program's MPI-IO. */

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0". From libtamis.so in a process that has loaded no MPI: a null pointer. */
const char* tamis_version(void);

/* The MPI that this library was built for: "mpich" or "openmpi". From libtamis.so in a process that
 * has loaded no MPI: a null pointer. */
const char* tamis_host(void);

#ifdef __cplusplus
}
#endif

#endif
