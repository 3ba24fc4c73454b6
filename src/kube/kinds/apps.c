/* Deployments and ReplicaSets: their rows, defaults and validation. */
#include "kube/kinds/row.h"

#include "base/str.h"
#include "kube/kinds/defaults.h"
#include "kube/kinds/pod/pod.h"
#include "kube/kinds/rule.h"
#include "kube/selector.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Defaults -------------------------------------------------------------------------------- */

static void replica_set_defaults(struct arena *arena, struct json *set)
{
    kube_pod_spec_defaults(arena, json_at(set, "spec", "template", "spec", NULL));
}

static void deployment_defaults(struct arena *arena, struct json *deployment)
{
    struct json *strategy = json_at(deployment, "spec", "strategy", NULL);
    kube_pod_spec_defaults(arena, json_at(deployment, "spec", "template", "spec", NULL));
    if (!str_eq(json_get_string(strategy, "type", ""), "RollingUpdate"))
        return;
    struct json *rolling = json_ensure_object(arena, strategy, "rollingUpdate");
    default_string(arena, rolling, "maxUnavailable", "25%");
    default_string(arena, rolling, "maxSurge", "25%");
}

/* Only the controller may set the status. */
static void replica_set_create(struct arena *arena, struct json *set)
{
    struct json *status = json_object(arena);
    json_set_int(arena, status, "replicas", 0);
    json_set(arena, set, "status", status);
}

static void deployment_create(struct arena *arena, struct json *deployment)
{
    json_set(arena, deployment, "status", json_object(arena));
}

/* ---- Validation ------------------------------------------------------------------------------ */

static void validate_template(struct field_errors *errors, const struct json *spec,
                              const struct kube_selector *selector)
{
    static const char *const always[] = {"Always", NULL};
    const struct json *template_ = json_get(spec, "template");
    const struct json *labels = json_at(template_, "metadata", "labels", NULL);
    const struct json *pod = json_get(template_, "spec");
    if ((selector->count > 0 || selector->nothing) && !kube_selector_matches(selector, labels))
        field_invalid(errors, "spec.template.metadata.labels", labels,
                      "`selector` does not match template `labels`");
    rule_template(errors, template_, "spec.template");
    const char *policy = json_get_string(pod, "restartPolicy", "Always");
    if (!str_eq(policy, "Always"))
        field_unsupported(errors, "spec.template.spec.restartPolicy", policy, always);
    if (json_get(pod, "activeDeadlineSeconds"))
        field_forbidden(errors, "spec.template.spec.activeDeadlineSeconds",
                        "activeDeadlineSeconds in ReplicaSet is not Supported");
}

/* Validates the selector and the pod template, which both kinds have. The selector must match the
 * template's labels. */
static void validate_pods(struct field_errors *errors, const struct json *spec)
{
    const struct json *selector = json_get(spec, "selector");
    struct kube_selector parsed = {0};
    if (!selector || selector->type != JSON_OBJECT) {
        field_required(errors, "spec.selector", NULL);
        parsed.nothing = true;
        selector = NULL;
    } else {
        rule_selector(errors, selector, "spec.selector");
        if (json_count(json_get(selector, "matchLabels")) +
                json_count(json_get(selector, "matchExpressions")) ==
            0)
            field_invalid(errors, "spec.selector", selector,
                          "empty selector is invalid for deployment");
    }
    if (selector && kube_selector_from_json(errors->arena, selector, &parsed, NULL) < 0)
        field_invalid(errors, "spec.selector", selector, "invalid label selector");
    else
        validate_template(errors, spec, &parsed);
}

/* Returns the number of a percentage such as "25%", or -1 if the value is not a percentage. */
static int64_t percent_of(const struct json *value)
{
    const char *text = json_text(value);
    size_t digits = text ? strspn(text, "0123456789") : 0;
    return digits > 0 && digits < 10 && str_eq(text + digits, "%") ? atoll(text) : -1;
}

static bool is_zero_share(const struct json *value)
{
    return value && (value->type == JSON_INT ? value->integer == 0 : percent_of(value) <= 0);
}

static void validate_share(struct field_errors *errors, const struct json *rolling,
                           const char *name)
{
    const struct json *value = json_get(rolling, name);
    if (value && value->type == JSON_STRING && percent_of(value) < 0)
        field_invalid(errors, field_path(errors, "spec.strategy.rollingUpdate.%s", name), value,
                      "a valid percent string must be a numeric string followed by an ending '%%' "
                      "(e.g. '1%%',  or '93%%', regex used for validation is '[0-9]+%%')");
    rule_nonnegative(errors, rolling, name, "spec.strategy.rollingUpdate");
}

