/* Counts references to objects, and shares memory between similar objects; see shared_object.h. A
 * base object has no base itself. It is kept as long as another object uses parts of it. */
#include "kube/client/shared_object.h"

#include "base/hash.h"
#include "base/mem.h"
#include "kube/object.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns an estimate of the size of a copy that shares nothing. The estimate decides whether
 * sharing saves memory. */
static size_t object_estimate_size(const struct json *json)
{
    size_t size = sizeof(*json) + (json->name ? strlen(json->name) + 1 : 0);
    if (json->type == JSON_STRING || json->type == JSON_REAL)
        return size + json->size + 1;
    JSON_EACH (item, json)
        size += object_estimate_size(item);
    return size;
}

/* Returns the number of bytes of a copy that shares parts with `base`; NULL: with nothing. */
static size_t object_copy_size(const struct json *json, const struct kube_object *base)
{
    _cleanup_(cleanup_arena) struct arena *draft = arena_new();
    json_clone_beside(draft, json, base ? base->json : NULL);
    return arena_used(draft);
}

struct kube_object *kube_object_adopt(struct arena *arena, struct json *json)
{
    struct kube_object *object = mem_zalloc(sizeof(*object));
    object->references = 1;
    object->arena = arena;
    object->json = json;
    object->namespace_ = kube_meta_namespace(object->json);
    object->name = kube_meta_name(object->json);
    object->uid = kube_meta_uid(object->json);
    return object;
}

/* Each object gets exactly the memory that it needs, because thousands of objects are kept for a
 * long time. */
static struct kube_object *object_new(const struct json *json, struct kube_object *base,
                                      size_t size)
{
    struct arena *arena = arena_new_sized(size);
    struct kube_object *object =
        kube_object_adopt(arena, json_clone_beside(arena, json, base ? base->json : NULL));
    object->base = base ? kube_object_ref(base) : NULL;
    return object;
}

struct kube_object *kube_object_new(const struct json *json)
{
    return object_new(json, NULL, object_copy_size(json, NULL));
}

struct kube_object *kube_object_ref(struct kube_object *object)
{
    object->references++;
    return object;
}

void kube_object_unref(struct kube_object *object)
{
    if (!object || --object->references > 0)
        return;
    arena_free(object->arena);
    kube_object_unref(object->base);
    free(object);
}

/* ---- Families -------------------------------------------------------------------------------- */

/* Returns the slot of the object's family. */
static struct kube_object **family_of(struct kube_object_families *families,
                                      const struct json *json)
{
    const char *namespace_ = kube_meta_namespace(json), *name = kube_meta_name(json);
    const char *dash = strrchr(name, '-');
    uint64_t hash = hash_fnv1a(HASH_FNV_START, namespace_, strlen(namespace_) + 1);
    hash = hash_fnv1a(hash, name, dash ? (size_t)(dash - name) : strlen(name));
    hash = hash_fnv1a(hash, &(size_t){json_count(json_get(json, "status"))}, sizeof(size_t));
    return &families->bases[hash % KUBE_OBJECT_FAMILIES_MAX];
}

struct kube_object *kube_object_families_add(struct kube_object_families *families,
                                             const struct json *json)
{
    struct kube_object **base = family_of(families, json);
    size_t beside = *base ? object_copy_size(json, *base) : SIZE_MAX;
    if (beside <= object_estimate_size(json) / 2)
        return object_new(json, *base, beside);
    struct kube_object *object = kube_object_new(json);
    kube_object_unref(*base);
    *base = kube_object_ref(object);
    return object;
}

void kube_object_families_drop_unused(struct kube_object_families *families)
{
    for (size_t i = 0; i < KUBE_OBJECT_FAMILIES_MAX; i++) {
        struct kube_object **base = &families->bases[i];
        if (*base && (*base)->references == 1) {
            kube_object_unref(*base);
            *base = NULL;
        }
    }
}

void kube_object_families_release(struct kube_object_families *families)
{
    for (size_t i = 0; i < KUBE_OBJECT_FAMILIES_MAX; i++)
        kube_object_unref(families->bases[i]);
    *families = (struct kube_object_families){0};
}
