/* What the names of the cluster stand for: a service's name gives its cluster address, that of a
 * headless one the addresses of its pods, that of an ExternalName the name it stands for. A pure
 * function of the objects; the DNS responder asks it. */
#ifndef TRAINYARD_NODE_NAMES_H
#define TRAINYARD_NODE_NAMES_H

#include "base/json.h"
#include "net/dns_server.h"

#include <stddef.h>

struct names_source {
    const struct json *(*service)(void *context, const char *namespace_, const char *name);
    /* The pods of a namespace: start with *position = 0; NULL behind the last. */
    const struct json *(*next_pod)(void *context, const char *namespace_, size_t *position);
    void *context;
};

/* The addresses of "kubernetes.docker.internal" (the API),
 * "<service>.<namespace>.svc[.cluster.local]",
 * "<hostname>.<service>.<namespace>.svc…" and "<a-b-c-d>.<namespace>.pod…"; lower case, no final
 * dot. Returns how many, 0 for a service nobody answers yet, -1 where there is no such name. What
 * an ExternalName stands for is looked up, too, as far as it is in the cluster. */
int names_lookup(const struct names_source *source, const char *name, struct dns_found *ret);

#endif
