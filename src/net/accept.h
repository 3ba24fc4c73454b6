/* The Accept header of a request, parsed. A clause is a media type with parameters:
 * "application/json;as=Table;g=meta.k8s.io;v=v1;q=0.9". The parameters as, g and v are those of
 * Kubernetes: they name the form of the object that the client wants. */
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

/* Clauses by falling quality. Clauses of equal quality keep their order, but wildcards come last.
 */
struct accept {
    struct accept_clause clauses[ACCEPT_CLAUSES_MAX];
    size_t count;
};

/* Parses the header. NULL and "" accept anything. A clause that cannot be parsed, and clauses
 * beyond ACCEPT_CLAUSES_MAX, are ignored. */
void accept_parse(struct arena *arena, const char *header, struct accept *ret);

bool accept_clause_matches(const struct accept_clause *clause, const char *type);

/* Whether a clause without the parameter `as` matches this type. */
bool accept_matches(const struct accept *accept, const char *type);

#endif
