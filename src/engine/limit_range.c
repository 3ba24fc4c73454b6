/* What LimitRanges do; see limit_range.h. */
#include "engine/limit_range.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/quantity.h"

#include <stdlib.h>
#include <string.h>

static const char *const LISTS[] = {"containers", "initContainers"};

static struct kube_quantity quantity_of(const struct json *value)
{
    struct kube_quantity quantity = {0};
    (void)kube_quantity_from_json(value, &quantity, NULL);
    return quantity;
}

static const char *text_of(struct arena *arena, const struct json *value)
{
    char text[KUBE_QUANTITY_TEXT_MAX];
    struct kube_quantity quantity = quantity_of(value);
    kube_quantity_format(&quantity, text);
    return arena_strdup(arena, text);
}

static int compare(const struct json *a, const struct json *b)
{
    struct kube_quantity one = quantity_of(a), two = quantity_of(b);
    return kube_quantity_compare(&one, &two);
}

/* ---- Filling in ------------------------------------------------------------------------------ */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of the defaults what the container does not have. Returns their names, "cpu, memory", or "". */
static const char *merge(struct arena *arena, struct json *resources, const char *part,
                         const struct json *defaults)
{
    const char **names = ARENA_ARRAY(arena, const char *, json_count(defaults) + 1);
    const char *text = "";
    size_t count = 0;
    JSON_EACH (value, defaults) {
        struct json *has = json_ensure_object(arena, resources, part);
        if (json_get(has, value->name))
            continue;
        json_set(arena, has, value->name, json_clone(arena, value));
        names[count++] = value->name;
    }
    qsort(names, count, sizeof(*names), compare_texts);
    for (size_t i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", names[i]);
    return text;
}

static void append_note(struct arena *arena, const char **notes, const char *names,
                        const char *what, const struct json *container, bool init)
{
    if (names[0])
        *notes =
            arena_printf(arena, "%s%s%s %s for %scontainer %s", *notes, **notes ? "; " : "", names,
                         what, init ? "init " : "", json_get_string(container, "name", ""));
}

bool limit_range_fill(struct arena *arena, const struct json *range, struct json *pod)
{
    const char *notes = "";
    JSON_EACH (item, json_at(range, "spec", "limits", NULL)) {
        if (!str_eq(json_get_string(item, "type", ""), "Container"))
            continue;
        for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
            JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL)) {
                struct json *resources = json_ensure_object(arena, container, "resources");
                const char *limits = merge(arena, resources, "limits", json_get(item, "default"));
                const char *requests =
                    merge(arena, resources, "requests", json_get(item, "defaultRequest"));
                append_note(arena, &notes, requests, "request", container, i == 1);
                append_note(arena, &notes, limits, "limit", container, i == 1);
            }
        }
    }
    if (!notes[0])
        return false;
    kube_meta_set_annotation(arena, pod, "kubernetes.io/limit-ranger",
                             arena_printf(arena, "LimitRanger plugin set: %s", notes));
    return true;
}

/* ---- Refusing -------------------------------------------------------------------------------- */

struct refusals {
    struct arena *arena;
    const char *type; /* "Container" */
    const char *text; /* all so far, ", " between them; NULL: none */
    size_t count;
};

static void refuse(struct refusals *refusals, const char *text)
{
    refusals->text =
        refusals->text ? arena_printf(refusals->arena, "%s, %s", refusals->text, text) : text;
    refusals->count++;
}

static void check_min(struct refusals *refusals, const struct json *min,
                      const struct json *requests, const struct json *limits)
{
    const struct json *request = json_get(requests, min->name),
                      *limit = json_get(limits, min->name);
    const char *rule = arena_printf(refusals->arena, "minimum %s usage per %s is %s", min->name,
                                    refusals->type, text_of(refusals->arena, min));
    if (!request)
        refuse(refusals, arena_printf(refusals->arena, "%s.  No request is specified", rule));
    else if (compare(request, min) < 0)
        refuse(refusals, arena_printf(refusals->arena, "%s, but request is %s", rule,
                                      text_of(refusals->arena, request)));
    else if (limit && compare(limit, min) < 0)
        refuse(refusals, arena_printf(refusals->arena, "%s, but limit is %s", rule,
                                      text_of(refusals->arena, limit)));
}

/* Claims have no limits that count: of them the request is looked at. */
static void check_max(struct refusals *refusals, const struct json *max,
                      const struct json *requests, const struct json *limits, bool by_request)
{
    const struct json *request = json_get(requests, max->name),
                      *limit = json_get(limits, max->name);
    const char *rule = arena_printf(refusals->arena, "maximum %s usage per %s is %s", max->name,
                                    refusals->type, text_of(refusals->arena, max));
    if (by_request ? !request : !limit)
        refuse(refusals, arena_printf(refusals->arena, "%s.  No %s is specified", rule,
                                      by_request ? "request" : "limit"));
    else if (!by_request && compare(limit, max) > 0)
        refuse(refusals, arena_printf(refusals->arena, "%s, but limit is %s", rule,
                                      text_of(refusals->arena, limit)));
    else if (request && compare(request, max) > 0)
        refuse(refusals, arena_printf(refusals->arena, "%s, but request is %s", rule,
                                      text_of(refusals->arena, request)));
}

