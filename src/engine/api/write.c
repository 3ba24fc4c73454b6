/* CREATE and UPDATE, and the one way an object gets into the store: it is given its revision, put
 * beside what else waits for the disk, and answered when it is there. */
#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "engine/api/rest.h"
#include "engine/crd/definition.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/schema/default.h"
#include "kube/schema/validate.h"
#include "kube/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A write on its way to the disk. The client may leave meanwhile, and takes the exchange and all of
 * `rest` with it; the write goes on. */
struct write {
    struct rest *rest; /* NULL: nobody waits */
    int status;
    const struct json *answer; /* instead of the object, or NULL */
};

static void write_canceled(struct http_exchange *exchange)
{
    struct write *write = exchange->context;
    write->rest = NULL;
}

static struct write *write_new(struct rest *rest, int status, const struct json *answer)
{
    struct write *write = mem_zalloc(sizeof(*write));
    write->rest = rest;
    write->status = status;
    write->answer = answer;
    rest->exchange->context = write;
    rest->exchange->on_cancel = write_canceled;
    return write;
}

static void write_free(struct write *write)
{
    if (write->rest) {
        write->rest->exchange->on_cancel = NULL;
        write->rest->exchange->context = NULL;
    }
    free(write);
}

static void write_done(void *context, const struct store_object *object, const struct err *err)
{
    struct write *write = context;
    struct rest *rest = write->rest;
    int status = write->status;
    const struct json *answer = write->answer;
    write_free(write);
    if (!rest)
        return;
    if (err)
        rest_respond_error(rest, err);
    else if (answer)
        rest_respond_json(rest, status, answer);
    else
        rest_respond_stored(rest, status, object);
}

/* Check the limits, once per request. */
static int measure(struct rest *rest, const struct json *object, struct err *err)
{
    int r = rest->is_measured ? 0 : stored_check(object, err);
    rest->is_measured = r == 0;
    return r;
}

static const char *next_version(struct rest *rest)
{
    return arena_printf(rest->arena, "%" PRId64, store_next_revision(engine_store(rest->engine)));
}

/* The object's bytes in the version that is stored. */
static int encode_as(struct rest *rest, struct json *object, const char *version, struct buf *ret,
                     struct err *err)
{
    struct json *meta = json_ensure_object(rest->arena, object, "metadata");
    json_set_string(rest->arena, meta, "resourceVersion", version);
    const struct kube_kind *resource = rest->route.resource;
    if (resource->stored_version)
        json_set_string(rest->arena, object, "apiVersion", resource->stored_version);
    unsigned known = rest->is_measured ? STORED_MEASURED : 0;
    if (resource->form == SCHEMA_FORM_TYPED && !resource->definition)
        known |= STORED_TYPED;
    int r = stored_encode(object, known, ret, err);
    if (resource->stored_version)
        json_set_string(rest->arena, object, "apiVersion", resource->api_version);
    return r;
}

/* The object's bytes with the revision the next write will get. */
static int encode(struct rest *rest, struct json *object, struct buf *ret, struct err *err)
{
    return encode_as(rest, object, next_version(rest), ret, err);
}

int rest_encode(struct rest *rest, struct json *object, struct rest_encoded *ret, struct err *err)
{
    char mark[37]; /* no client can guess it, so it stands in the text once */
    rand_uuid(mark);
    int r = encode_as(rest, object, mark, &ret->data, err);
    if (r < 0)
        return r;
    const char *gap = memmem(ret->data.data, ret->data.size, mark, strlen(mark));
    ret->gap_at = (size_t)(gap - ret->data.data);
    ret->gap_size = strlen(mark);
    return 0;
}

static const char *key_of(struct rest *rest, const struct json *object)
{
    return registry_key(rest->arena, rest->route.resource, kube_meta_namespace(object),
                        kube_meta_name(object));
}

