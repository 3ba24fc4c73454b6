/* Finds the type of a patch, and applies the merge patch of RFC 7386; see patch.h. Each other patch
 * type has its own file. */
#include "kube/patch/patch.h"

#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/patch/patch_internal.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *media_type;
    enum kube_patch_type type;
} TYPES[] = {
    {"application/json-patch+json", KUBE_PATCH_JSON},
    {"application/merge-patch+json", KUBE_PATCH_MERGE},
    {"application/strategic-merge-patch+json", KUBE_PATCH_STRATEGIC},
};

int kube_patch_type_parse(const char *content_type, enum kube_patch_type *ret, struct err *err)
{
    content_type = content_type ? content_type : "";
    size_t size = strcspn(content_type, "; \t");
    for (size_t i = 0; i < ARRAY_SIZE(TYPES); i++) {
        if (strlen(TYPES[i].media_type) == size &&
            strncasecmp(TYPES[i].media_type, content_type, size) == 0) {
            *ret = TYPES[i].type;
            return 0;
        }
    }
    return err_set(err, ERR_MEDIA_TYPE,
                   "the body of the request was in an unknown format - accepted media types "
                   "include: application/json-patch+json, application/merge-patch+json, "
                   "application/strategic-merge-patch+json, application/apply-patch+yaml");
}

void patch_drop_nulls(struct json *object, const struct json *patch)
{
    _cleanup_json_names_ struct json_names names = {0};
    struct json **link = &object->first, *last = NULL;
    for (struct json *member = object->first; member; member = member->next) {
        const struct json *change = json_names_find(&names, patch, member->name);
        if (change && change->type == JSON_NULL) {
            object->count--;
            continue;
        }
        *link = last = member;
        link = &member->next;
    }
    *link = NULL;
    object->last = last;
}

void patch_assign(struct json *place, const struct json *value)
{
    const char *name = place->name;
    struct json *next = place->next;
    *place = *value;
    place->name = name;
    place->next = next;
}

/* Merges `patch` into `target` and changes `target`. `target` may be NULL. The caller must replace
 * `target` by the returned value. */
static struct json *merge_into(struct arena *arena, struct json *target, const struct json *patch)
{
    if (patch->type != JSON_OBJECT)
        return json_clone(arena, patch);
    if (!target || target->type != JSON_OBJECT)
        target = json_object(arena);
    patch_drop_nulls(target, patch);
    _cleanup_json_names_ struct json_names names = {0};
    JSON_EACH (member, patch) {
        if (member->type == JSON_NULL)
            continue;
        struct json *live = json_names_find(&names, target, member->name);
        struct json *merged = merge_into(arena, live, member);
        if (live) {
            patch_assign(live, merged);
            continue;
        }
        merged->name = arena_strdup(arena, member->name);
        json_names_add(&names, target, merged, strlen(merged->name));
        json_list_append(target, merged);
    }
    return target;
}

struct json *kube_patch_merge(struct arena *arena, const struct json *current,
                              const struct json *patch)
{
    return merge_into(arena, json_clone(arena, current), patch);
}

int kube_patch_apply(struct arena *arena, enum kube_patch_type type, const struct json *current,
                     const struct json *patch, const struct schema_object *schema,
                     struct json **ret, struct err *err)
{
    struct json *result = NULL;
    int code = 0;
    switch (type) {
    case KUBE_PATCH_JSON:
        code = kube_patch_json(arena, current, patch, &result, err);
        break;
    case KUBE_PATCH_MERGE:
        if (patch->type != JSON_OBJECT)
            return err_set(err, ERR_BAD_REQUEST, "a merge patch must be an object, not %s",
                           json_type_name(patch->type));
        result = kube_patch_merge(arena, current, patch);
        break;
    case KUBE_PATCH_STRATEGIC:
        code = kube_patch_strategic(arena, current, patch, schema, &result, err);
        break;
    }
    if (code < 0)
        return code;
    if (result->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "the patch would replace the object with %s",
                       json_type_name(result->type));
    *ret = result;
    return 0;
}
