/* Builds a container's environment by the rules of Kubernetes: values, references to fields, config
 * maps and secrets, and $(VAR) expansion. The planner uses it, and the volumes use it for files
 * that show fields of a pod. Pure: all API objects come from the caller. */
#ifndef TRAINYARD_NODE_PLAN_ENVIRONMENT_H
#define TRAINYARD_NODE_PLAN_ENVIRONMENT_H

#include "node/objects.h"
#include "node/pod/record/spec.h"

/* Data of a pod and its node. Variables and files show most of them by fieldRef and
 * resourceFieldRef. */
struct pod_facts {
    const struct json *pod;
    const char *hostname;        /* from plan_pod_hostname() */
    const char *address;         /* status.podIP */
    const char *host_address;    /* status.hostIP */
    const struct json *capacity; /* the node's capacity by resource, or NULL */
    /* For a pod on the machine's network, the API's port on 127.0.0.1. For other pods 0: they use
     * the service "kubernetes". Only environment_add_services() reads it. */
    int api_port;
};

/* Replaces $(NAME) by the value of NAME and $$ by $. A $(NAME) with an unknown name is not
 * replaced. */
const char *environment_expand(struct arena *arena, const char *text,
                               const struct pod_strings *environment);

/* Returns the value of the variable, or NULL if the environment does not have it. */
const char *environment_get(const struct pod_strings *environment, const char *name);
/* Sets the variable: replaces its entry "NAME=value", or adds one. */
void environment_set(struct arena *arena, struct pod_strings *environment, const char *name,
                     const char *value);

/* Sets `*ret` to the value of a downward API field, such as "metadata.name",
 * "metadata.labels['app']" or "status.podIP". Returns 0, or -ERR_UNSUPPORTED if there is no such
 * field. */
int environment_field(struct arena *arena, const struct pod_facts *facts, const char *path,
                      const char **ret, struct err *err);

/* Sets `*ret` to the amount of a resource, such as "limits.cpu", in units of the reference's
 * divisor. Uses the container that the reference names or, if it names none, `container`, which may
 * be NULL. Returns -ERR_INVALID if there is no such container. */
int environment_resource(struct arena *arena, const struct pod_facts *facts,
                         const struct json *container, const struct json *reference,
                         const char **ret, struct err *err);

/* Adds the variables of the services in the pod's namespace, and the variables of the API. If
 * enableServiceLinks is false or objects->next_service is NULL, adds only those of the API. */
void environment_add_services(struct arena *arena, const struct pod_facts *facts,
                              const struct node_objects *objects, struct pod_strings *ret);

/* Adds the variables of the container's envFrom and env to `ret`, which contains the default
 * variables. Returns -ERR_NOT_FOUND if a config map, a secret or a key does not exist and is not
 * optional. */
int environment_build(struct arena *arena, const struct pod_facts *facts,
                      const struct node_objects *objects, const struct json *container,
                      struct pod_strings *ret, struct err *err);

/* Reports keys of a config map or secret that are not valid names of variables, even with the
 * prefix of envFrom. `kind` is "configMap" or "secret", `name` is the name of the object, and
 * `keys` lists the keys, separated by commas. */
typedef void environment_skipped(void *context, const char *kind, const char *name,
                                 const char *keys);
/* Calls `tell` once for each source of the container's envFrom that has keys which cannot be names
 * of variables. environment_build() skips these keys. */
void environment_find_skipped(struct arena *arena, const struct json *pod,
                              const struct node_objects *objects, const struct json *container,
                              environment_skipped *tell, void *context);

#endif
