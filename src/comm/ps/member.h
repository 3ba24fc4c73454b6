/* The data that clients and servers of a cluster with parameter servers share: the tasks that take
 * part, in the same order in all processes, and the values that the handshake compares. */
#ifndef TRAINYARD_COMM_PS_MEMBER_H
#define TRAINYARD_COMM_PS_MEMBER_H

#include "base/buf.h"
#include "comm/cluster/tf_config.h"
#include "comm/group/rendezvous.h"

struct ps_member {
    struct rendezvous_options rendezvous; /* ranks: chief, workers, servers */
    struct ty_task *tasks;
    struct buf secret;
    int workers; /* including the chief: ranks 0 to workers - 1 */
    int servers;
};

/* Copies the needed parts of `config`. If `secret` is NULL, the secret comes from the environment.
 * The caller sets the remaining fields of `rendezvous`. */
int ps_member_init(struct ps_member *member, const struct ty_tf_config *config, uint64_t shape,
                   const char *secret, struct err *err);
void ps_member_release(struct ps_member *member); /* safe on zeroed memory */

/* Writes "ps 1 (host:port)". */
void ps_member_describe(const struct ps_member *member, int rank,
                        char text[TF_CONFIG_TASK_TEXT_MAX]);

/* Passes a formatted line to the report function. */
void ps_member_say(const struct ps_member *member, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
