/* The nodes of a workflow: everything that was begun, in status.nodes, in Argo's shape. A node's
 * name says where it stands ("wf.task", "wf[0].step(1)"), and its id is made from its name alone,
 * so that whoever looks at the same workflow comes to the same id, and its pod's name is that id.
 */
#ifndef TRAINYARD_PIPELINE_NODE_H
#define TRAINYARD_PIPELINE_NODE_H

#include "base/json/json.h"
#include "base/map.h"
#include "pipeline/spec/dag.h"

struct workflow_nodes {
    struct arena *arena;
    const char *workflow; /* its name */
    struct json *tree;    /* status.nodes */
    struct map by_id;     /* of the tree's members */
    int64_t now_ms;
};

/* Reads the tree, which is changed from now on. */
void workflow_nodes_init(struct workflow_nodes *nodes, struct arena *arena, const char *workflow,
                         struct json *tree, int64_t now_ms);
void workflow_nodes_release(struct workflow_nodes *nodes);

char *workflow_node_id(struct arena *arena, const char *workflow, const char *node_name);

struct json *workflow_node_find(const struct workflow_nodes *nodes, const char *name);
struct json *workflow_node_by_id(const struct workflow_nodes *nodes, const char *id);

/* A new one; `boundary` is the dag or steps node it is part of, NULL: none. */
struct json *workflow_node_add(struct workflow_nodes *nodes, const char *name, const char *display,
                               const char *type, const char *template_name,
                               const struct json *boundary, enum workflow_phase phase);
void workflow_node_add_child(struct workflow_nodes *nodes, struct json *parent,
                             const struct json *child);

enum workflow_phase workflow_node_phase(const struct json *node); /* NULL: unborn */
bool workflow_node_is_final(const struct json *node);
/* Sets the time of the end when it comes to one; `message` NULL: none. A node that has ended is
 * left as it is. True if something changed. */
bool workflow_node_set(struct workflow_nodes *nodes, struct json *node, enum workflow_phase phase,
                       const char *message);
const char *workflow_node_name(const struct json *node);
bool workflow_node_is_type(const struct json *node, const char *type);

/* The time in a field of the node; -1 where there is none. */
int64_t workflow_node_time(const struct json *node, const char *field);

const char *workflow_phase_name(enum workflow_phase phase); /* "Succeeded"; "" for unborn */

/* The value of an output parameter, or NULL. */
const char *workflow_node_output(const struct json *node, const char *parameter);
void workflow_node_add_output(struct workflow_nodes *nodes, struct json *node, const char *name,
                              const char *value);

#endif
