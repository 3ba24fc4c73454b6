/* What the files of the validation share. Each check reports the first mistake, and its message
 * starts with the path of the field. */
#ifndef TRAINYARD_PIPELINE_VALIDATE_H
#define TRAINYARD_PIPELINE_VALIDATE_H

#include "base/json/json.h"
#include "base/map.h"
#include "pipeline/spec/dag.h"

struct workflow_checker {
    struct arena *arena;
    const struct json *workflow, *spec, *templates;
    struct err *err;
    struct map indexes; /* of workflow_find() */

    /* Of the dag or steps template that is checked; workflow_check_tasks() fills them in. */
    struct workflow_dag graph;
    struct map steps; /* name → struct workflow_step */
};

struct workflow_match {
    const struct json *item; /* NULL: none */
    size_t position;
};

/* The first item of this name in a list of {name: …}. A large list is indexed once: a workflow may
 * name its items tens of thousands of times. */
struct workflow_match workflow_find(struct workflow_checker *checker, const struct json *list,
                                    const char *name);

struct workflow_step {
    const struct json *first; /* the first step of this name */
    size_t group;             /* the group of that step */
    size_t last_group;        /* the last group that has a step of this name */
};

/* The template at `path` ("spec.templates[2]"). */
int workflow_check_template(struct workflow_checker *checker, const struct json *template_,
                            const char *path);
/* The tasks of a dag or the steps of a steps template. */
int workflow_check_tasks(struct workflow_checker *checker, const struct json *template_,
                         const char *path);
/* Every reference in the template's texts can be resolved when its time comes. */
int workflow_check_references(struct workflow_checker *checker, const struct json *template_,
                              const char *path);

/* Refuse the members of `object` that are named in `fields` (ends with NULL) and not empty. */
int workflow_check_refused(struct workflow_checker *checker, const struct json *object,
                           const char *path, const char *const (*fields)[2]);

/* "; did you mean 'y'?" or "": the nearest of the names in a list of {name: …}. */
const char *workflow_suggest_name(struct arena *arena, const struct json *list, const char *name);

#endif
