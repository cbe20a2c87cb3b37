# Test helpers: unit-test executables and programs for real ranks.

# What a rank needs in its environment to run in a container, as root, on few cores.
set(TAMIS_RANK_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_btl_vader_single_copy_mechanism=none
    OMPI_MCA_mpi_yield_when_idle=1
    TAMIS_PROFILES=)

# A test's own code is compiled once and runs for a moment, so what is optimised is the compilation;
# what it tests is compiled as the build type says.
set(TAMIS_TEST_OPTIONS ${TAMIS_WARNINGS} -O1)
if(TAMIS_SANITIZE)
  set(TAMIS_TEST_OPTIONS ${TAMIS_WARNINGS} -O0)
endif()

# tamis_gtest(name LABEL label SOURCES ... [LIBRARIES ...] [TIMEOUT seconds])
# One GoogleTest executable whose tests ctest knows one by one.
function(tamis_gtest name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest GTest::gtest_main rapidcheck
                                        rapidcheck_gtest Threads::Threads)
  target_compile_options(${name} PRIVATE ${TAMIS_TEST_OPTIONS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  gtest_discover_tests(${name} TEST_PREFIX ${ARG_LABEL}: DISCOVERY_MODE PRE_TEST
                       DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
                       PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
endfunction()

# The words that start `count` ranks of the program under one MPI; a preload reaches the ranks only,
# never the launcher.
function(tamis_rank_command mpi count preload out)
  set(command ${TAMIS_${mpi}_EXEC} -n ${count})
  if(preload)
    list(APPEND command env LD_PRELOAD=${preload})
  endif()
  set(${out} ${command} PARENT_SCOPE)
endfunction()

# tamis_mpi_test(name SOURCES ... [RANKS 1 2 ...] [MPIS mpich openmpi] [LIBRARIES ...]
#                [LIBRARIES_<mpi> ...] [ARGS ...] [ENVIRONMENT VAR=value ...] [LABEL mpi]
#                [TIMEOUT seconds] [PRELOAD])
# Builds build/tests/<name>.<mpi> for every MPI at hand and registers one ctest per MPI and rank
# count. C, C++ or Fortran sources. PRELOAD runs the ranks with libtamis-<mpi>.so before all else.
# The target of one MPI is called <name>_<mpi>. Under a sanitizer nothing is registered: preloading
# and the sanitizers' own preloads exclude each other.
function(tamis_mpi_test name)
  set(per_mpi "")
  foreach(mpi IN LISTS TAMIS_MPI_NAMES)
    list(APPEND per_mpi LIBRARIES_${mpi})
  endforeach()
  cmake_parse_arguments(ARG "PRELOAD" "LABEL;TIMEOUT"
                        "SOURCES;RANKS;MPIS;LIBRARIES;ARGS;ENVIRONMENT;${per_mpi}" ${ARGN})
  if(NOT ARG_MPIS)
    set(ARG_MPIS ${TAMIS_MPIS})
  endif()
  foreach(mpi IN LISTS ARG_MPIS)
    if(mpi IN_LIST TAMIS_MPIS)
      tamis_add_mpi_program(${name}_${mpi} ${mpi} "${ARG_SOURCES}"
                            "${ARG_LIBRARIES};${ARG_LIBRARIES_${mpi}}")
      set_target_properties(${name}_${mpi} PROPERTIES OUTPUT_NAME ${name}.${mpi})
      set(preload "")
      if(ARG_PRELOAD)
        set(preload ${PROJECT_BINARY_DIR}/lib/libtamis-${mpi}.so)
      endif()
      tamis_register_ranks(${name} ${mpi} "${preload}" "${ARG_RANKS}" "${ARG_ARGS}"
                           "${ARG_ENVIRONMENT}" "${ARG_LABEL}" "${ARG_TIMEOUT}")
    endif()
  endforeach()
endfunction()

# A program for one MPI in build/tests, in whatever languages its sources are.
function(tamis_add_mpi_program target mpi sources libraries)
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
    Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target}.mod)
  set(flavour "")
  if("${sources}" MATCHES "\\.[fF](90)?(;|$)")
    set(flavour _fortran)
  endif()
  target_link_libraries(${target} PRIVATE ${libraries} mpi_${mpi}${flavour} Threads::Threads)
endfunction()

function(tamis_register_ranks name mpi preload ranks args environment label timeout)
  if(NOT ranks)
    set(ranks 1 2 3 4 8)
  endif()
  if(NOT label)
    set(label mpi)
  endif()
  if(NOT timeout)
    set(timeout 120)
  endif()
  foreach(count IN LISTS ranks)
    set(test ${label}:${name}.${mpi}.${count})
    tamis_rank_command(${mpi} ${count} "${preload}" command)
    add_test(NAME ${test} COMMAND ${command} $<TARGET_FILE:${name}_${mpi}> ${args})
    # Ranks spin before they sleep, so a run of several ranks gets both cores of a small machine.
    set(cores 2)
    if(count EQUAL 1)
      set(cores 1)
    endif()
    set_tests_properties(${test} PROPERTIES LABELS "${label};${mpi}" TIMEOUT ${timeout}
      PROCESSORS ${cores} ENVIRONMENT "${TAMIS_RANK_ENVIRONMENT};${environment}")
  endforeach()
endfunction()
