/* Encodes, measures, parses and checks stored objects; see stored.h. */
#include "engine/stored/stored.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/schema/decode.h"
#include "kube/types/types.h"

#include <inttypes.h>
#include <string.h>

/* The values of store_object.verdict. A version is UNCHECKED until it is read for the first time.
 */
enum { UNCHECKED, READABLE, UNREADABLE };

/* ---- Writing --------------------------------------------------------------------------------- */

struct size {
    size_t depth, values, bytes;
};

/* Adds the value and all values in it to *size. `depth` is the number of levels around the value.
 */
static void stored_measure(const struct json *json, size_t depth, struct size *size)
{
    bool nests = json->type == JSON_OBJECT || json->type == JSON_ARRAY;
    size->values++;
    size->bytes += (json->name ? strlen(json->name) + 3 : 0) + 1;
    size->bytes += json->type == JSON_STRING || json->type == JSON_REAL ? json->size : 1;
    if (nests && depth + 1 > size->depth)
        size->depth = depth + 1;
    JSON_EACH (item, json)
        stored_measure(item, depth + 1, size);
}

static int refuse_bytes(size_t limit, struct err *err)
{
    return err_set(err, ERR_TOO_LARGE,
                   "the object is larger than %zu bytes as it is stored, with defaults and "
                   "metadata.managedFields: make it smaller",
                   limit);
}

static struct size limits_of(const struct json *object)
{
    bool deleting = kube_meta_is_deleting(object);
    return (struct size){
        .depth = STORED_DEPTH_MAX,
        .values = (size_t)STORED_VALUES_MAX + (deleting ? STORED_VALUES_RESERVE : 0),
        .bytes = (size_t)STORED_BYTES_MAX + (deleting ? STORED_BYTES_RESERVE : 0),
    };
}

int stored_check(const struct json *object, struct err *err)
{
    const struct size limits = limits_of(object);
    struct size size = {0};
    stored_measure(object, 0, &size);
    if (size.depth > limits.depth)
        return err_set(err, ERR_INVALID,
                       "the object is nested %zu levels deep as it is stored, with defaults and "
                       "metadata.managedFields; at most %zu are allowed: make it flatter",
                       size.depth, limits.depth);
    if (size.values > limits.values)
        return err_set(err, ERR_INVALID,
                       "the object has %zu values as it is stored, with defaults and "
                       "metadata.managedFields; at most %zu are allowed: make it smaller",
                       size.values, limits.values);
    return size.bytes > limits.bytes ? refuse_bytes(limits.bytes, err) : 0;
}

/* Checks that the value is an object, has kind and apiVersion, and that its metadata has the right
 * types. Decoding changes the metadata. */
static int check_form(struct arena *arena, struct json *object, struct err *err)
{
    struct json *meta = json_get(object, "metadata");
    if (object->type != JSON_OBJECT)
        return err_set(err, ERR_INTERNAL, "it is %s instead of an object",
                       json_type_name(object->type));
    if (!json_get_string(object, "kind", NULL) || !json_get_string(object, "apiVersion", NULL))
        return err_set(err, ERR_INTERNAL, "it has no kind or no apiVersion");
    if (!meta || meta->type != JSON_OBJECT)
        return err_set(err, ERR_INTERNAL, "metadata is missing or not an object");
    if (schema_decode(arena, &TYPE_OBJECT_META, SCHEMA_FORM_TYPED, meta, NULL, err) < 0)
        return err_wrap(err, "metadata");
    return 0;
}

static int stored_parse_bytes(struct arena *arena, const char *data, size_t size, struct json **ret,
                              struct err *err)
{
    static const struct json_limits limits = {.depth = STORED_DEPTH_MAX};
    return json_parse(arena, data, size, &limits, ret, err);
}

