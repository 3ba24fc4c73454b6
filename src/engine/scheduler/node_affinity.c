/* See node_affinity.h. */
#include "engine/scheduler/node_affinity.h"

#include "base/buf.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <string.h>

enum { LACKS_MAX = 512 };

/* Adds only the beginning of a requirement, because a requirement may list a thousand values. */
static void add_lack(struct buf *lacks, const char *separator, const char *text)
{
    buf_printf(lacks, "%s%.200s%s", lacks->size ? separator : "", text,
               strlen(text) > 200 ? "…" : "");
}

/* Checks the pod's nodeSelector, and adds the missing labels to `lacks`. */
static bool matches_node_selector(struct arena *arena, const struct json *pod,
                                  const struct json *node, struct buf *lacks)
{
    bool matches = true;
    JSON_EACH (wanted, json_at(pod, "spec", "nodeSelector", NULL)) {
        const char *has = kube_meta_label(node, wanted->name);
        if (has && str_eq(has, json_text(wanted)))
            continue;
        matches = false;
        if (lacks)
            add_lack(lacks, ", ", arena_printf(arena, "%s=%s", wanted->name, json_text(wanted)));
    }
    return matches;
}

/* Whether all expressions match. The first expression that does not match is added to `lacks`. */
static bool node_affinity_term_matches(struct arena *arena, const struct json *expressions,
                                       const struct json *labels, struct buf *lacks)
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
        if (lacks)
            add_lack(lacks, " or ", kube_selector_text(arena, &one));
        return false;
    }
    return !selector.nothing;
}

/* matchFields has one field, the name of the node, which is matched like a label. An empty term
 * matches nothing. */
static bool matches_term(struct arena *arena, const struct json *term, const struct json *node,
                         struct buf *lacks)
{
    const struct json *expressions = json_get(term, "matchExpressions");
    const struct json *fields = json_get(term, "matchFields");
    if (json_count(expressions) + json_count(fields) == 0)
        return false;
    struct json *as_labels = json_object(arena);
    json_set_string(arena, as_labels, "metadata.name", kube_meta_name(node));
    return node_affinity_term_matches(arena, expressions, kube_meta_labels(node), lacks) &&
           node_affinity_term_matches(arena, fields, as_labels, lacks);
}

static const struct json *affinity_of(const struct json *pod)
{
    return json_at(pod, "spec", "affinity", "nodeAffinity", NULL);
}

/* Whether one of the terms matches. */
static bool matches_terms(struct arena *arena, const struct json *pod, const struct json *node,
                          struct buf *lacks)
{
    const struct json *required =
        json_get(affinity_of(pod), "requiredDuringSchedulingIgnoredDuringExecution");
    if (!required || required->type != JSON_OBJECT)
        return true;
    JSON_EACH (term, json_get(required, "nodeSelectorTerms")) {
        if (matches_term(arena, term, node, lacks))
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
    _cleanup_buf_ struct buf lacks;
    buf_init(&lacks, LACKS_MAX);
    if (matches_node_selector(arena, pod, node, &lacks))
        matches_terms(arena, pod, node, &lacks);
    return arena_printf(arena, "%s%s", lacks.data, lacks.overflowed ? " …" : "");
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
