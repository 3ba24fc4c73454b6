/* The parts of a Workflow (argoproj.io/v1alpha1) that the reconcile uses: names, limits, templates
 * and validation. The object itself stays a JSON tree. */
#ifndef TRAINYARD_PIPELINE_SPEC_WORKFLOW_H
#define TRAINYARD_PIPELINE_SPEC_WORKFLOW_H

#include "base/json/json.h"

#define WORKFLOW_LABEL                "workflows.argoproj.io/workflow"
#define WORKFLOW_COMPLETED_LABEL      "workflows.argoproj.io/completed"
#define WORKFLOW_PHASE_LABEL          "workflows.argoproj.io/phase"
#define WORKFLOW_NODE_NAME_ANNOTATION "workflows.argoproj.io/node-name"
/* An annotation of objects that a resource template created: the workflow and step. */
#define WORKFLOW_MADE_BY_ANNOTATION "trainyard.dev/made-by"
#define WORKFLOW_CONTROLLER_NAME    "workflow-controller"

enum {
    WORKFLOW_TEMPLATES_MAX = 1000,
    WORKFLOW_TASKS_MAX = 1000, /* per template */
    WORKFLOW_ITEMS_MAX = 1000, /* per task */
    WORKFLOW_NODES_MAX = 5000, /* per workflow */
    WORKFLOW_DEPTH_MAX = 64,   /* nesting of templates at run time */
    WORKFLOW_NAME_MAX = 200,   /* leaves room for the names of its pods */
};

enum workflow_template_type {
    WORKFLOW_CONTAINER,
    WORKFLOW_SCRIPT,
    WORKFLOW_RESOURCE,
    WORKFLOW_DAG,
    WORKFLOW_STEPS,
    WORKFLOW_TEMPLATE_TYPES,
};

/* Returns the template of that name, or NULL; and the type of a template, or -1 if it has none of
 * these types. */
const struct json *workflow_template(const struct json *workflow, const char *name);
int workflow_template_type(const struct json *template_);

/* Returns a parameter's value as text: numbers and booleans as written, NULL if there is none. */
const char *workflow_value(struct arena *arena, const struct json *value);
/* Returns the list element whose "name" is `name`, or NULL. */
const struct json *workflow_named(const struct json *list, const char *name);

/* Returns the tasks that a task depends on: `dependencies`, or the names in a `depends` of the form
 * "a && b.Succeeded". Returns -ERR_UNSUPPORTED for another form. */
int workflow_task_needs(struct arena *arena, const struct json *task, const char ***ret,
                        size_t *ret_count, struct err *err);

/* Returns whether an earlier workflow left the object and the garbage collector will delete it: it
 * is being deleted, or another workflow controls it. */
bool workflow_is_leftover(const struct json *object);

/* Returns 0, or an error for the first mistake with the field's path:
 * "spec.templates[2].dag.tasks[1].dependencies[0]: no task 'x'; did you mean 'y'?". */
int workflow_validate(const struct json *workflow, struct err *err);

/* Parses a number of seconds, "10", or a duration, "1m30s", as milliseconds. */
int workflow_duration(const struct json *value, int64_t *ret_ms, struct err *err);

#endif
