/* Admission by ResourceQuotas; see admission.h. A request that creates an object or increases its
 * usage first queues a write of the new usage into the quotas of the namespace, and then the write
 * of the object. The next request reads these pending quotas, so concurrent writes cannot exceed a
 * quota together. A decrease of the usage is counted only by a recount, which quota_controller.c
 * requests. A recount runs only while no write is pending, because store_list() does not return
 * pending writes. */
#include "engine/admission/admission.h"
#include "engine/admission/quota.h"

#include "base/json/json_list.h"
#include "base/str.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct kube_kind *quota_resource(void)
{
    return &KUBE_RESOURCEQUOTA_KIND;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static bool no_write_is_pending(struct api_call *call)
{
    struct store *store = engine_store(call->engine);
    return store_next_revision(store) == store_revision(store) + 1;
}

/* Adds to `used` the usage of the objects of a kind that the quota counts. */
static void count_kind(struct api_call *call, const struct json *quota,
                       const struct kube_kind *resource, struct json *used)
{
    struct store_object **stored;
    size_t count =
        store_list(engine_store(call->engine),
                   stored_key(call->arena, resource, kube_meta_namespace(quota), NULL), &stored);
    for (size_t i = 0; i < count; i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *object;
        if (api_read_stored(call, arena, stored[i], &object) &&
            quota_covers(quota, &resource->id, object))
            quota_add(call->arena, used,
                      quota_growth(arena, quota, quota_usage(arena, &resource->id, object), NULL));
        store_object_unref(stored[i]);
    }
    free(stored);
}

/* Sets status.hard from the spec, and status.used to the usage of the stored objects that the quota
 * counts. Does not count an object that cannot be read. */
static void count_all(struct api_call *call, struct json *quota)
{
    const struct registry *registry = engine_registry(call->engine);
    const struct json *hard = json_at(quota, "spec", "hard", NULL);
    struct json *status = json_object(call->arena), *used = json_object(call->arena);
    const struct kube_kind *resource;
    JSON_EACH (item, hard) { /* json_set() would search all names for each item */
        struct json *none = json_string(call->arena, "0");
        none->name = item->name;
        json_list_append(used, none);
    }
    for (size_t i = 0; (resource = registry_at(registry, i)); i++) {
        if (resource->id.namespaced && !resource->transient &&
            quota_limits_kind(quota, &resource->id))
            count_kind(call, quota, resource, used);
    }
    json_set(call->arena, status, "hard", json_clone_object(call->arena, hard));
    json_set(call->arena, status, "used", used);
    json_set(call->arena, quota, "status", status);
}

int admission_admit_quota(struct api_call *call, struct json *quota, const struct json *old,
                          struct err *err)
{
    const struct json *hard = json_at(quota, "spec", "hard", NULL);
    const struct json *old_hard = json_at(old, "spec", "hard", NULL);
    if (old && hard && old_hard && json_equal(hard, old_hard))
        return 0;
    if (no_write_is_pending(call))
        count_all(call, quota);
    else
        json_remove(quota, "status"); /* quota_controller.c requests a recount */
    return 0;
}

int admission_recount_quota(struct api_call *call, struct json *quota, struct err *err)
{
    if (!no_write_is_pending(call))
        return err_set(err, ERR_CONFLICT,
                       "Operation cannot be fulfilled on resourcequotas \"%s\": other writes are "
                       "pending; try again",
                       kube_meta_name(quota));
    count_all(call, quota);
    return 0;
}

/* ---- Charging -------------------------------------------------------------------------------- */

/* Ignores a failed commit: the write of the object, which is queued later, then fails, too. */
static void on_quota_written(void *context, const struct store_object *object,
                             const struct err *err)
{
}

static int put_quota(struct api_call *call, struct json *quota, const char *key, int64_t expected,
                     struct err *err)
{
    struct store *store = engine_store(call->engine);
    json_set(call->arena, json_get(quota, "metadata"), "resourceVersion",
             json_stringf(call->arena, "%" PRId64, store_next_revision(store)));
    _cleanup_buf_ struct buf data;
    int result = stored_encode(quota, 0, &data, err);
    return result < 0
               ? result
               : store_put(store, key, data.data, data.size, expected, on_quota_written, NULL, err);
}

/* Checks an object against one quota. With `charge`, also queues a write that adds the growth of
 * the object's usage to the quota. Returns -ERR_FORBIDDEN if the quota rejects the object. */
static int charge_one(struct api_call *call, const char *key, const struct json *object,
                      const struct json *old, bool charge, struct err *err)
{
    const struct kube_resource *id = &call->route.resource->id;
    struct store_object *stored = store_get_pending(engine_store(call->engine), key);
    struct json *quota;
    if (!stored)
        return 0;
    int64_t revision = stored->revision;
    int result = stored_read(call->arena, stored, &quota, err);
    store_object_unref(stored);
    if (result < 0 || !quota_limits_kind(quota, id) || !quota_covers(quota, id, object))
        return result;
    const char *refusal = str_eq(id->plural, "pods") && !old
                              ? quota_missing_fields(call->arena, quota, object)
                              : NULL;
    if (refusal)
        refusal = arena_printf(call->arena, "failed quota: %s: %s", kube_meta_name(quota), refusal);
    bool counted_before = old && quota_covers(quota, id, old);
    struct json *growth = quota_growth(call->arena, quota, quota_usage(call->arena, id, object),
                                       counted_before ? quota_usage(call->arena, id, old) : NULL);
    if (!refusal && json_count(growth) == 0)
        return 0;
    if (!refusal && !json_at(quota, "status", "used", NULL))
        refusal = arena_printf(call->arena, "status unknown for quota: %s", kube_meta_name(quota));
    if (!refusal)
        refusal = quota_exceeded(call->arena, quota, growth);
    if (refusal)
        return err_set(err, ERR_FORBIDDEN, "%s \"%s\" is forbidden: %.900s",
                       kube_resource_text(call->arena, id), kube_meta_name(object), refusal);
    if (!charge)
        return 0;
    quota_add(call->arena, json_at(quota, "status", "used", NULL), growth);
    return put_quota(call, quota, key, revision, err);
}

int admission_charge_quotas(struct api_call *call, struct json *object, const struct json *old,
                            struct err *err)
{
    if (!call->route.resource->id.namespaced ||
        str_eq(call->route.resource->storage, "resourcequotas"))
        return 0;
    struct store_object **stored;
    size_t count = store_list(
        engine_store(call->engine),
        stored_key(call->arena, quota_resource(), call->route.namespace_, NULL), &stored);
    const char **keys = ARENA_ARRAY(call->arena, const char *, count + 1);
    size_t readable = 0;
    for (size_t i = 0; i < count; i++) {
        /* An unreadable quota limits nothing. The client gets a warning. */
        if (api_is_readable(call, stored[i]))
            keys[readable++] = arena_strdup(call->arena, stored[i]->key);
        store_object_unref(stored[i]);
    }
    free(stored);
    int result = 0;
    /* The first pass checks the object against all quotas, the second pass charges the quotas. */
    const int passes = call->dry_run ? 1 : 2;
    for (int charge = 0; charge < passes; charge++)
        for (size_t i = 0; result == 0 && i < readable; i++)
            result = charge_one(call, keys[i], object, old, charge, err);
    return result;
}
