/* Asking running jobs how far they have come: now and then the pod that speaks for a job is asked
 * for its /progress, and the answer is put on the job as a short annotation. A pod that cannot be
 * reached is asked less often and not complained about. Nothing waits for any of this. */
#ifndef TRAINYARD_OPERATOR_PROGRESS_READER_H
#define TRAINYARD_OPERATOR_PROGRESS_READER_H

#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "operator/controller/dialer.h"
#include "operator/kind/training_kind.h"

struct progress_reader;

/* All must outlive it but the client, whose answers it must not miss: free the client first. */
struct progress_reader *progress_reader_new(struct loop *loop, struct kube_client *client,
                                            const struct training_kind *kind,
                                            const struct training_dialer *dialer);
struct progress_reader *progress_reader_free(struct progress_reader *reader);

/* A job, and the pod to ask at which port; NULL: there is none (any more). */
void progress_reader_observe(struct progress_reader *reader, const struct kube_object *job,
                             struct kube_object *pod, int port);
/* The job is gone. */
void progress_reader_forget(struct progress_reader *reader, const char *key);

#endif
