#ifndef TAMIS_VERSION_H
#define TAMIS_VERSION_H

/** Version of this library; the build takes it from here. */
#define TAMIS_VERSION "0.1.0"

#endif
