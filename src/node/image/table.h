/* What the names of images stand for on this machine: a command of the machine itself, or a root
 * file system that was imported or lies in a directory. Three are built in; the others are members
 * of <state>/images.json, written by `trainyard image`:
 *
 *   "name:tag": {"command": […], "args": […], "env": ["K=V"…], "workdir": "/", "user": "app",
 *                "stopSignal": "SIGQUIT", "rootfs": "/dir", "digest": "sha256:…", "manifest":
 *                "sha256:…", "size": 123, "created": "2026-01-02T03:04:05Z"}
 *
 * all of them optional; a row that is only a list is a command. The files of an image with a digest
 * lie in <state>/images/<digest>/rootfs. */
#ifndef TRAINYARD_NODE_IMAGE_TABLE_H
#define TRAINYARD_NODE_IMAGE_TABLE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"
#include "node/pod/spec.h"

/* Where a container of the machine's own files looks for programs, before its tools. */
#define IMAGE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Where the trainer is found inside every pod, wherever it lies on the machine. */
#define IMAGE_TOOLS_DIRECTORY "/run/trainyard/bin"
#define IMAGE_TRAINER_PATH    IMAGE_TOOLS_DIRECTORY "/trainer"
/* And trainyard-step, in the containers of its image. */
#define IMAGE_STEP_PATH IMAGE_TOOLS_DIRECTORY "/trainyard-step"

struct image {
    struct pod_strings command, args;                    /* Entrypoint and Cmd */
    struct pod_strings environment;                      /* "NAME=value" */
    const char *directory, *user, *stop_signal, *digest; /* or "" */
    const char *root; /* directory on the machine that is its root; NULL: the machine's own */
};

/* The content of images.json; an empty object where there is none. */
int image_table_load(struct arena *arena, const char *state_dir, struct json **ret,
                     struct err *err);
int image_table_store(const char *state_dir, const struct json *table, struct err *err);

/* What an image stands for; false: it is not known here, and `ret` is empty. */
bool image_table_find(struct arena *arena, const char *state_dir, const struct json *table,
                      const char *image, struct image *ret);

/* Why a container of this image that gives no command cannot run, and what helps: ERR_NOT_FOUND. */
int image_table_advise(struct arena *arena, const char *image, const char *pull_policy,
                       struct err *err);

/* <state>/images/<hex of the digest>, and the root in it. */
const char *image_directory(struct arena *arena, const char *state_dir, const char *digest);
const char *image_root(struct arena *arena, const char *state_dir, const char *digest);

#endif
