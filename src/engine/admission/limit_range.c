/* Applies a LimitRange to a pod or claim; see limit_range.h. */
#include "engine/admission/limit_range.h"

#include "base/buf.h"
#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/quantity.h"

#include <stdlib.h>
#include <string.h>

enum {
    NOTES_MAX = 256 * 1024, /* bytes; Kubernetes' limit for all annotations of an object */
    REFUSALS_MAX = 4096,    /* bytes; more than a response shows */
    CHECKS_MAX = 200000,    /* the limit of limit_range_is_too_large(): containers times amounts */
};

static const char *const LISTS[] = {"containers", "initContainers"};

static struct kube_quantity quantity_of(const struct json *value)
{
    struct kube_quantity quantity = {0};
    (void)kube_quantity_from_json(value, &quantity, NULL);
    return quantity;
}

static const char *limit_range_text_of(struct arena *arena, const struct json *value)
{
    char text[KUBE_QUANTITY_TEXT_MAX];
    struct kube_quantity quantity = quantity_of(value);
    kube_quantity_format(&quantity, text);
    return arena_strdup(arena, text);
}

static int limit_range_compare(const struct json *a, const struct json *b)
{
    struct kube_quantity one = quantity_of(a), two = quantity_of(b);
    return kube_quantity_compare(&one, &two);
}

bool limit_range_is_too_large(const struct json *ranges, const struct json *pod)
{
    size_t containers = 0, amounts = 0;
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++)
        containers += json_count(json_at(pod, "spec", LISTS[i], NULL));
    JSON_EACH (range, ranges)
        JSON_EACH (item, json_at(range, "spec", "limits", NULL))
            JSON_EACH (part, item)
                amounts += json_count(part);
    return containers > 1 && amounts > CHECKS_MAX / containers;
}

/* ---- Defaults -------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds to the member `part` of `resources` ("requests" or "limits") each default that the container
 * does not set. Returns the names of the added resources, "cpu, memory", or "". */
static const char *limit_range_merge(struct arena *arena, struct json *resources, const char *part,
                                     const struct json *defaults)
{
    if (json_count(defaults) == 0)
        return "";
    const char **names = ARENA_ARRAY(arena, const char *, json_count(defaults));
    struct json *amounts = json_ensure_object(arena, resources, part);
    _cleanup_json_names_ struct json_names known = {0};
    _cleanup_buf_ struct buf text;
    size_t count = 0;
    JSON_EACH (value, defaults) {
        if (json_names_find(&known, amounts, value->name))
            continue;
        struct json *copy = json_clone(arena, value);
        copy->name = value->name;
        json_list_append(amounts, copy);
        names[count++] = value->name;
    }
    qsort(names, count, sizeof(*names), compare_texts);
    buf_init(&text, NOTES_MAX);
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", names[i]);
    return arena_strdup(arena, text.data);
}

static void append_note(struct buf *notes, const char *names, const char *what,
                        const struct json *container, bool init)
{
    if (names[0])
        buf_printf(notes, "%s%s %s for %scontainer %s", notes->size > 0 ? "; " : "", names, what,
                   init ? "init " : "", json_get_string(container, "name", ""));
}

bool limit_range_set_defaults(struct arena *arena, const struct json *range, struct json *pod)
{
    _cleanup_buf_ struct buf notes;
    buf_init(&notes, NOTES_MAX);
    JSON_EACH (item, json_at(range, "spec", "limits", NULL)) {
        if (!str_eq(json_get_string(item, "type", ""), "Container"))
            continue;
        for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
            JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL)) {
                struct json *resources = json_ensure_object(arena, container, "resources");
                const char *limits =
                    limit_range_merge(arena, resources, "limits", json_get(item, "default"));
                const char *requests = limit_range_merge(arena, resources, "requests",
                                                         json_get(item, "defaultRequest"));
                append_note(&notes, requests, "request", container, i == 1);
                append_note(&notes, limits, "limit", container, i == 1);
            }
        }
    }
    if (notes.size == 0 && !notes.overflowed)
        return false;
    kube_meta_set_annotation(arena, pod, "kubernetes.io/limit-ranger",
                             arena_printf(arena, "LimitRanger plugin set: %s", notes.data));
    return true;
}

/* ---- Rejecting ------------------------------------------------------------------------------- */

