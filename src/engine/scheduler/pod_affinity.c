/* Evaluates the terms of pod affinity and anti-affinity; see pod_affinity.h. A term selects placed
 * pods by label and namespace. It applies to every node of the topology domain in which a selected
 * pod is. */
#include "engine/scheduler/pod_affinity.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/topology.h"
#include "kube/object.h"
#include "kube/selector.h"

static const char REQUIRED[] = "requiredDuringSchedulingIgnoredDuringExecution";
static const char PREFERRED[] = "preferredDuringSchedulingIgnoredDuringExecution";

static const struct json *terms_of(const struct json *pod, const char *affinity, const char *kind)
{
    return json_at(pod, "spec", "affinity", affinity, kind, NULL);
}

bool pod_affinity_is_given(const struct json *pod)
{
    return json_at(pod, "spec", "affinity", "podAffinity", NULL) ||
           json_at(pod, "spec", "affinity", "podAntiAffinity", NULL);
}

/* ---- Terms ----------------------------------------------------------------------------------- */

/* A parsed term of the affinity of a pod. */
struct term {
    const struct json *json;
    const char *pod_namespace; /* the namespace of the pod */
    const char *key;           /* the topologyKey */
    struct kube_selector labels, namespaces;
};

static void term_init(struct arena *arena, const struct json *json, const struct json *owner,
                      struct term *ret)
{
    *ret = (struct term){.json = json,
                         .pod_namespace = kube_meta_namespace(owner),
                         .key = json_get_string(json, "topologyKey", "")};
    topology_selector(arena, json, owner, &ret->labels);
    if (kube_selector_from_json(arena, json_get(json, "namespaceSelector"), &ret->namespaces,
                                NULL) < 0)
        ret->namespaces = (struct kube_selector){.nothing = true};
}

/* Returns whether the term selects pods in the namespace. A term without namespaces and
 * namespaceSelector selects pods in the namespace of its own pod. */
static bool covers_namespace(const struct term *term, const struct scheduler_view *view,
                             const char *namespace_)
{
    const struct json *named = json_get(term->json, "namespaces");
    JSON_EACH (name, named) {
        if (str_eq(json_text(name), namespace_))
            return true;
    }
    if (!term->namespaces.nothing)
        return kube_selector_matches(&term->namespaces, json_get(view->namespaces, namespace_));
    return json_count(named) == 0 && !json_get(term->json, "namespaceSelector") &&
           str_eq(term->pod_namespace, namespace_);
}

static bool term_selects(const struct term *term, const struct scheduler_view *view,
                         const struct json *pod)
{
    return covers_namespace(term, view, kube_meta_namespace(pod)) &&
           kube_selector_matches(&term->labels, kube_meta_labels(pod));
}

/* ---- Required terms -------------------------------------------------------------------------- */

/* Returns whether all terms select the pod. A placed pod counts for the required affinity only if
 * all terms select it. */
static bool all_terms_select(const struct term *terms, size_t count,
                             const struct scheduler_view *view, const struct json *pod)
{
    for (size_t i = 0; i < count; i++)
        if (!term_selects(&terms[i], view, pod))
            return false;
    return true;
}

/* Rejects the nodes on which the required affinity of the pod is not satisfied. If no placed pod
 * satisfies the affinity but the pod itself does, the pod is the first of a set whose pods require
 * each other. It may go to any node that has the topology labels. */
static void reject_missing_affinity(struct arena *arena, const struct json *pod,
                                    const struct scheduler_view *view,
                                    struct scheduler_rejection *rejections)
{
    const struct json *required = terms_of(pod, "podAffinity", REQUIRED);
    size_t count = 0, match_count = 0;
    struct term *terms = ARENA_ARRAY(arena, struct term, json_count(required) + 1);
    bool *has_match = ARENA_ARRAY(arena, bool, (json_count(required) + 1) * (view->count + 1));
    JSON_EACH (term, required)
        term_init(arena, term, pod, &terms[count++]);
    size_t **domains = ARENA_ARRAY(arena, size_t *, count + 1);
    for (size_t i = 0; i < count; i++)
        domains[i] = topology_domains(arena, view, terms[i].key);
    for (size_t at = 0; at < view->pod_count && count; at++) {
        const struct scheduler_placed *placed = &view->pods[at];
        if (!all_terms_select(terms, count, view, placed->pod))
            continue;
        match_count++;
        for (size_t i = 0; i < count; i++)
            if (domains[i][placed->node] != TOPOLOGY_NONE)
                has_match[i * view->count + domains[i][placed->node]] = true;
    }
    bool is_first = match_count == 0 && all_terms_select(terms, count, view, pod);
    for (size_t node = 0; node < view->count; node++) {
        bool suits = true;
        for (size_t i = 0; i < count; i++) {
            size_t domain = domains[i][node];
            suits = suits && domain != TOPOLOGY_NONE &&
                    (is_first || has_match[i * view->count + domain]);
        }
        if (!suits && rejections[node].count == 0)
            scheduler_reject(&rejections[node], "node(s) didn't match pod affinity rules", true);
    }
}

