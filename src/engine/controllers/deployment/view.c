/* Reads a deployment and its sets, and plans which sets are adopted and released. Pure. */
#include "base/str.h"
#include "engine/controllers/deployment/internal.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <stdlib.h>
#include <string.h>

/* Resolves a number or a percentage of the replicas. A percentage is rounded up if `up` is set,
 * else down. */
static int64_t view_resolve_share(const struct json *value, int64_t replicas, bool up)
{
    const char *text = json_text(value);
    if (!text)
        return value && value->type == JSON_INT ? value->integer : 0;
    int64_t share = atoll(text) * replicas;
    return up ? (share + 99) / 100 : share / 100;
}

static void read_spec(struct deployment_pass *pass)
{
    const struct json *spec = json_get(pass->deployment, "spec");
    const struct json *strategy = json_get(spec, "strategy");
    const struct json *rolling = json_get(strategy, "rollingUpdate");
    pass->rolling = !str_eq(json_get_string(strategy, "type", ""), "Recreate");
    pass->paused = json_get_bool(spec, "paused", false);
    pass->deleting = kube_meta_is_deleting(pass->deployment);
    pass->replicas = json_get_int(spec, "replicas", 1);
    pass->history = json_get_int(spec, "revisionHistoryLimit", 10);
    pass->deadline_s = json_get_int(spec, "progressDeadlineSeconds", 600);
    if (pass->deadline_s == INT32_MAX) /* Kubernetes' value for no deadline */
        pass->deadline_s = -1;
    if (!pass->rolling)
        return;
    pass->max_surge = view_resolve_share(json_get(rolling, "maxSurge"), pass->replicas, true);
    pass->max_unavailable =
        view_resolve_share(json_get(rolling, "maxUnavailable"), pass->replicas, false);
    /* Percentages of few replicas may both resolve to 0. Then no set could ever change its size. */
    if (pass->max_surge == 0 && pass->max_unavailable == 0)
        pass->max_unavailable = 1;
    if (pass->max_unavailable > pass->replicas)
        pass->max_unavailable = pass->replicas;
}

/* Returns the number in an annotation, or -1 if it is missing or invalid. */
static int64_t annotated_number(const struct json *set, const char *key)
{
    const char *text = kube_meta_annotation(set, key);
    int64_t number;
    return text && str_to_int64(text, 0, INT64_MAX, &number, NULL) == 0 ? number : -1;
}

static void read_set(const struct json *json, struct deployment_set *ret)
{
    const struct json *status = json_get(json, "status");
    int64_t revision = annotated_number(json, DEPLOYMENT_REVISION);
    *ret = (struct deployment_set){
        .json = json,
        .name = kube_meta_name(json),
        .uid = kube_meta_uid(json),
        .created_ms = kube_meta_created_ms(json),
        .revision = revision > 0 ? revision : 0,
        .size = json_get_int(json_get(json, "spec"), "replicas", 1),
        .total = json_get_int(status, "replicas", 0),
        .ready = json_get_int(status, "readyReplicas", 0),
        .available = json_get_int(status, "availableReplicas", 0),
        .desired_before = annotated_number(json, DEPLOYMENT_DESIRED),
        .max_before = annotated_number(json, DEPLOYMENT_MAX),
    };
    ret->wanted = ret->size;
}

static int view_compare_age(const void *a, const void *b)
{
    const struct deployment_set *x = a, *y = b;
    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void view_claim_sets(struct deployment_pass *pass)
{
    struct kube_selector selector = {.nothing = true};
    (void)kube_selector_from_json(pass->arena, json_at(pass->deployment, "spec", "selector", NULL),
                                  &selector, NULL);
    for (size_t i = 0; i < pass->observed->set_count; i++) {
        const struct json *set = pass->observed->sets[i];
        bool ours = kube_meta_is_controlled_by(set, kube_meta_uid(pass->deployment));
        bool matches = kube_selector_matches(&selector, kube_meta_labels(set));
        if (ours && matches)
            read_set(set, &pass->sets[pass->count++]);
        else if (ours && !pass->deleting)
            deployment_plan_add(pass,
                                (struct deployment_action){.type = DEPLOYMENT_RELEASE, .set = set});
        else if (!ours && matches && !pass->deleting && !kube_meta_is_deleting(set))
            deployment_plan_add(pass,
                                (struct deployment_action){.type = DEPLOYMENT_ADOPT, .set = set});
    }
}

static const struct json *template_of(const struct json *object)
{
    return json_at(object, "spec", "template", NULL);
}

/* Returns whether both templates have equal members, apart from their metadata. */
static bool same_but_metadata(const struct json *a, const struct json *b)
{
    JSON_EACH (member, a) {
        if (!str_eq(member->name, "metadata") && !json_equal(member, json_get(b, member->name)))
            return false;
    }
    return json_count(a) - (json_get(a, "metadata") != NULL) ==
           json_count(b) - (json_get(b, "metadata") != NULL);
}

/* Returns whether `b` has all members of `a` with the same values, apart from the label with the
 * hash and members that are null or empty. */
static bool is_within(const struct json *a, const struct json *b)
{
    JSON_EACH (member, a) {
        bool empty =
            member->type == JSON_NULL || (member->type == JSON_OBJECT && json_count(member) == 0);
        if (!str_eq(member->name, DEPLOYMENT_HASH_LABEL) && !empty &&
            !json_equal(member, json_get(b, member->name)))
            return false;
    }
    return true;
}

static bool same_maps(const struct json *a, const struct json *b)
{
    return is_within(a, b) && is_within(b, a);
}

bool deployment_same_template(const struct json *a, const struct json *b)
{
    const struct json *x = json_get(a, "metadata"), *y = json_get(b, "metadata");
    return same_but_metadata(a, b) && same_maps(json_get(x, "labels"), json_get(y, "labels")) &&
           same_maps(json_get(x, "annotations"), json_get(y, "annotations"));
}

void deployment_pass_read(struct deployment_pass *pass)
{
    read_spec(pass);
    pass->sets = ARENA_ARRAY(pass->arena, struct deployment_set, pass->observed->set_count + 1);
    view_claim_sets(pass);
    qsort(pass->sets, pass->count, sizeof(*pass->sets), view_compare_age);
    for (size_t i = 0; i < pass->count; i++) {
        struct deployment_set *set = &pass->sets[i];
        pass->resized |=
            set->size > 0 && set->desired_before >= 0 && set->desired_before != pass->replicas;
        if (!pass->new_set &&
            deployment_same_template(template_of(set->json), template_of(pass->deployment))) {
            set->is_new = true;
            pass->new_set = set;
        }
    }
}
