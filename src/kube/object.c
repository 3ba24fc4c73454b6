/* Reads and edits the metadata of objects; see object.h. */
#include "kube/object.h"

#include "base/moment.h"
#include "base/str.h"

static const struct json *meta_of(const struct json *object)
{
    return json_get(object, "metadata");
}

const char *kube_meta_name(const struct json *object)
{
    return json_get_string(meta_of(object), "name", "");
}

const char *kube_meta_namespace(const struct json *object)
{
    return json_get_string(meta_of(object), "namespace", "");
}

const char *kube_meta_uid(const struct json *object)
{
    return json_get_string(meta_of(object), "uid", "");
}

const char *kube_meta_resource_version(const struct json *object)
{
    return json_get_string(meta_of(object), "resourceVersion", "");
}

int64_t kube_meta_generation(const struct json *object)
{
    return json_get_int(meta_of(object), "generation", 0);
}

static int64_t meta_moment(const struct json *object, const char *name)
{
    const char *text = json_get_string(meta_of(object), name, NULL);
    int64_t wall_ms = 0;
    if (!text || moment_parse(text, &wall_ms, NULL) < 0)
        return 0;
    return wall_ms;
}

int64_t kube_meta_created_ms(const struct json *object)
{
    return meta_moment(object, "creationTimestamp");
}

int64_t kube_meta_deleting_ms(const struct json *object)
{
    return meta_moment(object, "deletionTimestamp");
}

bool kube_meta_is_deleting(const struct json *object)
{
    return !str_is_empty(json_get_string(meta_of(object), "deletionTimestamp", NULL));
}

const struct json *kube_meta_labels(const struct json *object)
{
    return json_get(meta_of(object), "labels");
}

const char *kube_meta_label(const struct json *object, const char *key)
{
    return json_get_string(kube_meta_labels(object), key, NULL);
}

const char *kube_meta_annotation(const struct json *object, const char *key)
{
    return json_get_string(json_get(meta_of(object), "annotations"), key, NULL);
}

static struct json *ensure_meta(struct arena *arena, struct json *object)
{
    return json_ensure_object(arena, object, "metadata");
}

static void set_or_remove(struct arena *arena, struct json *object, const char *name,
                          const char *value)
{
    if (value)
        json_set_string(arena, object, name, value);
    else
        json_remove(object, name);
}

void kube_meta_set_name(struct arena *arena, struct json *object, const char *name)
{
    set_or_remove(arena, ensure_meta(arena, object), "name", name);
}

void kube_meta_set_namespace(struct arena *arena, struct json *object, const char *namespace_)
{
    set_or_remove(arena, ensure_meta(arena, object), "namespace", namespace_);
}

/* Removing the last entry also removes the map. So an object whose labels were all removed equals
 * an object that never had labels. */
static void set_entry(struct arena *arena, struct json *object, const char *map_name,
                      const char *key, const char *value)
{
    struct json *meta = ensure_meta(arena, object);
    if (!value && !json_get(meta, map_name))
        return;
    struct json *map = json_ensure_object(arena, meta, map_name);
    set_or_remove(arena, map, key, value);
    if (json_count(map) == 0)
        json_remove(meta, map_name);
}

void kube_meta_set_label(struct arena *arena, struct json *object, const char *key,
                         const char *value)
{
    set_entry(arena, object, "labels", key, value);
}

void kube_meta_set_annotation(struct arena *arena, struct json *object, const char *key,
                              const char *value)
{
    set_entry(arena, object, "annotations", key, value);
}

static struct json *find_finalizer(const struct json *object, const char *finalizer)
{
    JSON_EACH (item, json_get(meta_of(object), "finalizers"))
        if (str_eq(json_text(item), finalizer))
            return item;
    return NULL;
}

bool kube_meta_has_finalizer(const struct json *object, const char *finalizer)
{
    return find_finalizer(object, finalizer) != NULL;
}

