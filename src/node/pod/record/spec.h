/* The orders for a pod's supervisor. They state decisions, not fields of Kubernetes objects, so
 * that the supervisor has nothing to interpret. The control process writes them to <pod
 * directory>/spec; the supervisor reads them once. */
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
    POD_GRACE_DEFAULT_MS = 30 * 1000, /* time between SIGTERM and SIGKILL */
};

struct pod_mount {
    const char *target;   /* absolute, inside the sandbox */
    const char *source;   /* on the machine, without symbolic links */
    const char *sub_path; /* the path below `source` that is mounted, created if missing; NULL means
                             `source` itself */
    bool read_only;
    bool only_top; /* read_only does not apply to file systems that are mounted below the target */
};

/* A volume in memory, which the supervisor mounts for all containers. */
struct pod_memory {
    const char *path; /* a directory that belongs to the pod */
    int64_t size;     /* in bytes; 0 means the kernel's default */
    int64_t group;    /* the owner group, or -1 */
};

struct pod_container {
    const char *name;
    bool init;    /* an init container, which must end before the next container starts */
    bool sidecar; /* with `init`: a sidecar, which keeps running while the next containers start */
    int restart;  /* the container's own enum restart_policy; -1 means the pod's */
    struct restart_rules rules; /* checked before the policy */
    const char *image;          /* as the manifest names it */
    struct pod_life life;
    struct pod_strings arguments;
    struct pod_strings environment;
    const char *directory; /* the working directory; NULL means "/" */
    int64_t user, group;   /* -1 means root of the sandbox */
    uint64_t capabilities; /* one bit per capability; see plan/capabilities.h */
    bool unconfined;       /* no seccomp filter */
    bool read_only;        /* the container's root, /tmp and /run are read-only */
    bool message_from_log; /* a container that fails without a message gets the end of its log as
                              the message */
    const char *root;      /* the directory that becomes its root; NULL means the machine's root */
    const char *layer; /* the directory for files that the container writes to its root in one run;
                          or NULL */
    const char *image_id; /* shown in its status, or NULL */
    int64_t stop_signal;  /* sent in place of SIGTERM; 0 means SIGTERM */
    bool has_stdin;       /* stdin is a pipe that a client can attach to; else it is empty */
    bool stdin_once;      /* stdin ends when the first attached client disconnects */
    bool terminal;        /* stdin, stdout and stderr are a terminal of the container's own */
    struct cgroup_limits limits;
    struct pod_strings
        devices; /* files of the machine's /dev that the container sees besides the common ones */
    struct pod_mount *mounts; /* sorted by the length of the target, so that an inner mount follows
                                 the outer one */
    size_t mount_count, mount_capacity;
};

struct pod_spec {
    const char
        *boot; /* the boot ID of the machine when the pod was planned; see base/system/boot.h */
    const char *hostname;
    const char *network; /* the lock file of the process that holds the pod network; NULL means the
                            machine's network */
    const char *address; /* "10.244.1.2", if `network` is set */
    bool nested;      /* trainyard runs as an ordinary user: each container gets a user namespace */
    bool machine_ipc; /* the pod uses the machine's System V IPC and /dev/shm */
    const char *shm;  /* the source of the containers' /dev/shm; not part of the text */
    bool shares_processes; /* the containers see each other's processes */
    bool plain;            /* no namespaces at all; see step/sandbox/isolation.h */
    enum restart_policy restart;
    const char *identity; /* "name_namespace(uid)", as in messages of Kubernetes */
    int64_t grace_ms;    /* the grace period if no order of the control process gives another one */
    int64_t deadline_ms; /* the wall time at which the supervisor begins to end the pod; 0 means
                            never */
    const char *prober;  /* the program that runs probes over TLS; NULL means none */
    const char *hosts,
        *resolv_conf;          /* the contents of the files in /etc; NULL means the machine's */
    struct pod_strings masks;  /* paths whose content the pod must not see */
    struct pod_strings shares; /* directories of the machine that every pod shares */
    const char *secrets; /* the file that lists further masked paths (pod/secrets.h); read at each
                            start of a container */
    struct cgroup_trees
        groups; /* the pod's control groups, from <pod directory>/cgroups; not part of the text */
    struct cgroup_limits limits;          /* for the whole pod */
    struct pod_strings sysctls;           /* "net.core.somaxconn=100" */
    int64_t extra_groups[POD_GROUPS_MAX]; /* further groups of every container's processes */
    size_t extra_group_count;
    struct pod_memory *memories;
    size_t memory_count, memory_capacity;
    struct pod_container *containers;
    size_t container_count, container_capacity;
};

struct pod_container *pod_spec_add_container(struct arena *arena, struct pod_spec *spec,
                                             const char *name);
struct pod_mount *pod_container_add_mount(struct arena *arena, struct pod_container *container,
                                          const char *target, const char *source);

struct pod_memory *pod_spec_add_memory(struct arena *arena, struct pod_spec *spec,
                                       const char *path);
struct restart_rule *pod_container_add_rule(struct arena *arena, struct pod_container *container);
enum restart_policy pod_container_restart(const struct pod_spec *spec,
                                          const struct pod_container *container);

void pod_spec_write(const struct pod_spec *spec, struct buf *buf);
/* Modifies `text`, to which the strings of the spec point: it must live as long as the spec. */
int pod_spec_parse(struct arena *arena, char *text, size_t size, struct pod_spec *ret,
                   struct err *err);

/* Store the spec in <pod directory>/spec and load it from there. Storing does not wait for the
 * disk, because a spec is not used after a reboot of the machine. */
int pod_spec_store(const char *directory, const struct pod_spec *spec, struct err *err);
int pod_spec_load(struct arena *arena, const char *directory, struct pod_spec *ret,
                  struct err *err);

#endif
