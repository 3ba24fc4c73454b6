/* Reads the options of a deletion and decides on the deletion; see deletion.h. */
#include "engine/api/deletion.h"

#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "net/http/http.h"

/* 100 years. A longer period could exceed the range of a timestamp. */
static const int64_t GRACE_MAX_S = INT64_C(100) * 365 * 24 * 3600;

static const char ORPHAN[] = "orphan";
static const char FOREGROUND[] = "foregroundDeletion";

static enum deletion_propagation parse_propagation(struct field_errors *invalid, const char *text)
{
    static const char *const words[] = {"Foreground", "Background", "Orphan", "nil", NULL};
    if (str_is_empty(text))
        return PROPAGATION_DEFAULT;
    if (str_eq(text, "Background"))
        return PROPAGATION_BACKGROUND;
    if (str_eq(text, "Foreground"))
        return PROPAGATION_FOREGROUND;
    if (str_eq(text, "Orphan"))
        return PROPAGATION_ORPHAN;
    field_unsupported(invalid, "propagationPolicy", text, words);
    return PROPAGATION_DEFAULT;
}

/* Reads the grace period in seconds. Sets *ret to -1 if it is missing or negative, as in
 * Kubernetes. */
static int parse_grace(struct arena *arena, const struct json *body, const char *query,
                       int64_t *ret, struct err *err)
{
    const struct json *value = json_get(body, "gracePeriodSeconds");
    const char *text = http_query_get(arena, query, "gracePeriodSeconds");
    int64_t grace = -1;
    if (value && value->type == JSON_INT)
        grace = value->integer;
    else if (!str_is_empty(text) && str_to_int64(text, INT64_MIN, INT64_MAX, &grace, err) < 0)
        return err_wrap(err, "gracePeriodSeconds");
    *ret = grace < 0 ? -1 : grace;
    return 0;
}

int deletion_options_parse(struct field_errors *invalid, const struct json *body, const char *query,
                           struct deletion_options *ret, struct err *err)
{
    struct deletion_options options = {0};
    struct arena *arena = invalid->arena;
    int result = parse_grace(arena, body, query, &options.grace_seconds, err);
    if (result < 0)
        return result;
    const char *propagation = json_get_string(body, "propagationPolicy", NULL);
    if (!propagation)
        propagation = http_query_get(arena, query, "propagationPolicy");
    options.propagation = parse_propagation(invalid, propagation);
    /* orphanDependents is a deprecated field that propagationPolicy has replaced. */
    const struct json *orphan = json_get(body, "orphanDependents");
    bool has_orphan = orphan && orphan->type == JSON_BOOL;
    if (has_orphan && !str_is_empty(propagation))
        field_invalid(invalid, "propagationPolicy", json_string(arena, propagation),
                      "orphanDependents and deletionPropagation cannot be both set");
    else if (has_orphan)
        options.propagation = orphan->boolean ? PROPAGATION_ORPHAN : PROPAGATION_BACKGROUND;
    const struct json *preconditions = json_get(body, "preconditions");
    options.uid = json_get_string(preconditions, "uid", NULL);
    options.resource_version = json_get_string(preconditions, "resourceVersion", NULL);
    options.dry_run = json_count(json_get(body, "dryRun")) > 0;
    if (invalid->count > 0)
        return err_set(err, ERR_INVALID, "DeleteOptions are invalid");
    *ret = options;
    return 0;
}

/* Returns the grace period in seconds. It is 0 unless the object is a pod that is assigned to a
 * node and has not ended. */
static int64_t grace_of(const struct kube_kind *resource, const struct json *object,
                        const struct deletion_options *options)
{
    if (!resource->graceful)
        return 0;
    const struct json *spec = json_get(object, "spec");
    const char *phase = json_get_string(json_get(object, "status"), "phase", "");
    if (str_is_empty(json_get_string(spec, "nodeName", "")) || str_eq(phase, "Succeeded") ||
        str_eq(phase, "Failed"))
        return 0;
    int64_t pod_grace = json_get_int(spec, "terminationGracePeriodSeconds", 30);
    int64_t grace = options->grace_seconds >= 0 ? options->grace_seconds
                    : pod_grace > 0             ? pod_grace
                                                : 1;
    return grace < GRACE_MAX_S ? grace : GRACE_MAX_S;
}

/* Sets the finalizers that tell the garbage collector what to do with the dependents. Returns true
 * if the object has changed. */
static bool set_propagation(struct arena *arena, struct json *object,
                            enum deletion_propagation propagation)
{
    bool changed = false;
    if (propagation == PROPAGATION_DEFAULT)
        return false;
    if (propagation != PROPAGATION_ORPHAN)
        changed |= kube_meta_remove_finalizer(object, ORPHAN);
    if (propagation != PROPAGATION_FOREGROUND)
        changed |= kube_meta_remove_finalizer(object, FOREGROUND);
    const char *wanted = propagation == PROPAGATION_ORPHAN       ? ORPHAN
                         : propagation == PROPAGATION_FOREGROUND ? FOREGROUND
                                                                 : NULL;
    if (wanted && !kube_meta_has_finalizer(object, wanted)) {
        kube_meta_add_finalizer(arena, object, wanted);
        changed = true;
    }
    return changed;
}

static void deletion_mark(struct arena *arena, struct json *object, int64_t end_ms, int64_t grace)
{
    struct json *meta = json_ensure_object(arena, object, "metadata");
    meta_set_time(arena, meta, "deletionTimestamp", end_ms);
    json_set_int(arena, meta, "deletionGracePeriodSeconds", grace);
}

enum deletion_step deletion_decide(struct arena *arena, const struct kube_kind *resource,
                                   struct json *object, const struct deletion_options *options,
                                   int64_t now_ms)
{
    struct json *meta = json_ensure_object(arena, object, "metadata");
    bool changed = set_propagation(arena, object, options->propagation);
    int64_t grace = grace_of(resource, object, options);
    if (!kube_meta_is_deleting(object)) {
        deletion_mark(arena, object, now_ms + grace * 1000, grace);
        if (resource->generation)
            json_set_int(arena, meta, "generation", kube_meta_generation(object) + 1);
        if (str_eq(resource->id.plural, "namespaces"))
            json_set_string(arena, json_ensure_object(arena, object, "status"), "phase",
                            "Terminating");
        changed = true;
    } else {
        /* A later request can only shorten the grace period, and only if it sets one or the
         * period is 0 now (see grace_of()). */
        int64_t before = json_get_int(meta, "deletionGracePeriodSeconds", 0);
        if (grace < before && (options->grace_seconds >= 0 || grace == 0)) {
            deletion_mark(arena, object, kube_meta_deleting_ms(object) - (before - grace) * 1000,
                          grace);
            changed = true;
        }
    }
    if (meta_is_finished(object))
        return DELETION_REMOVE;
    return changed ? DELETION_MARK : DELETION_KEEP;
}
