/* Evaluates nodeSelector and nodeAffinity; see node_affinity.h. */
#include "engine/scheduler/node_affinity.h"

#include "base/buf.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <string.h>

enum { MISSING_MAX = 512 };

/* Adds a requirement to `missing`: only its beginning, because a requirement may list a thousand
 * values. */
static void add_missing(struct buf *missing, const char *separator, const char *text)
{
    buf_printf(missing, "%s%.200s%s", missing->size ? separator : "", text,
               strlen(text) > 200 ? "…" : "");
}

/* Returns whether the node has all labels of the pod's nodeSelector. Adds the missing labels to
 * `missing`, which may be NULL. */
static bool matches_node_selector(struct arena *arena, const struct json *pod,
                                  const struct json *node, struct buf *missing)
{
    bool matches = true;
    JSON_EACH (wanted, json_at(pod, "spec", "nodeSelector", NULL)) {
        const char *has = kube_meta_label(node, wanted->name);
        if (has && str_eq(has, json_text(wanted)))
            continue;
        matches = false;
        if (missing)
            add_missing(missing, ", ",
                        arena_printf(arena, "%s=%s", wanted->name, json_text(wanted)));
    }
    return matches;
}

/* Returns whether all expressions match. Adds the first expression that does not match to
 * `missing`, which may be NULL. */
static bool node_affinity_term_matches(struct arena *arena, const struct json *expressions,
                                       const struct json *labels, struct buf *missing)
{
    struct kube_selector selector;
    if (json_count(expressions) == 0)
        return true;
    if (kube_selector_from_expressions(arena, expressions, &selector, NULL) < 0)
        return false;
    for (size_t i = 0; i < selector.count; i++) {
        const struct kube_selector one = {.terms = &selector.terms[i], .count = 1};
        if (kube_selector_matches(&one, labels))
            continue;
        if (missing)
            add_missing(missing, " or ", kube_selector_text(arena, &one));
        return false;
    }
    return !selector.nothing;
}

/* Returns whether a term of nodeAffinity matches the node. matchFields has one field, the name of
 * the node, which is matched like a label. An empty term matches nothing. */
static bool matches_term(struct arena *arena, const struct json *term, const struct json *node,
                         struct buf *missing)
{
    const struct json *expressions = json_get(term, "matchExpressions");
    const struct json *fields = json_get(term, "matchFields");
    if (json_count(expressions) + json_count(fields) == 0)
        return false;
    struct json *as_labels = json_object(arena);
    json_set_string(arena, as_labels, "metadata.name", kube_meta_name(node));
    return node_affinity_term_matches(arena, expressions, kube_meta_labels(node), missing) &&
           node_affinity_term_matches(arena, fields, as_labels, missing);
}

static const struct json *affinity_of(const struct json *pod)
{
    return json_at(pod, "spec", "affinity", "nodeAffinity", NULL);
}

/* Returns whether the pod requires no node affinity, or one of its required terms matches the node.
 */
static bool matches_terms(struct arena *arena, const struct json *pod, const struct json *node,
                          struct buf *missing)
{
    const struct json *required =
        json_get(affinity_of(pod), "requiredDuringSchedulingIgnoredDuringExecution");
    if (!required || required->type != JSON_OBJECT)
        return true;
    JSON_EACH (term, json_get(required, "nodeSelectorTerms")) {
        if (matches_term(arena, term, node, missing))
            return true;
    }
    return false;
}

bool node_affinity_matches(struct arena *arena, const struct json *pod, const struct json *node)
{
    return matches_node_selector(arena, pod, node, NULL) && matches_terms(arena, pod, node, NULL);
}

const char *node_affinity_missing(struct arena *arena, const struct json *pod,
                                  const struct json *node)
{
    _cleanup_buf_ struct buf missing;
    buf_init(&missing, MISSING_MAX);
    if (matches_node_selector(arena, pod, node, &missing))
        matches_terms(arena, pod, node, &missing);
    return arena_printf(arena, "%s%s", missing.data, missing.overflowed ? " …" : "");
}

int64_t node_affinity_score(struct arena *arena, const struct json *pod, const struct json *node)
{
    int64_t sum = 0;
    JSON_EACH (preference,
               json_get(affinity_of(pod), "preferredDuringSchedulingIgnoredDuringExecution")) {
        if (matches_term(arena, json_get(preference, "preference"), node, NULL))
            sum += json_get_int(preference, "weight", 0);
    }
    return sum;
}
