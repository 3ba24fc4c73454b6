/* Reads and assigns the host ports of replicas with hostNetwork. The ports are stored as an
 * annotation of the job. reconcile_internal.h declares the functions that assign them. Pure. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_HOST_NETWORK_H
#define TRAINYARD_OPERATOR_RECONCILE_HOST_NETWORK_H

#include "operator/kind/training_job.h"

/* The annotation is JSON text with ports by replica type and index, such as
 * {"worker":[20412,20413],"ps":[20414]}. 0 means that a port is not assigned yet. */
#define TRAINING_HOST_PORTS_ANNOTATION "trainyard.dev/host-ports"

/* Sets the ports of the job's replica specs from its annotation. Invalid entries, for example after
 * an edit, count as not assigned. */
void training_host_ports_read(struct arena *arena, struct training_job *job);

/* Returns whether any replica uses hostNetwork. */
bool training_job_uses_host_network(const struct training_job *job);

/* Returns the owner name of a job in the port table: "tfjob/default/mnist". */
char *training_host_ports_owner(struct arena *arena, const struct training_kind *kind,
                                const char *namespace_, const char *name);

/* Returns all ports in the job's annotation, also those of replicas that the spec does not have any
 * more. */
const int *training_host_ports_held(struct arena *arena, const struct json *job, size_t *ret_count);

#endif
