/* What a client takes for an answer: its Accept header, read. A clause is a media type with
 * parameters, "application/json;as=Table;g=meta.k8s.io;v=v1;q=0.9"; Kubernetes adds to HTTP's own
 * in which form it wants an object. */
#ifndef TRAINYARD_NET_ACCEPT_H
#define TRAINYARD_NET_ACCEPT_H

#include "base/arena.h"

#include <stdbool.h>

enum { ACCEPT_CLAUSES_MAX = 16 };

struct accept_clause {
    const char *type;                 /* "application/json", "text/…", "…/…"; in lower case */
    const char *as, *group, *version; /* as=, g=, v=; "" where not given */
    double quality;                   /* q=; more than 0 */
};

/* What is wanted most comes first; of equals, what is said first, and what leaves a choice last. */
struct accept {
    struct accept_clause clauses[ACCEPT_CLAUSES_MAX];
    size_t count;
};

/* NULL or empty: anything. A clause that cannot be read, or is one too many, does not count. */
void accept_parse(struct arena *arena, const char *header, struct accept *ret);

bool accept_clause_matches(const struct accept_clause *clause, const char *type);

/* Whether a clause takes this type as it is, not in another form. */
bool accept_matches(const struct accept *accept, const char *type);

#endif
