/* The modes of trainyard-step, the small static program that outlives the control process: it holds
 * the pod network, answers for services, supervises a pod, and is the first process of each
 * sandbox. Each mode is a function that returns the exit code. Nothing here runs inside trainyard
 * itself. */
#ifndef TRAINYARD_NODE_STEP_STEP_H
#define TRAINYARD_NODE_STEP_STEP_H

#include "base/err.h"
#include "node/pod/spec.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* hold LOCK: make the pod network in a namespace of its own and stay, holding the lock. */
int step_hold(int argc, char **argv);
/* pod DIRECTORY: supervise the pod whose spec lies there, in the background. */
int step_pod(int argc, char **argv);

/* proxy HOLDER LOCK TABLE: answer at the addresses of services, holding the lock. */
int step_proxy(int argc, char **argv);
/* install PROGRAM [SCRIPT]: put a copy of this program there, and the text of TRAINYARD_SCRIPT. */
int step_install(int argc, char **argv);
/* output LOG NAME=FILE… -- COMMAND…: run the command; when it has succeeded, write what the files
 * hold to the log, as one line of JSON. */
int step_output(int argc, char **argv);

/* way-out HOLDER LOCK MOUNT-POINT PROGRAM: run pasta or slirp4netns for the pod network, holding
 * the lock. */
int step_egress(int argc, char **argv);
/* names HOLDER LOCK TABLE RESOLV.CONF: answer names in the pod network, holding the lock. */
int step_names(int argc, char **argv);

/* Leave the starter behind: a new session, no terminal, no inherited descriptor above stderr. */
int step_detach(struct err *err);
/* Tell the starter that all stands, and let go of its pipe. */
void step_report_ready(void);
/* SIGHUP says that the helper's table has changed. It is blocked from here on, before anybody can
 * find us by the lock, so that no word is lost; the mask to wait with lets it through. */
void step_sighup_block(sigset_t *ret_mask);
bool step_sighup_take(void);

#define STEP_NETWORK_GONE                                                                          \
    "the process that holds the pod network has ended; the server is about to start another"

/* Links that come into the calling process's network speak no IPv6, where /proc/sys can be written:
 * it has no address to offer, and every link would tell all others of one it gave itself. */
void step_network_only_ipv4(void);

/* Give the calling process the pod's own network, IPC and UTS namespaces; its children share them.
 */
int step_network_enter(const struct pod_spec *spec, struct err *err);

/* Set what the pod wants of the kernel, in the namespaces it has just been given. */
int step_sysctls_set(const struct pod_spec *spec, struct err *err);

/* Mount the pod's /dev/shm and its volumes of memory, where only this process and its children see
 * them. */
int step_memory_mount(const struct pod_spec *spec, struct err *err);

/* Replace the view of the file system by the container's. The caller is alone in a new mount
 * namespace, in the PID namespace of the container; `mount_point` is an empty directory. */
int step_root_enter(const struct pod_spec *spec, const struct pod_container *container,
                    const char *mount_point, struct err *err);

/* Give up, for good, what the container's processes must not be able to do. */
int step_privilege_drop(const struct pod_spec *spec, const struct pod_container *container,
                        struct err *err);

/* The same for a process that has joined the container's user namespace, where there is one,
 * instead of making it. */
int step_privilege_bound(const struct pod_spec *spec, const struct pod_container *container,
                         struct err *err);

/* Nothing blocked, nothing ignored: what was inherited of the shell that once started trainyard in
 * its background (it ignores SIGINT there) is no affair of a container's. */
void step_signals_default(void);

/* Make the calling process, which leads a session, the owner of a new terminal: its stdin, stdout
 * and stderr are that from now on, and TERM is set. It is made by the user it is for, in the
 * sandbox: so it is the user's, and has a name there. The master is the caller's. */
int step_terminal_take(int *ret_master, struct err *err);

/* Refuse what no container needs, for this process and all that come of it. Needs no_new_privs. */
int step_seccomp_install(struct err *err);

/* What the first process of a sandbox tells its supervisor, one message a write. STEP_MARK and
 * STEP_TERMINAL come before the command runs, each with a descriptor: see step/share.h, and the
 * master of its terminal. */
enum step_report_kind { STEP_RUNNING, STEP_FAILED, STEP_EXITED, STEP_TERMINAL, STEP_MARK };
struct step_report {
    enum step_report_kind kind;
    int exit_code;
    int signal;
    bool was_told;                 /* of STEP_EXITED: it had been told to end, and did after it */
    char message[ERR_MESSAGE_MAX]; /* of STEP_FAILED */
};

/* What the first process is given of the outside: where it reports, a socket
 * (process/fd_message.h), and the command's stdin, stdout and stderr, -1 where it has nothing
 * there. */
struct step_lines {
    int report, in, out, err;
};

/* The life of a sandbox's first process: build, drop, run the command, pass signals on, reap, and
 * report. Never returns. */
void step_init_run(const struct pod_spec *spec, const struct pod_container *container,
                   const char *mount_point, const struct step_lines *lines)
    __attribute__((noreturn));

#endif
