#include "workload_options.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "workload_pieces.h"

enum { longest_word = 32 };

const Workload* const workloads[] = {
    &workload_dist3d,    &workload_block2d, &workload_btio,  &workload_unstruc,
    &workload_noncontig, &workload_hpio,    &workload_fill,  &workload_timesteps,
    &workload_tile,      &workload_block3d, &workload_flash, NULL,
};

static const char* const flags[] = {"--list", "--describe", "--help", "--paper", "--fresh", NULL};
static const char* const valued[] = {"--workload", "--ranks",  "--path",  "--levels", "--ops",
                                     "--reps",     "--budget", "--scale", "--n",      "--calls",
                                     "--hint",     "--spoil",  NULL};

const Workload* workload_named(const char* name) {
  for (int i = 0; name != NULL && workloads[i] != NULL; ++i) {
    if (strcmp(workloads[i]->name, name) == 0) return workloads[i];
  }
  return NULL;
}

static bool among(const char* const* names, const char* name) {
  for (; *names != NULL; ++names) {
    if (strcmp(*names, name) == 0) return true;
  }
  return false;
}

/* The word of that index in "a,b,c". */
static void word_at(const char* words, int64_t index, char word[longest_word]) {
  for (; index > 0; --index) words = strchr(words, ',') + 1;
  const size_t length = strcspn(words, ",");
  memcpy(word, words, length);
  word[length] = '\0';
}

/* False where the text is neither a number in range nor one of the words. */
static bool parse_value(const Parameter* parameter, const char* text, int64_t* value) {
  if (parameter->words != NULL) {
    for (*value = 0; *value <= parameter->most; ++*value) {
      char word[longest_word];
      word_at(parameter->words, *value, word);
      if (strcmp(word, text) == 0) return true;
    }
    return false;
  }
  char* end;
  *value = strtoll(text, &end, 10);
  return end != text && *end == '\0' && *value >= parameter->least && *value <= parameter->most;
}

/* Newton's way: no library of mathematics, which not every compiler line names. */
static double root_of(double number, int root) {
  double x = number > 1 ? number : 1;
  for (int i = 0; i < 200; ++i) {
    double power = 1;
    for (int k = 1; k < root; ++k) power *= x;
    x -= (x - number / power) / root;
  }
  return x;
}

static int64_t scaled(const Parameter* parameter, int64_t value, double scale) {
  if (parameter->root == 0) return value;
  const double made = (double)value * root_of(scale, parameter->root) + 0.5;
  if (made < (double)parameter->least) return parameter->least;
  return made > (double)parameter->most ? parameter->most : (int64_t)made;
}

static const Parameter* parameter_named(const Workload* workload, const char* name) {
  const Parameter* found = workload->parameters;
  if (strcmp(name, "n") == 0) {
    while (found->root == 0) ++found;
    return found;
  }
  while (found->name != NULL && strcmp(found->name, name) != 0) ++found;
  return found->name != NULL ? found : NULL;
}

bool read_values(Shape* shape, int argc, char** argv, char* reason, size_t room) {
  const Parameter* parameters = shape->workload->parameters;
  const bool paper = option_given(argc, argv, "--paper");
  const double scale = strtod(option_text(argc, argv, "--scale", "1"), NULL);
  snprintf(reason, room, "--scale wants a number above 0");
  if (!(scale > 0)) return false;
  for (int i = 0; parameters[i].name != NULL; ++i) {
    const int64_t whole = paper ? parameters[i].paper : parameters[i].quick;
    shape->value[i] = scaled(&parameters[i], whole, scale);
  }
  for (int i = 1; i < argc; ++i) {
    if (among(flags, argv[i])) continue;
    const bool option = strncmp(argv[i], "--", 2) == 0;
    const Parameter* parameter = option ? parameter_named(shape->workload, argv[i] + 2) : NULL;
    snprintf(reason, room, "%s does not know %s", shape->workload->name, argv[i]);
    if (parameter == NULL && !among(valued, argv[i])) return false;
    snprintf(reason, room, "%s wants a value", argv[i]);
    if (++i == argc) return false;
    if (parameter == NULL) continue;
    snprintf(reason, room, "%s %s is not among %s, or not between %lld and %lld", argv[i - 1],
             argv[i], parameter->words != NULL ? parameter->words : "numbers",
             (long long)parameter->least, (long long)parameter->most);
    if (!parse_value(parameter, argv[i], &shape->value[parameter - parameters])) return false;
  }
  return true;
}

static void print_value(const Parameter* parameter, int64_t value) {
  if (parameter->words == NULL) {
    printf("%lld", (long long)value);
    return;
  }
  char word[longest_word];
  word_at(parameter->words, value, word);
  printf("\"%s\"", word);
}

