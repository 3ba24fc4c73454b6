/* Replicas with hostNetwork: which port each has, as remembered on the job. */
#ifndef TRAINYARD_OPERATOR_HOST_NETWORK_H
#define TRAINYARD_OPERATOR_HOST_NETWORK_H

#include "operator/kind/training_job.h"

/* {"worker":[20412,20413],"ps":[20414]}: by role and index, as JSON text; 0: none yet. */
#define TRAINING_HOST_PORTS_ANNOTATION "trainyard.dev/host-ports"

/* Give the replica specs of a job that was read the ports remembered on it. What cannot be read
 * (somebody edited it) is taken as nothing. */
void training_host_ports_read(struct arena *arena, struct training_job *job);

/* Some replicas get ports of their node. */
bool training_job_uses_host_network(const struct training_job *job);

/* Whose ports they are, in the table: "tfjob/default/mnist". */
char *training_host_ports_owner(struct arena *arena, const struct training_kind *kind,
                                const char *namespace_, const char *name);

/* All ports that are written on a job, whatever its spec says now. */
const int *training_host_ports_held(struct arena *arena, const struct json *job, size_t *ret_count);

#endif
