/* trainyard image: maps image names to directories on this machine. This file has the subcommands
 * add and remove. */
#include "cli/trainyard/image.h"

#include "cli/trainyard/commands.h"
#include "cli/trainyard/shares.h"

#include "node/node.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct image_add_values {
    const char *state;
    struct option_list env;
    const char *rootfs;
    const char *workdir;
};

struct image_remove_values {
    const char *state;
};

int image_command_state(struct arena *arena, const char *given, struct state_dir *ret,
                        struct err *err)
{
    int result = state_dir_resolve(arena, given, ret, err);
    return result < 0 ? result : state_dir_make(ret, err);
}

static int run_add(const void *values, size_t count, const char *const *arguments, struct err *err)
{
    const struct image_add_values *wanted = values;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state;
    int result = image_command_state(arena, wanted->state, &state, err);
    if (result < 0)
        return result;
    const char *const *shares;
    if ((result = shares_kept(arena, &state, &shares, err)) < 0)
        return result;
    const struct node_image image = {
        .state_dir = state.path,
        .name = arguments[0],
        .command = arguments + 1,
        .command_count = count - 1,
        .env = wanted->env.items,
        .env_count = wanted->env.count,
        .rootfs = wanted->rootfs,
        .workdir = wanted->workdir,
        .shares = shares,
    };
    if ((result = node_image_add(&image, err)) < 0)
        return result;
    const char *warning = node_image_warning(arena, &image, getenv("HOME"));
    if (warning)
        fprintf(stderr, "warning: %s\n", warning);
    if (count > 1)
        printf("image %s runs %s\n", arguments[0], arguments[1]);
    else
        printf("image %s uses the root directory %s\n", arguments[0], wanted->rootfs);
    return 0;
}

static int run_remove(const void *values, size_t count, const char *const *arguments,
                      struct err *err)
{
    const struct image_remove_values *wanted = values;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state;
    (void)count;
    int result = image_command_state(arena, wanted->state, &state, err);
    if (result == 0)
        result = node_image_remove(state.path, arguments[0], err);
    if (result < 0)
        return result;
    printf("image %s removed\n", arguments[0]);
    return 0;
}

static const struct option ADD_OPTIONS[] = {
    OPTION_STATE(struct image_add_values),
    {.name = "env",
     .type = OPTION_LIST,
     .offset = offsetof(struct image_add_values, env),
     .value = "NAME=VALUE",
     .help = "an environment variable of its containers, which a pod may override"},
    {.name = "rootfs",
     .type = OPTION_PATH,
     .offset = offsetof(struct image_add_values, rootfs),
     .value = "DIR",
     .help = "the directory that its containers get as '/'; it is never written to"},
    {.name = "workdir",
     .type = OPTION_STRING,
     .offset = offsetof(struct image_add_values, workdir),
     .value = "DIR",
     .help = "working directory of its containers, which a pod may override"},
    {0},
};

static const struct option REMOVE_OPTIONS[] = {
    OPTION_STATE(struct image_remove_values),
    {0},
};

static const struct command COMMAND_IMAGE_ADD = {
    .name = "add",
    .arguments = "NAME [-- COMMAND [ARG…]]",
    .summary = "map an image name to a command",
    .description =
        "A container whose image has this name, and which gives no command of its own, runs this "
        "one, followed by its args. With --rootfs it runs in that directory as its root, and sees "
        "no other files of the machine, except its volumes and the directories of 'trainyard up "
        "--share'. Running pods are not touched.\n\n"
        "A program or script below /tmp is shown to these containers at its path. A warning names "
        "a program or path that they will not find.\n\n"
        "A name without a tag stands for all tags.",
    .examples = "trainyard image add tensorflow/tensorflow:2.12 -- /usr/bin/python3\n"
                "trainyard image add tools --rootfs /srv/debian --env LANG=C.UTF-8 -- /bin/bash",
    .options = ADD_OPTIONS,
    .values_size = sizeof(struct image_add_values),
    .arguments_min = 1,
    .arguments_max = SIZE_MAX,
    .run = run_add,
};

static const struct command COMMAND_IMAGE_REMOVE = {
    .name = "remove",
    .arguments = "NAME",
    .summary = "remove an image name, and the files of an imported image",
    .description = "The files of an imported image are deleted with the last of its names. While a "
                   "pod uses the files, the last name is not removed, and a message names the "
                   "pod.",
    .options = REMOVE_OPTIONS,
    .values_size = sizeof(struct image_remove_values),
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_remove,
};

static const struct command *const SUBCOMMANDS[] = {
    &COMMAND_IMAGE_ADD, &COMMAND_IMAGE_IMPORT, &COMMAND_IMAGE_LIST, &COMMAND_IMAGE_REMOVE, NULL,
};

const struct command COMMAND_IMAGE = {
    .name = "image",
    .summary = "define what image names stand for on this machine",
    .description = "trainyard does not pull images: an image name stands for a program of this "
                   "machine, or for the files of an image that was saved elsewhere. "
                   "trainyard/trainer, trainyard/tools and trainyard/step are built in; any other "
                   "image must be imported or added here, unless the container gives a command.",
    .subcommands = SUBCOMMANDS,
};
