/* How a claim gets its volume. There is one class, whatever it is called: a directory of this
 * machine below <state>/volumes/<namespace>/<claim>, made by the node when a pod first uses it. So
 * every claim is bound at once to a volume made for it. Pure; claim_controller.c writes it down. */
#ifndef TRAINYARD_ENGINE_CLAIM_BINDER_H
#define TRAINYARD_ENGINE_CLAIM_BINDER_H

#include "base/json.h"

/* "pvc-<uid>", or the volume the claim itself names. */
const char *claim_volume_name(struct arena *arena, const struct json *claim);
/* Whether the volume is made and removed by us with the claim. */
bool claim_owns_volume(const struct json *claim);

/* The PersistentVolume for the claim. */
struct json *claim_make_volume(struct arena *arena, const struct json *claim);

/* The next patch towards bound, of the claim, its status, or the volume's status; NULL when nothing
 * is left to do. `volume` is NULL when it does not exist yet. */
enum claim_step {
    CLAIM_DONE,
    CLAIM_MAKE_VOLUME,  /* create what claim_make_volume() gives */
    CLAIM_PATCH_CLAIM,  /* spec.volumeName */
    CLAIM_PATCH_STATUS, /* status.phase Bound */
    CLAIM_PATCH_VOLUME, /* the volume's claimRef, where it was made by hand */
    CLAIM_PATCH_VOLUME_STATUS,
    CLAIM_WAIT, /* for a volume it names that is not there, or not free */
};
enum claim_step claim_next_step(struct arena *arena, const struct json *claim,
                                const struct json *volume, struct json **ret_patch);

#endif
