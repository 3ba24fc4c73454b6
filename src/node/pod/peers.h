/* The directory that all pods of one job on this machine share, also if they run on different nodes
 * of the machine. Trainers use it to pass each other descriptors of shared memory. The directory is
 * created when the first pod of the job is planned, and removed when the last pod of the job on
 * this machine has been deleted. No pod of another job sees it. */
#ifndef TRAINYARD_NODE_POD_PEERS_H
#define TRAINYARD_NODE_POD_PEERS_H

#include "base/arena.h"
#include "base/json/json.h"
#include "node/pod/record/spec.h"
#include "node/volume/trash.h"

#define PEERS_MOUNT "/run/trainyard/peers"

/* Returns the name of the directory of the pod's job, or NULL if the pod belongs to neither a
 * training job nor a Job. */
const char *peers_name(struct arena *arena, const struct json *pod);

/* Creates the directory if it is missing. */
int peers_prepare(struct arena *arena, const char *state_dir, const char *name,
                  const char **ret_path, struct err *err);
/* Returns the name of the directory that a planned pod uses, or NULL if it uses none. The name
 * points into the spec. */
const char *peers_of_spec(const char *state_dir, const struct pod_spec *spec);

/* Removes the directory after the last pod of the job. The directory is renamed at once, so that a
 * later pod of the job can create a new one. `uid`, the uid of the last pod, makes the new name
 * unique. */
void peers_throw(struct trash *trash, const char *state_dir, const char *name, const char *uid);
/* Removes the directories for which is_wanted() returns false: those of jobs whose pods were
 * deleted while no server ran. */
void peers_sweep(struct trash *trash, const char *state_dir,
                 bool (*is_wanted)(void *context, const char *name), void *context);

#endif