/* A node that says for the first time that its disk is full, or no longer is. */
static bool tells_of_disk(struct rest *rest, const char *key, const struct json *object)
{
    struct store_object *stored = store_get_pending(engine_store(rest->engine), key);
    struct json *old = NULL;
    bool news = stored && stored_read(rest->arena, stored, &old, NULL) == 0 &&
                kube_condition_is_true(old, "DiskPressure") !=
                    kube_condition_is_true(object, "DiskPressure");
    store_object_unref(stored);
    return news;
}

/* Whether the write may use the room that is kept on a full disk. */
static bool uses_reserve(struct rest *rest, const char *key, const struct json *object)
{
    if (kube_meta_is_deleting(object))
        return true;
    return store_check(engine_store(rest->engine), NULL) < 0 &&
           str_eq(rest->route.resource->storage, "nodes") && tells_of_disk(rest, key, object);
}

/* Queue the bytes of an object that stored_encode() has made. */
static int queue_bytes(struct rest *rest, const struct json *object, const char *data, size_t size,
                       int64_t expected, store_done *done, void *context, struct err *err)
{
    struct store *store = engine_store(rest->engine);
    const char *key = key_of(rest, object);
    int r = (uses_reserve(rest, key, object) ? store_put_reserved : store_put)(
        store, key, data, size, expected, done, context, err);
    if (r == 0)
        stored_trust(store, key);
    return r;
}

int rest_queue_put(struct rest *rest, struct json *object, int64_t expected, store_done *done,
                   void *context, struct err *err)
{
    _cleanup_buf_ struct buf data = {0};
    int r = encode(rest, object, &data, err);
    return r < 0 ? r
                 : queue_bytes(rest, object, data.data, data.size, expected, done, context, err);
}

static void remove_leftovers(struct rest *rest, const struct kube_kind *resource,
                             const char *namespace_)
{
    struct store *store = engine_store(rest->engine);
    struct store_object **objects;
    size_t count =
        store_list(store, registry_key(rest->arena, resource, namespace_, NULL), &objects);
    for (size_t i = 0; i < count; i++) {
        /* A write that is under way removes or replaces it itself. */
        if (!stored_is_readable(objects[i]))
            (void)stored_remove(store, resource, objects[i], NULL);
        store_object_unref(objects[i]);
    }
    free(objects);
}

/* A namespace or a definition goes when a list shows nothing of it any more. Lists leave out what
 * cannot be read, so that goes here. */
static void remove_unlisted(struct rest *rest, const struct json *object)
{
    const char *name = kube_meta_name(object), *storage = rest->route.resource->storage;
    bool space = str_eq(storage, "namespaces"), definition = str_eq(storage, DEFINITION_STORAGE);
    const struct kube_kind *resource;
    for (size_t i = 0;
         (space || definition) && (resource = registry_at(engine_registry(rest->engine), i)); i++) {
        if (space && resource->id.namespaced && !resource->transient)
            remove_leftovers(rest, resource, name);
        else if (definition && str_eq(resource->storage, name))
            remove_leftovers(rest, resource, "");
    }
}

int rest_queue_removal(struct rest *rest, struct json *object, int64_t expected, store_done *done,
                       void *context, struct err *err)
{
    _cleanup_buf_ struct buf data = {0};
    int r = encode(rest, object, &data, err);
    if (r == 0)
        r = store_delete(engine_store(rest->engine), key_of(rest, object), data.data, data.size,
                         expected, done, context, err);
    if (r == 0)
        remove_unlisted(rest, object);
    return r;
}

static void remove_object(struct rest *rest, struct json *object, int64_t expected,
                          const struct json *answer)
{
    if (rest->dry_run) {
        rest_respond_json(rest, 200, answer ? answer : object);
        return;
    }
    struct err err = ERR_INIT;
    struct write *write = write_new(rest, 200, answer);
    if (rest_queue_removal(rest, object, expected, write_done, write, &err) < 0) {
        write_free(write);
        rest_respond_error(rest, &err);
    }
}