/* The reasons why a LimitRange rejects a pod or claim. */
struct refusals {
    struct arena *arena;
    const char *type; /* the type of the limit: "Container", "Pod" or "PersistentVolumeClaim" */
    struct buf text;  /* the first messages, separated by ", " */
    size_t count;     /* the number of messages, also of those that do not fit into `text` */
};

static void refusals_init(struct refusals *refusals, struct arena *arena)
{
    *refusals = (struct refusals){.arena = arena};
    buf_init(&refusals->text, REFUSALS_MAX);
}

static void refusals_release(struct refusals *refusals)
{
    buf_release(&refusals->text);
}

static void limit_range_reject(struct refusals *refusals, const char *text)
{
    if (!refusals->text.overflowed)
        buf_printf(&refusals->text, "%s%s", refusals->count > 0 ? ", " : "", text);
    refusals->count++;
}

/* The requests and limits of a container, a pod or a claim. */
struct amounts {
    const struct json *requests, *limits;
    struct json_names request_names, limit_names; /* indexes by name; made on the first lookup */
};

static void amounts_release(struct amounts *amounts)
{
    json_names_release(&amounts->request_names);
    json_names_release(&amounts->limit_names);
}

static const struct json *request_of(struct amounts *amounts, const char *name)
{
    return json_names_find(&amounts->request_names, amounts->requests, name);
}

static const struct json *limit_of(struct amounts *amounts, const char *name)
{
    return json_names_find(&amounts->limit_names, amounts->limits, name);
}

static void check_min(struct refusals *refusals, const struct json *min, struct amounts *amounts)
{
    const struct json *request = request_of(amounts, min->name);
    const struct json *limit = limit_of(amounts, min->name);
    const char *rule = arena_printf(refusals->arena, "minimum %s usage per %s is %s", min->name,
                                    refusals->type, limit_range_text_of(refusals->arena, min));
    if (!request)
        limit_range_reject(refusals,
                           arena_printf(refusals->arena, "%s.  No request is specified", rule));
    else if (limit_range_compare(request, min) < 0)
        limit_range_reject(refusals, arena_printf(refusals->arena, "%s, but request is %s", rule,
                                                  limit_range_text_of(refusals->arena, request)));
    else if (limit && limit_range_compare(limit, min) < 0)
        limit_range_reject(refusals, arena_printf(refusals->arena, "%s, but limit is %s", rule,
                                                  limit_range_text_of(refusals->arena, limit)));
}

/* With `by_request`, checks only the request, because a claim has no limits. */
static void check_max(struct refusals *refusals, const struct json *max, struct amounts *amounts,
                      bool by_request)
{
    const struct json *request = request_of(amounts, max->name);
    const struct json *limit = limit_of(amounts, max->name);
    const char *rule = arena_printf(refusals->arena, "maximum %s usage per %s is %s", max->name,
                                    refusals->type, limit_range_text_of(refusals->arena, max));
    if (by_request ? !request : !limit)
        limit_range_reject(refusals, arena_printf(refusals->arena, "%s.  No %s is specified", rule,
                                                  by_request ? "request" : "limit"));
    else if (!by_request && limit_range_compare(limit, max) > 0)
        limit_range_reject(refusals, arena_printf(refusals->arena, "%s, but limit is %s", rule,
                                                  limit_range_text_of(refusals->arena, limit)));
    else if (request && limit_range_compare(request, max) > 0)
        limit_range_reject(refusals, arena_printf(refusals->arena, "%s, but request is %s", rule,
                                                  limit_range_text_of(refusals->arena, request)));
}

static void check_ratio(struct refusals *refusals, const struct json *most, struct amounts *amounts)
{
    struct kube_quantity request = quantity_of(request_of(amounts, most->name));
    struct kube_quantity limit = quantity_of(limit_of(amounts, most->name));
    struct kube_quantity ratio = quantity_of(most);
    const char *rule =
        arena_printf(refusals->arena, "%s max limit to request ratio per %s is %s", most->name,
                     refusals->type, limit_range_text_of(refusals->arena, most));
    if (request.nano == 0 || limit.nano == 0) {
        const char *which = request.nano == 0 ? "request" : "limit";
        limit_range_reject(refusals,
                           arena_printf(refusals->arena, "%s, but no %s is specified or %s is 0",
                                        rule, which, which));
        return;
    }
    double used_ratio = (double)limit.nano / (double)request.nano;
    if (used_ratio > (double)ratio.nano / 1e9)
        limit_range_reject(refusals, arena_printf(refusals->arena, "%s, but provided ratio is %f",
                                                  rule, used_ratio));
}

