/* How a claim gets its volume: a directory of this machine below
 * <state>/volumes/<namespace>/<claim>, made by the node when a pod first uses it. So a claim is
 * bound at once to a volume made for it, whatever class it names, unless that class is there and
 * its volumes are somebody else's to make. Pure; claim_controller.c writes it down. */
#ifndef TRAINYARD_ENGINE_CLAIM_BINDER_H
#define TRAINYARD_ENGINE_CLAIM_BINDER_H

#include "base/json.h"

/* The class that claims get which name none, and who says to make their volumes. */
#define CLAIM_CLASS       "standard"
#define CLAIM_PROVISIONER "trainyard.dev/directory"

/* Where the data of a volume is: the node reads it, `kubectl describe pv` shows it. */
#define CLAIM_WHERE "trainyard.dev/volume"

/* "pvc-<uid>", or the volume the claim itself names. */
const char *claim_volume_name(struct arena *arena, const struct json *claim);
/* Whether the volume is made and removed by us with the claim. */
bool claim_owns_volume(const struct json *claim);

/* The PersistentVolume for the claim; `class_` is the class it names, NULL where there is none. */
struct json *claim_make_volume(struct arena *arena, const struct json *claim,
                               const struct json *class_);

/* The next patch towards bound, of the claim, its status, or the volume's status; NULL when nothing
 * is left to do. `volume` is NULL when it does not exist yet. */
enum claim_step {
    CLAIM_DONE,
    CLAIM_MAKE_VOLUME,  /* create what claim_make_volume() gives */
    CLAIM_PATCH_CLAIM,  /* spec.volumeName */
    CLAIM_PATCH_STATUS, /* status.phase Bound */
    CLAIM_PATCH_VOLUME, /* the volume's claimRef, where it was made by hand */
    CLAIM_PATCH_VOLUME_STATUS,
    CLAIM_WAIT,             /* for a volume it names that is not there, or not free */
    CLAIM_WAIT_PROVISIONER, /* for who makes the volumes of its class */
};
enum claim_step claim_next_step(struct arena *arena, const struct json *claim,
                                const struct json *class_, const struct json *volume,
                                struct json **ret_patch);

#endif