void rest_commit_removal(struct rest *rest, struct json *object, int64_t expected)
{
    struct kube_status_details details = {
        .name = kube_meta_name(object),
        .group = rest->route.resource->id.group[0] ? rest->route.resource->id.group : NULL,
        .kind = rest->route.resource->id.plural,
        .uid = kube_meta_uid(object),
    };
    remove_object(rest, object, expected, kube_status_success(rest->arena, &details));
}

void rest_commit_answer(struct rest *rest, struct json *object, int64_t expected,
                        int success_status, const struct json *answer)
{
    struct err err = ERR_INIT;
    if (rest->dry_run) {
        if (measure(rest, object, &err) < 0)
            rest_respond_error(rest, &err);
        else
            rest_respond_json(rest, success_status, answer ? answer : object);
        return;
    }
    struct write *write = write_new(rest, success_status, answer);
    if (rest_queue_put(rest, object, expected, write_done, write, &err) < 0) {
        write_free(write);
        rest_respond_error(rest, &err);
    }
}

void rest_commit_encoded(struct rest *rest, const struct json *object, struct rest_encoded *encoded,
                         int64_t expected, int success_status)
{
    struct err err = ERR_INIT;
    const char *version = next_version(rest);
    /* What stands before the gap moves up to the revision: mostly that is little, and nothing has
     * to be copied elsewhere. */
    size_t size = strlen(version), shift = encoded->gap_size - size;
    char *data = encoded->data.data + shift;
    memmove(data, encoded->data.data, encoded->gap_at);
    memcpy(data + encoded->gap_at, version, size);
    struct write *write = write_new(rest, success_status, NULL);
    if (queue_bytes(rest, object, data, encoded->data.size - shift, expected, write_done, write,
                    &err) < 0) {
        write_free(write);
        rest_respond_error(rest, &err);
    }
}

void rest_commit(struct rest *rest, struct json *object, const struct json *old, int64_t expected,
                 int success_status)
{
    if (old && meta_is_finished(object)) {
        remove_object(rest, object, expected, NULL);
        return;
    }
    /* A write that changes nothing is none, unless what it equals is itself not on disk yet. */
    if (old && json_equal(object, old) && expected <= store_revision(engine_store(rest->engine)))
        rest_respond_json(rest, success_status, object);
    else
        rest_commit_answer(rest, object, expected, success_status, NULL);
}

/* ---- CREATE ---------------------------------------------------------------------------------- */

static int check_namespace_field(struct rest *rest, struct json *object, struct err *err)
{
    const char *given = kube_meta_namespace(object);
    bool other = given[0] != '\0' && !str_eq(given, rest->route.namespace_);
    if (other && rest->route.name)
        return err_set(err, ERR_BAD_REQUEST,
                       "the namespace of the object (%.253s) does not match the namespace on the "
                       "request (%s)",
                       given, rest->route.namespace_);
    if (other)
        return err_set(err, ERR_BAD_REQUEST,
                       "the namespace of the provided object does not match the namespace sent on "
                       "the request");
    if (rest->route.resource->id.namespaced)
        kube_meta_set_namespace(rest->arena, object, rest->route.namespace_);
    return 0;
}

/* Nothing is made in a namespace that is not there or is on its way out. */
static int check_namespace_lives(struct rest *rest, const char *name, struct err *err)
{
    if (!rest->route.resource->id.namespaced)
        return 0;
    const struct kube_kind *namespaces = &KUBE_NAMESPACE_KIND;
    const char *key = registry_key(rest->arena, namespaces, "", rest->route.namespace_);
    struct store_object *stored = store_get_pending(engine_store(rest->engine), key);
    if (!stored) {
        rest->about_resource = namespaces;
        rest->about_name = rest->route.namespace_;
        return err_set(err, ERR_NOT_FOUND, "namespaces \"%s\" not found", rest->route.namespace_);
    }
    struct json *object;
    int r = stored_read(rest->arena, stored, &object, err);
    store_object_unref(stored);
    if (r == 0 && kube_meta_is_deleting(object))
        r = err_set(err, ERR_FORBIDDEN,
                    "%s \"%s\" is forbidden: unable to create new content in namespace %s because "
                    "it is being terminated",
                    kube_resource_text(rest->arena, &rest->route.resource->id), name,
                    rest->route.namespace_);
    return r;
}

