/* trainer bench: the table of the benchmarks. Each benchmark has a file of its own. */
#include "cli/trainer/commands.h"

static const struct command *const BENCHMARKS[] = {
    &COMMAND_BENCH_ALLREDUCE,
    NULL,
};

const struct command COMMAND_BENCH = {
    .name = "bench",
    .summary = "measure the communication between workers",
    .description = "Measures these machines and their network, with the code that training uses.",
    .subcommands = BENCHMARKS,
};
