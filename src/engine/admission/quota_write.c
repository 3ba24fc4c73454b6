/* ResourceQuotas where writes are: an object that is made, or grows, is charged to the quotas of
 * its namespace in the same line of writes, so that however many come at once, none passes that
 * should not. What goes is found by counting again (quota_controller.c asks for it), which is only
 * done while no write is on its way: then what the store shows is all there is. */
#include "engine/admission/quota.h"
#include "engine/api/rest.h"

#include "base/json/json_list.h"
#include "base/str.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct kube_kind *quotas(void)
{
    return &KUBE_RESOURCEQUOTA_KIND;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static bool is_settled(struct rest *rest)
{
    struct store *store = engine_store(rest->engine);
    return store_next_revision(store) == store_revision(store) + 1;
}

static void count_kind(struct rest *rest, const struct json *quota,
                       const struct kube_kind *resource, struct json *used)
{
    struct store_object **stored;
    size_t count =
        store_list(engine_store(rest->engine),
                   registry_key(rest->arena, resource, kube_meta_namespace(quota), NULL), &stored);
    for (size_t i = 0; i < count; i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *object;
        if (rest_read_one(rest, arena, stored[i], &object) &&
            quota_covers(quota, &resource->id, object))
            quota_add(rest->arena, used,
                      quota_growth(arena, quota, quota_usage(arena, &resource->id, object), NULL));
        store_object_unref(stored[i]);
    }
    free(stored);
}

/* status.hard and status.used, from nothing but the spec and the store. An object that cannot be
 * read is not counted. */
static void count_all(struct rest *rest, struct json *quota)
{
    const struct registry *registry = engine_registry(rest->engine);
    const struct json *hard = json_at(quota, "spec", "hard", NULL);
    struct json *status = json_object(rest->arena), *used = json_object(rest->arena);
    const struct kube_kind *resource;
    JSON_EACH (item, hard) { /* json_set() would look for each name among all others */
        struct json *none = json_string(rest->arena, "0");
        none->name = item->name;
        json_list_append(used, none);
    }
    for (size_t i = 0; (resource = registry_at(registry, i)); i++) {
        if (resource->id.namespaced && !resource->transient && quota_is_about(quota, &resource->id))
            count_kind(rest, quota, resource, used);
    }
    json_set(rest->arena, status, "hard", json_clone_object(rest->arena, hard));
    json_set(rest->arena, status, "used", used);
    json_set(rest->arena, quota, "status", status);
}

int rest_admit_quota(struct rest *rest, struct json *quota, const struct json *old, struct err *err)
{
    const struct json *hard = json_at(quota, "spec", "hard", NULL);
    const struct json *had = json_at(old, "spec", "hard", NULL);
    if (old && hard && had && json_equal(hard, had))
        return 0;
    if (is_settled(rest))
        count_all(rest, quota);
    else
        json_remove(quota, "status"); /* the controller has it counted */
    return 0;
}

int rest_recount_quota(struct rest *rest, struct json *quota, struct err *err)
{
    if (!is_settled(rest))
        return err_set(
            err, ERR_CONFLICT,
            "Operation cannot be fulfilled on resourcequotas \"%s\": other writes are on "
            "their way; try again",
            kube_meta_name(quota));
    count_all(rest, quota);
    return 0;
}

/* ---- Charging -------------------------------------------------------------------------------- */

static void written(void *context, const struct store_object *object, const struct err *err)
{
}

static int put_quota(struct rest *rest, struct json *quota, const char *key, int64_t expected,
                     struct err *err)
{
    struct store *store = engine_store(rest->engine);
    json_set(rest->arena, json_get(quota, "metadata"), "resourceVersion",
             json_stringf(rest->arena, "%" PRId64, store_next_revision(store)));
    _cleanup_buf_ struct buf data;
    int r = stored_encode(quota, 0, &data, err);
    return r < 0 ? r : store_put(store, key, data.data, data.size, expected, written, NULL, err);
}

/* An object that a quota has counted or will; `charge`: all of them have said yes. */
static int charge_one(struct rest *rest, const char *key, const struct json *object,
                      const struct json *old, bool charge, struct err *err)
{
    const struct kube_resource *id = &rest->route.resource->id;
    struct store_object *stored = store_get_pending(engine_store(rest->engine), key);
    struct json *quota;
    if (!stored)
        return 0;
    int64_t revision = stored->revision;
    int r = stored_read(rest->arena, stored, &quota, err);
    store_object_unref(stored);
    if (r < 0 || !quota_is_about(quota, id) || !quota_covers(quota, id, object))
        return r;
    const char *refusal =
        str_eq(id->plural, "pods") && !old ? quota_unsaid(rest->arena, quota, object) : NULL;
    if (refusal)
        refusal = arena_printf(rest->arena, "failed quota: %s: %s", kube_meta_name(quota), refusal);
    bool counted_before = old && quota_covers(quota, id, old);
    struct json *growth = quota_growth(rest->arena, quota, quota_usage(rest->arena, id, object),
                                       counted_before ? quota_usage(rest->arena, id, old) : NULL);
    if (!refusal && json_count(growth) == 0)
        return 0;
    if (!refusal && !json_at(quota, "status", "used", NULL))
        refusal = arena_printf(rest->arena, "status unknown for quota: %s", kube_meta_name(quota));
    if (!refusal)
        refusal = quota_exceeded(rest->arena, quota, growth);
    if (refusal)
        return err_set(err, ERR_FORBIDDEN, "%s \"%s\" is forbidden: %.900s",
                       kube_resource_text(rest->arena, id), kube_meta_name(object), refusal);
    if (!charge)
        return 0;
    quota_add(rest->arena, json_at(quota, "status", "used", NULL), growth);
    return put_quota(rest, quota, key, revision, err);
}

int rest_charge_quotas(struct rest *rest, const struct json *object, const struct json *old,
                       struct err *err)
{
    if (!rest->route.resource->id.namespaced ||
        str_eq(rest->route.resource->storage, "resourcequotas"))
        return 0;
    struct store_object **stored;
    size_t count =
        store_list(engine_store(rest->engine),
                   registry_key(rest->arena, quotas(), rest->route.namespace_, NULL), &stored);
    const char **keys = ARENA_ARRAY(rest->arena, const char *, count + 1);
    size_t readable = 0;
    for (size_t i = 0; i < count; i++) {
        if (rest_is_readable(rest, stored[i])) /* else the client is warned: it limits nothing */
            keys[readable++] = arena_strdup(rest->arena, stored[i]->key);
        store_object_unref(stored[i]);
    }
    free(stored);
    int r = 0;
    const int passes = rest->dry_run ? 1 : 2; /* the second one charges */
    for (int charge = 0; charge < passes; charge++)
        for (size_t i = 0; r == 0 && i < readable; i++)
            r = charge_one(rest, keys[i], object, old, charge, err);
    return r;
}
