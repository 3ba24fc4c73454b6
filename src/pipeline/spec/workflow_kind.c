/* Defines the kind Workflow for the API server. The API server validates only that there is a spec
 * and the types of its fields. The workflow controller validates the rest, on any cluster
 * (workflow_validate()). As in Argo, the status is not a subresource. */
#include "pipeline/spec/workflow_kind.h"

#include "kube/kinds/row.h"
#include "kube/schema/validate.h"

static void workflow_kind_validate(struct field_errors *errors, const struct json *workflow,
                                   const struct json *old)
{
    const struct json *spec = json_get(workflow, "spec");
    if (!spec || spec->type == JSON_NULL)
        field_required(errors, "spec", NULL);
    else
        schema_validate_change(errors, &schema_field(&WORKFLOW_TYPE, "spec")->value, "spec", spec,
                               json_get(old, "spec"));
}

static const struct kube_column WORKFLOW_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Status", "The phase of the workflow.", table_phase),
    COLUMN_AGE_DATE,
    COLUMN_TEXT("Message", "Why the workflow is in this phase.", table_status_message),
};

/* clang-format off */

KUBE_KIND(WORKFLOWS_RESOURCE, WORKFLOW_KIND, "argoproj.io", "v1alpha1", "workflows", "Workflow",
        NAMESPACED,
    .schema = &WORKFLOW_TYPE,
    .form = SCHEMA_FORM_WRITTEN,
    .singular = "workflow",
    .short_names = NAMES("wf"),
    .verbs = VERBS_ALL,
    .generation = true,
    .columns = COLUMNS(WORKFLOW_COLUMNS),
    .hooks = {.validate = workflow_kind_validate});
