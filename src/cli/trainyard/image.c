/* trainyard image: names of images that stand for commands of this machine. */
#include "cli/trainyard/commands.h"
#include "cli/trainyard/state_dir.h"

#include "node/node.h"

#include <stdint.h>
#include <stdio.h>

struct image_values {
    const char *state;
};

static int open_state(struct arena *arena, const void *values, struct state_dir *ret,
                      struct err *err)
{
    const struct image_values *wanted = values;
    int result = state_dir_resolve(arena, wanted->state, ret, err);
    return result < 0 ? result : state_dir_make(ret, err);
}

static int run_add(const void *values, size_t count, const char *const *arguments, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state;
    (void)count;
    int result = open_state(arena, values, &state, err);
    if (result == 0)
        result = node_image_add(state.path, arguments[0], arguments + 1, err);
    if (result < 0)
        return result;
    printf("image %s runs %s\n", arguments[0], arguments[1]);
    return 0;
}

static int run_remove(const void *values, size_t count, const char *const *arguments,
                      struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state;
    (void)count;
    int result = open_state(arena, values, &state, err);
    if (result == 0)
        result = node_image_remove(state.path, arguments[0], err);
    if (result < 0)
        return result;
    printf("image %s removed\n", arguments[0]);
    return 0;
}

static const struct option OPTIONS[] = {
    OPTION_STATE(struct image_values),
    {0},
};

static const struct command COMMAND_IMAGE_ADD = {
    .name = "add",
    .arguments = "NAME -- COMMAND [ARG…]",
    .summary = "let an image name stand for a command",
    .description = "A container whose image has this name, and which gives no command of its own, "
                   "runs this one, "
                   "followed by its args. Running pods are not touched.",
    .examples = "trainyard image add tensorflow/tensorflow:2.12 -- /usr/bin/python3",
    .options = OPTIONS,
    .values_size = sizeof(struct image_values),
    .arguments_min = 2,
    .arguments_max = SIZE_MAX,
    .run = run_add,
};

static const struct command COMMAND_IMAGE_REMOVE = {
    .name = "remove",
    .arguments = "NAME",
    .summary = "forget an image name",
    .options = OPTIONS,
    .values_size = sizeof(struct image_values),
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_remove,
};

static const struct command *const SUBCOMMANDS[] = {&COMMAND_IMAGE_ADD, &COMMAND_IMAGE_REMOVE,
                                                    NULL};

const struct command COMMAND_IMAGE = {
    .name = "image",
    .summary = "say what the names of images stand for on this machine",
    .description = "Pods are ordinary processes here, so an image is a name. trainyard/trainer and "
                   "trainyard/tools "
                   "are built in; any other needs a command, on the container or here.",
    .subcommands = SUBCOMMANDS,
};
