/* Checks of a Workflow; only the files of the validation include this header. Each check reports
 * the first mistake; the message starts with the field's path. */
#ifndef TRAINYARD_PIPELINE_SPEC_VALIDATE_H
#define TRAINYARD_PIPELINE_SPEC_VALIDATE_H

#include "base/json/json.h"
#include "base/map.h"
#include "pipeline/spec/dag.h"

struct workflow_checker {
    struct arena *arena;
    const struct json *workflow, *spec, *templates;
    struct err *err;
    struct map indexes; /* the indexes of workflow_find() */

    /* The tasks of the dag or steps template that is being checked. Set by
     * workflow_check_tasks(). */
    struct workflow_dag graph;
    struct map steps; /* name → struct workflow_step */
};

struct workflow_match {
    const struct json *item; /* NULL: no such item */
    size_t position;
};

/* Returns the first item with this name in a list of {name: …}. A large list is indexed once,
 * because a workflow may refer to its items tens of thousands of times. */
struct workflow_match workflow_find(struct workflow_checker *checker, const struct json *list,
                                    const char *name);

struct workflow_step {
    const struct json *first; /* the first step of this name */
    size_t group;             /* the group of that step */
    size_t last_group;        /* the last group that has a step of this name */
};

/* Checks the template at `path` ("spec.templates[2]"). */
int workflow_check_template(struct workflow_checker *checker, const struct json *template_,
                            const char *path);
/* Checks the tasks of a dag or the steps of a steps template. */
int workflow_check_tasks(struct workflow_checker *checker, const struct json *template_,
                         const char *path);
/* Checks that every reference in the template's texts can be resolved when the template runs. */
int workflow_check_references(struct workflow_checker *checker, const struct json *template_,
                              const char *path);

/* Rejects members of `object` that are listed in `fields` and are not empty. `fields` contains
 * pairs of a name and a reason, and ends with NULL. */
int workflow_check_refused(struct workflow_checker *checker, const struct json *object,
                           const char *path, const char *const (*fields)[2]);

/* Returns "; did you mean 'y'?" with the most similar name in a list of {name: …}, or "". */
const char *workflow_suggest_name(struct arena *arena, const struct json *list, const char *name);

#endif
