/* trainer data: the table of the commands for data sets. Each command has a file of its own. */
#include "cli/trainer/commands.h"

static const struct command *const COMMANDS[] = {
    &COMMAND_DATA_INSPECT,
    &COMMAND_DATA_CONVERT,
    &COMMAND_DATA_FACES,
    NULL,
};

const struct command COMMAND_DATA = {
    .name = "data",
    .summary = "inspect, convert or draw data sets",
    .description = "Describes a data set, cuts pictures to their faces, converts IDX "
                   "files to folders and back, and draws people who do not exist.",
    .subcommands = COMMANDS,
};
