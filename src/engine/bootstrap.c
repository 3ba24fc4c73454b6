/* Writes the objects that every cluster has; see bootstrap.h. */
#include "engine/bootstrap.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/stored/stored.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/priority_class.h"
#include "kube/kinds/volume.h"
#include "kube/object.h"
#include "kube/schema/default.h"
#include "kube/storage_class.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An administrator sets this annotation to "false" to keep the server from updating an object. */
static const char AUTO_UPDATE[] = "rbac.authorization.kubernetes.io/autoupdate";

/* Ignores a failed commit: the store reports it to every later write. */
static void on_bootstrap_written(void *context, const struct store_object *object,
                                 const struct err *err)
{
}

/* Queues a write of the object in place of `old`, or of a new object if `old` is NULL. `expected`
 * is the revision of the stored object, or 0 if the store has no such object. */
static int bootstrap_put(const struct bootstrap *bootstrap, struct arena *arena,
                         const struct kube_kind *resource, struct json *object,
                         const struct json *old, int64_t expected, struct err *err)
{
    if (old)
        meta_prepare_update(arena, resource, object, old);
    else
        meta_prepare_create(arena, resource, object, bootstrap->now_ms);
    json_set(arena, json_get(object, "metadata"), "resourceVersion",
             json_stringf(arena, "%" PRId64, store_next_revision(bootstrap->store)));
    const char *key =
        stored_key(arena, resource, kube_meta_namespace(object), kube_meta_name(object));
    _cleanup_buf_ struct buf data;
    int result = stored_encode(object, 0, &data, err);
    if (result == 0)
        /* The server must also start on a full disk, so that objects can be deleted. */
        result = store_put_reserved(bootstrap->store, key, data.data, data.size, expected,
                                    on_bootstrap_written, NULL, err);
    return result < 0
               ? err_wrap(err, "cannot write %s '%s'", resource->singular, kube_meta_name(object))
               : 0;
}

/* Queues a write of the object if the store has no object with its name, or if the stored object
 * cannot be read. If `member` is not NULL and the stored object has another value in the member
 * with this name, updates the member, unless the annotation AUTO_UPDATE of the stored object is
 * "false". */
static int bootstrap_ensure(const struct bootstrap *bootstrap, struct arena *arena,
                            const struct kube_kind *resource, struct json *object,
                            const char *member, struct err *err)
{
    const char *key =
        stored_key(arena, resource, kube_meta_namespace(object), kube_meta_name(object));
    struct store_object *stored = store_get_pending(bootstrap->store, key);
    if (!stored)
        return bootstrap_put(bootstrap, arena, resource, object, NULL, 0, err);
    struct json *old = NULL;
    int64_t revision = stored->revision;
    bool readable = stored_read(arena, stored, &old, NULL) == 0;
    store_object_unref(stored);
    if (!readable)
        return bootstrap_put(bootstrap, arena, resource, object, NULL, revision, err);
    if (!member || str_eq(kube_meta_annotation(old, AUTO_UPDATE), "false"))
        return 0;
    const struct json *old_value = json_get(old, member), *new_value = json_get(object, member);
    if (old_value && json_equal(old_value, new_value))
        return 0;
    struct json *updated = json_clone(arena, old);
    json_set(arena, updated, member, json_clone(arena, new_value));
    return bootstrap_put(bootstrap, arena, resource, updated, old, revision, err);
}

int bootstrap_namespace_content(const struct bootstrap *bootstrap, const char *namespace_,
                                struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct kube_kind *accounts = &KUBE_SERVICEACCOUNT_KIND;
    const struct kube_kind *maps = &KUBE_CONFIGMAP_KIND;
    struct json *account = kube_object_make(arena, &accounts->id, namespace_, "default");
    int result = bootstrap_ensure(bootstrap, arena, accounts, account, NULL, err);
    if (result < 0 || !bootstrap->ca_pem)
        return result;
    struct json *map = kube_object_make(arena, &maps->id, namespace_, "kube-root-ca.crt");
    kube_meta_set_annotation(arena, map, "kubernetes.io/description",
                             "Contains a CA bundle that can be used to verify the kube-apiserver "
                             "when using internal endpoints.");
    json_set_string(arena, json_ensure_object(arena, map, "data"), "ca.crt", bootstrap->ca_pem);
    return bootstrap_ensure(bootstrap, arena, maps, map, "data", err);
}

static int make_namespace(const struct bootstrap *bootstrap, const char *name, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct kube_kind *namespaces = &KUBE_NAMESPACE_KIND;
    struct json *object = kube_object_make(arena, &namespaces->id, NULL, name);
    namespaces->hooks.defaults(arena, object);
    namespaces->hooks.create(arena, object);
    return bootstrap_ensure(bootstrap, arena, namespaces, object, NULL, err);
}

/* Creates the missing objects in all existing namespaces, because an older server may have created
 * a namespace without them. Skips namespaces that are being deleted. */
