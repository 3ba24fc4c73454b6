/* Groups nodes by a label and builds the selectors of terms; see topology.h. */
#include "engine/scheduler/topology.h"

#include "base/str.h"
#include "kube/object.h"
#include "kube/selector.h"

size_t *topology_domains(struct arena *arena, const struct scheduler_view *view, const char *key)
{
    size_t *domains = ARENA_ARRAY(arena, size_t, view->count + 1);
    const char **values = ARENA_ARRAY(arena, const char *, view->count + 1);
    for (size_t i = 0; i < view->count; i++) {
        values[i] = kube_meta_label(view->nodes[i].node, key);
        domains[i] = values[i] ? i : TOPOLOGY_NONE;
        for (size_t first = 0; values[i] && first < i; first++) {
            if (domains[first] == first && str_eq(values[first], values[i])) {
                domains[i] = first;
                break;
            }
        }
    }
    return domains;
}

static void add_keys(struct arena *arena, struct json *expressions, const struct json *keys,
                     const char *operator_, const struct json *owner)
{
    JSON_EACH (key, keys) {
        const char *value = kube_meta_label(owner, json_text(key));
        if (!value)
            continue;
        struct json *expression = json_object(arena);
        json_set_string(arena, expression, "key", json_text(key));
        json_set_string(arena, expression, "operator", operator_);
        json_append(json_ensure_array(arena, expression, "values"), json_string(arena, value));
        json_append(expressions, expression);
    }
}

void topology_selector(struct arena *arena, const struct json *term, const struct json *owner,
                       struct kube_selector *ret)
{
    const struct json *given = json_get(term, "labelSelector");
    const struct json *same = json_get(term, "matchLabelKeys");
    const struct json *other = json_get(term, "mismatchLabelKeys");
    struct json *whole = NULL;
    if (given && given->type == JSON_OBJECT && json_count(same) + json_count(other) > 0) {
        whole = json_clone(arena, given);
        struct json *expressions = json_ensure_array(arena, whole, "matchExpressions");
        add_keys(arena, expressions, same, "In", owner);
        add_keys(arena, expressions, other, "NotIn", owner);
    }
    if (kube_selector_from_json(arena, whole ? whole : given, ret, NULL) < 0)
        *ret = (struct kube_selector){.nothing = true};
}
