/* Deletes the data of deleted claims. A volume that was created for a claim is deleted together
 * with the claim. If its reclaim policy is "Delete", its directory is deleted too. The data stays
 * if a claim of the same name was created meanwhile, or if a pod still uses it. */
#ifndef TRAINYARD_NODE_VOLUME_CLAIM_DATA_H
#define TRAINYARD_NODE_VOLUME_CLAIM_DATA_H

#include "kube/client/informer.h"
#include "node/volume/trash.h"

/* This annotation of a volume names the place of its data, "<namespace>/<claim>". The engine writes
 * it. */
#define CLAIM_DATA_ANNOTATION "trainyard.dev/volume"

/* Returns the name of the volume's directory below its claim's namespace. Returns NULL if the
 * volume was not created here. */
const char *claim_data_directory(const struct json *volume);

/* Whether the directory of a volume that is gone from the API must be deleted. */
bool claim_data_is_unwanted(const struct json *volume, struct kube_informer *claims,
                            struct kube_informer *pods);

/* Deletes the volume's directory, so that a new claim of the same name starts empty. */
void claim_data_delete(struct trash *trash, const char *state_dir, const struct json *volume);

#endif
