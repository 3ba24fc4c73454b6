/* Reads and updates the annotation in which kubectl's client-side apply keeps the last applied
 * configuration; see apply_internal.h. This lets a user switch between client-side and server-side
 * apply. */
#include "base/str.h"
#include "kube/object.h"
#include "kube/patch/apply_internal.h"
#include "kube/patch/typed.h"

#include <string.h>

static const char ANNOTATION[] = "kubectl.kubernetes.io/last-applied-configuration";

bool apply_last_is_used(const struct managed_write *write)
{
    return str_eq(write->manager, "kubectl");
}

struct fieldset apply_last_allowed(struct arena *arena, const struct managed_write *write,
                                   const struct json *live)
{
    const char *text = kube_meta_annotation(live, ANNOTATION);
    struct json *last;
    if (!text || json_parse(arena, text, strlen(text), NULL, &last, NULL) < 0 ||
        last->type != JSON_OBJECT ||
        !str_eq(json_get_string(last, "apiVersion", ""), write->api_version))
        return (struct fieldset){0};
    struct typed_comparison comparison = typed_compare(arena, write->type, last, live);
    struct fieldset set = typed_fields(arena, write->type, last);
    set = fieldset_difference(arena, set, comparison.modified);
    set = fieldset_difference(arena, set, comparison.added);
    return fieldset_difference(arena, set, comparison.removed);
}

void apply_last_update(struct arena *arena, struct json *object, const struct json *config)
{
    if (str_is_empty(kube_meta_annotation(object, ANNOTATION)))
        return;
    struct json *saved = json_clone(arena, config);
    if (kube_meta_annotation(saved, ANNOTATION))
        kube_meta_set_annotation(arena, saved, ANNOTATION, NULL);
    kube_meta_set_annotation(arena, object, ANNOTATION,
                             arena_printf(arena, "%s\n", json_to_string(arena, saved)));
}
