/* The nodes of this machine. The module registers one Node object per name, runs the pods that are
 * bound to these nodes as processes in sandboxes, reports their state to the API, and serves their
 * names and logs. It reaches the API through `transport` only. */
#ifndef TRAINYARD_NODE_NODE_H
#define TRAINYARD_NODE_NODE_H

#include "engine/engine.h"
#include "loop/loop.h"
#include "net/http/http.h"

/* The resources that each node offers, as Kubernetes quantities ("1500m", "8Gi"). NULL means as
 * much as the machine has. */
struct node_size {
    const char *cpu, *memory;
};
/* Returns a sentence if a node offers more than this machine has, else NULL. */
const char *node_size_note(struct arena *arena, const struct node_size *size);

struct node_options {
    const char *state_dir;         /* the directory for the files of pods, volumes and logs */
    const char *const *node_names; /* the list ends with NULL */
    int api_port;                  /* the API's port on 127.0.0.1 */
    const char *step_path;         /* the path of the trainyard-step binary */
    const char *prober_path;       /* the path of this program; it is started for probes over TLS */
    const char *trainer_path;      /* the program that the image trainyard/trainer runs */
    struct node_size size;         /* the size of each node */
    int fake_gpus;                 /* GPUs that are reported besides the machine's own, for tests */
    bool plain;                    /* run pods without namespaces even if the machine allows them */
    bool isolated;                 /* pods reach no address outside the cluster */
    const char *resolv_conf;       /* the file that lists the machine's name servers; NULL means
                                      /etc/resolv.conf */
    const char *const
        *shares; /* directories that every pod sees, from node_share_find(); or NULL */
};

/* Enters the cluster's namespaces: the pod network and, for an ordinary user, a user namespace. If
 * a holder process of an earlier run lives, the caller joins its namespaces; otherwise they are
 * created. On a machine that forbids namespaces, none are entered (docs/design/plain.md). Must be
 * called before the process starts a thread. */
struct node_namespaces;
int node_namespaces_enter(const struct node_options *options, struct node_namespaces **ret,
                          struct err *err);
struct node_namespaces *node_namespaces_free(struct node_namespaces *space);
/* Frees the namespaces after a start that failed. Ends the holder if this start has created it. A
 * holder of an earlier run keeps running for its pods. */
struct node_namespaces *node_namespaces_abandon(struct node_namespaces *space,
                                                const char *state_dir);
/* Opens a listening, non-blocking TCP socket on the gateway of the pod network. Pods reach the API
 * there. */
int node_namespaces_listen(struct node_namespaces *space, int port, int *ret_fd, struct err *err);
/* Ends every pod, the helpers and the holder, also those that an earlier control process started.
 * Used by `down`. */
int node_namespaces_destroy(const char *state_dir, struct err *err);
/* Removes everything that the cluster left outside of its state directory. Used by a `down` that
 * also deletes the state directory. Must be called after node_namespaces_destroy(). */
int node_wipe(const char *state_dir, struct err *err);

/* Return a sentence that says why pods have no namespaces and what that means, or NULL if pods have
 * namespaces. The first function is for the caller's cluster, the second for the cluster that runs
 * in a state directory. */
const char *node_namespaces_plain(const struct node_namespaces *space);
const char *node_plain_note(struct arena *arena, const char *state_dir);
/* Returns a warning for the user about the running cluster, or NULL if there is none. It says that
 * pods have no namespaces, or what is wrong with their egress. */
const char *node_note(struct arena *arena, const char *state_dir);

/* Registers a file that will contain a secret. Must be called before the file is written.
 * Containers that start after the file was written see an empty file there, in this and in later
 * runs of the cluster; containers without namespaces see the file. Returns -ERR_EXISTS if a pod
 * that runs now could read the file. `path` is absolute. */
int node_secret_file_add(const struct node_namespaces *space, const char *state_dir,
                         const char *path, struct err *err);

/* Checks that a directory of the machine can be shared with all pods, and returns its real path for
 * node_options.shares. Returns -ERR_INVALID or -ERR_NOT_FOUND, with the reason, if the directory
 * cannot be shared. `home` is the user's home directory, or NULL. */
int node_share_find(struct arena *arena, const char *state_dir, const char *home, const char *path,
                    const char **ret, struct err *err);

struct node_runtime;
int node_runtime_new(struct loop *loop, struct http_transport *transport,
                     struct node_namespaces *space, const struct node_options *options,
                     struct node_runtime **ret, struct err *err);
/* Frees the runtime; the pods keep running. */
struct node_runtime *node_runtime_free(struct node_runtime *runtime);

struct engine_pod_backend node_runtime_backend(struct node_runtime *runtime);

/* Returns the directory of this machine with the data of a claim, or NULL if the claim is not
 * bound. The result is allocated in `arena`. */
const char *node_runtime_claim_directory(struct node_runtime *runtime, struct arena *arena,
                                         const char *namespace_, const char *claim);

/* An image that is not imported from an archive: a command that runs in the machine's root, or a
 * directory that becomes the root, with or without a command. node_image_add() writes it to
 * <state>/images.json. */
struct node_image {
    const char *state_dir, *name;
    const char *const *command; /* the entrypoint; may be empty only if `rootfs` is set */
    size_t command_count;
    const char *const *env; /* "NAME=value" */
    size_t env_count;
    const char *workdir, *rootfs; /* each may be NULL */
    const char *const *shares; /* for node_image_warning(): directories that every pod shares, ends
                                  with NULL; or NULL */
};
int node_image_add(const struct node_image *image, struct err *err);
int node_image_remove(const char *state_dir, const char *name, struct err *err);
/* Returns the rows of the image table as a JSON array. Each row contains the image's name. */
int node_image_list(struct arena *arena, const char *state_dir, struct json **ret, struct err *err);
/* Returns a sentence that says why pods may not find a file of the image's command, or NULL if
 * there is no such reason. `home` is the user's home directory, or NULL. */
const char *node_image_warning(struct arena *arena, const struct node_image *image,
                               const char *home);

struct node_image_import {
    const char *state_dir, *file; /* the file "-" is standard input */
    const char *name;             /* the image's name; NULL means the names in the archive */
    uint64_t bytes_max, files_max;
};
/* Imports an image from an archive. `ret` gets the rows that were added, in the form of
 * node_image_list(). */
int node_image_import(struct arena *arena, const struct node_image_import *wanted,
                      struct json **ret, struct err *err);

#endif
