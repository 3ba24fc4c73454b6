/* The directory that all pods of one job have in common on this machine, whichever of its nodes
 * they are bound to: trainers that meet there pass each other their memory. It is made when the
 * first pod of the job is planned, shown to no pod of another job, and goes with the last one. */
#ifndef TRAINYARD_NODE_POD_PEERS_H
#define TRAINYARD_NODE_POD_PEERS_H

#include "base/arena.h"
#include "base/json.h"
#include "node/pod/spec.h"

#define PEERS_MOUNT "/run/trainyard/peers"

/* The job a pod belongs to, as the name of its directory; NULL if it is none of a training job or
 * of a Job. */
const char *peers_name(struct arena *arena, const struct json *pod);

/* Make the directory ready. */
int peers_prepare(struct arena *arena, const char *state_dir, const char *name,
                  const char **ret_path, struct err *err);
/* The name of the directory that a planned pod uses, a part of the spec, or NULL. */
const char *peers_of_spec(const char *state_dir, const struct pod_spec *spec);

/* Nobody uses it any more. */
int peers_remove(const char *state_dir, const char *name, struct err *err);
/* Remove those that nobody wants: of jobs whose pods went while we were away. */
void peers_sweep(const char *state_dir, bool (*is_wanted)(void *context, const char *name),
                 void *context);

#endif
