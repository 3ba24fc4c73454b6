/* Images are names for commands of this machine. Three are built in; `trainyard image add` writes
 * the others into <state>/images.json: {"name": ["command", "argument"…]}. */
#ifndef TRAINYARD_NODE_IMAGE_TABLE_H
#define TRAINYARD_NODE_IMAGE_TABLE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "node/pod_spec.h"

/* Where the trainer is found inside every pod, wherever it lies on the machine. */
#define IMAGE_TOOLS_DIRECTORY "/run/trainyard/bin"
#define IMAGE_TRAINER_PATH    IMAGE_TOOLS_DIRECTORY "/trainer"
/* And trainyard-step, in the containers of its image. */
#define IMAGE_STEP_PATH IMAGE_TOOLS_DIRECTORY "/trainyard-step"

/* The content of images.json; an empty object where there is none. */
int image_table_load(struct arena *arena, const char *state_dir, struct json **ret,
                     struct err *err);

/* The command an image stands for: "name", "name:tag", "name@digest" and "docker.io/name" all mean
 * name. ERR_NOT_FOUND with the advice what to do. */
int image_table_lookup(struct arena *arena, const struct json *table, const char *image,
                       struct pod_strings *ret, struct err *err);

#endif
