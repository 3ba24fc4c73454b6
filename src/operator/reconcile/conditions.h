/* Reads and sets the conditions in the status of a job. training_condition_set() puts the condition
 * that it sets at the end of the list. `kubectl get` shows the type of the last condition as the
 * job's state. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_CONDITIONS_H
#define TRAINYARD_OPERATOR_RECONCILE_CONDITIONS_H

#include "base/json/json.h"

#define TRAINING_CREATED    "Created"
#define TRAINING_RUNNING    "Running"
#define TRAINING_RESTARTING "Restarting"
#define TRAINING_SUCCEEDED  "Succeeded"
#define TRAINING_FAILED     "Failed"
#define TRAINING_SUSPENDED  "Suspended"

/* The reason of the Failed condition of an invalid job. */
#define TRAINING_FAILED_VALIDATION "FailedValidation"

/* Returns the condition of this type in `status`, the status of a job, or NULL. */
const struct json *training_condition_get(const struct json *status, const char *type);
bool training_condition_is_true(const struct json *status, const char *type);
bool training_is_finished(const struct json *status); /* Succeeded or Failed is True */

/* Sets a condition and returns whether something changed. Changes nothing if the job is finished,
 * or if the condition has the same status and reason. A changed condition becomes the last of the
 * list. Setting Running removes Restarting, and setting Restarting removes Running. When Succeeded
 * or Failed becomes True, Running and Restarting become False if they exist. */
bool training_condition_set(struct arena *arena, struct json *status, const char *type,
                            bool is_true, const char *reason, const char *message, int64_t now_ms);

#endif
