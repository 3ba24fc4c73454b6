/* The nodes of this machine. The module registers one Node object per name, runs the pods that are
 * bound to these nodes as processes in sandboxes, reports the state of nodes and pods to the API,
 * and serves DNS names, Services and logs. The commands of trainyard call these functions. The
 * runtime reaches the API only through the `transport` of node_runtime_new(). */
#ifndef TRAINYARD_NODE_NODE_H
#define TRAINYARD_NODE_NODE_H

#include "engine/engine.h"
#include "loop/loop.h"
#include "net/http/http.h"

/* The resources that each node offers, as Kubernetes quantities ("1500m", "8Gi"). NULL means the
 * machine's own amount. */
struct node_size {
    const char *cpu, *memory;
};
/* Returns a sentence if a node offers more than this machine has, else NULL. */
const char *node_size_note(struct arena *arena, const struct node_size *size);

struct node_options {
    const char *state_dir;         /* the directory for the files of pods, volumes and logs */
    const char *const *node_names; /* the names of the nodes; the list ends with NULL */
    int api_port;                  /* the API's port on 127.0.0.1 */
    const char *step_path;         /* the path of the trainyard-step binary */
    const char *prober_path;       /* the path of this program; it is started for probes over TLS */
    const char *trainer_path;      /* the program that the image trainyard/trainer runs */
    struct node_size size;         /* the size of each node */
    int fake_gpus;                 /* GPUs that are reported besides the machine's own, for tests */
    bool plain;                    /* run pods without namespaces even if the machine allows them */
    bool isolated;                 /* pods with namespaces reach no address outside the cluster */
    const char *resolv_conf;       /* the file that lists the machine's name servers; NULL means
                                      /etc/resolv.conf */
    const char *const *shares; /* directories that every pod sees, from node_share_find(); the list
                                  ends with NULL, or is NULL */
};

/* Creates the cluster's namespaces, or finds those of an earlier run if its holder process still
 * runs. An ordinary user's process moves into the cluster's user namespace. The process stays in
 * the machine's network: it keeps a descriptor of the pod network and creates sockets there. With
 * options.plain, or on a machine that forbids namespaces, there are no namespaces
 * (docs/design/plain.md). Must be called before the process starts a thread. */
struct node_namespaces;
int node_namespaces_enter(const struct node_options *options, struct node_namespaces **ret,
                          struct err *err);
/* Frees the object. The holder and the pods keep running. */
struct node_namespaces *node_namespaces_free(struct node_namespaces *space);
/* Frees the object after a start of the cluster that failed. If this start has created the pod
 * network, also calls node_namespaces_destroy(). The holder and the pods of an earlier run keep
 * running. */
struct node_namespaces *node_namespaces_abandon(struct node_namespaces *space,
                                                const char *state_dir);
/* Opens a listening, non-blocking TCP socket on the gateway of the pod network. Pods reach the API
 * at this address. The caller closes the socket. */
int node_namespaces_listen(struct node_namespaces *space, int port, int *ret_fd, struct err *err);
/* Ends every pod, the helpers and the holder, also those that an earlier control process started.
 * Removes egress and the control groups. Blocks until all have ended. */
int node_namespaces_destroy(const char *state_dir, struct err *err);
/* Removes the directory in /run from which pods without namespaces read their kubeconfig
 * (plan/kubeconfig.h). Used by `trainyard down --wipe`. Must be called after
 * node_namespaces_destroy(). */
int node_wipe(const char *state_dir, struct err *err);

/* Returns sentences that say why pods have no namespaces and what that means, or NULL if pods have
 * namespaces. The text is part of `space`. */
const char *node_namespaces_plain(const struct node_namespaces *space);
/* Like node_namespaces_plain(), but for the cluster of another process, by its state directory. The
 * text is allocated in `arena`. */
const char *node_plain_note(struct arena *arena, const char *state_dir);
/* Returns a warning for the user about the running cluster, or NULL if there is none. It says that
 * pods have no namespaces, that the holder of the pod network has ended, or what is wrong with the
 * pods' egress. */
const char *node_note(struct arena *arena, const char *state_dir);

/* Registers a file that will contain a secret, by its absolute path. Must be called before the file
 * is written. Containers that start after the file was written see an empty file there, in this and
 * in later runs of the cluster. Containers without namespaces see the file itself. Returns
 * -ERR_EXISTS if a pod with namespaces that runs now could read the file. Does nothing for a file
 * in the state directory, because pods do not see that directory. */
int node_secret_file_add(const struct node_namespaces *space, const char *state_dir,
                         const char *path, struct err *err);

/* Checks that a directory of the machine can be shared with all pods, and sets *ret to its real
 * path for node_options.shares. Returns 0, or a negative code with the reason why the directory
 * cannot be shared. `home` is the user's home directory, or NULL. */
int node_share_find(struct arena *arena, const char *state_dir, const char *home, const char *path,
                    const char **ret, struct err *err);

/* Runs the nodes and their pods on `loop` until node_runtime_free(). `space`, and the memory
 * that `options` points to, must outlive the runtime. */
struct node_runtime;
int node_runtime_new(struct loop *loop, struct http_transport *transport,
                     struct node_namespaces *space, const struct node_options *options,
                     struct node_runtime **ret, struct err *err);
/* Frees the runtime; the pods keep running. */
struct node_runtime *node_runtime_free(struct node_runtime *runtime);

/* Returns the functions through which the API server reaches running pods. */
struct engine_pod_backend node_runtime_backend(struct node_runtime *runtime);

/* Returns the directory of this machine with the data of a claim, or NULL if the claim does not
 * exist, is not bound, or has no directory here. The result is allocated in `arena`. */
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
    const char *workdir;       /* the working directory of containers, or NULL */
    const char *rootfs;        /* the directory that becomes the root, or NULL */
    const char *const *shares; /* for node_image_warning(): directories that every pod shares, ends
                                  with NULL; or NULL */
};
int node_image_add(const struct node_image *image, struct err *err);
/* Removes an image from the table, and its files if no other image has the same digest. Returns
 * -ERR_NOT_FOUND if the image is not in the table, or -ERR_CONFLICT if a pod uses files that would
 * be removed. */
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
    /* The maximum of bytes: of all images, unpacked, and of the copy of the archive, if one is
     * needed. */
    uint64_t bytes_max;
    uint64_t files_max; /* the maximum of files and directories per image */
};
/* Imports the images in an archive. Sets *ret to the rows that were added to the image table, in
 * the form of node_image_list(). Blocks. */
int node_image_import(struct arena *arena, const struct node_image_import *wanted,
                      struct json **ret, struct err *err);

#endif
