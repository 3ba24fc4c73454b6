/* The responder's answer to one query, from the table of names. A pure function; names/responder.c
 * has the sockets and asks other servers. */
#ifndef TRAINYARD_NODE_NAMES_ANSWER_H
#define TRAINYARD_NODE_NAMES_ANSWER_H

#include "net/dns/message.h"
#include "node/names/table.h"

enum names_verdict {
    NAMES_ANSWERED,
    NAMES_OUTSIDE,       /* not a name of the cluster: forward the query */
    NAMES_ALIAS_OUTSIDE, /* a name of the cluster that is an alias of an outside name: ask for that
                            one */
};

/* The answer about the outside name that an alias points to. */
struct names_learnt {
    const char *name;
    struct dns_reply reply;
};

/* With NAMES_ALIAS_OUTSIDE, `ret_alias` is the name to ask for; with its answer in `learnt`, a
 * second call answers the query. `learnt` is NULL in the first call. */
enum names_verdict names_answer(const struct names_table *table, const struct dns_query *query,
                                const struct names_learnt *learnt, void *data, size_t max,
                                size_t *ret_size, char ret_alias[DNS_NAME_MAX + 1]);

#endif
