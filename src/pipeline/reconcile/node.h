/* The nodes of a workflow, in status.nodes, in Argo's format: every task, step, group, pod and
 * retry that has begun or was skipped, and every omitted task of a dag. A node's name is its path
 * in the workflow ("wf.task", "wf[0].step(1)"). Its id is computed only from this name and the
 * workflow's name, so that every process computes the same id. The pod of a node has the id as its
 * name. */
#ifndef TRAINYARD_PIPELINE_RECONCILE_NODE_H
#define TRAINYARD_PIPELINE_RECONCILE_NODE_H

#include "base/json/json.h"
#include "base/map.h"
#include "pipeline/spec/dag.h"

struct workflow_nodes {
    struct arena *arena;
    const char *workflow; /* the workflow's name */
    struct json *tree;    /* status.nodes */
    struct map by_id;     /* the members of `tree` by id */
    int64_t now_ms;
};

/* Indexes the tree. The functions below change the tree. */
void workflow_nodes_init(struct workflow_nodes *nodes, struct arena *arena, const char *workflow,
                         struct json *tree, int64_t now_ms);
void workflow_nodes_release(struct workflow_nodes *nodes);

/* Returns the id of the node with this name, in the arena. */
char *workflow_node_id(struct arena *arena, const char *workflow, const char *node_name);

/* Finds a node by its name. Returns NULL if no such node exists. */
struct json *workflow_node_find(const struct workflow_nodes *nodes, const char *name);
/* Finds a node by its id. Returns NULL if no such node exists. */
struct json *workflow_node_by_id(const struct workflow_nodes *nodes, const char *id);

/* Adds a node. `boundary` is the dag or steps node that contains the new node, or NULL. */
struct json *workflow_node_add(struct workflow_nodes *nodes, const char *name, const char *display,
                               const char *type, const char *template_name,
                               const struct json *boundary, enum workflow_phase phase);
/* Adds the child's id to the parent's list, unless the list has it. */
void workflow_node_add_child(struct workflow_nodes *nodes, struct json *parent,
                             const struct json *child);

enum workflow_phase workflow_node_phase(const struct json *node); /* NULL: WORKFLOW_ABSENT */
bool workflow_node_is_final(const struct json *node);
/* Sets the phase and message (NULL: none) of a node, and the time of its end if the phase is final.
 * A node that has ended does not change. Returns true if something changed. */
bool workflow_node_set(struct workflow_nodes *nodes, struct json *node, enum workflow_phase phase,
                       const char *message);
const char *workflow_node_name(const struct json *node);
bool workflow_node_is_type(const struct json *node, const char *type);

/* Returns the wall time in a field of the node in ms, or -1 if the field is missing or not a
 * time. */
int64_t workflow_node_time(const struct json *node, const char *field);

/* Returns the phase as the status shows it ("Succeeded"), or "" for WORKFLOW_ABSENT. */
const char *workflow_phase_name(enum workflow_phase phase);

/* Returns the value of an output parameter, or NULL. */
const char *workflow_node_output(const struct json *node, const char *parameter);
void workflow_node_add_output(struct workflow_nodes *nodes, struct json *node, const char *name,
                              const char *value);

#endif
