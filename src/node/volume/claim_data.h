/* Deletes the data of deleted claims. After a claim is deleted, the engine deletes its volume if
 * the reclaim policy is "Delete". If the engine also created that volume, the node (node/runtime.c)
 * then moves its directory to the trash. The data stays if a claim of the same name was created
 * meanwhile, or if a pod that has not ended still uses the claim. */
#ifndef TRAINYARD_NODE_VOLUME_CLAIM_DATA_H
#define TRAINYARD_NODE_VOLUME_CLAIM_DATA_H

#include "kube/client/informer.h"
#include "node/volume/trash.h"

/* Returns the name of the volume's directory in <state>/volumes/<namespace>, or NULL if the engine
 * did not create the volume. Reads VOLUME_DIRECTORY_ANNOTATION (kube/kinds/volume.h). */
const char *claim_data_directory(const struct json *volume);

/* Returns true if the directory of `volume`, which was deleted from the API, must be deleted. */
bool claim_data_is_unwanted(const struct json *volume, struct kube_informer *claims,
                            struct kube_informer *pods);

/* Moves the volume's directory to the trash, so that a new claim of the same name starts empty.
 * Does nothing if there is no directory. */
void claim_data_delete(struct trash *trash, const char *state_dir, const struct json *volume);

#endif
