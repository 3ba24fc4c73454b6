/* Counting who shares an object; see shared_object.h. */
#include "kube/shared_object.h"

#include "base/mem.h"
#include "kube/object.h"

#include <stdlib.h>

/* Thousands of these live long: each has memory of exactly its size. */
struct kube_object *kube_object_new(const struct json *json, struct words *words)
{
    _cleanup_(cleanup_arena) struct arena *draft = arena_new();
    struct kube_object *object = mem_zalloc(sizeof(*object));
    json_clone_sharing(draft, json, words);
    object->references = 1;
    object->arena = arena_new_sized(arena_used(draft));
    object->words = words ? words_ref(words) : NULL;
    object->json = json_clone_sharing(object->arena, json, words);
    object->namespace_ = kube_meta_namespace(object->json);
    object->name = kube_meta_name(object->json);
    object->uid = kube_meta_uid(object->json);
    return object;
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
    words_unref(object->words);
    free(object);
}
