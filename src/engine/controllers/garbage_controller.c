/* The garbage collector: deletes objects that have lost all their owners, and removes references to
 * lost owners from other objects. It also removes the finalizer of an owner when the deletion of
 * the owner need not wait for dependents any more. It indexes all objects of the informers by the
 * uids of their owners. Before it treats an owner as gone, it asks the API, because an informer may
 * lag behind. */
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/controllers/controllers.h"
#include "engine/controllers/garbage.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

enum { PARALLEL = 64, UNSYNCED_MS = 20, OWNERS_MAX = 64 };

/* The objects that refer to one owner. */
struct dependents {
    VEC(char *) keys; /* "storage/namespace/name" */
};

struct garbage {
    struct hub *hub;
    struct workqueue *queue; /* "storage/namespace/name" */
    struct map keys;         /* uid → "storage/namespace/name" */
    struct map dependents;   /* uid of an owner → struct dependents */
};

static struct json *owners_of(const struct json *object)
{
    return json_at(object, "metadata", "ownerReferences", NULL);
}

/* ---- The graph ------------------------------------------------------------------------------- */

static char *garbage_key_of(const struct kube_kind *resource, const struct kube_object *object)
{
    return mem_printf("%s/%s/%s", resource->storage, object->namespace_, object->name);
}

static struct kube_object *garbage_find(struct garbage *garbage, const char *key,
                                        const struct kube_kind **ret_resource)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    size_t count;
    char **pieces = str_split(arena, key, '/', &count);
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = registry_at(hub_registry(garbage->hub), i)); i++)
        if (str_eq(resource->storage, pieces[0]))
            break;
    *ret_resource = resource;
    struct kube_informer *informer = resource ? hub_find_informer(garbage->hub, pieces[0]) : NULL;
    return informer ? kube_informer_get(informer, pieces[1], pieces[2]) : NULL;
}

static void add_dependent(struct garbage *garbage, const char *owner_uid, const char *key)
{
    struct dependents *dependents = map_get(&garbage->dependents, owner_uid);
    if (!dependents) {
        dependents = mem_zalloc(sizeof(*dependents));
        map_put(&garbage->dependents, owner_uid, dependents);
    }
    vec_push(&dependents->keys, mem_strdup(key));
}

static void dependents_free(struct dependents *dependents)
{
    for (size_t i = 0; i < dependents->keys.count; i++)
        free(dependents->keys.items[i]);
    vec_release(&dependents->keys);
    free(dependents);
}

static void remove_dependent(struct garbage *garbage, const char *owner_uid, const char *key)
{
    struct dependents *dependents = map_get(&garbage->dependents, owner_uid);
    for (size_t i = 0; dependents && i < dependents->keys.count; i++) {
        if (!str_eq(dependents->keys.items[i], key))
            continue;
        free(dependents->keys.items[i]);
        vec_remove(&dependents->keys, i);
        break;
    }
    if (dependents && dependents->keys.count == 0)
        dependents_free(map_remove(&garbage->dependents, owner_uid));
}

static void enqueue_dependents(struct garbage *garbage, const char *owner_uid)
{
    const struct dependents *dependents = map_get(&garbage->dependents, owner_uid);
    for (size_t i = 0; dependents && i < dependents->keys.count; i++)
        workqueue_add(garbage->queue, dependents->keys.items[i]);
}

/* Queues the owners, because they may wait for this object. */
static void enqueue_owners(struct garbage *garbage, const struct json *object)
{
    JSON_EACH (owner, owners_of(object)) {
        const char *key = map_get(&garbage->keys, json_get_string(owner, "uid", ""));
        if (key)
            workqueue_add(garbage->queue, key);
    }
}

static void garbage_remove_object(struct garbage *garbage, const struct kube_kind *resource,
                                  const struct kube_object *old)
{
    _cleanup_free_ char *key = garbage_key_of(resource, old);
    JSON_EACH (owner, owners_of(old->json))
        remove_dependent(garbage, json_get_string(owner, "uid", ""), key);
}

static void garbage_add_object(struct garbage *garbage, const struct kube_kind *resource,
                               const struct kube_object *new_)
{
    _cleanup_free_ char *key = garbage_key_of(resource, new_);
    free(map_put(&garbage->keys, new_->uid, mem_strdup(key)));
    JSON_EACH (owner, owners_of(new_->json))
        add_dependent(garbage, json_get_string(owner, "uid", ""), key);
    if (json_count(owners_of(new_->json)) || garbage_duty_of(new_->json) != DUTY_NONE)
        workqueue_add(garbage->queue, key);
    if (kube_meta_is_deleting(new_->json))
        enqueue_owners(garbage, new_->json);
}

