/* A container's environment: values, references to fields, config maps and secrets, and $(VAR)
 * expansion, by the rules of Kubernetes. Pure but for the objects it is given. */
#ifndef TRAINYARD_NODE_POD_ENVIRONMENT_H
#define TRAINYARD_NODE_POD_ENVIRONMENT_H

#include "node/objects.h"
#include "node/pod/spec.h"

/* What a pod can learn about itself. */
struct pod_facts {
    const struct json *pod;
    const char *hostname;
    const char *address;         /* status.podIP */
    const char *host_address;    /* status.hostIP */
    const struct json *capacity; /* what the node has, by resource; or NULL */
    int api_port; /* of the API on 127.0.0.1, for pods on the machine's network; else 0 */
};

/* $(NAME) becomes the value of NAME, $$ becomes $, and an unknown name stays as it stands. */
const char *environment_expand(struct arena *arena, const char *text,
                               const struct pod_strings *environment);

/* The value of an entry "NAME=value", or NULL. */
const char *environment_get(const struct pod_strings *environment, const char *name);
/* Replaces the entry of that name, else adds it. */
void environment_set(struct arena *arena, struct pod_strings *environment, const char *name,
                     const char *value);

/* A downward API field: "metadata.name", "metadata.labels['app']", "status.podIP"; ERR_UNSUPPORTED
 * with the path in the message. */
int environment_field(struct arena *arena, const struct pod_facts *facts, const char *path,
                      const char **ret, struct err *err);

/* A resource of a container (the one named in the reference, else the one given), "limits.cpu". */
int environment_resource(struct arena *arena, const struct pod_facts *facts,
                         const struct json *container, const struct json *reference,
                         const char **ret, struct err *err);

/* Keys of envFrom that cannot be the name of a variable are left out; this is told of each source
 * that has some. */
typedef void environment_skipped(void *context, const char *kind, const char *name,
                                 const char *keys);

/* The variables of the namespace's services, unless the pod wants none, and of the API. */
void environment_add_services(struct arena *arena, const struct pod_facts *facts,
                              const struct node_objects *objects, struct pod_strings *ret);

/* The container's env and envFrom over `ret`, which holds the defaults. */
int environment_build(struct arena *arena, const struct pod_facts *facts,
                      const struct node_objects *objects, const struct json *container,
                      struct pod_strings *ret, struct err *err);

/* Tell of the keys that the container's envFrom leaves out. */
void environment_find_skipped(struct arena *arena, const struct json *pod,
                              const struct node_objects *objects, const struct json *container,
                              environment_skipped *tell, void *context);

#endif
