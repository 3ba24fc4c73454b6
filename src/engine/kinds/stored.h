/* Objects as the store has them. One rule holds here: every object that a write accepts can be
 * read, listed, watched, patched and deleted. Therefore the limits are checked on the bytes that go
 * into the store, after defaults, managedFields and conversions, by stored_encode(), which reads
 * them back as every later request will unless the object's types prove it.
 *
 * A file can be damaged, and another release may have had other limits. Therefore an object in the
 * store may still be unreadable. Such an object costs only itself: a list and a watch leave it out,
 * a GET names it, a DELETE removes it.
 *
 * stored_encode(), stored_check() and stored_parse() may run on any thread, the rest must run on
 * the loop thread. */
#ifndef TRAINYARD_ENGINE_STORED_H
#define TRAINYARD_ENGINE_STORED_H

#include "base/buf.h"
#include "base/json/json.h"
#include "engine/kinds/registry.h"
#include "store/store.h"

enum {
    /* Levels that an answer wraps around an object, with a reserve. A Table with whole objects in
     * a watch event has the most: event, Table, rows, row. */
    STORED_WRAP_MAX = 16,
    STORED_DEPTH_MAX = JSON_DEPTH_MAX - STORED_WRAP_MAX,
    /* The other half is for the values that an answer adds. */
    STORED_VALUES_MAX = JSON_NODES_MAX / 2,
    /* Half of what a watch event may have (WATCH_LINE_MAX of kube/client/watch_decoder.h). */
    STORED_BYTES_MAX = 8 * 1024 * 1024,
    /* An object that is being deleted may pass the limits by so much: the deletion's own marks, and
     * the removal of finalizers, must not be refused. */
    STORED_VALUES_RESERVE = 10 * 1000,
    STORED_BYTES_RESERVE = 256 * 1024,
};

/* What is known of an object that is to be encoded. */
enum {
    STORED_MEASURED = 1, /* stored_check() has passed */
    /* Its kind has a type for every field, and it was decoded by them. Then its bytes can be read
     * again: json_write() only writes what json_parse() reads. */
    STORED_TYPED = 2,
};

/* The bytes to store. ERR_INVALID or ERR_TOO_LARGE names the limit that the object passes. `ret` is
 * initialised in every case; the caller releases it. */
int stored_encode(const struct json *object, unsigned known, struct buf *ret, struct err *err);

/* The limits of stored_encode() without the bytes, for a request that must be refused before
 * another object is written for it, or that is a dry run. Texts count without their escapes. */
int stored_check(const struct json *object, struct err *err);

/* The object as a tree in the arena. ERR_INTERNAL names the object, the cause and the way out. The
 * first failure per version is logged. `err` may be NULL. */
int stored_read(struct arena *arena, struct store_object *stored, struct json **ret,
                struct err *err);

/* The tree of an object that stored_is_readable(). */
int stored_parse(struct arena *arena, const struct store_object *stored, struct json **ret,
                 struct err *err);

/* Whether stored_read() succeeds; parses each version once. */
bool stored_is_readable(struct store_object *stored);
/* The newest version of the key was made by stored_encode(): nothing is left to check. */
void stored_trust(struct store *store, const char *key);

/* An object with the kind, namespace and name of one that cannot be read. A deletion works on it
 * instead. */
struct json *stored_placeholder(struct arena *arena, const struct kube_kind *resource,
                                const struct store_object *stored);
/* Deletes an object that cannot be read, where the server itself wants it gone. */
int stored_remove(struct store *store, const struct kube_kind *resource,
                  const struct store_object *stored, struct err *err);

#endif