/* Rejects every node in the domain of node `where`, on which the placed pod is. */
static void reject_domain(const struct scheduler_view *view, const size_t *domains, size_t where,
                          const char *reason, struct scheduler_rejection *rejections)
{
    for (size_t node = 0; node < view->count && domains[where] != TOPOLOGY_NONE; node++)
        if (domains[node] == domains[where] && rejections[node].count == 0)
            scheduler_reject(&rejections[node], reason, false);
}

static void reject_anti_affinity(struct arena *arena, const struct json *pod,
                                 const struct scheduler_view *view,
                                 struct scheduler_rejection *rejections)
{
    JSON_EACH (json, terms_of(pod, "podAntiAffinity", REQUIRED)) {
        struct term term;
        term_init(arena, json, pod, &term);
        const size_t *domains = topology_domains(arena, view, term.key);
        for (size_t at = 0; at < view->pod_count; at++)
            if (term_selects(&term, view, view->pods[at].pod))
                reject_domain(view, domains, view->pods[at].node,
                              "node(s) didn't match pod anti-affinity rules", rejections);
    }
}

static void reject_existing_anti_affinity(struct arena *arena, const struct json *pod,
                                          const struct scheduler_view *view,
                                          struct scheduler_rejection *rejections)
{
    for (size_t at = 0; at < view->pod_count; at++) {
        const struct scheduler_placed *placed = &view->pods[at];
        JSON_EACH (json, terms_of(placed->pod, "podAntiAffinity", REQUIRED)) {
            struct term term;
            term_init(arena, json, placed->pod, &term);
            if (term_selects(&term, view, pod))
                reject_domain(view, topology_domains(arena, view, term.key), placed->node,
                              "node(s) didn't satisfy existing pods anti-affinity rules",
                              rejections);
        }
    }
}

void pod_affinity_reject(struct arena *arena, const struct json *pod,
                         const struct scheduler_view *view, struct scheduler_rejection *rejections)
{
    reject_missing_affinity(arena, pod, view, rejections);
    reject_anti_affinity(arena, pod, view, rejections);
    reject_existing_anti_affinity(arena, pod, view, rejections);
}

/* ---- Preferred terms ------------------------------------------------------------------------- */

static void add_weight(struct arena *arena, const struct scheduler_view *view, const char *key,
                       size_t where, int64_t weight, int64_t *scores)
{
    const size_t *domains = topology_domains(arena, view, key);
    for (size_t node = 0; node < view->count && domains[where] != TOPOLOGY_NONE; node++)
        if (domains[node] == domains[where])
            scores[node] += weight;
}

/* Adds the weights of the preferred terms of pod `owner` that select pod `other`, and subtracts
 * those of anti-affinity. One of the two pods is placed already, on node `where`; the scores of all
 * nodes in its domain change. */
static void add_preferences(struct arena *arena, const struct scheduler_view *view,
                            const struct json *owner, const struct json *other, size_t where,
                            int64_t *scores)
{
    static const struct {
        const char *affinity;
        int sign;
    } sides[] = {{"podAffinity", 1}, {"podAntiAffinity", -1}};
    for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
        JSON_EACH (preference, terms_of(owner, sides[i].affinity, PREFERRED)) {
            struct term term;
            term_init(arena, json_get(preference, "podAffinityTerm"), owner, &term);
            if (term_selects(&term, view, other))
                add_weight(arena, view, term.key, where,
                           sides[i].sign * json_get_int(preference, "weight", 0), scores);
        }
    }
}

/* The required affinity of a placed pod counts as a weak preference for pods that it selects. */
static void add_requirements(struct arena *arena, const struct scheduler_view *view,
                             const struct scheduler_placed *placed, const struct json *pod,
                             int64_t *scores)
{
    JSON_EACH (json, terms_of(placed->pod, "podAffinity", REQUIRED)) {
        struct term term;
        term_init(arena, json, placed->pod, &term);
        if (term_selects(&term, view, pod))
            add_weight(arena, view, term.key, placed->node, 1, scores);
    }
}

void pod_affinity_score(struct arena *arena, const struct json *pod,
                        const struct scheduler_view *view, int64_t *scores)
{
    for (size_t at = 0; at < view->pod_count; at++) {
        const struct scheduler_placed *placed = &view->pods[at];
        add_preferences(arena, view, pod, placed->pod, placed->node, scores);
        add_preferences(arena, view, placed->pod, pod, placed->node, scores);
        add_requirements(arena, view, placed, pod, scores);
    }
}
