/* Writes an object into the store: sets its resourceVersion, queues the write, and responds when
 * the object is on disk; see write.h. All handlers write through this file. In the engine, only
 * bootstrap.c, stored_remove() and admission/quota_write.c also write to the store. */
#include "engine/api/write.h"

#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "engine/crd/definition.h"
#include "kube/condition.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A write that waits for the disk. If the client disconnects meanwhile, the exchange and `call` are
 * freed, but the write continues. */
struct write {
    struct api_call *call;     /* NULL: the client is gone */
    int status;                /* the HTTP status of the response if the write succeeds */
    const struct json *answer; /* the response; NULL: the written object */
};

static void write_canceled(struct http_exchange *exchange)
{
    struct write *write = exchange->context;
    write->call = NULL;
}

static struct write *write_new(struct api_call *call, int status, const struct json *answer)
{
    struct write *write = mem_zalloc(sizeof(*write));
    write->call = call;
    write->status = status;
    write->answer = answer;
    call->exchange->context = write;
    call->exchange->on_cancel = write_canceled;
    return write;
}

static void write_free(struct write *write)
{
    if (write->call) {
        write->call->exchange->on_cancel = NULL;
        write->call->exchange->context = NULL;
    }
    free(write);
}

static void write_done(void *context, const struct store_object *object, const struct err *err)
{
    struct write *write = context;
    struct api_call *call = write->call;
    int status = write->status;
    const struct json *answer = write->answer;
    write_free(write);
    if (!call)
        return;
    if (err)
        api_respond_error(call, err);
    else if (answer)
        api_respond_json(call, status, answer);
    else
        api_respond_stored(call, status, object);
}

int api_measure(struct api_call *call, const struct json *object, struct err *err)
{
    int result = call->is_measured ? 0 : stored_check(object, err);
    call->is_measured = result == 0;
    return result;
}

static const char *next_version(struct api_call *call)
{
    return arena_printf(call->arena, "%" PRId64, store_next_revision(engine_store(call->engine)));
}

/* Encodes the object with resourceVersion `version` and the apiVersion in which it is stored. */
static int encode_as(struct api_call *call, struct json *object, const char *version,
                     struct buf *ret, struct err *err)
{
    struct json *meta = json_ensure_object(call->arena, object, "metadata");
    json_set_string(call->arena, meta, "resourceVersion", version);
    const struct kube_kind *resource = call->route.resource;
    if (resource->stored_version)
        json_set_string(call->arena, object, "apiVersion", resource->stored_version);
    unsigned known = call->is_measured ? STORED_MEASURED : 0;
    if (resource->form == SCHEMA_FORM_TYPED && !resource->definition)
        known |= STORED_TYPED;
    int result = stored_encode(object, known, ret, err);
    if (resource->stored_version)
        json_set_string(call->arena, object, "apiVersion", resource->api_version);
    return result;
}

/* Encodes the object with the revision of the next write. */
static int write_encode(struct api_call *call, struct json *object, struct buf *ret,
                        struct err *err)
{
    return encode_as(call, object, next_version(call), ret, err);
}

int api_encode(struct api_call *call, struct json *object, struct api_encoded *ret, struct err *err)
{
    char mark[37]; /* random, so that the encoded text contains it only once */
    rand_uuid(mark);
    int result = encode_as(call, object, mark, &ret->data, err);
    if (result < 0)
        return result;
    const char *gap = memmem(ret->data.data, ret->data.size, mark, strlen(mark));
    ret->gap_at = (size_t)(gap - ret->data.data);
    ret->gap_size = strlen(mark);
    return 0;
}

static const char *write_key_of(struct api_call *call, const struct json *object)
{
    return stored_key(call->arena, call->route.resource, kube_meta_namespace(object),
                      kube_meta_name(object));
}

/* Returns whether the write changes the condition DiskPressure of a node. */
static bool changes_disk_pressure(struct api_call *call, const char *key, const struct json *object)
{
    struct store_object *stored = store_get_pending(engine_store(call->engine), key);
    struct json *old = NULL;
    bool changes = stored && stored_read(call->arena, stored, &old, NULL) == 0 &&
                   kube_condition_is_true(old, "DiskPressure") !=
                       kube_condition_is_true(object, "DiskPressure");
    store_object_unref(stored);
    return changes;
}

/* Returns whether the write may use the disk space that the store reserves for a full disk: the
 * object is being deleted, or the store refuses other writes and this write changes the condition
 * DiskPressure of a node. */
static bool uses_reserve(struct api_call *call, const char *key, const struct json *object)
{
    if (kube_meta_is_deleting(object))
        return true;
    return store_check(engine_store(call->engine), NULL) < 0 &&
           str_eq(call->route.resource->storage, "nodes") &&
           changes_disk_pressure(call, key, object);
}

/* Queues a write of bytes that stored_encode() has made. */
static int queue_bytes(struct api_call *call, const struct json *object, const char *data,
                       size_t size, int64_t expected, store_done *done, void *context,
                       struct err *err)
{
    struct store *store = engine_store(call->engine);
    const char *key = write_key_of(call, object);
    int result = (uses_reserve(call, key, object) ? store_put_reserved : store_put)(
        store, key, data, size, expected, done, context, err);
    if (result == 0)
        stored_trust(store, key);
    return result;
}

