/* Parses the Accept header of a request. A clause is a media type with parameters:
 * "application/json;as=Table;g=meta.k8s.io;v=v1;q=0.9". The parameters as, g and v are defined by
 * Kubernetes. They name the form in which the client wants the object. */
#ifndef TRAINYARD_NET_ACCEPT_H
#define TRAINYARD_NET_ACCEPT_H

#include "base/arena.h"

#include <stdbool.h>

enum { ACCEPT_CLAUSES_MAX = 16 };

struct accept_clause {
    const char *type; /* lower case; may have wildcards: "application/json", "text/…" */
    const char *as, *group, *version; /* parameters as=, g= and v=; "" if absent */
    double quality;                   /* parameter q=; always above 0 */
};

/* The clauses in the order of falling quality. Among clauses of equal quality, wildcards come last;
 * otherwise the order of the header is kept. */
struct accept {
    struct accept_clause clauses[ACCEPT_CLAUSES_MAX];
    size_t count;
};

/* Parses the header. A header of NULL or "" accepts every type. Ignores clauses that cannot be
 * parsed, clauses of quality 0, and clauses beyond ACCEPT_CLAUSES_MAX. */
void accept_parse(struct arena *arena, const char *header, struct accept *ret);

/* Returns whether the media type of the clause, which may have wildcards, matches `type`. Ignores
 * the parameters of the clause. */
bool accept_clause_matches(const struct accept_clause *clause, const char *type);

/* Returns whether any clause without the parameter `as` matches this type. */
bool accept_matches(const struct accept *accept, const char *type);

#endif