int stored_encode(const struct json *object, unsigned known, struct buf *ret, struct err *err)
{
    const struct size limits = limits_of(object);
    buf_init(ret, limits.bytes);
    int result = known & STORED_MEASURED ? 0 : stored_check(object, err);
    if (result < 0)
        return result;
    json_write(object, ret);
    if (ret->overflowed)
        return refuse_bytes(limits.bytes, err);
    if (known & STORED_TYPED)
        return 0;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct err cause = ERR_INIT;
    struct json *tree;
    if (stored_parse_bytes(arena, ret->data, ret->size, &tree, &cause) < 0 ||
        check_form(arena, tree, &cause) < 0)
        return err_set(err, ERR_INVALID, "the object could not be read after it is stored: %s",
                       cause.message);
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Returns the key without its resource: "default/x" for "/pods/default/x". */
static const char *place_of(const char *key)
{
    const char *slash = key[0] ? strchr(key + 1, '/') : NULL;
    return slash ? slash + 1 : "";
}

/* Checks that the metadata has the namespace and the name in the key. */
static int check_place(const char *key, const struct json *object, struct err *err)
{
    const char *namespace_ = kube_meta_namespace(object), *place = place_of(key);
    size_t size = strlen(namespace_);
    bool same = size == 0 || (strncmp(place, namespace_, size) == 0 && place[size] == '/');
    if (same && str_eq(place + (size ? size + 1 : 0), kube_meta_name(object)))
        return 0;
    return err_set(err, ERR_INTERNAL, "its metadata says that it is '%.63s%s%.253s'", namespace_,
                   size ? "/" : "", kube_meta_name(object));
}

static int stored_check_tree(const struct store_object *stored, const struct json *tree,
                             struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *scratch = arena_new();
    struct json *copy = json_clone(scratch, tree);
    int result = check_form(scratch, copy, err);
    return result < 0 ? result : check_place(stored->key, copy, err);
}

static int stored_reject(struct store_object *stored, const struct err *cause, struct err *err)
{
    const char *key = stored->key[0] == '/' ? stored->key + 1 : stored->key;
    int size = (int)strcspn(key, "/");
    if (stored->verdict != UNREADABLE)
        log_warning("store",
                    "%.*s \"%s\" cannot be read: %s; lists and watches leave it out, 'kubectl "
                    "delete' removes it",
                    size, key, place_of(stored->key), cause->message);
    stored->verdict = UNREADABLE;
    return err_set(err, ERR_INTERNAL,
                   "%.*s \"%s\" cannot be read from the store: %.200s; 'kubectl delete' removes it",
                   size, key, place_of(stored->key), cause->message);
}

int stored_parse(struct arena *arena, const struct store_object *stored, struct json **ret,
                 struct err *err)
{
    return stored_parse_bytes(arena, store_object_data(stored, arena), stored->size, ret, err);
}

int stored_read(struct arena *arena, struct store_object *stored, struct json **ret,
                struct err *err)
{
    struct err cause = ERR_INIT;
    struct json *tree = NULL;
    int result = stored_parse(arena, stored, &tree, &cause);
    if (result == 0 && stored->verdict != READABLE)
        result = stored_check_tree(stored, tree, &cause);
    if (result < 0)
        return stored_reject(stored, &cause, err);
    stored->verdict = READABLE;
    *ret = tree;
    return 0;
}

bool stored_is_readable(struct store_object *stored)
{
    if (stored->verdict == UNCHECKED) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *tree;
        (void)stored_read(arena, stored, &tree, NULL);
    }
    return stored->verdict == READABLE;
}

void stored_trust(struct store *store, const char *key)
{
    struct store_object *stored = store_get_pending(store, key);
    if (stored)
        stored->verdict = READABLE;
    store_object_unref(stored);
}

struct json *stored_placeholder(struct arena *arena, const struct kube_kind *resource,
                                const struct store_object *stored)
{
    const char *name = place_of(stored->key), *namespace_ = NULL;
    size_t size = resource->id.namespaced ? strcspn(name, "/") : 0;
    if (size > 0 && name[size] == '/') {
        namespace_ = arena_strndup(arena, name, size);
        name += size + 1;
    }
    return kube_object_make(arena, &resource->id, namespace_, name);
}

/* Ignores a failed removal: the object stays, and the store reports the reason to every later
 * write. */
static void on_stored_removed(void *context, const struct store_object *object,
                              const struct err *err)
{
}

int stored_remove(struct store *store, const struct kube_kind *resource,
                  const struct store_object *stored, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf data;
    struct json *placeholder = stored_placeholder(arena, resource, stored);
    json_set(arena, json_get(placeholder, "metadata"), "resourceVersion",
             json_stringf(arena, "%" PRId64, store_next_revision(store)));
    int result = stored_encode(placeholder, 0, &data, err);
    return result < 0 ? result
                      : store_delete(store, stored->key, data.data, data.size, stored->revision,
                                     on_stored_removed, NULL, err);
}

char *stored_key(struct arena *arena, const struct kube_kind *resource, const char *namespace_,
                 const char *name)
{
    if (!resource->id.namespaced)
        return arena_printf(arena, "/%s/%s", resource->storage, name ? name : "");
    if (namespace_[0] == '\0')
        return arena_printf(arena, "/%s/", resource->storage);
    return arena_printf(arena, "/%s/%s/%s", resource->storage, namespace_, name ? name : "");
}
