/* Validates Jobs, with Kubernetes' messages. Refuses the fields of features that this program
 * lacks, instead of ignoring them silently. */
#include "kube/kinds/job.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/rule.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <inttypes.h>

enum { INDEXED_PARALLELISM_MAX = 100 * 1000 };

static const char *const MODES[] = {"NonIndexed", "Indexed", NULL};

static bool is_indexed(const struct json *spec)
{
    return str_eq(json_get_string(spec, "completionMode", ""), "Indexed");
}

/* ---- The spec -------------------------------------------------------------------------------- */

static void validate_numbers(struct field_errors *errors, const struct json *spec)
{
    static const char *const numbers[] = {"parallelism", "completions", "backoffLimit",
                                          "activeDeadlineSeconds", "ttlSecondsAfterFinished"};
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        rule_nonnegative(errors, spec, numbers[i], "spec");
}

static void validate_mode(struct field_errors *errors, const struct json *job,
                          const struct json *spec)
{
    const char *mode = json_get_string(spec, "completionMode", "");
    if (!str_eq(mode, "Indexed") && !str_eq(mode, "NonIndexed"))
        field_unsupported(errors, "spec.completionMode", mode, MODES);
    if (!str_eq(mode, "Indexed"))
        return;
    int64_t completions = json_get_int(spec, "completions", -1);
    if (completions < 0) {
        field_required(errors, "spec.completions", "when completion mode is Indexed");
        return;
    }
    if (json_get_int(spec, "parallelism", 0) > INDEXED_PARALLELISM_MAX)
        field_invalid(errors, "spec.parallelism", json_get(spec, "parallelism"),
                      "must be less than or equal to %d when completion mode is Indexed",
                      INDEXED_PARALLELISM_MAX);
    /* The pod of the last index has the longest name. */
    const char *host = arena_printf(errors->arena, "%s-%" PRId64, kube_meta_name(job),
                                    completions > 0 ? completions - 1 : 0);
    const char *complaint = meta_name_complaint(NAME_LABEL, host);
    if (complaint)
        field_invalid(errors, "metadata.name", json_string(errors->arena, kube_meta_name(job)),
                      "will not able to create pod with invalid DNS label %s: %s", host, complaint);
}

/* Refuses the features of Kubernetes' Job controller that this program does not support. */
static void refuse_unsupported(struct field_errors *errors, const struct json *spec)
{
    static const char *const rows[][2] = {
        {"backoffLimitPerIndex", "retries are counted over the whole job here: use backoffLimit"},
        {"maxFailedIndexes", "retries are counted over the whole job here: use backoffLimit"},
        {"podFailurePolicy", "every failure counts the same here: use backoffLimit, and let the "
                             "program exit with 0 in cases that are not failures"},
        {"successPolicy", "a job is complete here when all its indexes have succeeded"},
    };
    static const char *const replacements[] = {"Failed", "TerminatingOrFailed", NULL};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct json *value = json_get(spec, rows[i][0]);
        if (value && value->type != JSON_NULL)
            field_forbidden(
                errors, field_path(errors, "spec.%s", rows[i][0]),
                arena_printf(errors->arena, "not supported by trainyard: %s", rows[i][1]));
    }
    const char *manager = json_get_string(spec, "managedBy", "");
    if (manager[0] && !str_eq(manager, "kubernetes.io/job-controller"))
        field_forbidden(errors, "spec.managedBy",
                        "not supported by trainyard: the built-in controller manages every job");
    const char *replacement = json_get_string(spec, "podReplacementPolicy", "Failed");
    if (!str_eq(replacement, "Failed") && !str_eq(replacement, "TerminatingOrFailed"))
        field_unsupported(errors, "spec.podReplacementPolicy", replacement, replacements);
}

/* ---- The template ---------------------------------------------------------------------------- */

