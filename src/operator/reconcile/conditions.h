/* The conditions of a job: the list in its status that says where it stands. The newest change
 * stands last, which is what `kubectl get` shows as the job's state. */
#ifndef TRAINYARD_OPERATOR_CONDITIONS_H
#define TRAINYARD_OPERATOR_CONDITIONS_H

#include "base/json/json.h"

#define TRAINING_CREATED    "Created"
#define TRAINING_RUNNING    "Running"
#define TRAINING_RESTARTING "Restarting"
#define TRAINING_SUCCEEDED  "Succeeded"
#define TRAINING_FAILED     "Failed"
#define TRAINING_SUSPENDED  "Suspended"

/* The reason of a Failed condition: the job makes no sense. */
#define TRAINING_FAILED_VALIDATION "FailedValidation"

/* `status` is the job's status tree. */
const struct json *training_condition_get(const struct json *status, const char *type);
bool training_condition_is_true(const struct json *status, const char *type);
bool training_is_finished(const struct json *status); /* Succeeded or Failed */

/* Set a condition by the rules: nothing changes on a finished job, nor where status and reason are
 * the same; a changed condition moves to the end; Running and Restarting replace each other; the
 * end of the job makes both False. True if something changed. */
bool training_condition_set(struct arena *arena, struct json *status, const char *type,
                            bool is_true, const char *reason, const char *message, int64_t now_ms);

#endif
