/* The state of one pass over one workflow, and the functions that the files of this folder share.
 * Only these files include this header. */
#ifndef TRAINYARD_PIPELINE_RECONCILE_RECONCILE_INTERNAL_H
#define TRAINYARD_PIPELINE_RECONCILE_RECONCILE_INTERNAL_H

#include "base/map.h"
#include "pipeline/reconcile/node.h"
#include "pipeline/reconcile/reconcile.h"

/* One pass over one workflow. */
struct workflow_pass {
    struct arena *arena;
    const struct workflow_observed *observed;
    const struct json *workflow, *spec;
    const char *name, *namespace_, *uid;
    int64_t now_ms;
    struct workflow_plan *plan;
    struct json *status;         /* becomes the new status */
    struct workflow_nodes nodes; /* in `status` */
    struct map pods, gone;       /* by name: const struct json */
    int64_t active;              /* nodes of type Pod that have not ended */
    int64_t parallelism;         /* the limit of `active`; 0: none */
    int depth;                   /* how many templates the current call is nested in */
    bool held; /* the workflow is suspended or stops: no new pod, resource step or retry begins */
};

/* The scope in which the references in a text are resolved. */
struct workflow_scope {
    struct workflow_pass *pass;
    const struct json *inputs;    /* list of {name, value} */
    const struct json *boundary;  /* the dag or steps node whose tasks may be referenced, or NULL */
    const struct json *template_; /* the template of the boundary */
    const struct json *item;      /* the current item of withItems, or NULL */
    const char *pod_name;         /* the name of the pod; NULL: not inside a pod */
    int retries;                  /* earlier attempts; -1: not inside a retry */
};
/* Resolves a reference in a struct workflow_scope; see workflow_resolve in text.h. */
const char *workflow_scope_resolve(void *scope, const char *reference, struct err *err);
/* Finds a step in the groups of a steps template. Returns the name of its node, or NULL if there is
 * no such step. */
const char *workflow_step_node_name(struct arena *arena, const struct json *boundary,
                                    const struct json *template_, const char *step);

/* One call of a template. */
struct workflow_call {
    const char *name, *display; /* name and display name of the call's node */
    const struct json *template_;
    const struct json *arguments; /* the arguments in the manifest; expanded in `scope` */
    struct workflow_scope *scope; /* the caller's scope */
    const struct json *boundary;  /* the caller's node, or NULL */
    const struct json *inputs;    /* in a retry: the inputs of all attempts; else NULL */
    int attempt;                  /* the number of the attempt in a retry; -1: not inside a retry */
};

/* Begins or continues the call. Returns its node, or NULL if it could not begin yet. */
struct json *workflow_call_run(struct workflow_pass *pass, struct workflow_call *call);
/* Returns the node of the call; creates it with its inputs if it does not exist. */
struct json *workflow_call_begin(struct workflow_pass *pass, const struct workflow_call *call,
                                 const char *type, enum workflow_phase phase,
                                 const struct json *inputs);

/* Each of these functions begins or continues a node of one type. Returns the node, or NULL if it
 * could not begin yet. `inputs` are the inputs of the call. */
struct json *workflow_run_pod(struct workflow_pass *pass, struct workflow_call *call,
                              const struct json *inputs);
struct json *workflow_run_resource(struct workflow_pass *pass, struct workflow_call *call,
                                   const struct json *inputs);
struct json *workflow_run_graph(struct workflow_pass *pass, struct workflow_call *call,
                                const struct json *inputs);
struct json *workflow_run_retry(struct workflow_pass *pass, struct workflow_call *call,
                                const struct json *inputs);
/* Begins or continues a task or step whose dependencies are met: evaluates its condition and runs
 * its template, once per item if it has items. Returns its node, or NULL if it could not begin yet.
 */
struct json *workflow_run_task(struct workflow_pass *pass, struct workflow_call *call,
                               const struct json *task);

/* Builds the pod of a call. Returns 0, or an error if a reference cannot be resolved or a mounted
 * volume is not defined. */
int workflow_pod_build(struct workflow_pass *pass, const struct workflow_call *call,
                       const struct json *inputs, struct json **ret, struct err *err);
/* Updates a node from the state of its pod. */
void workflow_pod_update_node(struct workflow_pass *pass, struct json *node,
                              const struct json *template_, const struct json *pod);

/* Sets the phase of a node. Adds an event if the node fails or ends with an error, or if a node of
 * type Pod succeeds. */
void workflow_pass_set(struct workflow_pass *pass, struct json *node, enum workflow_phase phase,
                       const char *message);
/* Returns the result that is kept for this node id, or NULL. */
const struct workflow_result *workflow_pass_result(const struct workflow_pass *pass,
                                                   const char *node_id);

/* Plans the cleanup: labels ended pods, and applies podGC, volumeClaimGC and the time to live. */
void workflow_pass_clean_up(struct workflow_pass *pass);

/* The state of objects that must exist before the workflow begins. */
struct workflow_prerequisites {
    bool missing;      /* an object may not exist yet; the plan creates all of them */
    const char *error; /* why an object cannot be created; or NULL */
};
/* Plans the creation of these objects. If `missing` is false, the workflow begins, or fails if
 * `error` is set. */
struct workflow_prerequisites workflow_pass_prepare(struct workflow_pass *pass);
/* Lists the claims of the volumeClaimTemplates in the status. */
void workflow_pass_list_claims(struct workflow_pass *pass);
/* Returns the name of the claim that is created from one of the volumeClaimTemplates. */
const char *workflow_claim_name(struct workflow_pass *pass, const struct json *claim);

#endif
