/* The modes of trainyard-step, the small static program that outlives the control process: it
 * holds the pod network, serves the addresses of services, supervises a pod, and is the first
 * process of each sandbox. Each mode is a function that returns the exit code. None of them runs
 * inside trainyard itself. */
#ifndef TRAINYARD_NODE_STEP_STEP_H
#define TRAINYARD_NODE_STEP_STEP_H

#include "base/err.h"
#include "node/pod/record/spec.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* hold LOCK: creates the pod network in a namespace of its own and stays, holding the lock. */
int step_hold(int argc, char **argv);
/* pod DIRECTORY: supervises the pod whose spec is in the directory, in the background. */
int step_pod(int argc, char **argv);

/* proxy HOLDER LOCK TABLE: proxies connections to the addresses of services, holding the lock. */
int step_proxy(int argc, char **argv);
/* install PROGRAM [SCRIPT]: writes a copy of this program to PROGRAM, and the text of the variable
 * TRAINYARD_SCRIPT to SCRIPT. */
int step_install(int argc, char **argv);
/* output LOG NAME=FILE… -- COMMAND…: runs the command. If it succeeds, writes the contents of the
 * files to the log as one line of JSON. */
int step_output(int argc, char **argv);

/* way-out HOLDER LOCK MOUNT-POINT PROGRAM: runs pasta or slirp4netns for the pod network, holding
 * the lock. */
int step_egress(int argc, char **argv);
/* names HOLDER LOCK TABLE RESOLV.CONF: answers DNS queries in the pod network, holding the lock. */
int step_names(int argc, char **argv);

/* Detaches from the starting process: a new session, no terminal, no inherited descriptor above
 * stderr. */
int step_detach(struct err *err);
/* Tells the starting process that the helper is ready, and closes the pipe to it. */
void step_report_ready(void);
/* SIGHUP says that the helper's table has changed. step_sighup_block() blocks it; call it before
 * the lock is taken, so that no signal is lost. `ret_mask` is the mask to wait with, which lets
 * SIGHUP through. step_sighup_take() returns whether one came since the last call. */
void step_sighup_block(sigset_t *ret_mask);
bool step_sighup_take(void);

#define STEP_NETWORK_GONE                                                                          \
    "the process that holds the pod network has ended; the server is about to start another"

/* Disables IPv6 on links that are created in the calling process's network namespace, if /proc/sys
 * is writable. The pod network has no IPv6 addresses to give, and each link would announce its own
 * one to all others. */
void step_network_only_ipv4(void);

/* Gives the calling process the pod's own network, IPC and UTS namespaces; its children share
 * them. */
int step_network_enter(const struct pod_spec *spec, struct err *err);

/* Sets the pod's sysctls in its new namespaces. */
int step_sysctls_set(const struct pod_spec *spec, struct err *err);

/* Mounts the pod's /dev/shm and its volumes in memory. Only this process and its children see
 * them. */
int step_memory_mount(const struct pod_spec *spec, struct err *err);

/* Replaces the view of the file system by the container's. The caller must be alone in a new mount
 * namespace, in the container's PID namespace; `mount_point` is an empty directory. */
int step_root_enter(const struct pod_spec *spec, const struct pod_container *container,
                    const char *mount_point, struct err *err);

/* Gives up, for good, the rights that the container's processes must not have. */
int step_privilege_drop(const struct pod_spec *spec, const struct pod_container *container,
                        struct err *err);

/* Like step_privilege_drop(), for a process that has joined the container's user namespace, if
 * there is one, instead of creating it. */
int step_privilege_bound(const struct pod_spec *spec, const struct pod_container *container,
                         struct err *err);

/* Unblocks every signal and restores its default action. A shell that starts trainyard in the
 * background makes it ignore SIGINT; containers must not inherit that. */
void step_signals_default(void);

/* Gives the calling process, which leads a session, a new terminal as its stdin, stdout and
 * stderr, and sets TERM. The container's user creates it in the sandbox, so that the user owns it
 * and finds its name there. The caller closes the master. */
int step_terminal_take(int *ret_master, struct err *err);

/* Installs the seccomp filter that refuses system calls that no container needs, for this process
 * and its descendants. Needs no_new_privs. */
int step_seccomp_install(struct err *err);

/* What the first process of a sandbox reports to its supervisor, one message per write. STEP_MARK
 * and STEP_TERMINAL come before the command runs, each with a descriptor: the mount namespace
 * (step/sandbox/share.h) and the terminal's master. */
enum step_report_kind { STEP_RUNNING, STEP_FAILED, STEP_EXITED, STEP_TERMINAL, STEP_MARK };
struct step_report {
    enum step_report_kind kind;
    int exit_code;
    int signal;
    bool was_told;                 /* for STEP_EXITED: the command ended after SIGTERM */
    char message[ERR_MESSAGE_MAX]; /* for STEP_FAILED */
};

/* The descriptors of the first process: a socket for its reports (process/fd_message.h), and the
 * command's stdin, stdout and stderr; -1 means none. */
struct step_lines {
    int report, in, out, err;
};

/* Runs the sandbox's first process: builds the sandbox, drops privileges, runs the command,
 * forwards signals, reaps and reports. Does not return. */
void step_init_run(const struct pod_spec *spec, const struct pod_container *container,
                   const char *mount_point, const struct step_lines *lines)
    __attribute__((noreturn));

#endif
