/* Builds a container's environment by the rules of Kubernetes: values, references to fields, config
 * maps and secrets, and $(VAR) expansion. Pure: all objects come from the caller. */
#ifndef TRAINYARD_NODE_PLAN_ENVIRONMENT_H
#define TRAINYARD_NODE_PLAN_ENVIRONMENT_H

#include "node/objects.h"
#include "node/pod/record/spec.h"

/* Data of a pod and its node that fieldRef and resourceFieldRef can refer to. */
struct pod_facts {
    const struct json *pod;
    const char *hostname;
    const char *address;         /* status.podIP */
    const char *host_address;    /* status.hostIP */
    const struct json *capacity; /* the node's capacity by resource, or NULL */
    int api_port; /* the API's port on 127.0.0.1, for pods on the machine's network; else 0 */
};

/* Replaces $(NAME) by the value of NAME and $$ by $. A $(NAME) with an unknown name is not
 * replaced. */
const char *environment_expand(struct arena *arena, const char *text,
                               const struct pod_strings *environment);

/* Returns the value of an entry "NAME=value", or NULL if there is none. */
const char *environment_get(const struct pod_strings *environment, const char *name);
/* Replaces the entry of this name, or adds it. */
void environment_set(struct arena *arena, struct pod_strings *environment, const char *name,
                     const char *value);

/* Returns a downward API field: "metadata.name", "metadata.labels['app']", "status.podIP". Returns
 * -ERR_UNSUPPORTED with the path in the message if there is no such field. */
int environment_field(struct arena *arena, const struct pod_facts *facts, const char *path,
                      const char **ret, struct err *err);

/* Returns a resource such as "limits.cpu" of the container that the reference names. If it names no
 * container, `container` is used. */
int environment_resource(struct arena *arena, const struct pod_facts *facts,
                         const struct json *container, const struct json *reference,
                         const char **ret, struct err *err);

/* Reports keys that cannot be names of variables and are skipped. Called once per source of envFrom
 * that has such keys. */
typedef void environment_skipped(void *context, const char *kind, const char *name,
                                 const char *keys);

/* Adds the variables of the namespace's services, unless enableServiceLinks is false, and the
 * variables of the API. */
void environment_add_services(struct arena *arena, const struct pod_facts *facts,
                              const struct node_objects *objects, struct pod_strings *ret);

/* Adds the container's env and envFrom to `ret`, which contains the defaults. */
int environment_build(struct arena *arena, const struct pod_facts *facts,
                      const struct node_objects *objects, const struct json *container,
                      struct pod_strings *ret, struct err *err);

/* Calls `tell` for the keys that the container's envFrom skips. */
void environment_find_skipped(struct arena *arena, const struct json *pod,
                              const struct node_objects *objects, const struct json *container,
                              environment_skipped *tell, void *context);

#endif
