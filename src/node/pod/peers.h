/* Manages the directory that all pods of one job on this machine share, also if they run on
 * different nodes of the machine. Trainers use it to pass each other descriptors of shared memory.
 * The planner creates the directory and mounts it at PEERS_MOUNT. It is removed after the last pod
 * of the job on this machine was deleted. It is not mounted into pods of other jobs. Pods without
 * namespaces have no such directory. */
#ifndef TRAINYARD_NODE_POD_PEERS_H
#define TRAINYARD_NODE_POD_PEERS_H

#include "base/arena.h"
#include "base/json/json.h"
#include "node/pod/record/spec.h"
#include "node/volume/trash.h"

#define PEERS_MOUNT "/run/trainyard/peers"

/* Returns the name of the directory of the pod's job, or NULL if the pod belongs to neither a
 * training job nor a Job, or if the job's uid or the namespace is not a DNS label. */
const char *peers_name(struct arena *arena, const struct json *pod);

/* Creates the directory if it is missing, and sets `*ret_path` to its path. */
int peers_prepare(struct arena *arena, const char *state_dir, const char *name,
                  const char **ret_path, struct err *err);
/* Returns the name of the directory that the pod of this spec uses, or NULL. The result points into
 * the spec. */
const char *peers_of_spec(const char *state_dir, const struct pod_spec *spec);

/* Moves the directory to the trash, after the last pod of the job was deleted. It is renamed at
 * once, so that a later pod of the job can create a new directory. `uid` is the uid of the last
 * pod, or "start" from peers_sweep(). It makes the name in the trash unique. */
void peers_throw(struct trash *trash, const char *state_dir, const char *name, const char *uid);
/* Moves each directory to the trash for which is_wanted() returns false. Called at the start of the
 * server, for jobs whose pods were deleted while no server ran. */
void peers_sweep(struct trash *trash, const char *state_dir,
                 bool (*is_wanted)(void *context, const char *name), void *context);

#endif
