/* The directory that all pods of one job have in common on this machine, whichever of its nodes
 * they are bound to: trainers that meet there pass each other their memory. It is made when the
 * first pod of the job is planned, shown to no pod of another job, and goes with the last one. */
#ifndef TRAINYARD_NODE_POD_PEERS_H
#define TRAINYARD_NODE_POD_PEERS_H

#include "base/arena.h"
#include "base/json/json.h"
#include "node/pod/spec.h"
#include "node/volume/trash.h"

#define PEERS_MOUNT "/run/trainyard/peers"

/* The job a pod belongs to, as the name of its directory; NULL if it is none of a training job or
 * of a Job. */
const char *peers_name(struct arena *arena, const struct json *pod);

/* Make the directory ready. */
int peers_prepare(struct arena *arena, const char *state_dir, const char *name,
                  const char **ret_path, struct err *err);
/* The name of the directory that a planned pod uses, a part of the spec, or NULL. */
const char *peers_of_spec(const char *state_dir, const struct pod_spec *spec);

/* Throw the directory away when its last pod, of that uid, is gone. It is moved aside at once, so
 * the next pod of the job may make it again. */
void peers_throw(struct trash *trash, const char *state_dir, const char *name, const char *uid);
/* Throw away the directories of jobs whose pods went while no server ran. */
void peers_sweep(struct trash *trash, const char *state_dir,
                 bool (*is_wanted)(void *context, const char *name), void *context);

#endif
