/* The commands of `trainer`, one file per command. main.c lists them. */
#ifndef TRAINYARD_CLI_TRAINER_COMMANDS_H
#define TRAINYARD_CLI_TRAINER_COMMANDS_H

#include "base/err.h"
#include "base/options/options.h"
#include "train/data/dataset.h"

#include <stddef.h>

extern const struct command COMMAND_FIT, COMMAND_EVALUATE, COMMAND_EXPORT, COMMAND_PREDICT,
    COMMAND_RECOMMEND, COMMAND_DATA, COMMAND_SERVE, COMMAND_BENCH;
/* Subcommands of COMMAND_DATA. */
extern const struct command COMMAND_DATA_INSPECT, COMMAND_DATA_CONVERT, COMMAND_DATA_FACES;
/* Subcommands of COMMAND_BENCH, one per benchmark. */
extern const struct command COMMAND_BENCH_ALLREDUCE;

#endif