static void validate_strategy(struct field_errors *errors, const struct json *strategy)
{
    static const char *const types[] = {"Recreate", "RollingUpdate", NULL};
    const char *type = json_get_string(strategy, "type", "");
    const struct json *rolling = json_get(strategy, "rollingUpdate");
    const struct json *unavailable = json_get(rolling, "maxUnavailable");
    if (str_eq(type, "Recreate")) {
        if (rolling && rolling->type != JSON_NULL)
            field_forbidden(errors, "spec.strategy.rollingUpdate",
                            "may not be specified when strategy `type` is 'Recreate'");
        return;
    }
    if (!str_eq(type, "RollingUpdate")) {
        field_unsupported_value(errors, "spec.strategy", strategy, types);
        return;
    }
    validate_share(errors, rolling, "maxUnavailable");
    validate_share(errors, rolling, "maxSurge");
    if (is_zero_share(unavailable) && is_zero_share(json_get(rolling, "maxSurge")))
        field_invalid(errors, "spec.strategy.rollingUpdate.maxUnavailable", unavailable,
                      "may not be 0 when `maxSurge` is 0");
    if (percent_of(unavailable) > 100)
        field_invalid(errors, "spec.strategy.rollingUpdate.maxUnavailable", unavailable,
                      "must not be greater than 100%%");
}

static void replica_set_validate(struct field_errors *errors, const struct json *set,
                                 const struct json *old)
{
    const struct json *spec = json_get(set, "spec");
    rule_nonnegative(errors, spec, "replicas", "spec");
    rule_nonnegative(errors, spec, "minReadySeconds", "spec");
    validate_pods(errors, spec);
    if (old)
        rule_immutable(errors, json_get(spec, "selector"), json_at(old, "spec", "selector", NULL),
                       "spec.selector");
}

static void deployment_validate(struct field_errors *errors, const struct json *deployment,
                                const struct json *old)
{
    const struct json *spec = json_get(deployment, "spec");
    const struct json *deadline = json_get(spec, "progressDeadlineSeconds");
    rule_nonnegative(errors, spec, "replicas", "spec");
    validate_pods(errors, spec);
    validate_strategy(errors, json_get(spec, "strategy"));
    rule_nonnegative(errors, spec, "minReadySeconds", "spec");
    rule_nonnegative(errors, spec, "revisionHistoryLimit", "spec");
    rule_nonnegative(errors, spec, "progressDeadlineSeconds", "spec");
    if (deadline && deadline->type == JSON_INT &&
        deadline->integer <= json_get_int(spec, "minReadySeconds", 0))
        field_invalid(errors, "spec.progressDeadlineSeconds", deadline,
                      "must be greater than minReadySeconds");
    if (old)
        rule_immutable(errors, json_get(spec, "selector"), json_at(old, "spec", "selector", NULL),
                       "spec.selector");
}

static const struct kube_column DEPLOYMENT_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Ready", "Pods that are ready, out of the desired number.", table_deployment_ready),
    COLUMN_TEXT("Up-to-date", "Number of pods that have the newest template.",
                table_replicas_updated),
    COLUMN_TEXT("Available", "Number of pods that have been ready for minReadySeconds.",
                table_replicas_available),
    COLUMN_AGE,
    COLUMN_WIDE("Containers", "Names of the containers.", table_template_containers),
    COLUMN_WIDE("Images", "Images of the containers.", table_template_images),
    COLUMN_WIDE("Selector", "Label selector of its pods.", table_pod_selector),
};

static const struct kube_column REPLICASET_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_INT("Desired", "Desired number of pods.", table_replicas_desired),
    COLUMN_INT("Current", "Number of pods that exist.", table_replicas_current),
    COLUMN_INT("Ready", "Number of pods that are ready.", table_replicas_ready),
    COLUMN_AGE,
    COLUMN_WIDE("Containers", "Names of the containers.", table_template_containers),
    COLUMN_WIDE("Images", "Images of the containers.", table_template_images),
    COLUMN_WIDE("Selector", "Label selector of its pods.", table_pod_selector),
};

static const struct kube_scale_paths REPLICAS_SCALE = {
    .spec_path = "spec.replicas",
    .status_path = "status.replicas",
    .selector_path = "spec.selector",
};

/* clang-format off */

KUBE_KIND(KUBE_DEPLOYMENTS, KUBE_DEPLOYMENT_KIND, "apps", "v1", "deployments", "Deployment",
        NAMESPACED,
    .schema = &TYPE_DEPLOYMENT,
    .singular = "deployment",
    .short_names = NAMES("deploy"),
    .categories = CATEGORY_ALL,
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(SCALE_OF(&REPLICAS_SCALE), STATUS_OF("Deployment")),
    .generation = true,
    .columns = COLUMNS(DEPLOYMENT_COLUMNS),
    .hooks = {.defaults = deployment_defaults,
        .create = deployment_create,
        .validate = deployment_validate});

KUBE_KIND(KUBE_REPLICASETS, KUBE_REPLICASET_KIND, "apps", "v1", "replicasets", "ReplicaSet",
        NAMESPACED,
    .schema = &TYPE_REPLICA_SET,
    .singular = "replicaset",
    .short_names = NAMES("rs"),
    .categories = CATEGORY_ALL,
    .fields = NAMES("status.replicas"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(SCALE_OF(&REPLICAS_SCALE), STATUS_OF("ReplicaSet")),
    .generation = true,
    .columns = COLUMNS(REPLICASET_COLUMNS),
    .hooks = {.defaults = replica_set_defaults,
        .create = replica_set_create,
        .validate = replica_set_validate});