static int check_free(struct rest *rest, const char *name, struct err *err)
{
    const char *key = registry_key(rest->arena, rest->route.resource, rest->route.namespace_, name);
    struct store_object *stored = store_get_pending(engine_store(rest->engine), key);
    if (!stored)
        return 0;
    bool readable = stored_is_readable(stored);
    store_object_unref(stored);
    return err_set(err, ERR_EXISTS, "%s \"%s\" already exists%s",
                   kube_resource_text(rest->arena, &rest->route.resource->id), name,
                   readable ? "" : " and cannot be read: 'kubectl delete' removes it");
}

/* A generated name that is taken is drawn again. Off the loop nothing says whether it is: then the
 * client hears of it. */
static void ensure_name(struct rest *rest, struct json *object)
{
    const char *base = json_get_string(json_get(object, "metadata"), "generateName", "");
    for (int draws = 0; draws < 8 && base[0] != '\0'; draws++) {
        char *name = meta_generate_name(rest->arena, base);
        kube_meta_set_name(rest->arena, object, name);
        if (rest->is_off_loop || check_free(rest, name, NULL) == 0)
            break;
    }
}

/* Those of the tables first: the kind's own may depend on them. */
static void set_defaults(struct rest *rest, struct json *object)
{
    const struct kube_kind *resource = rest->route.resource;
    if (resource->form != SCHEMA_FORM_WRITTEN)
        schema_default(rest->arena, resource->schema, object);
    if (resource->hooks.defaults)
        resource->hooks.defaults(rest->arena, object);
}

/* What the kind says of it, be it in code or in the schema of a definition. Of an object that could
 * not be given what it asks for, only that is told. */
static void validate(struct rest *rest, const struct json *object, const struct json *old)
{
    const struct kube_kind *resource = rest->route.resource;
    if (rest->invalid.count > 0)
        return;
    meta_validate(&rest->invalid, resource, object, old);
    if (resource->hooks.validate)
        resource->hooks.validate(&rest->invalid, object, old);
    /* The kind's own rules know better how upstream says it; what they leave is in the tables. */
    if (rest->invalid.count == 0 && resource->form == SCHEMA_FORM_TYPED && !resource->definition)
        schema_validate_words(&rest->invalid, resource->schema, object);
    if (resource->whole) {
        schema_validate_value(&rest->invalid, resource->whole, "", object);
        schema_validate_structure(&rest->invalid, resource->whole, "", object);
        const struct kube_subresource *scale = kube_subresource(resource, "scale");
        if (scale)
            definition_check_scale(&rest->invalid, scale->scale, object);
    }
}

int rest_shape_create(struct rest *rest, struct json *object, struct err *err)
{
    const struct kube_kind *resource = rest->route.resource;
    const struct registry_hooks *hooks = rest_hooks(rest);
    int r = rest_decode(rest, object, NULL, err);
    if (r < 0)
        return r;
    if (kube_meta_resource_version(object)[0] != '\0')
        return err_set(err, ERR_BAD_REQUEST,
                       "resourceVersion should not be set on objects to be created");
    r = check_namespace_field(rest, object, err);
    if (r < 0)
        return r;
    if (kube_meta_name(object)[0] == '\0')
        ensure_name(rest, object);
    rest->about_name = kube_meta_name(object);

    meta_prepare_create(rest->arena, resource, object, loop_wall_ms(engine_loop(rest->engine)));
    if (resource->definition && kube_kind_has_status(resource))
        json_remove(object, "status"); /* that is for who writes the subresource */
    set_defaults(rest, object);
    r = rest_track_fields(rest, object, NULL, err);
    if (r < 0)
        return r;
    if (resource->hooks.create)
        resource->hooks.create(rest->arena, object);
    if (hooks->assign)
        hooks->assign(rest->engine, &rest->invalid, object, NULL);
    validate(rest, object, NULL);
    if (rest->invalid.count > 0)
        return err_set(err, ERR_INVALID, "%s is invalid", resource->id.kind);
    return 0;
}

