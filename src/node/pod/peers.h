/* The directory that all pods of one job share on this machine, on whichever of its nodes they
 * run. Trainers pass each other descriptors of shared memory there. It is made when the first pod
 * of the job is planned, no pod of another job sees it, and it is removed after the last pod. */
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
/* Returns the name of the directory that a planned pod uses, a part of a string of the spec, or
 * NULL. */
const char *peers_of_spec(const char *state_dir, const struct pod_spec *spec);

/* Removes the directory after the last pod, whose uid this is. The directory is renamed at once,
 * so the next pod of the job can make a new one. */
void peers_throw(struct trash *trash, const char *state_dir, const char *name, const char *uid);
/* Removes the directories of jobs whose pods were deleted while no server ran. */
void peers_sweep(struct trash *trash, const char *state_dir,
                 bool (*is_wanted)(void *context, const char *name), void *context);

#endif
