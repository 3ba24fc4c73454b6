/* Loads the image table, and finds what an image's name means on this machine: a command of the
 * machine, an imported root file system, or a directory that is used as the root file system. Three
 * images are built in. The others are members of <state>/images.json, which `trainyard image` reads
 * and writes. The planner of pods and the registrar of nodes read this file. A member has this
 * form:
 *
 *   "name:tag": {"command": […], "args": […], "env": ["K=V"…], "workdir": "/", "user": "app",
 *                "stopSignal": "SIGQUIT", "rootfs": "/dir", "digest": "sha256:…", "manifest":
 *                "sha256:…", "size": 123, "created": "2026-01-02T03:04:05Z"}
 *
 * Each member is called a row. Every field is optional. A row may also be only a list, which is the
 * command. The files of an image with a digest are in <state>/images/<digest>/rootfs. */
#ifndef TRAINYARD_NODE_IMAGE_TABLE_H
#define TRAINYARD_NODE_IMAGE_TABLE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"
#include "node/pod/record/spec.h"

/* PATH of a container, unless its image or its manifest sets another. If the container uses the
 * machine's root, IMAGE_TOOLS_DIRECTORY is appended. */
#define IMAGE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* The directory of tools in a sandbox with the machine's root, and the trainer in it. The paths are
 * the same on each machine. */
#define IMAGE_TOOLS_DIRECTORY "/run/trainyard/bin"
#define IMAGE_TRAINER_PATH    IMAGE_TOOLS_DIRECTORY "/trainer"
/* The path of trainyard-step in a container of the image trainyard/step. */
#define IMAGE_STEP_PATH IMAGE_TOOLS_DIRECTORY "/trainyard-step"

/* What a container gets from its image. */
struct image {
    struct pod_strings command, args; /* Entrypoint and Cmd */
    struct pod_strings environment;   /* "NAME=value" */
    /* The working directory, the user, the signal that stops a container, and the digest; "" if not
     * given. */
    const char *directory, *user, *stop_signal, *digest;
    /* The directory of the machine that is the image's root. NULL means the machine's own root. */
    const char *root;
};

/* Loads images.json. Returns an empty object if the file does not exist. */
int image_table_load(struct arena *arena, const char *state_dir, struct json **ret,
                     struct err *err);
/* Replaces images.json. The caller must hold the lock of image_store_lock(). */
int image_table_store(const char *state_dir, const struct json *table, struct err *err);

/* Finds the image that matches a name best. Returns false, with an empty `ret`, if no image
 * matches. */
bool image_table_find(struct arena *arena, const char *state_dir, const struct json *table,
                      const char *image, struct image *ret);

/* Sets an error that explains why a container of this image cannot run without a command, and what
 * to do. Must be called only for an image that is unknown or has no command of its own. Returns
 * -ERR_NOT_FOUND. */
int image_table_advise(struct arena *arena, const char *image, const char *pull_policy,
                       struct err *err);

/* Returns <state>/images/<digest in hexadecimal>. */
const char *image_directory(struct arena *arena, const char *state_dir, const char *digest);
/* Returns the directory of the root file system in image_directory(). */
const char *image_root(struct arena *arena, const char *state_dir, const char *digest);

#endif
