/* Reads the progress of running jobs: requests /progress from the chief's pod periodically and puts
 * the result on the job as a short annotation. A pod that cannot be reached is asked less often,
 * without an error. Nothing waits for the result. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_PROGRESS_READER_H
#define TRAINYARD_OPERATOR_CONTROLLER_PROGRESS_READER_H

#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "operator/controller/dialer.h"
#include "operator/kind/training_kind.h"

struct progress_reader;

/* All must outlive the reader except the client, which must be freed before it. */
struct progress_reader *progress_reader_new(struct loop *loop, struct kube_client *client,
                                            const struct training_kind *kind,
                                            const struct training_dialer *dialer);
struct progress_reader *progress_reader_free(struct progress_reader *reader);

/* Sets the pod and port to ask for a job; NULL: there is none. */
void progress_reader_observe(struct progress_reader *reader, const struct kube_object *job,
                             struct kube_object *pod, int port);
/* The job is gone. */
void progress_reader_forget(struct progress_reader *reader, const char *key);

#endif
