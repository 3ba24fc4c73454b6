/* The modes of trainyard-step, a small static program, and the functions that they share. The modes
 * hold, proxy, names, way-out and pod outlive the control process. The modes install and output run
 * inside the pods of pipelines. Each mode is a function that returns the exit code. None of them
 * runs inside trainyard itself. */
#ifndef TRAINYARD_NODE_STEP_STEP_H
#define TRAINYARD_NODE_STEP_STEP_H

#include "base/err.h"
#include "node/pod/record/spec.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* hold LOCK [NETWORK]: creates the pod network in a network namespace, or joins NETWORK, the file
 * of an existing one. Then holds the lock and keeps the namespace alive until the process is
 * killed. */
int step_hold(int argc, char **argv);
/* pod DIRECTORY: supervises the pod whose spec is in the directory, in the background. */
int step_pod(int argc, char **argv);

/* proxy HOLDER LOCK TABLE: holds the lock and proxies connections to the addresses of services. */
int step_proxy(int argc, char **argv);
/* install PROGRAM [SCRIPT]: writes a copy of this program to PROGRAM, and the text of the variable
 * TRAINYARD_SCRIPT to SCRIPT. */
int step_install(int argc, char **argv);
/* output LOG NAME=FILE… -- COMMAND…: runs the command. If the command succeeds, writes the contents
 * of the files to the file LOG as one line of JSON. */
int step_output(int argc, char **argv);

/* way-out HOLDER LOCK MOUNT-POINT PROGRAM: holds the lock and runs pasta or slirp4netns for the pod
 * network. */
int step_egress(int argc, char **argv);
/* names HOLDER LOCK TABLE RESOLV.CONF: holds the lock and answers DNS queries in the pod
 * network. */
int step_names(int argc, char **argv);

/* Detaches from the starting process: makes a new session without a terminal, and closes inherited
 * descriptors above stderr. */
int step_detach(struct err *err);
/* Writes "ready" to the starting process, and closes the pipe to it. */
void step_report_ready(void);
/* SIGHUP says that the helper's table has changed. step_sighup_block() blocks SIGHUP; it must be
 * called before the lock is taken, so that no signal is lost. `ret_mask` is the signal mask to wait
 * with, in which SIGHUP is not blocked. step_sighup_take() returns true if SIGHUP came since the
 * last call. */
void step_sighup_block(sigset_t *ret_mask);
bool step_sighup_take(void);

#define STEP_NETWORK_GONE                                                                          \
    "the process that holds the pod network has ended; the server is about to start another"

/* Disables IPv6 on links that are created later in the calling process's network namespace, if
 * /proc/sys is writable. The pod network has no IPv6 addresses, and each link would announce its
 * own link-local address to all others. */
void step_network_only_ipv4(void);

/* Moves the calling process into the pod's own UTS namespace and, unless the spec says that the pod
 * uses the machine's, into its own network and IPC namespaces. Later children share them. */
int step_network_enter(const struct pod_spec *spec, struct err *err);

/* Sets the pod's sysctls in its new namespaces. */
int step_sysctls_set(const struct pod_spec *spec, struct err *err);

/* Mounts the pod's /dev/shm and its volumes in memory. Only this process and its children see
 * them. */
int step_memory_mount(const struct pod_spec *spec, struct err *err);

/* Changes the caller's root to the container's root. The caller must be in the container's PID
 * namespace, and alone in a new mount namespace. `mount_point` is an empty directory. */
int step_root_enter(const struct pod_spec *spec, const struct pod_container *container,
                    const char *mount_point, struct err *err);

/* Drops irrevocably the rights that the container's processes must not have. */
int step_privilege_drop(const struct pod_spec *spec, const struct pod_container *container,
                        struct err *err);

/* Like step_privilege_drop(), but does not create a user namespace. For a process that has joined
 * the container's user namespace, if there is one. */
int step_privilege_bound(const struct pod_spec *spec, const struct pod_container *container,
                         struct err *err);

/* Unblocks every signal and restores its default action. A shell that starts trainyard in the
 * background makes trainyard ignore SIGINT; containers must not inherit that. */
void step_signals_default(void);

/* Gives the calling process, which leads a session, a new terminal as its stdin, stdout and stderr,
 * and sets TERM. Must be called by the container's user in the sandbox, so that the user owns the
 * terminal and its name is valid there. The caller closes the master. */
int step_terminal_take(int *ret_master, struct err *err);

/* Installs the seccomp filter that refuses system calls that no container needs, for this process
 * and its descendants. The caller must have set no_new_privs. */
int step_seccomp_install(struct err *err);

/* A report of a sandbox's first process to its supervisor, one per message. STEP_MARK and
 * STEP_TERMINAL are sent before the command runs. STEP_MARK carries a descriptor of the mount
 * namespace and is sent only if the containers share a PID namespace (step/sandbox/share.h).
 * STEP_TERMINAL carries the terminal's master. */
enum step_report_kind { STEP_RUNNING, STEP_FAILED, STEP_EXITED, STEP_TERMINAL, STEP_MARK };
struct step_report {
    enum step_report_kind kind;
    int exit_code;
    int signal;
    bool was_told;                 /* for STEP_EXITED: the command ended after SIGTERM */
    char message[ERR_MESSAGE_MAX]; /* for STEP_FAILED */
};

/* The descriptors of the first process: a socket for its reports (process/fd_message.h), and the
 * command's stdin, stdout and stderr, each -1 for /dev/null. */
struct step_lines {
    int report, in, out, err;
};

/* Runs the sandbox's first process: builds the sandbox, drops privileges, runs the command,
 * forwards signals, reaps orphans and sends reports. Does not return. */
void step_init_run(const struct pod_spec *spec, const struct pod_container *container,
                   const char *mount_point, const struct step_lines *lines)
    __attribute__((noreturn));

#endif
