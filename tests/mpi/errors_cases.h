/* Every case of errors.c: collective over all ranks, each notes what it finds wrong. */
#pragma once

#include "errors_support.h"

void amode_combinations(Test* test);
void amode_differs_by_rank(Test* test);
void amode_bad_on_one_rank(Test* test);
void missing_directory(Test* test);
void missing_file(Test* test);
void exclusive_on_existing_file(Test* test);
void file_without_permission(Test* test);
void writes_to_a_file_opened_for_reading(Test* test);
void reads_from_a_file_opened_for_writing(Test* test);
void sequential_files_have_no_offsets(Test* test);
void illegal_filetypes_on_all_ranks(Test* test);
void illegal_filetype_on_one_rank(Test* test);
void wrong_arguments_on_all_ranks(Test* test);
void wrong_arguments_on_one_rank(Test* test);
void one_rank_of_write_all_has_a_bad_count(Test* test);
void bad_positions_and_sizes(Test* test);
void null_handles(Test* test);
void strange_hints_are_ignored(Test* test);
void full_device(Test* test);
void delete_on_close(Test* test);
