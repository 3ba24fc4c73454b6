/* trainer bench: lists the benchmarks, which have one file each. */
#include "cli/trainer/commands.h"

static const struct command *const MEASUREMENTS[] = {
    &COMMAND_BENCH_ALLREDUCE,
    NULL,
};

const struct command COMMAND_BENCH = {
    .name = "bench",
    .summary = "measure the communication between workers",
    .description = "Measures these machines and their network, with the code that training uses.",
    .subcommands = MEASUREMENTS,
};
