/* trainer fit: a table of the models that can be trained, one file each. */
#include "cli/trainer/commands.h"

static const struct command *const MODELS[] = {
    &COMMAND_FIT_CLASSIFIER,
    &COMMAND_FIT_FACE,
    &COMMAND_FIT_RECOMMENDER,
    NULL,
};

const struct command COMMAND_FIT = {
    .name = "fit",
    .summary = "train a model",
    .description =
        "Trains a model, alone or with the other processes that TF_CONFIG, the four classic flags "
        "of TensorFlow, or MASTER_ADDR, RANK and WORLD_SIZE name.\n\n"
        "Processes that have a secret, in TRAINYARD_JOB_SECRET or in the file that "
        "TRAINYARD_JOB_SECRET_FILE names, let only those in that have the same.",
    .subcommands = MODELS,
};
