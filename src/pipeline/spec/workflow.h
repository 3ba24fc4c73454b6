/* A Workflow (argoproj.io/v1alpha1), as far as we decide on it: names, limits, its templates, and
 * whether it makes sense. The object itself stays a JSON tree. */
#ifndef TRAINYARD_PIPELINE_WORKFLOW_H
#define TRAINYARD_PIPELINE_WORKFLOW_H

#include "base/json/json.h"

#define WORKFLOW_LABEL                "workflows.argoproj.io/workflow"
#define WORKFLOW_COMPLETED_LABEL      "workflows.argoproj.io/completed"
#define WORKFLOW_PHASE_LABEL          "workflows.argoproj.io/phase"
#define WORKFLOW_NODE_NAME_ANNOTATION "workflows.argoproj.io/node-name"
/* On what a resource template has made: which step of which workflow did. */
#define WORKFLOW_MADE_BY_ANNOTATION "trainyard.dev/made-by"
#define WORKFLOW_CONTROLLER_NAME    "workflow-controller"

enum {
    WORKFLOW_TEMPLATES_MAX = 1000,
    WORKFLOW_TASKS_MAX = 1000, /* of one template */
    WORKFLOW_ITEMS_MAX = 1000, /* of one task */
    WORKFLOW_NODES_MAX = 5000, /* in all */
    WORKFLOW_DEPTH_MAX = 64,   /* templates inside each other, when they run */
    WORKFLOW_NAME_MAX = 200,   /* so that the names of its pods fit */
};

enum workflow_template_type {
    WORKFLOW_CONTAINER,
    WORKFLOW_SCRIPT,
    WORKFLOW_RESOURCE,
    WORKFLOW_DAG,
    WORKFLOW_STEPS,
    WORKFLOW_TEMPLATE_TYPES,
};

/* The template of that name, or NULL; and what kind it is, -1 where it is none of them. */
const struct json *workflow_template(const struct json *workflow, const char *name);
int workflow_template_type(const struct json *template_);

/* A parameter's value as text: numbers and booleans as they are written, NULL where there is none.
 */
const char *workflow_value(struct arena *arena, const struct json *value);
/* The element of a list whose "name" is that, or NULL. */
const struct json *workflow_named(const struct json *list, const char *name);

/* The tasks that a task waits for: `dependencies`, or the names in a `depends` of the form
 * "a && b.Succeeded". Another form is ERR_UNSUPPORTED. */
int workflow_task_needs(struct arena *arena, const struct json *task, const char ***ret,
                        size_t *ret_count, struct err *err);

/* An object that an earlier workflow left and the garbage collector is about to take: it is deleted
 * already, or a workflow controls it (which is not the one that asks). */
bool workflow_is_leftover(const struct json *object);

/* The first mistake, with the path of the field: "spec.templates[2].dag.tasks[1].dependencies[0]:
 * no task 'x'; did you mean 'y'?". */
int workflow_validate(const struct json *workflow, struct err *err);

/* A number of seconds, "10", or a duration, "1m30s", in milliseconds. */
int workflow_duration(const struct json *value, int64_t *ret_ms, struct err *err);

#endif