static void check_ratio(struct refusals *refusals, const struct json *most,
                        const struct json *requests, const struct json *limits)
{
    struct kube_quantity request = quantity_of(json_get(requests, most->name));
    struct kube_quantity limit = quantity_of(json_get(limits, most->name));
    struct kube_quantity ratio = quantity_of(most);
    const char *rule = arena_printf(refusals->arena, "%s max limit to request ratio per %s is %s",
                                    most->name, refusals->type, text_of(refusals->arena, most));
    if (request.nano == 0 || limit.nano == 0) {
        const char *which = request.nano == 0 ? "request" : "limit";
        refuse(refusals, arena_printf(refusals->arena, "%s, but no %s is specified or %s is 0",
                                      rule, which, which));
        return;
    }
    double is = (double)limit.nano / (double)request.nano;
    if (is > (double)ratio.nano / 1e9)
        refuse(refusals, arena_printf(refusals->arena, "%s, but provided ratio is %f", rule, is));
}

static void check(struct refusals *refusals, const struct json *item, const struct json *resources)
{
    const struct json *requests = json_get(resources, "requests");
    const struct json *limits = json_get(resources, "limits");
    JSON_EACH (min, json_get(item, "min"))
        check_min(refusals, min, requests, limits);
    JSON_EACH (max, json_get(item, "max"))
        check_max(refusals, max, requests, limits, false);
    JSON_EACH (ratio, json_get(item, "maxLimitRequestRatio"))
        check_ratio(refusals, ratio, requests, limits);
}

/* Into `total`: the sum, or where it is more, the amount itself. */
static void gather(struct arena *arena, struct json *total, const struct json *amounts, bool add)
{
    JSON_EACH (amount, amounts) {
        struct kube_quantity sum = quantity_of(json_get(total, amount->name));
        struct kube_quantity more = quantity_of(amount);
        char text[KUBE_QUANTITY_TEXT_MAX];
        bool first = !json_get(total, amount->name);
        if (!add && !first && kube_quantity_compare(&more, &sum) <= 0)
            continue;
        if (add && !first)
            kube_quantity_add(&sum, &more);
        else
            sum = more;
        kube_quantity_format(&sum, text);
        json_set_string(arena, total, amount->name, text);
    }
}

/* Of the whole pod: its containers together, or its largest init container. */
static struct json *resources_of_pod(struct arena *arena, const struct json *pod)
{
    static const char *const parts[] = {"requests", "limits"};
    struct json *total = json_object(arena);
    for (size_t part = 0; part < ARRAY_SIZE(parts); part++) {
        struct json *amounts = json_ensure_object(arena, total, parts[part]);
        for (size_t list = 0; list < ARRAY_SIZE(LISTS); list++)
            JSON_EACH (container, json_at(pod, "spec", LISTS[list], NULL))
                gather(arena, amounts, json_at(container, "resources", parts[part], NULL),
                       list == 0);
    }
    return total;
}

static const char *told(const struct refusals *refusals)
{
    return refusals->count > 1 ? arena_printf(refusals->arena, "[%s]", refusals->text)
                               : refusals->text;
}

const char *limit_range_refuse_pod(struct arena *arena, const struct json *range,
                                   const struct json *pod)
{
    struct refusals refusals = {.arena = arena};
    JSON_EACH (item, json_at(range, "spec", "limits", NULL)) {
        refusals.type = json_get_string(item, "type", "");
        if (str_eq(refusals.type, "Pod"))
            check(&refusals, item, resources_of_pod(arena, pod));
        for (size_t i = 0; i < ARRAY_SIZE(LISTS) && str_eq(refusals.type, "Container"); i++)
            JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL))
                check(&refusals, item, json_get(container, "resources"));
    }
    return told(&refusals);
}

const char *limit_range_refuse_claim(struct arena *arena, const struct json *range,
                                     const struct json *claim)
{
    struct refusals refusals = {.arena = arena, .type = "PersistentVolumeClaim"};
    const struct json *requests = json_at(claim, "spec", "resources", "requests", NULL);
    JSON_EACH (item, json_at(range, "spec", "limits", NULL)) {
        if (!str_eq(json_get_string(item, "type", ""), refusals.type))
            continue;
        JSON_EACH (min, json_get(item, "min"))
            check_min(&refusals, min, requests, NULL);
        JSON_EACH (max, json_get(item, "max"))
            check_max(&refusals, max, requests, NULL, true);
    }
    return told(&refusals);
}