static void on_garbage_changed(void *self, const struct kube_kind *resource,
                               struct kube_object *old, struct kube_object *new_)
{
    struct garbage *garbage = self;
    if (old)
        garbage_remove_object(garbage, resource, old);
    /* The old object is gone, even if a new object with the same name has replaced it. */
    if (old && (!new_ || !str_eq(old->uid, new_->uid))) {
        free(map_remove(&garbage->keys, old->uid));
        enqueue_dependents(garbage, old->uid);
        enqueue_owners(garbage, old->json);
    }
    if (new_)
        garbage_add_object(garbage, resource, new_);
}

/* ---- Deciding on one object ------------------------------------------------------------------ */

/* The work on one object. If the object has a duty (enum garbage_duty), the collector deletes or
 * orphans its dependents. Otherwise the collector asks the API for the owners that no informer
 * shows, one after the other, and then deletes or patches the object if necessary. */
struct check {
    struct hub_task task;
    struct garbage *garbage;
    char *key;
    struct kube_object *object;
    const struct kube_kind *resource;
    enum garbage_owner owners[OWNERS_MAX]; /* the states of the owners before `next` */
    size_t count;                          /* the number of owners of the object */
    size_t next;                           /* the position of the next owner to look up */
    size_t waiting;                        /* calls in flight */
    bool failed;
};

static void check_release(struct hub_task *task)
{
    struct check *check = CONTAINER_OF(task, struct check, task);
    kube_object_unref(check->object);
    registry_unref(check->resource);
    free(check->key);
    free(check);
}

static void check_end(struct check *check)
{
    workqueue_done(check->garbage->queue, check->key, check->failed);
    hub_task_end(&check->task);
}

static void on_garbage_acted(void *context, struct json *object, const struct err *err)
{
    struct check *check = context;
    /* An object that is gone needs nothing more. After a conflict the check is repeated, because
     * the informer may have reported the other change before and will not queue the object again.
     */
    if (err && err->code != ERR_NOT_FOUND)
        check->failed = true;
    if (--check->waiting == 0)
        check_end(check);
}

static void act_patch(struct check *check, const struct kube_kind *resource,
                      const struct kube_object *target, const struct json *patch)
{
    check->waiting++;
    kube_patch(hub_client(check->garbage->hub), &resource->id, target->namespace_, target->name,
               NULL, patch, on_garbage_acted, check);
}

static void act_delete(struct check *check, const char *propagation)
{
    struct kube_delete_options options = {
        .grace_period_seconds = -1, .propagation = propagation, .uid = check->object->uid};
    check->waiting++;
    kube_delete(hub_client(check->garbage->hub), &check->resource->id, check->object->namespace_,
                check->object->name, &options, on_garbage_acted, check);
}

static void garbage_conclude(struct check *check)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *json = check->object->json;
    bool waiting_owner = false;
    /* The uid of an owner to remove from the references if other owners keep the object. */
    const char *lost = NULL;
    size_t position = 0;
    JSON_EACH (owner, owners_of(json)) {
        enum garbage_owner state =
            position < check->count ? check->owners[position] : OWNER_UNKNOWN;
        waiting_owner |= state == OWNER_WAITING;
        if (state == OWNER_WAITING || state == OWNER_GONE)
            lost = json_get_string(owner, "uid", "");
        position++;
    }
    check->waiting++;
    if (garbage_is_collectable(json, check->owners, check->count)) {
        bool has_dependents = map_get(&check->garbage->dependents, check->object->uid) != NULL;
        act_delete(check, waiting_owner && has_dependents ? "Foreground" : "Background");
    } else if (lost && !kube_meta_is_deleting(json)) {
        act_patch(check, check->resource, check->object, garbage_orphan_patch(arena, json, lost));
    }
    on_garbage_acted(check, NULL, NULL);
}

static const struct kube_kind *garbage_resource_of(struct check *check, const struct json *owner)
{
    return registry_find_kind(hub_registry(check->garbage->hub),
                              json_get_string(owner, "apiVersion", ""),
                              json_get_string(owner, "kind", ""));
}

static void ask_next(struct check *check);

