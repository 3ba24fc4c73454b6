/* Objects as the store has them. Every object that a write accepts can be read, listed, watched,
 * patched and deleted. Therefore stored_encode() checks the limits on the bytes that go into the
 * store, after defaults, managedFields and conversions. It parses the bytes as every later request
 * will, unless the types of the object make that unnecessary.
 *
 * A file can be damaged, and another release may have had other limits. So an object in the store
 * may still be unreadable. Lists and watches leave such an object out, a GET names it, and a DELETE
 * removes it.
 *
 * stored_encode(), stored_check() and stored_parse() may run on any thread. All other functions
 * must run on the loop thread. */
#ifndef TRAINYARD_ENGINE_STORED_STORED_H
#define TRAINYARD_ENGINE_STORED_STORED_H

#include "base/buf.h"
#include "base/json/json.h"
#include "kube/kinds/kind.h"
#include "store/store.h"

enum {
    /* The levels that a response wraps around an object, with a reserve. A Table with whole objects
     * in a watch event has the most: event, Table, rows, row. */
    STORED_WRAP_MAX = 16,
    STORED_DEPTH_MAX = JSON_DEPTH_MAX - STORED_WRAP_MAX,
    /* The other half is for the values that a response adds. */
    STORED_VALUES_MAX = JSON_NODES_MAX / 2,
    /* Half of the limit of a watch event (WATCH_LINE_MAX of kube/client/watch_decoder.h). */
    STORED_BYTES_MAX = 8 * 1024 * 1024,
    /* An object that is being deleted may exceed the limits by this much, so that its deletion mark
     * and the removal of finalizers are never rejected. */
    STORED_VALUES_RESERVE = 10 * 1000,
    STORED_BYTES_RESERVE = 256 * 1024,
};

/* Facts about the object that the caller of stored_encode() knows. */
enum {
    STORED_MEASURED = 1, /* stored_check() has passed */
    /* Its kind has a type for every field, and the object was decoded by them. Then its bytes can
     * be parsed: json_write() only writes what json_parse() reads. */
    STORED_TYPED = 2,
};

/* Returns the bytes to store. Returns -ERR_INVALID or -ERR_TOO_LARGE with the limit that the object
 * exceeds. `ret` is initialised in every case; the caller releases it. */
int stored_encode(const struct json *object, unsigned known, struct buf *ret, struct err *err);

/* Checks the limits of stored_encode() without encoding, for a dry run, or for a request that must
 * be rejected before another object is written for it. Counts strings without their escapes. */
int stored_check(const struct json *object, struct err *err);

/* Returns the object as a tree in the arena. Returns -ERR_INTERNAL with the object, the cause and
 * what to do about it. Logs the first failure per version. `err` may be NULL. */
int stored_read(struct arena *arena, struct store_object *stored, struct json **ret,
                struct err *err);

/* Like stored_read(), for an object for which stored_is_readable() returned true. */
int stored_parse(struct arena *arena, const struct store_object *stored, struct json **ret,
                 struct err *err);

/* Whether stored_read() succeeds. Parses each version once. */
bool stored_is_readable(struct store_object *stored);
/* Marks the newest version of the key as readable. stored_encode() must have made it. */
void stored_trust(struct store *store, const char *key);

/* A stand-in for an object that cannot be read, with its kind, namespace and name, for its
 * deletion. */
struct json *stored_placeholder(struct arena *arena, const struct kube_kind *resource,
                                const struct store_object *stored);
/* Removes an object that cannot be read from the store. */
int stored_remove(struct store *store, const struct kube_kind *resource,
                  const struct store_object *stored, struct err *err);

/* The key of an object in the store: "/pods/default/x". name NULL: the prefix of all objects in the
 * namespace; namespace_ "": of all namespaces. */
char *stored_key(struct arena *arena, const struct kube_kind *resource, const char *namespace_,
                 const char *name);

#endif
