/* Computes the responder's answer to one query from the table of names. Pure. names/responder.c has
 * the sockets and asks other servers. */
#ifndef TRAINYARD_NODE_NAMES_ANSWER_H
#define TRAINYARD_NODE_NAMES_ANSWER_H

#include "net/dns/message.h"
#include "node/names/table.h"

enum names_verdict {
    NAMES_ANSWERED,
    NAMES_OUTSIDE,       /* not a name of the cluster: forward the query */
    NAMES_ALIAS_OUTSIDE, /* an alias of an outside name: ask for the outside name */
};

/* The answer about the outside name that an alias points to. */
struct names_learnt {
    const char *name;
    struct dns_reply reply;
};

/* Answers a query. After NAMES_ALIAS_OUTSIDE, the caller asks another server for `ret_alias`, and
 * calls again with the reply in `learnt`. `learnt` is NULL in the first call. */
enum names_verdict names_answer(const struct names_table *table, const struct dns_query *query,
                                const struct names_learnt *learnt, void *data, size_t max,
                                size_t *ret_size, char ret_alias[DNS_NAME_MAX + 1]);

#endif
