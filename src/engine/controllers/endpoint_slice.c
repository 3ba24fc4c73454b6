/* Distributes the endpoints of a service over slices; see endpoint_slice.h. */
#include "engine/controllers/endpoint_slice.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/endpoints.h"
#include "kube/condition.h"
#include "kube/kinds/service/service_spec.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

enum { ENDPOINTS_MAX = 100 };

/* An endpoint that a slice must contain. */
struct wanted {
    struct json *endpoint;
    struct json *ports; /* the ports of the slice that contains the endpoint */
    const char *key; /* the uid of the endpoint's pod, or the endpoint's address if it has no pod */
    bool placed;     /* a draft contains the endpoint */
};

/* A slice under construction. */
struct draft {
    const struct json *old; /* the existing slice; NULL: a new slice */
    struct json *ports, *endpoints;
};

struct plan {
    struct arena *arena;
    const struct endpoint_slice_observed *observed;
    struct wanted *wanted;
    size_t count;
    struct draft *drafts;
    size_t draft_count;
};

/* ---- Endpoints ------------------------------------------------------------------------------- */

static const char *endpoint_slice_key_of(const struct json *endpoint)
{
    const char *uid = json_get_string(json_get(endpoint, "targetRef"), "uid", "");
    return uid[0] ? uid : json_text(json_element(json_get(endpoint, "addresses"), 0));
}

/* Every port of a slice has a name, which may be empty. */
static struct json *slice_ports(struct arena *arena, const struct json *ports)
{
    struct json *list = json_array(arena);
    JSON_EACH (port, ports) {
        struct json *entry = json_object(arena);
        json_set_string(arena, entry, "name", json_get_string(port, "name", ""));
        json_set_int(arena, entry, "port", json_get_int(port, "port", 0));
        json_set_string(arena, entry, "protocol", json_get_string(port, "protocol", "TCP"));
        json_append(list, entry);
    }
    return list;
}

static struct json *endpoint_new(struct arena *arena, const struct json *address, bool ready,
                                 bool serving, bool terminating)
{
    static const char *const kept[] = {"hostname", "nodeName"};
    struct json *endpoint = json_object(arena);
    json_append(json_ensure_array(arena, endpoint, "addresses"),
                json_string(arena, json_get_string(address, "ip", "")));
    struct json *conditions = json_ensure_object(arena, endpoint, "conditions");
    json_set_bool(arena, conditions, "ready", ready);
    json_set_bool(arena, conditions, "serving", serving);
    json_set_bool(arena, conditions, "terminating", terminating);
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        if (json_get_string(address, kept[i], "")[0])
            json_set_string(arena, endpoint, kept[i], json_get_string(address, kept[i], ""));
    const struct json *target = json_get(address, "targetRef");
    if (target)
        json_set(arena, endpoint, "targetRef", json_clone(arena, target));
    return endpoint;
}

static void endpoint_slice_want(struct plan *plan, struct json *endpoint, struct json *ports)
{
    plan->wanted[plan->count++] = (struct wanted){
        .endpoint = endpoint, .ports = ports, .key = endpoint_slice_key_of(endpoint)};
}

