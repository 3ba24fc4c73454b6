/* The commands of `trainer`, one file each; main.c lists them. */
#ifndef TRAINYARD_CLI_TRAINER_COMMANDS_H
#define TRAINYARD_CLI_TRAINER_COMMANDS_H

#include "base/err.h"
#include "base/options/options.h"
#include "train/data/dataset.h"

#include <stddef.h>

extern const struct command COMMAND_FIT, COMMAND_EVALUATE, COMMAND_EXPORT, COMMAND_PREDICT,
    COMMAND_RECOMMEND, COMMAND_DATA, COMMAND_SERVE, COMMAND_BENCH;
/* What can be done with data sets, under COMMAND_DATA. */
extern const struct command COMMAND_DATA_INSPECT, COMMAND_DATA_CONVERT, COMMAND_DATA_FACES;
/* One a measurement, under COMMAND_BENCH. */
extern const struct command COMMAND_BENCH_ALLREDUCE;

#endif