static void owner_answered(void *context, struct json *object, const struct err *err)
{
    struct check *check = context;
    const struct json *owner = json_element(owners_of(check->object->json), check->next);
    if (err && err->code != ERR_NOT_FOUND) {
        check->failed = true;
        check_end(check);
        return;
    }
    bool same = object && str_eq(kube_meta_uid(object), json_get_string(owner, "uid", ""));
    check->owners[check->next++] = same ? OWNER_SOLID : OWNER_GONE;
    ask_next(check);
}

/* Records an event about an owner reference that names an owner in the wrong namespace. */
static void report_wrong_namespace(struct check *check, const struct json *owner, const char *where)
{
    kube_event(hub_client(check->garbage->hub), check->object->json, "garbage-collector-controller",
               "Warning", "OwnerRefInvalidNamespace",
               "the owner %s '%s' %s: an owner must be in the namespace of its dependents",
               json_get_string(owner, "kind", ""), json_get_string(owner, "name", ""), where);
}

/* Returns the state of an owner as the informers show it. OWNER_GONE only means that no informer
 * has the owner in the object's namespace; the caller then asks the API. */
static enum garbage_owner known_state(struct check *check, const struct json *owner,
                                      const struct kube_kind *kind)
{
    const struct kube_kind *resource;
    const char *uid = json_get_string(owner, "uid", "");
    const char *key = map_get(&check->garbage->keys, uid);
    const struct kube_object *object = key ? garbage_find(check->garbage, key, &resource) : NULL;
    const char *namespace_ = check->object->namespace_;
    if (kind->id.namespaced && namespace_[0] == '\0') {
        report_wrong_namespace(check, owner, "is namespaced, but this object is cluster-scoped");
        return OWNER_UNKNOWN; /* the namespace of the owner is unknown */
    }
    if (!object || !str_eq(object->uid, uid))
        return OWNER_GONE;
    if (object->namespace_[0] && !str_eq(object->namespace_, namespace_)) {
        _cleanup_free_ char *where =
            mem_printf("is in namespace '%s', not in '%s'", object->namespace_, namespace_);
        report_wrong_namespace(check, owner, where);
        return OWNER_GONE;
    }
    if (garbage_duty_of(object->json) == DUTY_DELETE_DEPENDENTS &&
        json_get_bool(owner, "blockOwnerDeletion", false))
        return OWNER_WAITING;
    return OWNER_SOLID;
}

static void ask_next(struct check *check)
{
    for (; check->next < check->count; check->next++) {
        const struct json *owner = json_element(owners_of(check->object->json), check->next);
        const struct kube_kind *resource = garbage_resource_of(check, owner);
        enum garbage_owner state = resource ? known_state(check, owner, resource) : OWNER_UNKNOWN;
        check->owners[check->next] = state;
        if (state == OWNER_GONE) {
            const char *namespace_ = resource->id.namespaced ? check->object->namespace_ : NULL;
            kube_get(hub_client(check->garbage->hub), &resource->id, namespace_,
                     json_get_string(owner, "name", ""), owner_answered, check);
            return;
        }
    }
    garbage_conclude(check);
}

/* ---- Owners that wait ------------------------------------------------------------------------ */

/* Returns whether the foreground deletion of `from` waits for the object with the uid `target`,
 * directly or through other objects. */
static bool waits_for(struct garbage *garbage, const struct kube_object *from, const char *target)
{
    VEC(const struct kube_object *) open = {0};
    struct map seen;
    bool found = false;
    map_init(&seen);
    vec_push(&open, from);
    while (open.count > 0 && !found) {
        const struct kube_object *owner = open.items[--open.count];
        if (garbage_duty_of(owner->json) != DUTY_DELETE_DEPENDENTS)
            continue;
        const struct dependents *dependents = map_get(&garbage->dependents, owner->uid);
        for (size_t i = 0; dependents && i < dependents->keys.count && !found; i++) {
            const struct kube_kind *resource;
            struct kube_object *dependent =
                garbage_find(garbage, dependents->keys.items[i], &resource);
            if (!dependent || !garbage_blocks(dependent->json, owner->uid))
                continue;
            found = str_eq(dependent->uid, target);
            if (!map_put(&seen, dependent->uid, dependent))
                vec_push(&open, dependent);
        }
    }
    vec_release(&open);
    map_release(&seen);
    return found;
}

/* Queues the dependents that are not being deleted, so that each of them is checked. Returns
 * whether a dependent blocks the deletion of this owner. A dependent whose own deletion waits for
 * this owner does not block it; otherwise both would wait forever. */
