/* Validates pod templates; see rule.h. */
#include "kube/kinds/meta.h"
#include "kube/kinds/pod/pod.h"
#include "kube/kinds/rule.h"
#include "kube/schema/decode.h"
#include "kube/schema/default.h"
#include "kube/schema/validate.h"
#include "kube/types/types.h"

void rule_template(struct field_errors *errors, const struct json *template_, const char *field)
{
    const struct json *meta = json_get(template_, "metadata");
    struct field_errors inner;
    meta_validate_labels(errors, json_get(meta, "labels"), field_path(errors, "%s.labels", field));
    meta_validate_annotations(errors, json_get(meta, "annotations"),
                              field_path(errors, "%s.annotations", field));
    field_errors_init(&inner, errors->arena);
    kube_pod_validate(&inner, template_, NULL);
    field_errors_take(errors, &inner, field_path(errors, "%s.", field));
    /* Admission checks these names in pods, but not in templates. */
    rule_name(errors, json_get(template_, "spec"), "serviceAccountName", NAME_SUBDOMAIN, false,
              field_path(errors, "%s.spec", field));
    rule_name(errors, json_get(template_, "spec"), "priorityClassName", NAME_SUBDOMAIN, false,
              field_path(errors, "%s.spec", field));
}

/* Decodes the template and sets its defaults, as the server does for the pod that is created from
 * it. */
static int complete_template(struct arena *arena, struct json *template_, struct err *err)
{
    int result =
        schema_decode(arena, &TYPE_POD_TEMPLATE_SPEC, SCHEMA_FORM_TYPED, template_, NULL, err);
    if (result < 0)
        return result;
    struct json *spec = json_ensure_object(arena, template_, "spec");
    json_set_string(arena, spec, "restartPolicy", "Never");
    schema_default(arena, &TYPE_POD_TEMPLATE_SPEC, template_);
    kube_pod_spec_defaults(arena, spec);
    return 0;
}

void rule_template_written(struct field_errors *errors, const struct json *template_,
                           const char *field)
{
    struct json *pod = json_clone(errors->arena, template_);
    struct field_errors words;
    struct err err = ERR_INIT;
    if (complete_template(errors->arena, pod, &err) < 0) {
        field_invalid(errors, field, NULL, "%s", err.message);
        return;
    }
    size_t before = errors->count;
    rule_template(errors, pod, field);
    if (errors->count > before)
        return;
    field_errors_init(&words, errors->arena);
    schema_validate_words(&words, &TYPE_POD_TEMPLATE_SPEC, pod);
    field_errors_take(errors, &words, field_path(errors, "%s.", field));
}
