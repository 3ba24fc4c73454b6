/* trainer: the compute program. A table of commands, and what all of them share. */
#include "cli/trainer/commands.h"

#include "base/str.h"

int command_open_data(const char *data, uint64_t seed, int64_t persons, int64_t pictures,
                      struct dataset **ret, struct err *err)
{
    if (str_eq(data, "procedural"))
        return dataset_open_procedural(seed, (size_t)persons, (size_t)pictures, ret, err);
    return dataset_open_folder(data, ret, err);
}

static const struct command *const COMMANDS[] = {
    &COMMAND_FIT,  &COMMAND_EVALUATE, &COMMAND_PREDICT, &COMMAND_RECOMMEND,
    &COMMAND_DATA, &COMMAND_EXPORT,   &COMMAND_SERVE,   NULL,
};

static const struct program PROGRAM = {
    .name = "trainer",
    .summary = "train, judge and serve models on the processors of one machine or of many",
    .description =
        "trainer reads from TF_CONFIG (or MASTER_ADDR, RANK and WORLD_SIZE) who trains together; "
        "without them it trains alone. It needs neither trainyard nor Kubernetes.\n\n"
        "Start with 'trainer fit face --data procedural --model-dir model'.",
    .commands = COMMANDS,
};

int main(int argc, char **argv)
{
    return options_main(&PROGRAM, TRAINYARD_VERSION, argc, argv);
}