static int fill_namespaces(const struct bootstrap *bootstrap, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct store_object **stored;
    const char *prefix = stored_key(arena, &KUBE_NAMESPACE_KIND, "", NULL);
    size_t count = store_list(bootstrap->store, prefix, &stored);
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        struct json *object = NULL;
        if (result == 0 && stored_read(arena, stored[i], &object, NULL) == 0 &&
            !kube_meta_is_deleting(object))
            result = bootstrap_namespace_content(bootstrap, kube_meta_name(object), err);
        store_object_unref(stored[i]);
    }
    free(stored);
    return result;
}

static int make_roles(const struct bootstrap *bootstrap, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct kube_kind *resource;
    struct json *object;
    int result = 0;
    for (size_t i = 0; result == 0 && (object = bootstrap_role_at(arena, i, &resource)); i++)
        result =
            bootstrap_ensure(bootstrap, arena, resource, object,
                             str_eq(resource->id.plural, "clusterroles") ? "rules" : NULL, err);
    return result;
}

/* Writes the default StorageClass. No other class is needed: after a while, a claim gets a
 * directory even if its class does not exist or names a provisioner that is not here. The exception
 * is the provisioner "kubernetes.io/no-provisioner". */
static int make_storage_class(const struct bootstrap *bootstrap, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct kube_kind *classes = &KUBE_STORAGECLASS_KIND;
    struct json *class_ = kube_object_make(arena, &classes->id, NULL, CLAIM_CLASS);
    kube_meta_set_annotation(arena, class_, KUBE_CLASS_DEFAULT_ANNOTATION, "true");
    json_set_string(arena, class_, "provisioner", CLAIM_PROVISIONER);
    schema_default(arena, classes->schema, class_);
    return bootstrap_ensure(bootstrap, arena, classes, class_, NULL, err);
}

static int make_priority_classes(const struct bootstrap *bootstrap, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct kube_kind *classes = &KUBE_PRIORITYCLASS_KIND;
    struct json *class_;
    int result = 0;
    for (size_t i = 0; result == 0 && (class_ = kube_priority_class_system(arena, i)); i++) {
        schema_default(arena, classes->schema, class_);
        result = bootstrap_ensure(bootstrap, arena, classes, class_, NULL, err);
    }
    return result;
}

/* Queues the removal of the object if it cannot be read. Drops the caller's reference to `stored`,
 * which may be NULL. */
static int remove_if_unreadable(const struct bootstrap *bootstrap, const struct kube_kind *resource,
                                struct store_object *stored, struct err *err)
{
    int result = stored && !stored_is_readable(stored)
                     ? stored_remove(bootstrap->store, resource, stored, err)
                     : 0;
    store_object_unref(stored);
    return result;
}

/* Removes unreadable Nodes, Endpoints, EndpointSlices, Events and Leases, and the Service of the
 * API if it is unreadable. The server creates these objects again when it needs them. If an
 * unreadable one stayed, its writer (a node, a controller, leader election) would fail forever. */
static int remove_unreadable(const struct bootstrap *bootstrap, struct err *err)
{
    static const struct kube_kind *const kinds[] = {
        &KUBE_NODE_KIND,  &KUBE_ENDPOINTS_KIND,     &KUBE_EVENT_KIND,
        &KUBE_LEASE_KIND, &KUBE_ENDPOINTSLICE_KIND,
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    int result = 0;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        const struct kube_kind *resource = kinds[i];
        struct store_object **stored;
        size_t count = store_list(bootstrap->store, stored_key(arena, resource, "", NULL), &stored);
        for (size_t j = 0; j < count; j++) {
            int removal = remove_if_unreadable(bootstrap, resource, stored[j], err);
            result = removal < 0 ? removal : result;
        }
        free(stored);
    }
    const struct kube_kind *services = &KUBE_SERVICE_KIND;
    const char *key = stored_key(arena, services, "default", "kubernetes");
    return result < 0 ? result
                      : remove_if_unreadable(bootstrap, services,
                                             store_get_pending(bootstrap->store, key), err);
}

int bootstrap_cluster(const struct bootstrap *bootstrap, struct err *err)
{
    static const char *const namespaces[] = {"default", "kube-public", "kube-system",
                                             /* Kubeflow's tutorials create their jobs in these. */
                                             "kubeflow", "kubeflow-user-example-com"};
    int result = remove_unreadable(bootstrap, err);
    if (result == 0)
        result = fill_namespaces(bootstrap, err);
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(namespaces); i++) {
        result = make_namespace(bootstrap, namespaces[i], err);
        if (result == 0)
            result = bootstrap_namespace_content(bootstrap, namespaces[i], err);
    }
    if (result == 0)
        result = make_storage_class(bootstrap, err);
    if (result == 0)
        result = make_priority_classes(bootstrap, err);
    return result < 0 ? result : make_roles(bootstrap, err);
}
