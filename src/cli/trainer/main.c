/* trainer: the program for training and serving. This file has the table of commands and main(). */
#include "cli/trainer/commands.h"

#include "base/system/crash.h"

#include <signal.h>

static const struct command *const COMMANDS[] = {
    &COMMAND_FIT,       &COMMAND_EVALUATE, &COMMAND_PREDICT,
    &COMMAND_RECOMMEND, &COMMAND_DATA,     &COMMAND_EXPORT,
    &COMMAND_SERVE,     &COMMAND_BENCH,    NULL,
};

static const struct program PROGRAM = {
    .name = "trainer",
    .summary = "train, evaluate and serve models on the CPUs of one machine or of many",
    .description =
        "trainer reads the processes that train together from TF_CONFIG (or MASTER_ADDR, RANK and "
        "WORLD_SIZE); without them it trains in one process. It needs neither trainyard nor "
        "Kubernetes.\n\nStart with 'trainer fit face --data procedural --model-dir faces'.",
    .commands = COMMANDS,
};

int main(int argc, char **argv)
{
    crash_log_install("trainer");
    signal(SIGXFSZ, SIG_IGN); /* so that a write beyond the file size limit fails with EFBIG */
    return options_main(&PROGRAM, TRAINYARD_VERSION, argc, argv);
}
