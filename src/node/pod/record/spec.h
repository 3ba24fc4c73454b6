/* Defines the spec of a pod: what its supervisor must do. It contains decisions and not fields of
 * Kubernetes objects, so that the supervisor has nothing to interpret. The planner fills the spec,
 * and the control process writes it to <pod directory>/spec. A supervisor reads the file once, when
 * it starts. The next control process reads it to learn how the pod was planned. */
#ifndef TRAINYARD_NODE_POD_RECORD_SPEC_H
#define TRAINYARD_NODE_POD_RECORD_SPEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "node/limits/cgroup.h"
#include "node/plan/strings.h"
#include "node/pod/life.h"
#include "node/pod/restart.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    POD_SPEC_MAX = 16 * 1024 * 1024, /* bytes of the file, mostly for arguments and environment */
    POD_CONTAINERS_MAX = 64,
    POD_GROUPS_MAX = 64,
    POD_GRACE_DEFAULT_MS = 30 * 1000, /* the default of pod_spec.grace_ms */
};

/* A file or directory of the machine that the supervisor mounts into a container. */
struct pod_mount {
    const char *target; /* absolute, inside the sandbox */
    const char *source; /* on the machine, without symbolic links */
    /* The path below `source` that is mounted; it is created if it is missing. NULL means `source`
     * itself. */
    const char *sub_path;
    bool read_only;
    bool only_top; /* read_only does not apply to file systems that are mounted below `source` */
};

/* A volume in memory, which the supervisor mounts for all containers. */
struct pod_memory {
    const char *path; /* a directory that belongs to the pod */
    int64_t size;     /* in bytes; 0 means the kernel's default */
    int64_t group;    /* the owner group, or -1 */
};

struct pod_container {
    const char *name;
    bool init;    /* an init container; unless it is a sidecar, it must succeed before the next
                     container starts */
    bool sidecar; /* only with `init`: a sidecar, which keeps running while the next containers
                     start and run */
    int restart;  /* the container's own enum restart_policy; -1 means the pod's */
    struct restart_rules rules; /* see pod/restart.h */
    const char *image;          /* as the manifest names it */
    struct pod_life life;
    struct pod_strings arguments;
    struct pod_strings environment;
    const char *directory; /* the working directory; NULL means "/" */
    int64_t user, group;   /* -1 means root of the sandbox */
    uint64_t capabilities; /* one bit per capability; see plan/capabilities.h */
    bool unconfined;       /* no seccomp filter */
    bool read_only;        /* the container's root, /tmp, /var/tmp and /run are read-only */
    /* If the container fails without a termination message, the end of its log becomes the
     * message. */
    bool message_from_log;
    const char *root; /* the directory that becomes its root; NULL means the machine's root */
    /* The directory for the files that the container writes during one run to its root or, if the
     * pod is `plain`, to its working directory; or NULL. */
    const char *layer;
    const char *image_id; /* shown in its status, or NULL */
    int64_t stop_signal;  /* sent in place of SIGTERM; 0 means SIGTERM */
    bool has_stdin;       /* a client can attach to stdin; if false, stdin has no input */
    bool stdin_once;      /* stdin ends when the first attached client disconnects */
    bool terminal;        /* stdin, stdout and stderr are a terminal of the container's own */
    struct cgroup_limits limits;
    /* Files of the machine's /dev that the container sees besides those that every container
     * sees. */
    struct pod_strings devices;
    /* Sorted by the length of the target, so that a mount inside another mount comes later. */
    struct pod_mount *mounts;
    size_t mount_count, mount_capacity;
};

struct pod_spec {
    /* The boot ID of the machine when the pod was planned (base/system/boot.h). */
    const char *boot;
    const char *hostname;
    /* The lock file of the process that holds the pod network; NULL means the machine's network. */
    const char *network;
    const char *address; /* the pod's address, such as "10.244.1.2" */
    /* trainyard runs without the privileges of root. Each container gets a user namespace, unless
     * `plain` is set. */
    bool nested;
    bool machine_ipc; /* the pod uses the machine's System V IPC and /dev/shm */
    const char *shm;  /* the directory that becomes the containers' /dev/shm; not in the file */
    bool shares_processes; /* the containers see each other's processes */
    bool plain;            /* no namespaces at all; see step/sandbox/isolation.h */
    enum restart_policy restart;
    const char *identity; /* "name_namespace(uid)", as in messages of Kubernetes */
    /* The grace period: how long a container may continue after it was told to end, its preStop
     * hook included. Then SIGKILL follows. A stop request (pod/record/stop.h) may have another one.
     */
    int64_t grace_ms;
    /* The wall time at which the supervisor must start to end the pod; 0 means never. */
    int64_t deadline_ms;
    const char *prober;              /* the program that runs probes over TLS; NULL means none */
    const char *hosts, *resolv_conf; /* the contents of the files in /etc; NULL means that the
                                        root's own file stays */
    struct pod_strings masks;        /* paths whose content the pod must not see */
    struct pod_strings shares;       /* directories of the machine that every pod shares */
    /* The file that lists further paths to mask (pod/secrets.h). It is read at each start of a
     * container. */
    const char *secrets;
    struct cgroup_trees groups;  /* the pod's control groups; not in the file (limits/cgroup.h) */
    struct cgroup_limits limits; /* for the whole pod */
    struct pod_strings sysctls;  /* "net.core.somaxconn=100" */
    int64_t extra_groups[POD_GROUPS_MAX]; /* supplementary groups of all containers */
    size_t extra_group_count;
    struct pod_memory *memories;
    size_t memory_count, memory_capacity;
    struct pod_container *containers;
    size_t container_count, container_capacity;
};

/* The functions that add an item return a pointer that is valid until the next item of the same
 * list is added. They do not copy strings. */

struct pod_container *pod_spec_add_container(struct arena *arena, struct pod_spec *spec,
                                             const char *name);
struct pod_mount *pod_container_add_mount(struct arena *arena, struct pod_container *container,
                                          const char *target, const char *source);

struct pod_memory *pod_spec_add_memory(struct arena *arena, struct pod_spec *spec,
                                       const char *path);
struct restart_rule *pod_container_add_rule(struct arena *arena, struct pod_container *container);
/* Returns the container's own restart policy, or else the pod's. */
enum restart_policy pod_container_restart(const struct pod_spec *spec,
                                          const struct pod_container *container);

void pod_spec_write(const struct pod_spec *spec, struct buf *buf);
/* Parses `text`, and changes it in place. The strings of the spec point into `text`, so it must
 * live as long as the spec. A NUL byte must follow its `size` bytes. On failure returns a negative
 * code and leaves `ret` untouched. */
int pod_spec_parse(struct arena *arena, char *text, size_t size, struct pod_spec *ret,
                   struct err *err);

/* pod_spec_store() replaces <directory>/spec. It does not wait for the disk, because after a reboot
 * of the machine the pod is planned again. pod_spec_load() returns -ERR_NOT_FOUND if the file does
 * not exist. */
int pod_spec_store(const char *directory, const struct pod_spec *spec, struct err *err);
int pod_spec_load(struct arena *arena, const char *directory, struct pod_spec *ret,
                  struct err *err);

#endif