int rest_admit_create(struct rest *rest, struct json *object, struct err *err)
{
    const struct registry_hooks *hooks = rest_hooks(rest);
    int r = check_namespace_lives(rest, rest->about_name, err);
    if (r < 0)
        return r;
    r = check_free(rest, rest->about_name, err);
    if (r == 0 && hooks->admit)
        r = hooks->admit(rest, object, NULL, err);
    if (r == 0)
        r = measure(rest, object, err);
    return r == 0 ? rest_charge_quotas(rest, object, NULL, err) : r;
}

int rest_prepare_create(struct rest *rest, struct json *object, struct err *err)
{
    int r = rest_shape_create(rest, object, err);
    return r == 0 ? rest_admit_create(rest, object, err) : r;
}

void rest_create(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *object;
    if (rest_create_large(rest))
        return;
    if (rest_read_body(rest, &object, &err) < 0 || rest_prepare_create(rest, object, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    rest_commit(rest, object, NULL, 0, 201);
}

/* ---- UPDATE ---------------------------------------------------------------------------------- */

static int check_name_field(struct rest *rest, const struct json *object, struct err *err)
{
    const char *name = kube_meta_name(object);
    if (name[0] == '\0')
        return err_set(
            err, ERR_BAD_REQUEST,
            "the name of the object (%s based on URL) was undeterminable: name must be provided",
            rest->route.name);
    if (!str_eq(name, rest->route.name))
        return err_set(err, ERR_BAD_REQUEST,
                       "the name of the object (%.253s) does not match the name on the URL (%s)",
                       name, rest->route.name);
    return 0;
}

/* In the words of Kubernetes' store. An object that is not there has no uid either. */
static int uid_conflict(struct rest *rest, const char *wanted, const char *there, struct err *err)
{
    const struct kube_kind *resource = rest->route.resource;
    const char *key = registry_key(rest->arena, resource, rest->route.namespace_, rest->route.name);
    return err_set(
        err, ERR_CONFLICT,
        "Operation cannot be fulfilled on %s \"%s\": StorageError: invalid object, Code: "
        "4, Key: /registry%s, ResourceVersion: 0, AdditionalErrorMsg: Precondition "
        "failed: UID in precondition: %.64s, UID in object meta: %s",
        kube_resource_text(rest->arena, &resource->id), rest->route.name, key, wanted, there);
}

int rest_check_identity(struct rest *rest, struct json *object, const struct json *old,
                        struct err *err)
{
    const char *uid = kube_meta_uid(object);
    const char *version = kube_meta_resource_version(object);
    int r = check_name_field(rest, object, err);
    if (r == 0)
        r = check_namespace_field(rest, object, err);
    if (r < 0)
        return r;
    bool other = uid[0] != '\0' && !str_eq(uid, kube_meta_uid(old));
    if (other && rest->route.verb == VERB_PATCH) {
        field_invalid(&rest->invalid, "metadata.uid", json_get(json_get(object, "metadata"), "uid"),
                      "field is immutable");
        return err_set(err, ERR_INVALID, "%s is invalid", rest->route.resource->id.kind);
    }
    if (other)
        return uid_conflict(rest, uid, kube_meta_uid(old), err);
    if (version[0] != '\0' && !str_eq(version, kube_meta_resource_version(old)))
        return rest_conflict(rest, rest->route.name, err);
    return 0;
}

/* Make `target`'s member what `source` has, also when that is nothing. */
static void take_member(struct arena *arena, struct json *target, const struct json *source,
                        const char *name)
{
    const struct json *value = json_get(source, name);
    if (value)
        json_set(arena, target, name, json_clone(arena, value));
    else
        json_remove(target, name);
}

/* A subresource writes one part and nothing else: `object` becomes `old` with that part. */
static void take_part(struct rest *rest, struct json *object, const struct json *old)
{
    struct json *whole = json_clone(rest->arena, old);
    if (rest->route.sub == SUB_STATUS)
        take_member(rest->arena, whole, object, "status");
    else
        take_member(rest->arena, json_ensure_object(rest->arena, whole, "spec"),
                    json_get(object, "spec"), "finalizers");
    *object = *whole;
}

int rest_shape_update(struct rest *rest, struct json *object, const struct json *old,
                      struct err *err)
{
    const struct kube_kind *resource = rest->route.resource;
    const struct registry_hooks *hooks = rest_hooks(rest);
    int r = rest_decode(rest, object, old, err);
    if (r < 0)
        return r;
    r = rest_check_identity(rest, object, old, err);
    if (r < 0)
        return r;
    if (rest->route.sub != SUB_NONE) {
        take_part(rest, object, old);
        if (hooks->status && (r = hooks->status(rest, object, err)) < 0)
            return r;
        if (resource->whole)
            validate(rest, object, old);
        if (rest->invalid.count > 0)
            return err_set(err, ERR_INVALID, "%s is invalid", resource->id.kind);
        r = rest_track_fields(rest, object, old, err);
        return r == 0 ? measure(rest, object, err) : r;
    }
    if (kube_kind_has_status(resource))
        take_member(rest->arena, object, old, "status");
    set_defaults(rest, object);
    r = rest_track_fields(rest, object, old, err);
    if (r < 0)
        return r;
    meta_prepare_update(rest->arena, resource, object, old);
    if (hooks->assign)
        hooks->assign(rest->engine, &rest->invalid, object, old);
    validate(rest, object, old);
    if (rest->invalid.count > 0)
        return err_set(err, ERR_INVALID, "%s is invalid", resource->id.kind);
    return 0;
}

int rest_admit_update(struct rest *rest, struct json *object, const struct json *old,
                      struct err *err)
{
    const struct registry_hooks *hooks = rest_hooks(rest);
    if (rest->route.sub != SUB_NONE)
        return 0;
    int r = hooks->admit ? hooks->admit(rest, object, old, err) : 0;
    if (r == 0)
        r = measure(rest, object, err);
    return r == 0 ? rest_charge_quotas(rest, object, old, err) : r;
}

int rest_prepare_update(struct rest *rest, struct json *object, const struct json *old,
                        struct err *err)
{
    int r = rest_shape_update(rest, object, old, err);
    return r == 0 ? rest_admit_update(rest, object, old, err) : r;
}

/* What is wrong with the request itself is told before the object is looked for, as upstream. */
static int load_for_update(struct rest *rest, struct json *object, struct json **ret,
                           int64_t *ret_revision, struct err *err)
{
    int r = check_name_field(rest, object, err);
    if (r == 0)
        r = check_namespace_field(rest, object, err);
    if (r < 0)
        return r;
    r = rest_load(rest, rest->route.name, ret, ret_revision, err);
    const char *uid = kube_meta_uid(object);
    return r == -ERR_NOT_FOUND && uid[0] ? uid_conflict(rest, uid, "", err) : r;
}

void rest_update(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *object, *old;
    int64_t revision;
    if (rest_update_large(rest))
        return;
    if (rest_read_body(rest, &object, &err) < 0 ||
        load_for_update(rest, object, &old, &revision, &err) < 0 ||
        rest_prepare_update(rest, object, old, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    rest_commit(rest, object, old, revision, 200);
}