static void validate_template(struct field_errors *errors, const struct json *spec)
{
    static const char *const policies[] = {"OnFailure", "Never", NULL};
    const struct json *template_ = json_get(spec, "template");
    const char *policy = json_get_string(json_get(template_, "spec"), "restartPolicy", "Always");
    rule_template(errors, template_, "spec.template");
    if (str_eq(policy, "Always")) /* the default of a pod */
        field_required(errors, "spec.template.spec.restartPolicy",
                       "valid values: \"OnFailure\", \"Never\"");
    else
        rule_word(errors, json_get(template_, "spec"), "restartPolicy", policies,
                  "spec.template.spec");
}

static void validate_generated_label(struct field_errors *errors, const struct json *labels,
                                     const char *key, const char *wanted)
{
    const char *has = json_get_string(labels, key, NULL);
    const char *field = field_path(errors, "spec.template.metadata.labels[%s]", key);
    const char *detail = arena_printf(errors->arena, "must be '%s'", wanted);
    if (!has)
        field_required(errors, field, detail);
    else if (!str_eq(has, wanted))
        field_invalid(errors, field, json_get(labels, key), "%s", detail);
}

/* Checks the labels and the selector that the server generates for a job without manualSelector. */
static void validate_generated(struct field_errors *errors, const struct json *job,
                               const struct json *labels, const struct kube_selector *selector)
{
    static const char *const of_uid[] = {JOB_UID_LABEL, JOB_UID_LABEL_OLD};
    static const char *const of_name[] = {JOB_NAME_LABEL, JOB_NAME_LABEL_OLD};
    struct json *expected = json_object(errors->arena);
    for (size_t i = 0; i < ARRAY_SIZE(of_uid); i++) {
        validate_generated_label(errors, labels, of_uid[i], kube_meta_uid(job));
        validate_generated_label(errors, labels, of_name[i], kube_meta_name(job));
        json_set_string(errors->arena, expected, of_uid[i], kube_meta_uid(job));
        json_set_string(errors->arena, expected, of_name[i], kube_meta_name(job));
    }
    if (!kube_selector_matches(selector, expected))
        field_invalid(errors, "spec.selector", json_at(job, "spec", "selector", NULL),
                      "`selector` not auto-generated");
}

static void validate_selector(struct field_errors *errors, const struct json *job,
                              const struct json *spec)
{
    const struct json *labels = json_at(spec, "template", "metadata", "labels", NULL);
    const struct json *selector = json_get(spec, "selector");
    struct kube_selector parsed = {.nothing = true};
    if (!rule_has(spec, "selector")) {
        field_required(errors, "spec.selector", NULL);
    } else {
        rule_selector(errors, selector, "spec.selector");
        if (kube_selector_from_json(errors->arena, selector, &parsed, NULL) < 0)
            return;
        if (!json_get_bool(spec, "manualSelector", false))
            validate_generated(errors, job, labels, &parsed);
    }
    if (!kube_selector_matches(&parsed, labels))
        field_invalid(errors, "spec.template.metadata.labels", labels,
                      "`selector` does not match template `labels`");
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void validate_update(struct field_errors *errors, const struct json *spec,
                            const struct json *old)
{
    static const char *const fixed[] = {"selector", "template", "completionMode"};
    for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
        if (!rule_same(json_get(spec, fixed[i]), json_get(old, fixed[i])))
            field_invalid(errors, field_path(errors, "spec.%s", fixed[i]), json_get(spec, fixed[i]),
                          "field is immutable");
    if (rule_same(json_get(spec, "completions"), json_get(old, "completions")))
        return;
    if (!is_indexed(spec))
        field_invalid(errors, "spec.completions", json_get(spec, "completions"),
                      "field is immutable");
    else if (!rule_same(json_get(spec, "completions"), json_get(spec, "parallelism")))
        field_invalid(errors, "spec.completions", json_get(spec, "completions"),
                      "can only be modified in tandem with spec.parallelism");
}

void kube_job_validate(struct field_errors *errors, const struct json *job, const struct json *old)
{
    const struct json *spec = json_get(job, "spec");
    validate_numbers(errors, spec);
    validate_mode(errors, job, spec);
    refuse_unsupported(errors, spec);
    validate_template(errors, spec);
    validate_selector(errors, job, spec);
    if (old)
        validate_update(errors, spec, json_get(old, "spec"));
}