int api_queue_put(struct api_call *call, struct json *object, int64_t expected, store_done *done,
                  void *context, struct err *err)
{
    _cleanup_buf_ struct buf data = {0};
    int result = write_encode(call, object, &data, err);
    return result < 0
               ? result
               : queue_bytes(call, object, data.data, data.size, expected, done, context, err);
}

/* Queues the removal of the unreadable objects of a resource, in a namespace or ("") everywhere. */
static void remove_unreadable_objects(struct api_call *call, const struct kube_kind *resource,
                                      const char *namespace_)
{
    struct store *store = engine_store(call->engine);
    struct store_object **objects;
    size_t count = store_list(store, stored_key(call->arena, resource, namespace_, NULL), &objects);
    for (size_t i = 0; i < count; i++) {
        /* An error means that a queued write removes or replaces the object. */
        if (!stored_is_readable(objects[i]))
            (void)stored_remove(store, resource, objects[i], NULL);
        store_object_unref(objects[i]);
    }
    free(objects);
}

/* If `object` is a namespace or a definition, also removes the unreadable objects that belong to
 * it. A namespace or definition is removed when lists show none of its objects, but lists leave out
 * unreadable objects. */
static void remove_content(struct api_call *call, const struct json *object)
{
    const char *name = kube_meta_name(object), *storage = call->route.resource->storage;
    bool space = str_eq(storage, "namespaces"), definition = str_eq(storage, DEFINITION_STORAGE);
    const struct kube_kind *resource;
    for (size_t i = 0;
         (space || definition) && (resource = registry_at(engine_registry(call->engine), i)); i++) {
        if (space && resource->id.namespaced && !resource->transient)
            remove_unreadable_objects(call, resource, name);
        else if (definition && str_eq(resource->storage, name))
            remove_unreadable_objects(call, resource, "");
    }
}

int api_queue_removal(struct api_call *call, struct json *object, int64_t expected,
                      store_done *done, void *context, struct err *err)
{
    _cleanup_buf_ struct buf data = {0};
    int result = write_encode(call, object, &data, err);
    if (result == 0)
        result = store_delete(engine_store(call->engine), write_key_of(call, object), data.data,
                              data.size, expected, done, context, err);
    if (result == 0)
        remove_content(call, object);
    return result;
}

/* Queues the removal of the object. Responds with `answer` (NULL: the object). */
static void write_remove(struct api_call *call, struct json *object, int64_t expected,
                         const struct json *answer)
{
    if (call->dry_run) {
        api_respond_json(call, 200, answer ? answer : object);
        return;
    }
    struct err err = ERR_INIT;
    struct write *write = write_new(call, 200, answer);
    if (api_queue_removal(call, object, expected, write_done, write, &err) < 0) {
        write_free(write);
        api_respond_error(call, &err);
    }
}

void api_commit_removal(struct api_call *call, struct json *object, int64_t expected)
{
    struct kube_status_details details = {
        .name = kube_meta_name(object),
        .group = call->route.resource->id.group[0] ? call->route.resource->id.group : NULL,
        .kind = call->route.resource->id.plural,
        .uid = kube_meta_uid(object),
    };
    write_remove(call, object, expected, kube_status_success(call->arena, &details));
}

void api_commit_answer(struct api_call *call, struct json *object, int64_t expected,
                       int success_status, const struct json *answer)
{
    struct err err = ERR_INIT;
    if (call->dry_run) {
        if (api_measure(call, object, &err) < 0)
            api_respond_error(call, &err);
        else
            api_respond_json(call, success_status, answer ? answer : object);
        return;
    }
    struct write *write = write_new(call, success_status, answer);
    if (api_queue_put(call, object, expected, write_done, write, &err) < 0) {
        write_free(write);
        api_respond_error(call, &err);
    }
}

void api_commit_encoded(struct api_call *call, const struct json *object,
                        struct api_encoded *encoded, int64_t expected, int success_status)
{
    struct err err = ERR_INIT;
    const char *version = next_version(call);
    /* The revision is shorter than the gap. To close the gap, this moves the bytes before it, which
     * are usually few, and not the bytes after it. */
    size_t size = strlen(version), shift = encoded->gap_size - size;
    char *data = encoded->data.data + shift;
    memmove(data, encoded->data.data, encoded->gap_at);
    memcpy(data + encoded->gap_at, version, size);
    struct write *write = write_new(call, success_status, NULL);
    if (queue_bytes(call, object, data, encoded->data.size - shift, expected, write_done, write,
                    &err) < 0) {
        write_free(write);
        api_respond_error(call, &err);
    }
}

void api_commit(struct api_call *call, struct json *object, const struct json *old,
                int64_t expected, int success_status)
{
    if (old && meta_is_finished(object)) {
        write_remove(call, object, expected, NULL);
        return;
    }
    /* Skips a write that changes nothing, unless the old version is not on disk yet. */
    if (old && json_equal(object, old) && expected <= store_revision(engine_store(call->engine)))
        api_respond_json(call, success_status, object);
    else
        api_commit_answer(call, object, expected, success_status, NULL);
}
