/* One pass of the reconcile, shared by the files that make its decisions; nobody else includes it.
 */
#ifndef TRAINYARD_PIPELINE_RECONCILE_INTERNAL_H
#define TRAINYARD_PIPELINE_RECONCILE_INTERNAL_H

#include "base/map.h"
#include "pipeline/reconcile/node.h"
#include "pipeline/reconcile/reconcile.h"

struct workflow_pass {
    struct arena *arena;
    const struct workflow_observed *observed;
    const struct json *workflow, *spec;
    const char *name, *namespace_, *uid;
    int64_t now_ms;
    struct workflow_plan *plan;
    struct json *status;
    struct workflow_nodes nodes;
    struct map pods, gone; /* by name: const struct json */
    int64_t active;        /* pods that have not ended */
    int64_t parallelism;   /* the most of them; 0: no limit */
    int depth;
    bool held; /* nothing new is started */
};

/* Where the references of a text are looked up. */
struct workflow_scope {
    struct workflow_pass *pass;
    const struct json *inputs;   /* list of {name, value} */
    const struct json *boundary; /* the dag or steps node whose tasks may be referred to, or NULL */
    const struct json *template_; /* of the boundary */
    const struct json *item;      /* of withItems, or NULL */
    const char *pod_name;         /* NULL: not inside a pod */
    int retries;                  /* attempts before this one; -1: not inside a retry */
};
const char *workflow_scope_resolve(void *scope, const char *reference, struct err *err);
/* The name of the node of a step, found in the groups of a steps template; NULL: no such step. */
const char *workflow_step_node_name(struct arena *arena, const struct json *boundary,
                                    const struct json *template_, const char *step);

/* One use of a template. */
struct workflow_call {
    const char *name, *display; /* of its node */
    const struct json *template_;
    const struct json *arguments; /* as written, expanded in `scope` */
    struct workflow_scope *scope; /* of the caller */
    const struct json *boundary;  /* the caller's node, or NULL */
    const struct json *inputs;    /* already known: of another attempt; else NULL */
    int attempt;                  /* of a retry; -1: none */
};

/* Begin the call or go on with it; the node as it is now, NULL where it could not begin yet. */
struct json *workflow_call_run(struct workflow_pass *pass, struct workflow_call *call);
/* The node of the call, made with its inputs if it is not there. */
struct json *workflow_call_begin(struct workflow_pass *pass, const struct workflow_call *call,
                                 const char *type, enum workflow_phase phase,
                                 const struct json *inputs);

/* Each goes on with a node of its type; `inputs` are the call's. */
struct json *workflow_run_pod(struct workflow_pass *pass, struct workflow_call *call,
                              const struct json *inputs);
struct json *workflow_run_resource(struct workflow_pass *pass, struct workflow_call *call,
                                   const struct json *inputs);
struct json *workflow_run_graph(struct workflow_pass *pass, struct workflow_call *call,
                                const struct json *inputs);
struct json *workflow_run_retry(struct workflow_pass *pass, struct workflow_call *call,
                                const struct json *inputs);
/* A task or step whose needs are met: its condition, its items, its template. */
struct json *workflow_run_task(struct workflow_pass *pass, struct workflow_call *call,
                               const struct json *task);

/* The pod of a call, or an error that says what is wrong with it. */
int workflow_pod_build(struct workflow_pass *pass, const struct workflow_call *call,
                       const struct json *inputs, struct json **ret, struct err *err);
/* What a pod's state means for its node. */
void workflow_pod_update_node(struct workflow_pass *pass, struct json *node,
                              const struct json *template_, const struct json *pod);

/* Change a node's phase and tell it when it has ended. */
void workflow_pass_set(struct workflow_pass *pass, struct json *node, enum workflow_phase phase,
                       const char *message);
const struct workflow_result *workflow_pass_result(const struct workflow_pass *pass,
                                                   const char *node_id);

/* What is to be tidied up: labels of ended pods, podGC, claims, the time to live. */
void workflow_pass_clean_up(struct workflow_pass *pass);

/* What must be there before the workflow begins. */
struct workflow_wanted {
    bool missing;      /* the plan makes it */
    const char *error; /* it cannot be made */
};
struct workflow_wanted workflow_pass_prepare(struct workflow_pass *pass);
void workflow_pass_list_claims(struct workflow_pass *pass);
const char *workflow_claim_name(struct workflow_pass *pass, const struct json *claim);

#endif