void kube_meta_add_finalizer(struct arena *arena, struct json *object, const char *finalizer)
{
    if (find_finalizer(object, finalizer))
        return;
    struct json *list = json_ensure_array(arena, ensure_meta(arena, object), "finalizers");
    json_append(list, json_string(arena, finalizer));
}

bool kube_meta_remove_finalizer(struct json *object, const char *finalizer)
{
    struct json *found = find_finalizer(object, finalizer);
    if (!found)
        return false;
    struct json *meta = json_get(object, "metadata");
    struct json *list = json_get(meta, "finalizers");
    json_remove_element(list, found);
    if (json_count(list) == 0)
        json_remove(meta, "finalizers");
    return true;
}

const struct json *kube_meta_controller(const struct json *object)
{
    JSON_EACH (reference, json_get(meta_of(object), "ownerReferences"))
        if (json_get_bool(reference, "controller", false))
            return reference;
    return NULL;
}

bool kube_meta_is_controlled_by(const struct json *object, const char *uid)
{
    const struct json *controller = kube_meta_controller(object);
    return controller && str_eq(json_get_string(controller, "uid", NULL), uid);
}

bool kube_meta_is_owned_by(const struct json *object, const char *uid)
{
    JSON_EACH (reference, json_get(meta_of(object), "ownerReferences"))
        if (str_eq(json_get_string(reference, "uid", NULL), uid))
            return true;
    return false;
}

struct json *kube_owner_reference_new(struct arena *arena, const struct json *owner,
                                      bool controller)
{
    struct json *reference = json_object(arena);
    json_set_string(arena, reference, "apiVersion", json_get_string(owner, "apiVersion", ""));
    json_set_string(arena, reference, "kind", json_get_string(owner, "kind", ""));
    json_set_string(arena, reference, "name", kube_meta_name(owner));
    json_set_string(arena, reference, "uid", kube_meta_uid(owner));
    if (controller) {
        json_set_bool(arena, reference, "controller", true);
        json_set_bool(arena, reference, "blockOwnerDeletion", true);
    }
    return reference;
}

void kube_meta_add_owner(struct arena *arena, struct json *object, struct json *reference)
{
    struct json *list = json_ensure_array(arena, ensure_meta(arena, object), "ownerReferences");
    const char *uid = json_get_string(reference, "uid", "");
    JSON_EACH (item, list) {
        if (str_eq(json_get_string(item, "uid", NULL), uid)) {
            json_remove_element(list, item);
            break;
        }
    }
    json_append(list, reference);
}

struct json *kube_object_make(struct arena *arena, const struct kube_resource *resource,
                              const char *namespace_, const char *name)
{
    struct json *object = json_object(arena);
    json_set_string(arena, object, "apiVersion", kube_resource_api_version(arena, resource));
    json_set_string(arena, object, "kind", resource->kind);
    struct json *meta = json_ensure_object(arena, object, "metadata");
    json_set_string(arena, meta, "name", name);
    if (!str_is_empty(namespace_))
        json_set_string(arena, meta, "namespace", namespace_);
    return object;
}

/* Puts a member in front. json_set() appends it, but readers expect apiVersion and kind in
 * front. */
static void set_first(struct arena *arena, struct json *object, const char *name, const char *text)
{
    json_remove(object, name);
    struct json *value = json_set(arena, object, name, json_string(arena, text));
    if (object->first == value)
        return;
    struct json *before = object->first;
    while (before->next != value)
        before = before->next;
    before->next = NULL;
    object->last = before;
    value->next = object->first;
    object->first = value;
}

void kube_object_set_kind(struct arena *arena, struct json *object,
                          const struct kube_resource *resource)
{
    if (str_is_empty(json_get_string(object, "kind", NULL)))
        set_first(arena, object, "kind", resource->kind);
    if (str_is_empty(json_get_string(object, "apiVersion", NULL)))
        set_first(arena, object, "apiVersion", kube_resource_api_version(arena, resource));
}
