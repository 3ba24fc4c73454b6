/* Converts the progress of a job to one short line, which becomes an annotation of the job. The
 * source is the JSON document that the chief serves at /progress, or its termination message. Pure.
 */
#ifndef TRAINYARD_OPERATOR_RECONCILE_PROGRESS_TEXT_H
#define TRAINYARD_OPERATOR_RECONCILE_PROGRESS_TEXT_H

#include "operator/kind/training_kind.h"

#include "base/json/json.h"

#define TRAINING_PROGRESS_ANNOTATION "trainyard.dev/progress"

enum { TRAINING_PROGRESS_DOCUMENT_MAX = 64 * 1024 };

/* Sets *ret to a line such as "step 120/1000, epoch 3, loss 0.42, accuracy 0.91, 812/s, waiting for
 * worker-1", with only those parts that the document has. Returns 0, or a negative code if the
 * document has none of them, is not JSON, or is larger than TRAINING_PROGRESS_DOCUMENT_MAX. */
int training_progress_text(struct arena *arena, const char *document, size_t size, char **ret,
                           struct err *err);

/* Returns the pod that reports the job's progress, and sets *ret_port to the container port named
 * "progress" or else "metrics". It is the running pod with the label job-role=master: the chief, or
 * worker 0 of a job without a chief. Returns NULL if there is no such pod or port. */
const struct json *training_progress_pod(const struct json *const *pods, size_t count,
                                         const char *job_uid, int *ret_port);

/* The final progress of a chief that succeeded (or worker 0 of a job without a chief). Its
 * termination message is the same document as at /progress. */
struct training_final_progress {
    const char *text; /* the last progress line */
    /* The path of the run's report in the container, as the program wrote it; NULL: none.
     * training_report_location() checks it. */
    const char *report;
    const struct json *pod; /* the chief's pod */
    const char *container;  /* the container with the termination message */
};
/* Returns false if the chief has not succeeded, or if its termination message has no progress. */
bool training_progress_last(struct arena *arena, const struct json *const *pods, size_t count,
                            const char *job_uid, struct training_final_progress *ret);

/* Returns whether the text is UTF-8 without characters that move the cursor or change the writing
 * direction. */
bool training_progress_is_plain(const char *text);

/* Returns whether two states of a job differ in their progress annotation, but not in anything else
 * that the reconcile uses. */
bool training_progress_is_all_that_changed(const struct json *old, const struct json *new_);

#endif