void print_values(const Shape* shape) {
  const Parameter* parameters = shape->workload->parameters;
  for (int i = 0; parameters[i].name != NULL; ++i) {
    printf("%s\"%s\":", i > 0 ? "," : "", parameters[i].name);
    print_value(&parameters[i], shape->value[i]);
  }
}

static void print_parameter(const Parameter* parameter) {
  printf("{\"name\":\"%s\",\"default\":", parameter->name);
  print_value(parameter, parameter->quick);
  printf(",\"paper\":");
  print_value(parameter, parameter->paper);
  if (parameter->words != NULL) printf(",\"words\":\"%s\"", parameter->words);
  printf(",\"scales\":%s,\"sentence\":\"%s\"}", parameter->root > 0 ? "true" : "false",
         parameter->sentence);
}

void print_list(void) {
  printf("[\n");
  for (int i = 0; workloads[i] != NULL; ++i) {
    const Workload* workload = workloads[i];
    printf(
        " {\"name\":\"%s\",\"sentence\":\"%s\",\"paper\":\"%s\",\"reads_only\":%s,\"parameters\":[",
        workload->name, workload->sentence, workload->paper, workload->overlaps ? "true" : "false");
    for (int p = 0; workload->parameters[p].name != NULL; ++p) {
      printf("%s\n  ", p > 0 ? "," : "");
      print_parameter(&workload->parameters[p]);
    }
    printf("]}%s\n", workloads[i + 1] != NULL ? "," : "");
  }
  printf("]\n");
}

/* All steps of one rank: pieces and spans are summed over the steps. */
static void describe_rank(const Shape* shape) {
  int64_t bytes = 0, pieces = 0, in_file = 0, in_memory = 0, span = 0;
  Reach all = {INT64_MAX, 0};
  for (int64_t step = 0; step < shape->steps; ++step) {
    Pieces found = pieces_of(shape, step);
    const Reach reach = reach_of(&found);
    bytes += found.bytes;
    pieces += found.count;
    in_file += runs_of(&found, true);
    in_memory += runs_of(&found, false);
    span += reach.end - reach.first;
    if (reach.first < all.first) all.first = reach.first;
    if (reach.end > all.end) all.end = reach.end;
    free(found.list);
  }
  printf(
      "\n {\"rank\":%d,\"desired_bytes\":%lld,\"pieces\":%lld,\"file_pieces\":%lld,"
      "\"memory_pieces\":%lld,\"first\":%lld,\"end\":%lld,\"span\":%lld}",
      shape->rank, (long long)bytes, (long long)pieces, (long long)in_file, (long long)in_memory,
      (long long)all.first, (long long)all.end, (long long)span);
}

bool print_description(Shape* shape) {
  shape->workload->plan(shape);
  if (shape->refusal != NULL) return false;
  printf("{\"workload\":\"%s\",\"ranks\":%d,\"parameters\":{", shape->workload->name, shape->ranks);
  print_values(shape);
  printf("},\"steps\":%lld,\"file_bytes\":%lld,\"per_rank\":[", (long long)shape->steps,
         (long long)shape->file_bytes);
  free(shape->own);
  for (shape->rank = 0; shape->rank < shape->ranks; ++shape->rank) {
    shape->own = NULL;
    shape->workload->plan(shape);
    if (shape->rank > 0) printf(",");
    describe_rank(shape);
    free(shape->own);
  }
  printf("]}\n");
  return true;
}

void print_usage(void) {
  printf(
      "workloads --workload NAME [options]   the papers' access patterns through MPI-IO\n"
      "  --list                all workloads, their parameters and sizes, as JSON\n"
      "  --describe [--ranks N]  what each rank would do, as JSON, without any access\n"
      "  --path FILE           workload.dat\n"
      "  --levels p,0,1,2,3    p: the POSIX limit\n"
      "  --ops write,read\n"
      "  --reps N              3\n"
      "  --budget SECONDS      6, for each level: fewer repetitions, and at levels 0 and 1 fewer\n"
      "                        calls, where it would take longer\n"
      "  --calls N             levels 0 and 1: the first N calls of each step, whatever the "
      "budget\n"
      "  --scale S             so many times the data\n"
      "  --n N                 the parameter that scales\n"
      "  --paper               the paper's sizes\n"
      "  --fresh               the file is emptied before each write\n"
      "  --hint key=value      for open and view; may stand several times\n"
      "  --spoil N             changes byte N before it is checked, which must be noticed\n"
      "  --<parameter> VALUE   of the workload\n");
}
