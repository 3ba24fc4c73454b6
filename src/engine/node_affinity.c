/* Nodes by their labels; see node_affinity.h. */
#include "engine/node_affinity.h"

#include "base/str.h"
#include "kube/object.h"
#include "kube/selector.h"

static bool matches_node_selector(const struct json *pod, const struct json *node)
{
    JSON_EACH (wanted, json_at(pod, "spec", "nodeSelector", NULL)) {
        const char *has = kube_meta_label(node, wanted->name);
        if (!has || !str_eq(has, json_text(wanted)))
            return false;
    }
    return true;
}

static bool matches(struct arena *arena, const struct json *expressions, const struct json *labels)
{
    struct kube_selector selector;
    return json_count(expressions) == 0 ||
           (kube_selector_from_expressions(arena, expressions, &selector, NULL) == 0 &&
            kube_selector_matches(&selector, labels));
}

/* matchFields know one field, the node's name; it is matched as if it were a label. A term that
 * says nothing matches nothing. */
static bool matches_term(struct arena *arena, const struct json *term, const struct json *node)
{
    const struct json *expressions = json_get(term, "matchExpressions");
    const struct json *fields = json_get(term, "matchFields");
    if (json_count(expressions) + json_count(fields) == 0)
        return false;
    struct json *as_labels = json_object(arena);
    json_set_string(arena, as_labels, "metadata.name", kube_meta_name(node));
    return matches(arena, expressions, kube_meta_labels(node)) && matches(arena, fields, as_labels);
}

static const struct json *affinity_of(const struct json *pod)
{
    return json_at(pod, "spec", "affinity", "nodeAffinity", NULL);
}

/* One of the terms must hold. */
bool node_affinity_suits(struct arena *arena, const struct json *pod, const struct json *node)
{
    const struct json *required =
        json_get(affinity_of(pod), "requiredDuringSchedulingIgnoredDuringExecution");
    if (!matches_node_selector(pod, node))
        return false;
    if (!required || required->type != JSON_OBJECT)
        return true;
    JSON_EACH (term, json_get(required, "nodeSelectorTerms")) {
        if (matches_term(arena, term, node))
            return true;
    }
    return false;
}

int64_t node_affinity_liking(struct arena *arena, const struct json *pod, const struct json *node)
{
    int64_t sum = 0;
    JSON_EACH (preference,
               json_get(affinity_of(pod), "preferredDuringSchedulingIgnoredDuringExecution")) {
        if (matches_term(arena, json_get(preference, "preference"), node))
            sum += json_get_int(preference, "weight", 0);
    }
    return sum;
}
