/* The command line of the workloads, and what is told without any access. */
#pragma once

#include <stddef.h>

#include "workload.h"

/* Ends with NULL. */
extern const Workload* const workloads[];

const Workload* workload_named(const char* name);

/* Fills the values of `shape` from the command line. A reason, in `reason`, where it cannot be. */
bool read_values(Shape* shape, int argc, char** argv, char* reason, size_t room);

/* All workloads with their parameters: one JSON document. */
void print_list(void);
/* "name":value,... */
void print_values(const Shape* shape);
/* What each of shape->ranks ranks would do: one JSON document. False with shape->refusal set where
   it cannot be done. */
bool print_description(Shape* shape);

void print_usage(void);
