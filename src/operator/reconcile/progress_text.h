/* How far a job has come, in the words of its chief: from the document at /progress, or the one in
 * its termination message, to one short line that is put on the job. */
#ifndef TRAINYARD_OPERATOR_PROGRESS_TEXT_H
#define TRAINYARD_OPERATOR_PROGRESS_TEXT_H

#include "operator/kind/training_kind.h"

#include "base/json/json.h"

#define TRAINING_PROGRESS_ANNOTATION "trainyard.dev/progress"

enum { TRAINING_PROGRESS_DOCUMENT_MAX = 64 * 1024 };

/* "step 120/1000, epoch 3, loss 0.42, accuracy 0.91, 812/s, waiting for worker-1", of what the
 * document says; ERR_INVALID where it says nothing of it. */
int training_progress_text(struct arena *arena, const char *document, size_t size, char **ret,
                           struct err *err);

/* The pod that speaks for the job, if it can be asked: it runs, and a container port is named
 * "progress", or else "metrics". NULL: there is none. */
const struct json *training_progress_pod(const struct json *const *pods, size_t count,
                                         const char *job_uid, int *ret_port);

/* What a chief that has ended well left behind: its termination message is the same document as at
 * /progress. */
struct training_final_progress {
    const char *text;       /* the last line */
    const char *report;     /* the file of the run's report in the container; NULL: none */
    const struct json *pod; /* the chief's */
    const char *container;
};
/* False: it has not ended, or left nothing. */
bool training_progress_last(struct arena *arena, const struct json *const *pods, size_t count,
                            const char *job_uid, struct training_final_progress *ret);

/* The text is UTF-8 and has no character that moves the cursor or turns the direction of writing.
 */
bool training_progress_is_plain(const char *text);

/* Two states of a job differ in nothing that a decision could rest on. */
bool training_progress_is_all_that_changed(const struct json *old, const struct json *new_);

#endif
