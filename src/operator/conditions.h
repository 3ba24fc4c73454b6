/* The conditions of a job: the list in its status that says where it stands. The newest change
 * stands last, which is what `kubectl get` shows as the job's state. */
#ifndef TRAINYARD_OPERATOR_CONDITIONS_H
#define TRAINYARD_OPERATOR_CONDITIONS_H

#include "base/json.h"

#define TFJOB_CREATED    "Created"
#define TFJOB_RUNNING    "Running"
#define TFJOB_RESTARTING "Restarting"
#define TFJOB_SUCCEEDED  "Succeeded"
#define TFJOB_FAILED     "Failed"
#define TFJOB_SUSPENDED  "Suspended"

/* `status` is the job's status tree. */
const struct json *tfjob_condition_get(const struct json *status, const char *type);
bool tfjob_condition_is_true(const struct json *status, const char *type);
bool tfjob_is_finished(const struct json *status); /* Succeeded or Failed */

/* Set a condition by the rules: nothing changes on a finished job, nor where status and reason are
 * the same; a changed condition moves to the end; Running and Restarting replace each other; the
 * end of the job makes both False. True if something changed. */
bool tfjob_condition_set(struct arena *arena, struct json *status, const char *type, bool is_true,
                         const char *reason, const char *message, int64_t now_ms);

#endif
