/* The nodes of this machine. The module registers one Node object per name, runs the pods that are
 * bound to these nodes as processes in sandboxes, reports their state to the API, and serves their
 * names and logs. It reaches the API through `transport` only. */
#ifndef TRAINYARD_NODE_NODE_H
#define TRAINYARD_NODE_NODE_H

#include "engine/engine.h"
#include "loop/loop.h"
#include "net/http/http.h"

/* The resources that each node offers, as Kubernetes quantities ("1500m", "8Gi"). NULL means all
 * that the machine has. */
struct node_size {
    const char *cpu, *memory;
};
/* Returns a sentence if a node offers more than this machine has, else NULL. */
const char *node_size_note(struct arena *arena, const struct node_size *size);

struct node_options {
    const char *state_dir;         /* holds the files of pods, volumes and logs */
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

/* Enters the cluster's namespaces: its user namespace, which an ordinary user makes first, and the
 * pod network. If a holder process of an earlier run lives, its network is joined again. A machine
 * that forbids namespaces has none (docs/design/plain.md). Must be called before the process
 * starts a thread. */
struct node_namespaces;
int node_namespaces_enter(const struct node_options *options, struct node_namespaces **ret,
                          struct err *err);
struct node_namespaces *node_namespaces_free(struct node_namespaces *space);
/* Frees the namespaces after a start that failed. A holder that this start created is ended; a
 * holder that it found keeps running for its pods. */
struct node_namespaces *node_namespaces_abandon(struct node_namespaces *space,
                                                const char *state_dir);
/* Opens a listening, non-blocking TCP socket on the gateway of the pod network. Pods reach the API
 * there. */
int node_namespaces_listen(struct node_namespaces *space, int port, int *ret_fd, struct err *err);
/* Ends every pod and the holder, also those of an earlier control process. For `down`. */
int node_namespaces_destroy(const char *state_dir, struct err *err);
/* Removes what the cluster left outside of its state directory. For a `down` that deletes the
 * state directory too, after node_namespaces_destroy(). */
int node_wipe(const char *state_dir, struct err *err);

/* Both return a sentence that says why pods have no namespaces and what that means, or NULL if
 * they have them. The first asks these namespaces, the second the cluster that runs in a state
 * directory. */
const char *node_namespaces_plain(const struct node_namespaces *space);
const char *node_plain_note(struct arena *arena, const char *state_dir);
/* Returns a sentence that a user should know about the running cluster: that pods have no
 * namespaces, or what is wrong with their egress. NULL if there is nothing to say. */
const char *node_note(struct arena *arena, const char *state_dir);

/* Registers a file that will hold a secret; must be called before the file is written. Containers
 * that start from now on see an empty file there, also after a later start of the cluster. Returns
 * -ERR_EXISTS if a running pod could read it. `path` is absolute. */
int node_secret_file_add(const struct node_namespaces *space, const char *state_dir,
                         const char *path, struct err *err);

/* Finds the real path of a directory of the machine that every pod is to read and write at the
 * same path. Returns -ERR_INVALID or -ERR_NOT_FOUND, with the reason, if pods cannot have it.
 * `home` is the user's home directory, or NULL. */
int node_share_find(struct arena *arena, const char *state_dir, const char *home, const char *path,
                    const char **ret, struct err *err);

struct node_runtime;
int node_runtime_new(struct loop *loop, struct http_transport *transport,
                     struct node_namespaces *space, const struct node_options *options,
                     struct node_runtime **ret, struct err *err);
/* Frees the runtime; the pods keep running. */
struct node_runtime *node_runtime_free(struct node_runtime *runtime);

struct engine_pod_backend node_runtime_backend(struct node_runtime *runtime);

/* Returns the directory of this machine that holds the data of a bound claim, or NULL. The result
 * lives in `arena`. */
const char *node_runtime_claim_directory(struct node_runtime *runtime, struct arena *arena,
                                         const char *namespace_, const char *claim);

/* What the name of an image stands for: a command in the machine's root, a command in a directory
 * that becomes the root, or the contents of an archive. `trainyard image` writes it to
 * <state>/images.json. */
struct node_image {
    const char *state_dir, *name;
    const char *const *command; /* the entrypoint; may be empty only if `rootfs` is set */
    size_t command_count;
    const char *const *env; /* "NAME=value" */
    size_t env_count;
    const char *workdir, *rootfs; /* each may be NULL */
    const char *const *shares;    /* directories that every pod shares, ends with NULL; or NULL */
};
int node_image_add(const struct node_image *image, struct err *err);
int node_image_remove(const char *state_dir, const char *name, struct err *err);
/* Returns the rows of the image table as a JSON array, each row with its name. */
int node_image_list(struct arena *arena, const char *state_dir, struct json **ret, struct err *err);
/* Returns a sentence that says why pods will not find the program of an image, or NULL if they
 * will. `home` is the user's home directory, or NULL. */
const char *node_image_warning(struct arena *arena, const struct node_image *image,
                               const char *home);

struct node_image_import {
    const char *state_dir, *file; /* the file "-" is standard input */
    const char *name;             /* NULL means the names that the archive gives */
    uint64_t bytes_max, files_max;
};
/* `ret` gets the rows that were added, in the form of node_image_list(). */
int node_image_import(struct arena *arena, const struct node_image_import *wanted,
                      struct json **ret, struct err *err);

#endif
