/* Conditions of a workflow: `when` of a task, and the success and failure conditions of a resource.
 * One comparison ("heads == tails", "3 > 2"), or several joined by "&&"; "true" and "false" stand
 * for themselves. Pure. */
#ifndef TRAINYARD_PIPELINE_CONDITION_H
#define TRAINYARD_PIPELINE_CONDITION_H

#include "base/json/json.h"

/* Of a text whose references have been replaced. Numbers compare as numbers, all else as text;
 * quotes around a side are not part of it. */
int workflow_condition_eval(struct arena *arena, const char *text, bool *ret, struct err *err);

/* Of an object: "status.succeeded > 0, status.phase == Ready", where the left sides are paths in
 * it; a comma joins like "&&". A path that is not there (yet) makes its comparison false. */
int workflow_condition_eval_object(struct arena *arena, const char *text, const struct json *object,
                                   bool *ret, struct err *err);

#endif
