/* Defines the columns that `kubectl get` prints for training jobs. The rows of the kinds refer to
 * them. */
#include "operator/kind/training_row.h"

#include "kube/object.h"

static struct json *training_state_cell(struct arena *arena, const struct json *object,
                                        int64_t now_ms)
{
    const struct json *list = json_at(object, "status", "conditions", NULL);
    const struct json *last = json_count(list) ? json_element(list, json_count(list) - 1) : NULL;
    return json_string(arena, json_get_string(last, "type", ""));
}

static struct json *training_progress_cell(struct arena *arena, const struct json *job,
                                           int64_t now_ms)
{
    const char *progress = kube_meta_annotation(job, "trainyard.dev/progress");
    return json_string(arena, progress ? progress : "");
}

/* Age has the same position as in Kubeflow's definition, for scripts that count columns. */
const struct kube_column TRAINING_COLUMNS[TRAINING_COLUMN_COUNT] = {
    COLUMN_NAME,
    COLUMN_TEXT("State", "The job's latest condition.", training_state_cell),
    COLUMN_AGE_DATE,
    COLUMN_TEXT("Progress", "Progress of the training, such as its step and loss.",
                training_progress_cell),
};
