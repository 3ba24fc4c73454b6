/* Declares the modes of trainyard-step, a small static program, and the functions that they share.
 * step/main.c calls one mode per process. The modes hold, proxy, names, way-out and pod outlive the
 * control process. The modes install and output run inside the pods of pipelines. A mode that ends
 * returns its exit code. No mode may run inside trainyard itself. */
#ifndef TRAINYARD_NODE_STEP_STEP_H
#define TRAINYARD_NODE_STEP_STEP_H

#include "base/err.h"
#include "node/pod/record/spec.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* hold LOCK [NETWORK]: creates the pod network in a new network namespace, or joins the existing
 * namespace that the file NETWORK refers to. Then holds the lock and keeps the namespace alive
 * until the process is killed. */
int step_hold(int argc, char **argv);

/* In the next three modes, HOLDER is the lock file of the process that runs the mode hold, LOCK is
 * the lock file of the mode itself, and TABLE is a file that the control process writes. */

/* proxy HOLDER LOCK TABLE: holds the lock and proxies connections to the addresses of services. */
int step_proxy(int argc, char **argv);
/* names HOLDER LOCK TABLE RESOLV.CONF: holds the lock and answers DNS queries in the pod network.
 * Asks the name servers in the file RESOLV.CONF for names outside of the cluster. */
int step_names(int argc, char **argv);
/* way-out HOLDER LOCK MOUNT-POINT PROGRAM: holds the lock and runs PROGRAM, which is pasta or
 * slirp4netns, for the pod network. Mounts the network namespace on the file MOUNT-POINT. */
int step_egress(int argc, char **argv);

/* pod DIRECTORY: starts the supervisor of the pod whose spec is in the directory. The starting
 * process returns 0 when the supervisor is ready, or another exit code if the supervisor cannot
 * start. The supervisor is a child of the starting process and returns when the pod has ended or is
 * paused. */
int step_pod(int argc, char **argv);

/* install PROGRAM [SCRIPT]: writes a copy of this program to PROGRAM and, if SCRIPT is given, the
 * text of the environment variable TRAINYARD_SCRIPT to SCRIPT. */
int step_install(int argc, char **argv);
/* output LOG NAME=FILE… -- COMMAND…: runs the command. If the command succeeds, writes one line of
 * JSON to the file LOG: the contents of those files that exist, or an error if a file cannot be
 * read or the contents are too large. Returns the exit code of the command, or an exit code other
 * than 0 if the command cannot be started or LOG cannot be written. */
int step_output(int argc, char **argv);

/* Detaches from the starting process: makes a new session without a terminal, closes inherited
 * descriptors above stderr, and changes to "/". Ignores SIGPIPE, and SIGHUP if it has no handler.
 */
int step_detach(struct err *err);
/* Writes "ready" to stdout, a pipe to the starting process. Then replaces stdin, stdout and stderr
 * by /dev/null. */
void step_report_ready(void);

/* SIGHUP says that the helper's table has changed. Blocks SIGHUP and installs a handler for it.
 * `*ret_mask` becomes the signal mask to wait with, in which SIGHUP is not blocked. Must be called
 * before the lock is taken, so that no signal is lost. */
void step_sighup_block(sigset_t *ret_mask);
/* Returns true if SIGHUP came since the previous call. */
bool step_sighup_take(void);

#define STEP_NETWORK_GONE                                                                          \
    "the process that holds the pod network has ended; the server is about to start another"

/* Disables IPv6 on links that are created later in the calling process's network namespace, if
 * /proc/sys is writable. The pod network has no IPv6 addresses, and each link would announce its
 * own link-local address to all others. */
void step_network_only_ipv4(void);

/* Moves the calling process into a new UTS namespace, and into a new network and a new IPC
 * namespace unless the pod uses that of the machine. Sets the hostname, and connects a new network
 * namespace to the cluster's bridge. Later children share the namespaces. */
int step_network_enter(const struct pod_spec *spec, struct err *err);

/* Sets the pod's sysctls in its new namespaces. */
int step_sysctls_set(const struct pod_spec *spec, struct err *err);

/* Moves the calling process into a new mount namespace, and mounts the pod's volumes in memory and
 * its /dev/shm there. Only this process and its children see them. With the machine's IPC the pod
 * has no /dev/shm of its own. */
int step_memory_mount(const struct pod_spec *spec, struct err *err);

/* Changes the caller's root to the container's root. The caller must be in the container's PID
 * namespace, and alone in a new mount namespace. `mount_point` is an empty directory, on which the
 * new root is mounted. */
int step_root_enter(const struct pod_spec *spec, const struct pod_container *container,
                    const char *mount_point, struct err *err);

/* Drops irrevocably the rights that the container's processes must not have. */
int step_privilege_drop(const struct pod_spec *spec, const struct pod_container *container,
                        struct err *err);

/* Like step_privilege_drop(), but does not create a user namespace. If the container has a user
 * namespace, the caller must have joined it. */
int step_privilege_bound(const struct pod_spec *spec, const struct pod_container *container,
                         struct err *err);

/* Unblocks every signal and restores its default action. A shell that starts trainyard in the
 * background makes trainyard ignore SIGINT; containers must not inherit that. */
void step_signals_default(void);

/* Makes the container's user the owner of those of stdin, stdout and stderr that are pipes.
 * Otherwise this user could not open them by name, as in /dev/stderr. Must be called before the
 * caller becomes that user. */
void step_pipes_give(const struct pod_spec *spec, const struct pod_container *container);

/* Gives the calling process, which leads a session, a new terminal as its stdin, stdout and stderr,
 * and sets TERM if it is not set. The caller must run as the container's user in the sandbox, so
 * that the user owns the terminal and the terminal's name is valid there. The caller closes
 * `*ret_master`. */
int step_terminal_take(int *ret_master, struct err *err);

/* Installs the seccomp filter that refuses system calls that no container needs, for this process
 * and its descendants. The caller must have set no_new_privs. Returns 0 without a filter if the
 * kernel has no filters. */
int step_seccomp_install(struct err *err);

enum step_report_kind {
    STEP_RUNNING,  /* the command runs */
    STEP_FAILED,   /* the sandbox could not be built, or the command could not be executed */
    STEP_EXITED,   /* the command has ended */
    STEP_TERMINAL, /* carries the master of the command's terminal; sent before the command runs */
    STEP_MARK,     /* carries a descriptor of the sandbox's mount namespace; sent before the command
                      runs, if the containers share a PID namespace (step/sandbox/share.h) */
};
/* A report of a sandbox's first process to its supervisor, one per message. */
struct step_report {
    enum step_report_kind kind;
    int exit_code;    /* for STEP_EXITED: 128 + signal if a signal ended the command */
    int signal;       /* for STEP_EXITED: the signal that ended the command, or 0 */
    bool got_sigterm; /* for STEP_EXITED: the first process got SIGTERM before the command ended */
    char message[ERR_MESSAGE_MAX]; /* for STEP_FAILED */
};

/* The descriptors of a sandbox's first process. `report` is the socket for its reports
 * (process/fd_message.h). `in`, `out` and `err` become the stdin, stdout and stderr of the command;
 * -1 means /dev/null. */
struct step_descriptors {
    int report, in, out, err;
};

/* Runs the sandbox's first process: builds the sandbox, drops privileges, runs the command,
 * forwards signals, reaps orphans and sends reports. Does not return. */
void step_init_run(const struct pod_spec *spec, const struct pod_container *container,
                   const char *mount_point, const struct step_descriptors *descriptors)
    __attribute__((noreturn));

#endif
