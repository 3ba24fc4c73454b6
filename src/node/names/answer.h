/* The responder's answer to one query, from the table of names. A pure function: sockets, and what
 * is to be asked of others, are names/responder.c's. */
#ifndef TRAINYARD_NODE_NAMES_ANSWER_H
#define TRAINYARD_NODE_NAMES_ANSWER_H

#include "net/dns/message.h"
#include "node/names/table.h"

enum names_verdict {
    NAMES_ANSWERED,
    NAMES_OUTSIDE,       /* a name of nobody here: pass the query on */
    NAMES_ALIAS_OUTSIDE, /* a name of ours that stands for one outside: ask for that one */
};

/* What was learnt about the name outside that one of ours stands for. */
struct names_learnt {
    const char *name;
    struct dns_reply reply;
};

/* `ret_alias` gets the name to ask for with NAMES_ALIAS_OUTSIDE; with its answer the query is
 * answered in a second call. `learnt` is NULL in the first. */
enum names_verdict names_answer(const struct names_table *table, const struct dns_query *query,
                                const struct names_learnt *learnt, void *data, size_t max,
                                size_t *ret_size, char ret_alias[DNS_NAME_MAX + 1]);

#endif