static bool garbage_check_dependents(struct check *check)
{
    const struct dependents *dependents = map_get(&check->garbage->dependents, check->object->uid);
    bool any = false;
    for (size_t i = 0; dependents && i < dependents->keys.count; i++) {
        const struct kube_kind *resource;
        const char *key = dependents->keys.items[i];
        const struct kube_object *dependent = garbage_find(check->garbage, key, &resource);
        if (!dependent)
            continue;
        any = any || (garbage_blocks(dependent->json, check->object->uid) &&
                      !waits_for(check->garbage, dependent, check->object->uid));
        if (!kube_meta_is_deleting(dependent->json))
            workqueue_add(check->garbage->queue, key);
    }
    return any;
}

/* Removes this owner from every dependent. Returns true if there was a dependent. */
static bool orphan_dependents(struct check *check)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct dependents *dependents = map_get(&check->garbage->dependents, check->object->uid);
    bool any = false;
    for (size_t i = 0; dependents && i < dependents->keys.count; i++) {
        const struct kube_kind *resource;
        const struct kube_object *dependent =
            garbage_find(check->garbage, dependents->keys.items[i], &resource);
        if (!dependent)
            continue;
        any = true;
        act_patch(check, resource, dependent,
                  garbage_orphan_patch(arena, dependent->json, check->object->uid));
    }
    return any;
}

static void garbage_do_duty(struct check *check, enum garbage_duty duty)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *finalizer = duty == DUTY_ORPHAN_DEPENDENTS ? "orphan" : "foregroundDeletion";
    check->waiting++;
    bool blocked =
        duty == DUTY_ORPHAN_DEPENDENTS ? orphan_dependents(check) : garbage_check_dependents(check);
    if (blocked && duty == DUTY_ORPHAN_DEPENDENTS)
        /* When the informers show the dependents without this owner, the finalizer is removed. */
        workqueue_add_after(check->garbage->queue, check->key, UNSYNCED_MS);
    if (!blocked)
        act_patch(check, check->resource, check->object,
                  garbage_finalizer_patch(arena, check->object->json, finalizer));
    on_garbage_acted(check, NULL, NULL);
}

static void garbage_controller_work(void *context, const char *key)
{
    struct garbage *garbage = context;
    const struct kube_kind *resource;
    struct kube_object *object = garbage_find(garbage, key, &resource);
    enum garbage_duty duty = object ? garbage_duty_of(object->json) : DUTY_NONE;
    if (!object || (duty == DUTY_NONE && json_count(owners_of(object->json)) == 0)) {
        workqueue_done(garbage->queue, key, false);
        return;
    }
    if (!hub_synced(garbage->hub)) {
        workqueue_defer(garbage->queue, key, UNSYNCED_MS);
        return;
    }
    struct check *check = mem_zalloc(sizeof(*check));
    hub_task_begin(garbage->hub, &check->task, check_release);
    check->garbage = garbage;
    check->key = mem_strdup(key);
    check->object = kube_object_ref(object);
    check->resource = registry_ref(resource);
    check->count = json_count(owners_of(object->json));
    if (duty != DUTY_NONE)
        garbage_do_duty(check, duty);
    else if (check->count > OWNERS_MAX)
        check_end(check); /* an object with so many owners is never collected */
    else
        ask_next(check);
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

static void *garbage_controller_start(struct hub *hub)
{
    struct garbage *garbage = mem_zalloc(sizeof(*garbage));
    garbage->hub = hub;
    garbage->queue = workqueue_new(hub_loop(hub), PARALLEL, garbage_controller_work, garbage);
    map_init(&garbage->keys);
    map_init(&garbage->dependents);
    return garbage;
}

static void garbage_controller_stop(void *self)
{
    struct garbage *garbage = self;
    const char *key;
    void *value;
    workqueue_free(garbage->queue);
    for (size_t at = 0; map_next(&garbage->keys, &at, &key, &value);)
        free(value);
    for (size_t at = 0; map_next(&garbage->dependents, &at, &key, &value);)
        dependents_free(value);
    map_release(&garbage->keys);
    map_release(&garbage->dependents);
    free(garbage);
}

const struct controller GARBAGE_CONTROLLER = {
    .start = garbage_controller_start,
    .stop = garbage_controller_stop,
    .other_changed = on_garbage_changed,
};
