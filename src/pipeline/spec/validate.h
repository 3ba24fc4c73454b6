/* The checks that workflow_validate() consists of. Only validate*.c include this header. Each check
 * returns 0, or a negative code and an error about the first mistake; the message starts with the
 * field's path. */
#ifndef TRAINYARD_PIPELINE_SPEC_VALIDATE_H
#define TRAINYARD_PIPELINE_SPEC_VALIDATE_H

#include "base/json/json.h"
#include "base/map.h"
#include "pipeline/spec/dag.h"

/* One validation of a workflow. */
struct workflow_checker {
    struct arena *arena;
    const struct json *workflow, *spec, *templates;
    struct err *err;
    struct map indexes; /* for workflow_find(): address of a list → the list's items by name */

    /* The tasks of the dag or steps template that is being checked. Set by
     * workflow_check_tasks(). */
    struct workflow_dag graph;
    struct map steps; /* name → struct workflow_step */
};

/* The result of workflow_find(). */
struct workflow_match {
    const struct json *item; /* NULL: no such item */
    size_t position;         /* of the item in the list */
};

/* Returns the first item with this name in a list of {name: …}. A large list is indexed once,
 * because a workflow may refer to its items tens of thousands of times. */
struct workflow_match workflow_find(struct workflow_checker *checker, const struct json *list,
                                    const char *name);

/* All steps of one name in a steps template. */
struct workflow_step {
    const struct json *first; /* the first step of this name */
    size_t group;             /* the group of that step */
    size_t last_group;        /* the last group that has a step of this name */
};

/* Checks the template at `path` ("spec.templates[2]"). */
int workflow_check_template(struct workflow_checker *checker, const struct json *template_,
                            const char *path);
/* Checks the tasks of a dag or the steps of a steps template. Sets `graph` or `steps` of the
 * checker. */
int workflow_check_tasks(struct workflow_checker *checker, const struct json *template_,
                         const char *path);
/* Checks that every reference in the template's texts can be resolved when the template runs. Must
 * run after workflow_check_tasks() of the same template. */
int workflow_check_references(struct workflow_checker *checker, const struct json *template_,
                              const char *path);

/* Rejects members of `object` that are listed in `fields` and are not empty. `fields` contains
 * pairs of a name and a hint for the message, and ends with NULL. */
int workflow_check_refused(struct workflow_checker *checker, const struct json *object,
                           const char *path, const char *const (*fields)[2]);

/* Returns "; did you mean 'y'?" with the most similar name in a list of {name: …}, or "". */
const char *workflow_suggest_name(struct arena *arena, const struct json *list, const char *name);

#endif
