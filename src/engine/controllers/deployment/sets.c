/* Plans the creation, resizing, annotation and deletion of a deployment's replica sets. Pure. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/deployment/internal.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_MAX = 2000, NAME_MAX_ = 253 };

void deployment_plan_add(struct deployment_pass *pass, struct deployment_action action)
{
    struct deployment_plan *plan = pass->plan;
    if (plan->action_count == plan->action_capacity) {
        size_t capacity = plan->action_capacity ? 2 * plan->action_capacity : 16;
        struct deployment_action *grown =
            ARENA_ARRAY(pass->arena, struct deployment_action, capacity);
        if (plan->action_count)
            memcpy(grown, plan->actions, plan->action_count * sizeof(*grown));
        plan->actions = grown;
        plan->action_capacity = capacity;
    }
    plan->actions[plan->action_count++] = action;
}

/* ---- Annotations ----------------------------------------------------------------------------- */

/* Returns whether the annotation of a deployment is not copied to its sets. */
static bool is_excluded_annotation(const char *key)
{
    static const char *const excluded[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                           DEPLOYMENT_REVISION,
                                           DEPLOYMENT_HISTORY,
                                           DEPLOYMENT_DESIRED,
                                           DEPLOYMENT_MAX,
                                           "deprecated.deployment.rollback.to"};
    for (size_t i = 0; i < ARRAY_SIZE(excluded); i++)
        if (str_eq(key, excluded[i]))
            return true;
    return false;
}

static void sets_annotate(struct deployment_pass *pass, struct json *object, const char *key,
                          int64_t number)
{
    kube_meta_set_annotation(pass->arena, object, key,
                             arena_printf(pass->arena, "%" PRId64, number));
}

static void annotate_size(struct deployment_pass *pass, struct json *object)
{
    sets_annotate(pass, object, DEPLOYMENT_DESIRED, pass->replicas);
    sets_annotate(pass, object, DEPLOYMENT_MAX, pass->replicas + pass->max_surge);
}

/* Returns the revision that the set with the current template must have at least: one more than the
 * highest revision of all other sets. */
static int64_t next_revision(const struct deployment_pass *pass)
{
    int64_t max = 0;
    for (size_t i = 0; i < pass->count; i++)
        if (!pass->sets[i].is_new && pass->sets[i].revision > max)
            max = pass->sets[i].revision;
    return max + 1;
}

/* Copies annotations of the deployment into `target`, except those that `set` already has with the
 * same value and those of is_excluded_annotation(). Returns whether any was copied. */
static bool copy_annotations(struct deployment_pass *pass, const struct json *set,
                             struct json *target)
{
    bool any = false;
    JSON_EACH (annotation, json_at(pass->deployment, "metadata", "annotations", NULL)) {
        if (is_excluded_annotation(annotation->name) ||
            str_eq(kube_meta_annotation(set, annotation->name), json_text(annotation)))
            continue;
        kube_meta_set_annotation(pass->arena, target, annotation->name, json_text(annotation));
        any = true;
    }
    return any;
}

/* Returns the former revisions of a set and its current revision, as text. The oldest are dropped
 * if the text gets too long. */
static const char *longer_history(struct deployment_pass *pass, const struct deployment_set *set)
{
    const char *old_history = kube_meta_annotation(set->json, DEPLOYMENT_HISTORY);
    const char *text = str_is_empty(old_history)
                           ? arena_printf(pass->arena, "%" PRId64, set->revision)
                           : arena_printf(pass->arena, "%s,%" PRId64, old_history, set->revision);
    while (strlen(text) > HISTORY_MAX && strchr(text, ','))
        text = strchr(text, ',') + 1;
    return text;
}

bool deployment_plan_annotate(struct deployment_pass *pass)
{
    const struct deployment_set *set = pass->new_set;
    const struct json *spec = json_get(pass->deployment, "spec");
    int64_t min_ready_s = json_get_int(spec, "minReadySeconds", 0), revision = next_revision(pass);
    struct json *patch = json_object(pass->arena);
    bool changed = copy_annotations(pass, set->json, patch);
    if (set->revision < revision) {
        sets_annotate(pass, patch, DEPLOYMENT_REVISION, revision);
        if (set->revision > 0)
            kube_meta_set_annotation(pass->arena, patch, DEPLOYMENT_HISTORY,
                                     longer_history(pass, set));
        changed = true;
    }
    if (json_get_int(json_get(set->json, "spec"), "minReadySeconds", 0) != min_ready_s) {
        json_set_int(pass->arena, json_ensure_object(pass->arena, patch, "spec"), "minReadySeconds",
                     min_ready_s);
        changed = true;
    }
    if (changed) {
        deployment_plan_add(pass, (struct deployment_action){.type = DEPLOYMENT_PATCH_SET,
                                                             .set = set->json,
                                                             .patch = patch});
        return false;
    }
    const char *shown = kube_meta_annotation(pass->deployment, DEPLOYMENT_REVISION);
    const char *current = kube_meta_annotation(set->json, DEPLOYMENT_REVISION);
    if (!str_eq(shown, current))
        pass->plan->revision = current;
    return true;
}

/* ---- A new set ------------------------------------------------------------------------------- */

/* Returns a short hash of the template and of the number of collisions. As in Kubernetes, its
 * alphabet has no vowels, so that no words appear. */
