/* Reads the progress of running jobs for the controller. The reader requests /progress periodically
 * from the pod of the chief (or of worker 0 in a job without a chief) and writes the result to the
 * job as a short annotation. If a pod does not answer, the interval grows, and nothing is reported.
 * No other code waits for the result. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_PROGRESS_READER_H
#define TRAINYARD_OPERATOR_CONTROLLER_PROGRESS_READER_H

#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "operator/controller/dialer.h"
#include "operator/kind/training_kind.h"

struct progress_reader;

/* The loop, the kind and dialer->context must outlive the reader; the dialer itself is copied. The
 * client must be freed before the reader, because its calls in flight refer to the reader. */
struct progress_reader *progress_reader_new(struct loop *loop, struct kube_client *client,
                                            const struct training_kind *kind,
                                            const struct training_dialer *dialer);
struct progress_reader *progress_reader_free(struct progress_reader *reader);

/* Sets the pod and the port that report the progress of a job. `pod` NULL: there is none. */
void progress_reader_observe(struct progress_reader *reader, const struct kube_object *job,
                             struct kube_object *pod, int port);
/* Must be called when the job is gone. */
void progress_reader_forget(struct progress_reader *reader, const char *key);

#endif
