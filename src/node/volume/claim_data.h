/* What becomes of a claim's data. A volume that was created for a claim is deleted with it, and
 * its directory too, as its reclaim policy "Delete" says. The data stays if the claim was created
 * again meanwhile or a pod still uses it. */
#ifndef TRAINYARD_NODE_VOLUME_CLAIM_DATA_H
#define TRAINYARD_NODE_VOLUME_CLAIM_DATA_H

#include "kube/client/informer.h"
#include "node/volume/trash.h"

/* The annotation with the place of a volume's data, "<namespace>/<claim>"; the engine writes it. */
#define CLAIM_DATA_ANNOTATION "trainyard.dev/volume"

/* Returns the name of the volume's directory below its claim's namespace, or NULL if it has none
 * that was created here. */
const char *claim_data_directory(const struct json *volume);

/* Whether the directory of a volume that is gone from the API must be deleted. */
bool claim_data_is_unwanted(const struct json *volume, struct kube_informer *claims,
                            struct kube_informer *pods);

/* Deletes the volume's directory; a new claim of the same name starts empty. */
void claim_data_delete(struct trash *trash, const char *state_dir, const struct json *volume);

#endif
