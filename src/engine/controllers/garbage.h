/* The decisions of the garbage collector: which objects are deleted because their owners are gone,
 * and which dependents block the deletion of an owner. Pure; garbage_controller.c acts. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_GARBAGE_H
#define TRAINYARD_ENGINE_CONTROLLERS_GARBAGE_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum garbage_owner {
    OWNER_UNKNOWN, /* its kind is not served, or its namespace is unknown: counts as existing */
    OWNER_SOLID,   /* it exists, and its deletion does not wait for this object */
    OWNER_WAITING, /* it is being deleted in the foreground and waits for this object */
    OWNER_GONE,
};

/* Whether an object with owners in these states is garbage: it has owners, and none of them is
 * unknown or solid. An object that is being deleted already is never garbage. */
bool garbage_is_collectable(const struct json *object, const enum garbage_owner *owners,
                            size_t count);

/* The collector's task for an object that is being deleted. */
enum garbage_duty {
    DUTY_NONE,
    DUTY_DELETE_DEPENDENTS, /* it has the finalizer foregroundDeletion */
    DUTY_ORPHAN_DEPENDENTS, /* it has the finalizer orphan */
};
enum garbage_duty garbage_duty_of(const struct json *object);

/* Whether the dependent blocks the foreground deletion of its owner. */
bool garbage_blocks(const struct json *dependent, const char *owner_uid);

/* Returns a merge patch that removes the owner from the dependent's owner references. */
struct json *garbage_orphan_patch(struct arena *arena, const struct json *dependent,
                                  const char *owner_uid);
/* Returns a merge patch that adds the owner as the controller of the dependent. */
struct json *garbage_adopt_patch(struct arena *arena, const struct json *owner,
                                 const struct json *dependent);
/* Returns a merge patch that removes the finalizer; NULL if the object does not have it. The patch
 * contains the object's resourceVersion, so that it cannot remove a finalizer that was added
 * meanwhile. */
struct json *garbage_finalizer_patch(struct arena *arena, const struct json *object,
                                     const char *finalizer);

#endif
