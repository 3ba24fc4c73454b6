/* What becomes of an object whose owners go, and of an owner whose dependents stay. Pure;
 * garbage_controller.c asks and acts. */
#ifndef TRAINYARD_ENGINE_GARBAGE_H
#define TRAINYARD_ENGINE_GARBAGE_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum garbage_owner {
    OWNER_UNKNOWN, /* of a kind not served here, or not asked yet: it counts as there */
    OWNER_SOLID,
    OWNER_WAITING, /* it is being deleted in the foreground and waits for its dependents */
    OWNER_GONE,
};

/* Whether an object with owners in these states is garbage: it has owners, and none is left that
 * holds it. An object already on its way out, or orphaned by hand, is none. */
bool garbage_is_collectable(const struct json *object, const enum garbage_owner *owners,
                            size_t count);

/* What an object that is being deleted still asks of the collector. */
enum garbage_duty {
    DUTY_NONE,
    DUTY_DELETE_DEPENDENTS, /* foregroundDeletion */
    DUTY_ORPHAN_DEPENDENTS, /* orphan */
};
enum garbage_duty garbage_duty_of(const struct json *object);

/* Whether the dependent holds up its owner's foreground deletion. */
bool garbage_blocks(const struct json *dependent, const char *owner_uid);

/* The object's owner references without this one, as a merge patch of its metadata. */
struct json *garbage_orphan_patch(struct arena *arena, const struct json *dependent,
                                  const char *owner_uid);
/* … with one more, who controls it from now on. */
struct json *garbage_adopt_patch(struct arena *arena, const struct json *owner,
                                 const struct json *dependent);
/* Its finalizers without this one, as a merge patch; NULL if it has it not. The version is in the
 * patch, so that a finalizer added meanwhile is not lost. */
struct json *garbage_finalizer_patch(struct arena *arena, const struct json *object,
                                     const char *finalizer);

#endif
