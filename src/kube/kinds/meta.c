/* Sets the metadata fields that only the server may set; see meta.h. meta_validate.c validates
 * metadata. */
#include "kube/kinds/meta.h"

#include "base/moment.h"
#include "base/rand.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdio.h>
#include <string.h>

void meta_set_time(struct arena *arena, struct json *object, const char *name, int64_t wall_ms)
{
    char text[MOMENT_TEXT_MAX];
    moment_format(wall_ms, text);
    json_set_string(arena, object, name, text);
}

/* Removes selfLink and the fields of a deletion, which clients may not set. managedFields stays,
 * because api_track_fields() handles it. */
static void drop_server_fields(struct json *meta)
{
    json_remove(meta, "selfLink");
    json_remove(meta, "deletionTimestamp");
    json_remove(meta, "deletionGracePeriodSeconds");
}

void meta_prepare_create(struct arena *arena, const struct kube_kind *resource, struct json *object,
                         int64_t now_ms)
{
    struct json *meta = json_ensure_object(arena, object, "metadata");
    drop_server_fields(meta);
    json_remove(meta, "resourceVersion");
    json_remove(meta, "generation");
    char uid[37];
    rand_uuid(uid);
    json_set_string(arena, meta, "uid", uid);
    if (resource->generation)
        json_set_int(arena, meta, "generation", 1);
    meta_set_time(arena, meta, "creationTimestamp", now_ms);
}

/* Returns whether a member of `a` is missing or different in `b`, except for metadata and, unless
 * `with_status` is set, status. */
static bool changed_outside_metadata(const struct json *a, const struct json *b, bool with_status)
{
    JSON_EACH (member, a) {
        if (!str_eq(member->name, "metadata") && (with_status || !str_eq(member->name, "status")) &&
            !json_equal(member, json_get(b, member->name)))
            return true;
    }
    return false;
}

void meta_prepare_update(struct arena *arena, const struct kube_kind *resource, struct json *object,
                         const struct json *old)
{
    static const char *const kept[] = {"uid",
                                       "creationTimestamp",
                                       "deletionTimestamp",
                                       "deletionGracePeriodSeconds",
                                       "generation",
                                       "resourceVersion",
                                       NULL};
    struct json *meta = json_ensure_object(arena, object, "metadata");
    const struct json *old_meta = json_get(old, "metadata");
    drop_server_fields(meta);
    for (size_t i = 0; kept[i]; i++) {
        const struct json *value = json_get(old_meta, kept[i]);
        if (value)
            json_set(arena, meta, kept[i], json_clone(arena, value));
        else
            json_remove(meta, kept[i]);
    }
    /* The status of a custom resource without the status subresource is an ordinary field. */
    bool with_status = resource->definition && !kube_kind_has_status(resource);
    if (resource->generation && (changed_outside_metadata(object, old, with_status) ||
                                 changed_outside_metadata(old, object, with_status)))
        json_set_int(arena, meta, "generation", kube_meta_generation(old) + 1);
}

char *meta_generate_name(struct arena *arena, const char *generate_name)
{
    enum { BASE_MAX = 63 - 5 }; /* so that the name can be a label */
    char suffix[6];
    rand_suffix(suffix);
    return arena_printf(arena, "%.*s%s", BASE_MAX, generate_name, suffix);
}

bool meta_is_finished(const struct json *object)
{
    const struct json *meta = json_get(object, "metadata");
    return kube_meta_is_deleting(object) && json_count(json_get(meta, "finalizers")) == 0 &&
           json_get_int(meta, "deletionGracePeriodSeconds", 0) == 0 &&
           /* a namespace has further finalizers in its spec */
           (!str_eq(json_get_string(object, "kind", ""), "Namespace") ||
            json_count(json_at(object, "spec", "finalizers", NULL)) == 0);
}
