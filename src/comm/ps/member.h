/* The data that the clients and servers of a cluster with parameter servers both need: the tasks
 * that take part, in the same order in all processes, and the values that the handshake compares.
 * Called by client_remote, ps_link, ps_wait and server*.c. */
#ifndef TRAINYARD_COMM_PS_MEMBER_H
#define TRAINYARD_COMM_PS_MEMBER_H

#include "base/buf.h"
#include "comm/cluster/tf_config.h"
#include "comm/group/rendezvous.h"

struct ps_member {
    struct rendezvous_options rendezvous; /* points into `tasks` and `secret` */
    struct ty_task *tasks;                /* by rank: chief, workers, servers */
    struct buf secret;                    /* the job secret; empty: none */
    int workers; /* number of workers including the chief; their ranks are 0 to workers - 1 */
    int servers; /* number of servers; their ranks are workers to workers + servers - 1 */
};

/* Copies the needed parts of `config`. If `secret` is NULL, reads the secret from the environment.
 * The caller sets the remaining fields of `rendezvous`: times, `stop` and callbacks. Also after a
 * failure the caller must call ps_member_release(). */
int ps_member_init(struct ps_member *member, const struct ty_tf_config *config, uint64_t shape,
                   const char *secret, struct err *err);
void ps_member_release(struct ps_member *member); /* safe on zeroed memory */

/* Writes the name and address of the task with this rank, such as "ps 1 (host:port)". */
void ps_member_describe(const struct ps_member *member, int rank,
                        char text[TF_CONFIG_TASK_TEXT_MAX]);

/* Passes a formatted line to the function `report` of `rendezvous`, unless it is NULL. */
void ps_member_report(const struct ps_member *member, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
