/* Encodes objects for the store and reads them back. Every object that a write accepts can be read,
 * listed, watched, patched and deleted. For this, stored_encode() checks the limits after defaults,
 * managedFields and conversions are applied. It also parses the encoded bytes as a later request
 * would, unless the caller passes STORED_TYPED.
 *
 * An object in the store may still be unreadable, because the file is damaged or another release
 * had other limits. Lists and watches leave an unreadable object out, a GET responds with an error,
 * and a DELETE removes the object.
 *
 * The functions that use the store or change a struct store_object must run on the loop thread:
 * stored_read(), stored_is_readable(), stored_trust() and stored_remove(). All other functions may
 * run on any thread. */
#ifndef TRAINYARD_ENGINE_STORED_STORED_H
#define TRAINYARD_ENGINE_STORED_STORED_H

#include "base/buf.h"
#include "base/json/json.h"
#include "kube/kinds/kind.h"
#include "store/store.h"

enum {
    /* The most levels of JSON in which a response encloses an object, with a reserve. The deepest
     * response is a watch event with a Table of whole objects: event, Table, rows, row. */
    STORED_WRAP_MAX = 16,
    /* The most levels of an object. */
    STORED_DEPTH_MAX = JSON_DEPTH_MAX - STORED_WRAP_MAX,
    /* The most values of an object. The other half of JSON_NODES_MAX is for the values that a
     * response adds. */
    STORED_VALUES_MAX = JSON_NODES_MAX / 2,
    /* The most bytes of an object: half of the limit of a watch event (WATCH_LINE_MAX of
     * kube/client/watch_decoder.h). */
    STORED_BYTES_MAX = 8 * 1024 * 1024,
    /* An object that is being deleted may exceed STORED_VALUES_MAX and STORED_BYTES_MAX by this
     * much, so that setting its deletionTimestamp and removing its finalizers never fails. */
    STORED_VALUES_RESERVE = 10 * 1000,
    STORED_BYTES_RESERVE = 256 * 1024,
};

/* Flags for stored_encode(): facts about the object that allow it to skip checks. */
enum {
    STORED_MEASURED = 1, /* stored_check() has passed for the object */
    /* The object was decoded by a schema that has a type for every field. So its bytes can be
     * parsed, because json_parse() reads everything that json_write() writes. */
    STORED_TYPED = 2,
};

/* Encodes the object for the store. `known` is a set of the flags above. Returns 0, or -ERR_INVALID
 * or -ERR_TOO_LARGE with a message if the object exceeds a limit or could not be read back. `ret`
 * is always initialised; the caller releases it. */
int stored_encode(const struct json *object, unsigned known, struct buf *ret, struct err *err);

/* Checks the limits of stored_encode() without encoding the object. Returns 0, -ERR_INVALID or
 * -ERR_TOO_LARGE. Used for a dry run, and for a request that must be rejected before it writes
 * another object. Counts strings without their escapes, so stored_encode() may still fail. */
int stored_check(const struct json *object, struct err *err);

/* Sets *ret to the object as a tree in the arena and returns 0. Returns -ERR_INTERNAL if the object
 * cannot be read, with a message that says why and what to do; `err` may be NULL. Logs the first
 * failure per version. */
int stored_read(struct arena *arena, struct store_object *stored, struct json **ret,
                struct err *err);

/* Sets *ret to the object as a tree in the arena and returns 0, or returns the error of
 * json_parse(). Unlike stored_read(), checks neither the metadata nor the key, and logs nothing.
 * Used for an object for which stored_is_readable() returned true. */
int stored_parse(struct arena *arena, const struct store_object *stored, struct json **ret,
                 struct err *err);

/* Returns whether stored_read() succeeds. Parses each version at most once. */
bool stored_is_readable(struct store_object *stored);
/* Marks the newest version of the key as readable; a pending write counts as the newest version.
 * The bytes of this version must come from stored_encode(). */
void stored_trust(struct store *store, const char *key);

/* Returns an object with only the kind, namespace and name of an object that cannot be read, so
 * that it can be deleted. */
struct json *stored_placeholder(struct arena *arena, const struct kube_kind *resource,
                                const struct store_object *stored);
/* Queues the removal of an object that cannot be read, and returns 0. Returns an error of
 * store_delete() if the removal is refused, for example because a newer version is stored. */
int stored_remove(struct store *store, const struct kube_kind *resource,
                  const struct store_object *stored, struct err *err);

/* Returns the key of an object in the store: "/pods/default/x". If `name` is NULL, returns the
 * prefix of all objects in the namespace. If `namespace_` is also "", returns the prefix of all
 * objects of the resource. */
char *stored_key(struct arena *arena, const struct kube_kind *resource, const char *namespace_,
                 const char *name);

#endif
