/* The decisions of the garbage collector: which objects are deleted because their owners are gone,
 * and which dependents block the deletion of an owner. garbage_controller.c carries them out. Other
 * controllers use the patches. Pure. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_GARBAGE_H
#define TRAINYARD_ENGINE_CONTROLLERS_GARBAGE_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

/* The state of one owner of an object. */
enum garbage_owner {
    OWNER_UNKNOWN, /* its kind is not served, or its namespace is unknown: counts as existing */
    OWNER_SOLID,   /* it exists, and its deletion does not wait for this object */
    OWNER_WAITING, /* it is being deleted in the foreground and waits for this object */
    OWNER_GONE,    /* it does not exist in the namespace of this object */
};

/* Returns whether an object with owners in these states is garbage: it has owners, and each of them
 * is OWNER_WAITING or OWNER_GONE. An object that is being deleted already is never garbage. */
bool garbage_is_collectable(const struct json *object, const enum garbage_owner *owners,
                            size_t count);

/* The collector's task for an object that is being deleted, according to its finalizers. */
enum garbage_duty {
    DUTY_NONE,
    DUTY_DELETE_DEPENDENTS, /* the object has the finalizer foregroundDeletion, and not orphan */
    DUTY_ORPHAN_DEPENDENTS, /* the object has the finalizer orphan */
};
/* Returns DUTY_NONE for an object that is not being deleted. */
enum garbage_duty garbage_duty_of(const struct json *object);

/* Returns whether the dependent blocks the foreground deletion of its owner. */
bool garbage_blocks(const struct json *dependent, const char *owner_uid);

/* The following functions return a merge patch in the arena. The patch contains the uid and the
 * resourceVersion of the object to patch. So it fails with a conflict if the object has changed,
 * and never removes a finalizer or an owner that was added meanwhile. */

/* Returns a patch that removes the owner from the dependent's owner references. */
struct json *garbage_orphan_patch(struct arena *arena, const struct json *dependent,
                                  const char *owner_uid);
/* Returns a patch that adds the owner as the controller of the dependent. */
struct json *garbage_adopt_patch(struct arena *arena, const struct json *owner,
                                 const struct json *dependent);
/* Returns a patch that removes the finalizer, or NULL if the object does not have it. */
struct json *garbage_finalizer_patch(struct arena *arena, const struct json *object,
                                     const char *finalizer);

#endif
