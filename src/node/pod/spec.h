/* What a pod's supervisor is told to run: everything decided, nothing of Kubernetes left. The
 * control process writes it as <pod directory>/spec; the supervisor reads it once. */
#ifndef TRAINYARD_NODE_POD_SPEC_H
#define TRAINYARD_NODE_POD_SPEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "node/limits/cgroup.h"
#include "node/plan/strings.h"
#include "node/pod/life.h"
#include "node/pod/restart.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    POD_SPEC_MAX = 16 * 1024 * 1024, /* bytes of the file; arguments and environment dominate */
    POD_CONTAINERS_MAX = 64,
    POD_GROUPS_MAX = 64,
    POD_GRACE_DEFAULT_MS = 30 * 1000, /* between being told to end and being ended */
};

struct pod_mount {
    const char *target;   /* absolute, inside the sandbox */
    const char *source;   /* on the machine, without symbolic links */
    const char *sub_path; /* below the source and never out of it, made if missing; or NULL */
    bool read_only;
    bool only_top; /* … but not what is mounted below it */
};

/* A volume of memory, which the supervisor mounts for all containers. */
struct pod_memory {
    const char *path; /* a directory of the pod's own */
    int64_t size;     /* in bytes; 0: as much as the machine gives */
    int64_t group;    /* or -1 */
};

struct pod_container {
    const char *name;
    bool init;                  /* runs to its end before the next starts … */
    bool sidecar;               /* … or, if this is set too, beside all that come after it */
    int restart;                /* an enum restart_policy of its own, or -1: the pod's */
    struct restart_rules rules; /* that go before it */
    const char *image;          /* as the manifest names it */
    struct pod_life life;
    struct pod_strings arguments;
    struct pod_strings environment;
    const char *directory; /* working directory; NULL: "/" */
    int64_t user, group;   /* -1: root of the sandbox */
    uint64_t capabilities; /* a bit each; see pod/capabilities.h */
    bool unconfined;       /* its system calls are not filtered */
    bool read_only;        /* its root, and also what it could scribble on: /tmp, /run */
    bool message_from_log; /* of one that failed and left no message */
    const char *root;      /* the directory that is its root; NULL: the machine's own */
    const char *layer;     /* where what it writes over that root is kept for its run, or NULL */
    const char *image_id;  /* as its status tells, or NULL */
    int64_t stop_signal;   /* what SIGTERM becomes, or 0 */
    bool has_stdin;        /* its input waits for somebody to attach; else it is empty */
    bool stdin_once;       /* … and ends with the first who did */
    bool terminal;         /* its stdin, stdout and stderr are a terminal of its own */
    struct cgroup_limits limits;
    struct pod_strings
        devices;              /* files of the machine's /dev that it sees besides the common ones */
    struct pod_mount *mounts; /* those with the shorter target first */
    size_t mount_count, mount_capacity;
};

struct pod_spec {
    const char *boot; /* the start of the machine it was planned in; see base/system/boot.h */
    const char *hostname;
    const char *network; /* lock file of the process that holds the pod network; NULL: the machine's
                            own network */
    const char *address; /* "10.244.1.2", where `network` is given */
    bool nested;         /* we are an ordinary user: containers get a user namespace of their own */
    bool machine_ipc;    /* it uses the machine's semaphores and shared memory */
    const char *shm;     /* what its containers find at /dev/shm; not in the text */
    bool shares_processes; /* its containers see the processes of each other */
    bool plain;            /* no namespaces at all: see step/sandbox/isolation.h */
    enum restart_policy restart;
    const char *identity; /* "name_namespace(uid)", as messages of Kubernetes name a pod */
    int64_t grace_ms;     /* for a container that is ended while its pod goes on */
    int64_t deadline_ms;  /* wall time when the pod must have ended; 0: none */
    const char *prober;   /* the program that speaks TLS for probes; NULL: none */
    const char *hosts, *resolv_conf; /* contents of the files in /etc; NULL: the machine's */
    struct pod_strings masks;        /* paths whose content the pod must not see */
    struct pod_strings shares; /* directories that its containers were given with the machine's */
    const char
        *secrets; /* the list of further ones (pod/secrets.h), read when a container starts */
    struct cgroup_trees groups;  /* the pod's own, of <pod directory>/cgroups; not in the text */
    struct cgroup_limits limits; /* of the pod as a whole */
    struct pod_strings sysctls;  /* "net.core.somaxconn=100" */
    int64_t extra_groups[POD_GROUPS_MAX]; /* of every container, besides its own */
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
/* `text` is cut up in place and must live as long as the spec. */
int pod_spec_parse(struct arena *arena, char *text, size_t size, struct pod_spec *ret,
                   struct err *err);

/* To and from <pod directory>/spec. Nobody waits for the disk: a spec counts only in the start of
 * the machine it names. */
int pod_spec_store(const char *directory, const struct pod_spec *spec, struct err *err);
int pod_spec_load(struct arena *arena, const char *directory, struct pod_spec *ret,
                  struct err *err);

#endif
