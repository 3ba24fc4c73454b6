/* The nodes of this machine: registers `nodes` Node objects, runs the pods bound to them as
 * processes in sandboxes, reports their state on the API, serves their names and logs. It speaks to
 * the API through `transport` only. */
#ifndef TRAINYARD_NODE_NODE_H
#define TRAINYARD_NODE_NODE_H

#include "engine/engine.h"
#include "loop/loop.h"
#include "net/http/http.h"

/* What each node offers, as Kubernetes writes quantities ("1500m", "8Gi"). NULL: what the machine
 * has. */
struct node_size {
    const char *cpu, *memory;
};
/* That a node offers more than this machine has, as a sentence; NULL if it does not. */
const char *node_size_note(struct arena *arena, const struct node_size *size);

struct node_options {
    const char *state_dir;         /* pods, volumes, logs lie below */
    const char *const *node_names; /* NULL-terminated */
    int api_port;                  /* on the machine's loopback */
    const char *step_path;         /* the trainyard-step binary */
    const char *prober_path;       /* this program, as it is started for probes with TLS */
    const char *trainer_path;      /* what trainyard/trainer stands for */
    struct node_size size;         /* of each node */
    int fake_gpus;                 /* told besides those of the machine, for tests */
    bool plain;                    /* without namespaces, also where they work */
    bool isolated;                 /* pods are to reach nothing beyond the cluster */
    const char *resolv_conf;       /* names the machine's name servers; NULL: /etc/resolv.conf */
    const char *const *shares;     /* directories for all pods, of node_share_find(); or NULL */
};

/* Enter the cluster's namespaces: its user namespace (made unless root) and the pod network, joined
 * again if a holder process of an earlier run lives. Where the machine forbids them there are none
 * (docs/design/plain.md). Must come before any thread is started. */
struct node_namespaces;
int node_namespaces_enter(const struct node_options *options, struct node_namespaces **ret,
                          struct err *err);
struct node_namespaces *node_namespaces_free(struct node_namespaces *space);
/* Free it after a start that failed: what was started for a new one ends, a found one is left to
 * its pods. */
struct node_namespaces *node_namespaces_abandon(struct node_namespaces *space,
                                                const char *state_dir);
/* A listening TCP socket on the gateway of the pod network, non-blocking: where pods find the API.
 */
int node_namespaces_listen(struct node_namespaces *space, int port, int *ret_fd, struct err *err);
/* End every pod and the holder, whoever started them: for `down`. */
int node_namespaces_destroy(const char *state_dir, struct err *err);
/* After that, where the state directory goes as well: remove what lies outside of it. */
int node_wipe(const char *state_dir, struct err *err);

/* Without namespaces: why, and what that means, as a sentence; NULL: with them. Of a space, or of
 * the cluster that runs in a state directory. */
const char *node_namespaces_plain(const struct node_namespaces *space);
const char *node_plain_note(struct arena *arena, const char *state_dir);
/* What a user should know of how that cluster runs: that, or what is wrong with the way out of its
 * pods. NULL: nothing. */
const char *node_note(struct arena *arena, const char *state_dir);

/* Name a file that holds a secret before it is written. Containers that start from now on see it
 * empty, wherever they see it, also after a later start of the cluster. ERR_EXISTS if a pod that
 * runs already could read it. `path` is absolute. */
int node_secret_file_add(const struct node_namespaces *space, const char *state_dir,
                         const char *path, struct err *err);

/* Finds the real path of a directory of the machine that every pod is to read and write at the same
 * path. ERR_INVALID or ERR_NOT_FOUND, with the reason, if pods cannot have it. `home` is the
 * user's, or NULL. */
int node_share_find(struct arena *arena, const char *state_dir, const char *home, const char *path,
                    const char **ret, struct err *err);

struct node_runtime;
int node_runtime_new(struct loop *loop, struct http_transport *transport,
                     struct node_namespaces *space, const struct node_options *options,
                     struct node_runtime **ret, struct err *err);
/* Leaves the pods running. */
struct node_runtime *node_runtime_free(struct node_runtime *runtime);

struct engine_pod_backend node_runtime_backend(struct node_runtime *runtime);

/* The directory of this machine in which the data of a bound claim lies, in `arena`; NULL: none. */
const char *node_runtime_claim_directory(struct node_runtime *runtime, struct arena *arena,
                                         const char *namespace_, const char *claim);

/* What the name of an image stands for: a command, in the machine's root or in a directory that is
 * the root, or what an archive holds. `trainyard image` writes it to <state>/images.json. */
struct node_image {
    const char *state_dir, *name;
    const char *const *command; /* the entrypoint; none only with a root */
    size_t command_count;
    const char *const *env; /* "NAME=value" */
    size_t env_count;
    const char *workdir, *rootfs; /* or NULL */
    const char *const *shares;    /* directories that all pods share, NULL-terminated; or NULL */
};
int node_image_add(const struct node_image *image, struct err *err);
int node_image_remove(const char *state_dir, const char *name, struct err *err);
/* An array: the rows of the table, each with its name. */
int node_image_list(struct arena *arena, const char *state_dir, struct json **ret, struct err *err);
/* Why pods will not find the program of an image, as a sentence; NULL if they will. `home` is the
 * user's, or NULL. */
const char *node_image_warning(struct arena *arena, const struct node_image *image,
                               const char *home);

struct node_image_import {
    const char *state_dir, *file; /* "-": standard input */
    const char *name;             /* NULL: the names the archive gives */
    uint64_t bytes_max, files_max;
};
/* The rows that were made, as node_image_list() has them. */
int node_image_import(struct arena *arena, const struct node_image_import *wanted,
                      struct json **ret, struct err *err);

#endif
