/* Evaluates the conditions in a workflow: `when` of a task, and the success and failure conditions
 * of a resource. A condition is one comparison ("heads == tails", "3 > 2"), or several joined by
 * "&&"; "true" and "false" are conditions too. Pure. */
#ifndef TRAINYARD_PIPELINE_SPEC_CONDITION_H
#define TRAINYARD_PIPELINE_SPEC_CONDITION_H

#include "base/json/json.h"

/* Evaluates a text whose references have been replaced. Numbers compare as numbers, everything else
 * as text; quotes around a side are removed. */
int workflow_condition_eval(struct arena *arena, const char *text, bool *ret, struct err *err);

/* Evaluates a condition about an object: "status.succeeded > 0, status.phase == Ready". The left
 * sides are paths in the object. A comma means "&&". A comparison with a missing path is false. */
int workflow_condition_eval_object(struct arena *arena, const char *text, const struct json *object,
                                   bool *ret, struct err *err);

#endif
