/* Reads and validates a Workflow (argoproj.io/v1alpha1), which stays a JSON tree. Defines its
 * labels, annotations and limits. Used by the validation, the reconcile and the controller of
 * workflows. Pure. */
#ifndef TRAINYARD_PIPELINE_SPEC_WORKFLOW_H
#define TRAINYARD_PIPELINE_SPEC_WORKFLOW_H

#include "base/json/json.h"

#define WORKFLOW_LABEL                "workflows.argoproj.io/workflow"
#define WORKFLOW_COMPLETED_LABEL      "workflows.argoproj.io/completed"
#define WORKFLOW_PHASE_LABEL          "workflows.argoproj.io/phase"
#define WORKFLOW_NODE_NAME_ANNOTATION "workflows.argoproj.io/node-name"
/* The annotation that names the workflow and step on an object that a resource template created. */
#define WORKFLOW_MADE_BY_ANNOTATION "trainyard.dev/made-by"
#define WORKFLOW_CONTROLLER_NAME    "workflow-controller"

enum {
    WORKFLOW_TEMPLATES_MAX = 1000,
    WORKFLOW_TASKS_MAX = 1000, /* per template */
    WORKFLOW_ITEMS_MAX = 1000, /* per task */
    WORKFLOW_NODES_MAX = 5000, /* per workflow */
    WORKFLOW_DEPTH_MAX = 64,   /* nesting of templates at run time */
    WORKFLOW_NAME_MAX = 200,   /* leaves room for longer names of the workflow's pods */
};

enum workflow_template_type {
    WORKFLOW_CONTAINER,
    WORKFLOW_SCRIPT,
    WORKFLOW_RESOURCE,
    WORKFLOW_DAG,
    WORKFLOW_STEPS,
    WORKFLOW_TEMPLATE_TYPES,
};

/* Returns the template with this name, or NULL. `name` may be NULL. */
const struct json *workflow_template(const struct json *workflow, const char *name);
/* Returns the first type whose field the template has, or -1 if it has none of these types. */
int workflow_template_type(const struct json *template_);

/* Returns the value of a parameter or item as text, or NULL if `value` is NULL or null. A value
 * that is not a string becomes JSON text. */
const char *workflow_value_text(struct arena *arena, const struct json *value);
/* Returns the list element whose "name" is `name`, or NULL. */
const struct json *workflow_find_by_name(const struct json *list, const char *name);

/* Finds the tasks that a task depends on: the names in `dependencies`, or in a `depends` of the
 * form "a && b.Succeeded". `depends` takes precedence. Returns 0, -ERR_UNSUPPORTED for another form
 * of `depends`, or -ERR_INVALID for too many names. */
int workflow_task_needs(struct arena *arena, const struct json *task, const char ***ret,
                        size_t *ret_count, struct err *err);

/* For an object that the current workflow does not control. Returns true if the object is being
 * deleted or another Workflow controls it. The caller then waits: such an object usually belongs to
 * an earlier workflow of the same name, and the garbage collector deletes it. */
bool workflow_object_is_obsolete(const struct json *object);

/* Returns 0, or an error for the first mistake with the field's path:
 * "spec.templates[2].dag.tasks[1].dependencies[0]: no task 'x'; did you mean 'y'?". */
int workflow_validate(const struct json *workflow, struct err *err);

/* Parses a number of seconds (10 or "10") or a duration ("1m30s"). The result is in milliseconds.
 * Returns 0 or a negative code. */
int workflow_parse_duration(const struct json *value, int64_t *ret_ms, struct err *err);

#endif
