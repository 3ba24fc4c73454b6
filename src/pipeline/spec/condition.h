/* Evaluates the conditions in a workflow: `when` of a task, and the success and failure conditions
 * of a resource template. A condition is one comparison ("heads == tails", "3 > 2"), or several
 * joined by "&&"; "true" and "false" are conditions, too. Pure. */
#ifndef TRAINYARD_PIPELINE_SPEC_CONDITION_H
#define TRAINYARD_PIPELINE_SPEC_CONDITION_H

#include "base/json/json.h"

/* Evaluates a text whose references have been replaced. Two numbers compare as numbers, everything
 * else as text; quotes around a side are removed. Returns 0, -ERR_INVALID for a text that is not a
 * condition, or -ERR_UNSUPPORTED for an operator that is not supported. */
int workflow_condition_eval(struct arena *arena, const char *text, bool *ret, struct err *err);

/* Like workflow_condition_eval(), for a condition about an object: "status.succeeded > 0,
 * status.phase == Ready". The left sides are paths in the object. A comma means "&&". A comparison
 * with a missing path is false. With `object` NULL only the return value has a meaning: it tells
 * whether the condition is valid. */
int workflow_condition_eval_object(struct arena *arena, const char *text, const struct json *object,
                                   bool *ret, struct err *err);

#endif
