/* One process of a cluster with parameter servers, seen from inside: the tasks that take part, in
 * one order for all, and what they must agree on before they trust each other. Used by both sides.
 */
#ifndef TRAINYARD_COMM_PS_MEMBER_H
#define TRAINYARD_COMM_PS_MEMBER_H

#include "base/buf.h"
#include "comm/cluster/tf_config.h"
#include "comm/group/rendezvous.h"

struct ps_member {
    struct rendezvous_options meeting; /* ranks: chief, workers, then servers */
    struct ty_task *tasks;
    struct buf secret;
    int workers; /* with the chief: ranks 0 to workers - 1 */
    int servers;
};

/* Copies what it needs of `config`. `secret` NULL: from the environment. The rest of `meeting` is
 * the caller's to set. */
int ps_member_init(struct ps_member *member, const struct ty_tf_config *config, uint64_t shape,
                   const char *secret, struct err *err);
void ps_member_release(struct ps_member *member); /* safe on zeroed memory */

/* "ps 1 (host:port)". */
void ps_member_describe(const struct ps_member *member, int rank,
                        char text[TF_CONFIG_TASK_TEXT_MAX]);

/* A line to whoever listens. */
void ps_member_say(const struct ps_member *member, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
