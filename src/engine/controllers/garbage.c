/* Implements the decisions and patches of the garbage collector; see garbage.h. */
#include "engine/controllers/garbage.h"

#include "base/str.h"
#include "kube/object.h"

bool garbage_is_collectable(const struct json *object, const enum garbage_owner *owners,
                            size_t count)
{
    if (count == 0 || kube_meta_is_deleting(object))
        return false;
    for (size_t i = 0; i < count; i++)
        if (owners[i] == OWNER_UNKNOWN || owners[i] == OWNER_SOLID)
            return false;
    return true;
}

enum garbage_duty garbage_duty_of(const struct json *object)
{
    if (!kube_meta_is_deleting(object))
        return DUTY_NONE;
    if (kube_meta_has_finalizer(object, "orphan"))
        return DUTY_ORPHAN_DEPENDENTS;
    if (kube_meta_has_finalizer(object, "foregroundDeletion"))
        return DUTY_DELETE_DEPENDENTS;
    return DUTY_NONE;
}

bool garbage_blocks(const struct json *dependent, const char *owner_uid)
{
    JSON_EACH (owner, json_at(dependent, "metadata", "ownerReferences", NULL)) {
        if (str_eq(json_get_string(owner, "uid", ""), owner_uid))
            return json_get_bool(owner, "blockOwnerDeletion", false);
    }
    return false;
}

/* Returns a patch that replaces one list in the object's metadata, or removes it if it is empty. */
static struct json *list_patch(struct arena *arena, const struct json *object, const char *name,
                               struct json *list)
{
    struct json *patch = json_object(arena);
    struct json *meta = json_ensure_object(arena, patch, "metadata");
    json_set(arena, meta, name, json_count(list) ? list : json_null(arena));
    json_set_string(arena, meta, "resourceVersion", kube_meta_resource_version(object));
    json_set_string(arena, meta, "uid", kube_meta_uid(object));
    return patch;
}

struct json *garbage_orphan_patch(struct arena *arena, const struct json *dependent,
                                  const char *owner_uid)
{
    struct json *kept = json_array(arena);
    JSON_EACH (owner, json_at(dependent, "metadata", "ownerReferences", NULL)) {
        if (!str_eq(json_get_string(owner, "uid", ""), owner_uid))
            json_append(kept, json_clone(arena, owner));
    }
    return list_patch(arena, dependent, "ownerReferences", kept);
}

struct json *garbage_adopt_patch(struct arena *arena, const struct json *owner,
                                 const struct json *dependent)
{
    const struct json *owners = json_at(dependent, "metadata", "ownerReferences", NULL);
    struct json *list = owners ? json_clone(arena, owners) : json_array(arena);
    json_append(list, kube_owner_reference_new(arena, owner, true));
    return list_patch(arena, dependent, "ownerReferences", list);
}

struct json *garbage_finalizer_patch(struct arena *arena, const struct json *object,
                                     const char *finalizer)
{
    struct json *kept = json_array(arena);
    if (!kube_meta_has_finalizer(object, finalizer))
        return NULL;
    JSON_EACH (item, json_at(object, "metadata", "finalizers", NULL)) {
        if (!str_eq(json_text(item), finalizer))
            json_append(kept, json_clone(arena, item));
    }
    return list_patch(arena, object, "finalizers", kept);
}
