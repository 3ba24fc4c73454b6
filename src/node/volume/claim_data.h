/* What becomes of a claim's data: a volume that was made for a claim goes with it, and its
 * directory too, as its reclaim policy "Delete" says. Data of a claim that was made again
 * meanwhile, or that a pod still uses, stays. */
#ifndef TRAINYARD_NODE_VOLUME_CLAIM_DATA_H
#define TRAINYARD_NODE_VOLUME_CLAIM_DATA_H

#include "kube/client/informer.h"
#include "node/volume/trash.h"

/* Where the data of a volume lies, as "<namespace>/<claim>"; the engine writes it. */
#define CLAIM_DATA_ANNOTATION "trainyard.dev/volume"

/* The name of its directory among those of its claim's namespace; NULL: it has none that was made
 * here. */
const char *claim_data_directory(const struct json *volume);

/* True if the directory of the volume, which is gone from the API, is to be deleted too. */
bool claim_data_is_unwanted(const struct json *volume, struct kube_informer *claims,
                            struct kube_informer *pods);

/* Throw the directory of the volume away; a new claim of its name finds nothing of it. */
void claim_data_delete(struct trash *trash, const char *state_dir, const struct json *volume);

#endif