static const char *hash_of(struct deployment_pass *pass, const struct json *template_)
{
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    const struct json *collisions = json_at(pass->deployment, "status", "collisionCount", NULL);
    const char *text =
        arena_printf(pass->arena, "%s%" PRId64, json_to_string(pass->arena, template_),
                     collisions ? collisions->integer : 0);
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    char *digits = arena_printf(pass->arena, "%" PRIu32, hash);
    for (char *c = digits; *c; c++)
        *c = alphabet[(unsigned char)*c % (sizeof(alphabet) - 1)];
    return digits;
}

void deployment_plan_new_set(struct deployment_pass *pass)
{
    struct arena *arena = pass->arena;
    const struct json *spec = json_get(pass->deployment, "spec");
    struct json *template_ = json_clone_object(arena, json_get(spec, "template"));
    struct json *selector = json_clone_object(arena, json_get(spec, "selector"));
    const char *hash = hash_of(pass, template_);
    int keep = NAME_MAX_ - 1 - (int)strlen(hash);
    struct json *set = kube_object_make(
        arena, &KUBE_REPLICASETS, kube_meta_namespace(pass->deployment),
        arena_printf(arena, "%.*s-%s", keep, kube_meta_name(pass->deployment), hash));
    kube_meta_set_label(arena, template_, DEPLOYMENT_HASH_LABEL, hash);
    json_set_string(arena, json_ensure_object(arena, selector, "matchLabels"),
                    DEPLOYMENT_HASH_LABEL, hash);
    json_set(arena, json_get(set, "metadata"), "labels",
             json_clone(arena, kube_meta_labels(template_)));
    copy_annotations(pass, set, set);
    sets_annotate(pass, set, DEPLOYMENT_REVISION, next_revision(pass));
    annotate_size(pass, set);
    kube_meta_add_owner(arena, set, kube_owner_reference_new(arena, pass->deployment, true));
    struct json *inner = json_ensure_object(arena, set, "spec");
    int64_t size = deployment_size_new(pass, 0);
    int64_t min_ready_s = json_get_int(spec, "minReadySeconds", 0);
    json_set_int(arena, inner, "replicas", size);
    if (min_ready_s)
        json_set_int(arena, inner, "minReadySeconds", min_ready_s);
    json_set(arena, inner, "selector", selector);
    json_set(arena, inner, "template", template_);
    deployment_plan_add(
        pass, (struct deployment_action){
                  .type = DEPLOYMENT_CREATE_SET,
                  .set = set,
                  .event = size > 0 ? arena_printf(arena, "Scaled up replica set %s to %" PRId64,
                                                   kube_meta_name(set), size)
                                    : NULL,
              });
    pass->plan->revision = kube_meta_annotation(set, DEPLOYMENT_REVISION);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

void deployment_plan_resize(struct deployment_pass *pass)
{
    for (size_t i = 0; i < pass->count; i++) {
        const struct deployment_set *set = &pass->sets[i];
        bool sized = set->wanted != set->size;
        bool stale = pass->resized && set->size > 0 && set->desired_before != pass->replicas;
        if (!sized && !stale)
            continue;
        struct json *patch = json_object(pass->arena);
        annotate_size(pass, patch);
        json_set_int(pass->arena, json_ensure_object(pass->arena, patch, "spec"), "replicas",
                     set->wanted);
        /* The patch contains the set's resourceVersion. If another client has changed the size, the
         * patch fails, and the next pass uses that size. */
        json_set_string(pass->arena, json_get(patch, "metadata"), "resourceVersion",
                        kube_meta_resource_version(set->json));
        deployment_plan_add(
            pass,
            (struct deployment_action){
                .type = DEPLOYMENT_PATCH_SET,
                .set = set->json,
                .patch = patch,
                .event = sized ? arena_printf(pass->arena, "Scaled %s replica set %s to %" PRId64,
                                              set->wanted > set->size ? "up" : "down", set->name,
                                              set->wanted)
                               : NULL,
            });
    }
}

/* ---- History --------------------------------------------------------------------------------- */

static int compare_revision(const void *a, const void *b)
{
    const struct deployment_set *x = *(struct deployment_set *const *)a,
                                *y = *(struct deployment_set *const *)b;
    if (x->revision != y->revision)
        return x->revision < y->revision ? -1 : 1;
    return strcmp(x->name, y->name);
}

void deployment_plan_forget(struct deployment_pass *pass)
{
    struct deployment_set **old =
        ARENA_ARRAY(pass->arena, struct deployment_set *, pass->count + 1);
    int64_t count = 0;
    for (size_t i = 0; i < pass->count; i++)
        if (!pass->sets[i].is_new && !kube_meta_is_deleting(pass->sets[i].json))
            old[count++] = &pass->sets[i];
    qsort(old, (size_t)count, sizeof(struct deployment_set *), compare_revision);
    for (int64_t i = 0; i < count - pass->history; i++) {
        const struct deployment_set *set = old[i];
        int64_t seen = json_get_int(json_get(set->json, "status"), "observedGeneration", 0);
        if (set->total == 0 && set->size == 0 && kube_meta_generation(set->json) <= seen)
            deployment_plan_add(
                pass, (struct deployment_action){.type = DEPLOYMENT_DELETE_SET, .set = set->json});
    }
}