/* Checks the resources of a container or a pod against one element of spec.limits. */
static void limit_range_check(struct refusals *refusals, const struct json *item,
                              const struct json *resources)
{
    _cleanup_(amounts_release) struct amounts amounts = {
        .requests = json_get(resources, "requests"),
        .limits = json_get(resources, "limits"),
    };
    JSON_EACH (min, json_get(item, "min"))
        check_min(refusals, min, &amounts);
    JSON_EACH (max, json_get(item, "max"))
        check_max(refusals, max, &amounts, false);
    JSON_EACH (ratio, json_get(item, "maxLimitRequestRatio"))
        check_ratio(refusals, ratio, &amounts);
}

/* For each name in `amounts`, adds the amount to `total` if `add`; otherwise raises the total to
 * the amount if the amount is larger. `known` maps each name to its amount in `total`. */
static void limit_range_gather(struct arena *arena, struct json *total, struct map *known,
                               const struct json *amounts, bool add)
{
    JSON_EACH (amount, amounts) {
        struct json *before = map_get(known, amount->name);
        struct kube_quantity sum = quantity_of(before), more = quantity_of(amount);
        char text[KUBE_QUANTITY_TEXT_MAX];
        if (!add && before && kube_quantity_compare(&more, &sum) <= 0)
            continue;
        if (add && before)
            kube_quantity_add(&sum, &more);
        else
            sum = more;
        kube_quantity_format(&sum, text);
        struct json *value = json_string(arena, text);
        if (before) {
            before->text = value->text;
            before->size = value->size;
            continue;
        }
        value->name = amount->name;
        json_list_append(total, value);
        map_put(known, amount->name, value);
    }
}

/* Returns the resources of a whole pod. The amount of each resource is the sum over the
 * containers, or the largest amount of one init container if that is more. */
static struct json *resources_of_pod(struct arena *arena, const struct json *pod)
{
    static const char *const parts[] = {"requests", "limits"};
    struct json *total = json_object(arena);
    for (size_t part = 0; part < ARRAY_SIZE(parts); part++) {
        struct json *amounts = json_ensure_object(arena, total, parts[part]);
        _cleanup_(map_release) struct map known = {0};
        for (size_t list = 0; list < ARRAY_SIZE(LISTS); list++)
            JSON_EACH (container, json_at(pod, "spec", LISTS[list], NULL))
                limit_range_gather(arena, amounts, &known,
                                   json_at(container, "resources", parts[part], NULL), list == 0);
    }
    return total;
}

static const char *limit_range_message(const struct refusals *refusals)
{
    if (refusals->count == 0)
        return NULL;
    return arena_printf(refusals->arena, refusals->count > 1 ? "[%s]" : "%s", refusals->text.data);
}

const char *limit_range_reject_pod(struct arena *arena, const struct json *range,
                                   const struct json *pod)
{
    _cleanup_(refusals_release) struct refusals refusals;
    refusals_init(&refusals, arena);
    JSON_EACH (item, json_at(range, "spec", "limits", NULL)) {
        refusals.type = json_get_string(item, "type", "");
        if (str_eq(refusals.type, "Pod"))
            limit_range_check(&refusals, item, resources_of_pod(arena, pod));
        for (size_t i = 0; i < ARRAY_SIZE(LISTS) && str_eq(refusals.type, "Container"); i++)
            JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL))
                limit_range_check(&refusals, item, json_get(container, "resources"));
    }
    return limit_range_message(&refusals);
}

const char *limit_range_reject_claim(struct arena *arena, const struct json *range,
                                     const struct json *claim)
{
    _cleanup_(refusals_release) struct refusals refusals;
    _cleanup_(amounts_release) struct amounts amounts = {
        .requests = json_at(claim, "spec", "resources", "requests", NULL),
    };
    refusals_init(&refusals, arena);
    refusals.type = "PersistentVolumeClaim";
    JSON_EACH (item, json_at(range, "spec", "limits", NULL)) {
        if (!str_eq(json_get_string(item, "type", ""), refusals.type))
            continue;
        JSON_EACH (min, json_get(item, "min"))
            check_min(&refusals, min, &amounts);
        JSON_EACH (max, json_get(item, "max"))
            check_max(&refusals, max, &amounts, true);
    }
    return limit_range_message(&refusals);
}
