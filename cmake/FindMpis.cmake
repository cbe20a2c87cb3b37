# Finds the MPIs that stand side by side on this machine, by asking their compiler wrappers.
#
# Sets TAMIS_MPIS (a list: mpich, openmpi) and, for each one found,
#   mpi_<mpi>_headers   include directories only: what the library itself is compiled with
#   mpi_<mpi>           headers and link libraries: for test programs in C and C++
#   mpi_<mpi>_fortran   the same for Fortran (where the wrapper exists)
#   TAMIS_<mpi>_CC, TAMIS_<mpi>_FC, TAMIS_<mpi>_EXEC   wrappers and launcher
# An MPI that is missing is left out with a message; none of them is required.

set(TAMIS_MPI_NAMES mpich openmpi)
set(TAMIS_MPIS "")

# Splits what `wrapper -show` prints into include directories and link items.
function(tamis_ask_wrapper wrapper includes_var links_var)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${line}")
  set(includes "")
  set(links "")
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)$")
      list(APPEND includes ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-[lL]")
      list(APPEND links ${word})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES includes)
  set(${includes_var} ${includes} PARENT_SCOPE)
  set(${links_var} ${links} PARENT_SCOPE)
endfunction()

function(tamis_add_mpi_targets name cc fc)
  tamis_ask_wrapper(${cc} includes links)
  add_library(mpi_${name}_headers INTERFACE)
  target_include_directories(mpi_${name}_headers SYSTEM INTERFACE ${includes})
  add_library(mpi_${name} INTERFACE)
  target_link_libraries(mpi_${name} INTERFACE mpi_${name}_headers ${links})
  if(fc)
    tamis_ask_wrapper(${fc} includes links)
    add_library(mpi_${name}_fortran INTERFACE)
    target_include_directories(mpi_${name}_fortran INTERFACE ${includes})
    target_link_libraries(mpi_${name}_fortran INTERFACE ${links})
  endif()
endfunction()

foreach(name IN LISTS TAMIS_MPI_NAMES)
  find_program(TAMIS_${name}_CC mpicc.${name} DOC "C compiler wrapper of ${name}")
  find_program(TAMIS_${name}_FC mpifort.${name} DOC "Fortran compiler wrapper of ${name}")
  find_program(TAMIS_${name}_EXEC mpiexec.${name} DOC "Launcher of ${name}")
  if(TAMIS_${name}_CC AND TAMIS_${name}_EXEC)
    tamis_add_mpi_targets(${name} ${TAMIS_${name}_CC} "${TAMIS_${name}_FC}")
    list(APPEND TAMIS_MPIS ${name})
    message(STATUS "MPI ${name}: ${TAMIS_${name}_CC}")
  else()
    message(WARNING "MPI ${name} is not installed (no mpicc.${name} or mpiexec.${name}): "
                    "libtamis-${name}.so and its tests are left out. "
                    "Say -DTAMIS_${name}_CC=... and -DTAMIS_${name}_EXEC=... if it is elsewhere.")
  endif()
endforeach()
