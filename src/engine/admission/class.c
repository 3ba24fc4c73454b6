/* Admission by classes: sets the priority of a pod from its PriorityClass and the default
 * StorageClass of a claim, and allows only one default PriorityClass; see admission.h. */
#include "base/str.h"
#include "engine/admission/admission.h"
#include "kube/object.h"
#include "kube/storage_class.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Returns the class that `beats` prefers to all others, or NULL if it accepts none. beats() returns
 * whether `class_` is preferred to `best`, the preferred class so far (NULL: none). Parses only
 * classes whose bytes contain `word`, because this function runs for every new pod that names no
 * class. */
static struct json *find_class(struct api_call *call, const struct kube_kind *classes,
                               const char *word,
                               bool (*beats)(const struct json *class_, const struct json *best))
{
    struct json *best = NULL;
    struct store_object **stored;
    size_t count =
        store_list(engine_store(call->engine), stored_key(call->arena, classes, "", NULL), &stored);
    for (size_t i = 0; i < count; i++) {
        struct json *class_ = NULL;
        const char *data = store_object_data(stored[i], call->arena);
        if (memmem(data, stored[i]->size, word, strlen(word)) &&
            api_read_stored(call, call->arena, stored[i], &class_) && beats(class_, best))
            best = class_;
        store_object_unref(stored[i]);
    }
    free(stored);
    return best;
}

/* ---- Priority -------------------------------------------------------------------------------- */

static const struct kube_kind *priority_classes(void)
{
    return &KUBE_PRIORITYCLASS_KIND;
}

/* For find_class(): prefers the default class with the lowest value, as in Kubernetes. */
static bool is_lower_default(const struct json *class_, const struct json *best)
{
    return json_get_bool(class_, "globalDefault", false) &&
           (!best || json_get_int(class_, "value", 0) < json_get_int(best, "value", 0));
}

/* Sets *ret to the class that the pod names, or to the default class if the pod names none. Sets
 * *ret to NULL if no class is the default. Returns -ERR_FORBIDDEN if the named class does not
 * exist. */
static int find_priority_class(struct api_call *call, const struct json *pod, struct json **ret,
                               struct err *err)
{
    const char *name = json_get_string(json_get(pod, "spec"), "priorityClassName", "");
    if (name[0] == '\0') {
        *ret = find_class(call, priority_classes(), "\"globalDefault\":true", is_lower_default);
        return 0;
    }
    struct store_object *stored = store_get_pending(
        engine_store(call->engine), stored_key(call->arena, priority_classes(), "", name));
    if (!stored)
        return err_set(err, ERR_FORBIDDEN,
                       "pods \"%s\" is forbidden: no PriorityClass with name %.253s was found",
                       kube_meta_name(pod), name);
    int result = stored_read(call->arena, stored, ret, err);
    store_object_unref(stored);
    return result;
}

int admission_set_priority(struct api_call *call, struct json *pod, struct err *err)
{
    struct json *spec = json_get(pod, "spec"), *class_ = NULL;
    int result = find_priority_class(call, pod, &class_, err);
    if (result < 0)
        return result;
    int64_t value = json_get_int(class_, "value", 0);
    const char *policy = json_get_string(class_, "preemptionPolicy", "PreemptLowerPriority");
    const char *given = json_get_string(spec, "preemptionPolicy", policy);
    if (json_get_int(spec, "priority", value) != value)
        return err_set(err, ERR_FORBIDDEN,
                       "pods \"%s\" is forbidden: the integer value of priority (%" PRId64
                       ") must not be provided in pod spec; priority admission controller computed "
                       "%" PRId64 " from the given PriorityClass name",
                       kube_meta_name(pod), json_get_int(spec, "priority", 0), value);
    if (!str_eq(given, policy))
        return err_set(err, ERR_FORBIDDEN,
                       "pods \"%s\" is forbidden: the string value of PreemptionPolicy (%.63s) "
                       "must not be provided in pod spec; priority admission controller computed "
                       "%s from the given PriorityClass name",
                       kube_meta_name(pod), given, policy);
    if (class_)
        json_set_string(call->arena, spec, "priorityClassName", kube_meta_name(class_));
    json_set_int(call->arena, spec, "priority", value);
    json_set_string(call->arena, spec, "preemptionPolicy", policy);
    return 0;
}

int admission_admit_priority_class(struct api_call *call, struct json *class_,
                                   const struct json *old, struct err *err)
{
    if (!json_get_bool(class_, "globalDefault", false))
        return 0;
    const struct json *present =
        find_class(call, priority_classes(), "\"globalDefault\":true", is_lower_default);
    if (!present || str_eq(kube_meta_name(present), kube_meta_name(class_)))
        return 0;
    return err_set(err, ERR_FORBIDDEN,
                   "priorityclasses.scheduling.k8s.io \"%s\" is forbidden: PriorityClass %s is "
                   "already marked as default. Only one default can exist",
                   kube_meta_name(class_), kube_meta_name(present));
}

/* ---- Storage --------------------------------------------------------------------------------- */

/* For find_class(): prefers the newest default class, as in Kubernetes. */
static bool is_newer_default(const struct json *class_, const struct json *best)
{
    return kube_class_is_default(class_) &&
           (!best || kube_meta_created_ms(class_) > kube_meta_created_ms(best));
}

int admission_admit_claim(struct api_call *call, struct json *claim, const struct json *old,
                          struct err *err)
{
    struct json *spec = json_get(claim, "spec");
    const struct json *named = json_get(spec, "storageClassName");
    int result = admission_limit_claim(call, claim, err);
    if (result < 0)
        return result;
    /* A storageClassName of "" means a volume without a class, so the claim gets no default. */
    if (old || (named && named->type != JSON_NULL) ||
        kube_meta_annotation(claim, "volume.beta.kubernetes.io/storage-class"))
        return 0;
    const struct json *class_ =
        find_class(call, &KUBE_STORAGECLASS_KIND, "is-default-class", is_newer_default);
    if (class_)
        json_set_string(call->arena, spec, "storageClassName", kube_meta_name(class_));
    return 0;
}