static int compare_wanted(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static void want_pods(struct plan *plan)
{
    const struct json *service = plan->observed->service;
    bool unready = json_get_bool(json_get(service, "spec"), "publishNotReadyAddresses", false);
    plan->wanted = ARENA_ARRAY(plan->arena, struct wanted, plan->observed->pod_count + 1);
    for (size_t i = 0; i < plan->observed->pod_count; i++) {
        const struct json *pod = plan->observed->pods[i];
        const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
        bool serving = kube_condition_is_true(pod, "Ready");
        bool terminating = kube_meta_is_deleting(pod);
        if (str_is_empty(json_get_string(json_get(pod, "status"), "podIP", "")) ||
            str_eq(phase, "Succeeded") || str_eq(phase, "Failed"))
            continue;
        struct json *ports = endpoints_ports(plan->arena, service, pod);
        if (json_count(ports) == 0 && json_count(json_at(service, "spec", "ports", NULL)) > 0)
            continue;
        endpoint_slice_want(plan,
                            endpoint_new(plan->arena, endpoints_address(plan->arena, service, pod),
                                         unready || (serving && !terminating), serving,
                                         terminating),
                            slice_ports(plan->arena, ports));
    }
}

static void want_addresses(struct plan *plan, const struct json *subset, const char *list,
                           bool ready)
{
    JSON_EACH (address, json_get(subset, list))
        endpoint_slice_want(plan, endpoint_new(plan->arena, address, ready, ready, false),
                            slice_ports(plan->arena, json_get(subset, "ports")));
}

/* Adds the addresses that a client wrote into the Endpoints of a service without a selector. */
static void want_mirrored(struct plan *plan)
{
    const struct json *subsets = json_get(plan->observed->endpoints, "subsets");
    size_t count = 0;
    JSON_EACH (subset, subsets)
        count += json_count(json_get(subset, "addresses")) +
                 json_count(json_get(subset, "notReadyAddresses"));
    plan->wanted = ARENA_ARRAY(plan->arena, struct wanted, count + 1);
    JSON_EACH (subset, subsets) {
        want_addresses(plan, subset, "addresses", true);
        want_addresses(plan, subset, "notReadyAddresses", false);
    }
}

/* ---- Slices ---------------------------------------------------------------------------------- */

/* Adds to the draft each wanted endpoint that the existing slice contains with the same ports. */
static void keep_endpoints(struct plan *plan, struct draft *draft)
{
    JSON_EACH (endpoint, json_get(draft->old, "endpoints")) {
        for (size_t i = 0; i < plan->count; i++) {
            struct wanted *wanted = &plan->wanted[i];
            if (wanted->placed || !str_eq(wanted->key, endpoint_slice_key_of(endpoint)) ||
                !json_equal(wanted->ports, draft->ports))
                continue;
            json_append(draft->endpoints, wanted->endpoint);
            wanted->placed = true;
            break;
        }
    }
}

static struct draft *draft_new(struct plan *plan, const struct json *old, struct json *ports)
{
    struct draft *draft = &plan->drafts[plan->draft_count++];
    *draft = (struct draft){.old = old, .ports = ports, .endpoints = json_array(plan->arena)};
    return draft;
}

/* Returns a draft that has the ports of the endpoint and room for it. Creates one if necessary. */
static struct draft *room_for(struct plan *plan, const struct wanted *wanted)
{
    for (size_t i = 0; i < plan->draft_count; i++) {
        struct draft *draft = &plan->drafts[i];
        if (json_equal(draft->ports, wanted->ports) && json_count(draft->endpoints) < ENDPOINTS_MAX)
            return draft;
    }
    return draft_new(plan, NULL, wanted->ports);
}

/* Puts each endpoint into a draft. */
static void endpoint_slice_place(struct plan *plan)
{
    const struct endpoint_slice_observed *observed = plan->observed;
    plan->drafts = ARENA_ARRAY(plan->arena, struct draft, observed->slice_count + plan->count + 1);
    for (size_t i = 0; i < observed->slice_count; i++) {
        const struct json *ports = json_get(observed->slices[i], "ports");
        keep_endpoints(plan,
                       draft_new(plan, observed->slices[i],
                                 ports && ports->type == JSON_ARRAY ? json_clone(plan->arena, ports)
                                                                    : json_array(plan->arena)));
    }
    for (size_t i = 0; i < plan->count; i++) {
        struct wanted *wanted = &plan->wanted[i];
        if (!wanted->placed)
            json_append(room_for(plan, wanted)->endpoints, wanted->endpoint);
    }
    /* A service without endpoints has one empty slice. */
    if (plan->draft_count == 0)
        draft_new(plan, NULL, json_array(plan->arena));
}

static struct json *labels_of(struct plan *plan)
{
    const struct endpoint_slice_observed *observed = plan->observed;
    const struct json *from = observed->endpoints ? observed->endpoints : observed->service;
    const char *address = json_get_string(json_get(observed->service, "spec"), "clusterIP", "");
    struct json *holder = json_object(plan->arena);
    JSON_EACH (label, kube_meta_labels(from))
        kube_meta_set_label(plan->arena, holder, label->name, json_text(label));
    if (str_eq(address, SERVICE_HEADLESS))
        kube_meta_set_label(plan->arena, holder, ENDPOINT_SLICE_HEADLESS, "");
    kube_meta_set_label(plan->arena, holder, ENDPOINT_SLICE_SERVICE,
                        kube_meta_name(observed->service));
    kube_meta_set_label(plan->arena, holder, ENDPOINT_SLICE_MANAGER,
                        observed->endpoints ? ENDPOINT_SLICE_MIRRORED : ENDPOINT_SLICE_OURS);
    return json_get(json_get(holder, "metadata"), "labels");
}

static struct json *slice_new(struct plan *plan)
{
    const struct endpoint_slice_observed *observed = plan->observed;
    const struct json *owner = observed->endpoints ? observed->endpoints : observed->service;
    struct json *slice = kube_object_make(plan->arena, &KUBE_ENDPOINTSLICES,
                                          kube_meta_namespace(observed->service), "");
    struct json *meta = json_get(slice, "metadata");
    json_remove(meta, "name");
    json_set(plan->arena, meta, "generateName",
             json_stringf(plan->arena, "%s-", kube_meta_name(observed->service)));
    kube_meta_add_owner(plan->arena, slice, kube_owner_reference_new(plan->arena, owner, true));
    json_set_string(plan->arena, slice, "addressType", "IPv4");
    return slice;
}

/* Fills in the action that writes the slice. Returns false if the slice does not change. */
static bool endpoint_slice_finish(struct plan *plan, const struct draft *draft,
                                  struct endpoint_slice_action *ret)
{
    struct json *slice = draft->old ? json_clone(plan->arena, draft->old) : slice_new(plan);
    struct json *meta = json_get(slice, "metadata");
    json_set(plan->arena, meta, "labels", labels_of(plan));
    json_set(plan->arena, slice, "endpoints", draft->endpoints);
    json_set(plan->arena, slice, "ports", draft->ports);
    *ret = (struct endpoint_slice_action){
        .step = draft->old ? ENDPOINT_SLICE_UPDATE : ENDPOINT_SLICE_CREATE, .slice = slice};
    return !draft->old || !json_equal(slice, draft->old);
}

struct endpoint_slice_action *endpoint_slice_plan(struct arena *arena,
                                                  const struct endpoint_slice_observed *observed,
                                                  size_t *ret_count)
{
    struct plan plan = {.arena = arena, .observed = observed};
    if (observed->endpoints)
        want_mirrored(&plan);
    else
        want_pods(&plan);
    qsort(plan.wanted, plan.count, sizeof(*plan.wanted), compare_wanted);
    endpoint_slice_place(&plan);
    struct endpoint_slice_action *actions =
        ARENA_ARRAY(arena, struct endpoint_slice_action, plan.draft_count + 1);
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < plan.draft_count; i++) {
        const struct draft *draft = &plan.drafts[i];
        bool is_unneeded = json_count(draft->endpoints) == 0 && (plan.count > 0 || kept > 0);
        if (draft->old && is_unneeded)
            actions[count++] = (struct endpoint_slice_action){
                .step = ENDPOINT_SLICE_DELETE, .slice = json_clone(arena, draft->old)};
        else if (endpoint_slice_finish(&plan, draft, &actions[count]))
            count++;
        kept += !is_unneeded;
    }
    *ret_count = count;
    return actions;
}
