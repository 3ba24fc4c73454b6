/* Computes the responder's answer to one DNS query from the table of names. Pure. The files of the
 * responder (names/responder.h) call it; they have the sockets and ask other servers. */
#ifndef TRAINYARD_NODE_NAMES_ANSWER_H
#define TRAINYARD_NODE_NAMES_ANSWER_H

#include "net/dns/message.h"
#include "node/names/table.h"

enum names_verdict {
    NAMES_ANSWERED,      /* `data` contains the answer */
    NAMES_OUTSIDE,       /* not a name of the cluster: the caller forwards the query */
    NAMES_ALIAS_OUTSIDE, /* an alias of a name outside: the caller asks for that name */
};

/* The reply of another server about the outside name that an alias points to. */
struct names_outside_reply {
    const char *name;
    struct dns_reply reply;
};

/* Answers a query. Writes the message of `*ret_size` bytes, at most `max`, into `data`. After
 * NAMES_ALIAS_OUTSIDE, the caller asks another server for `ret_alias`, and calls again with the
 * reply in `outside`. `outside` is NULL in the first call. */
enum names_verdict names_answer(const struct names_table *table, const struct dns_query *query,
                                const struct names_outside_reply *outside, void *data, size_t max,
                                size_t *ret_size, char ret_alias[DNS_NAME_MAX + 1]);

#endif
