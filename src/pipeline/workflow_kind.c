/* Workflows as the API server sees them: the types of their fields. What the fields mean is the
 * workflow controller's to judge, on any cluster. Its status is no subresource, as in Argo. */
#include "engine/kinds/kinds.h"

#include "kube/schema/validate.h"
#include "kube/types/types.h"

void kind_workflow_validate(struct field_errors *errors, const struct json *workflow,
                            const struct json *old)
{
    const struct json *spec = json_get(workflow, "spec");
    if (!spec || spec->type == JSON_NULL)
        field_required(errors, "spec", NULL);
    else
        schema_validate_change(errors, &schema_field(&TYPE_WORKFLOW, "spec")->value, "spec", spec,
                               json_get(old, "spec"));
}
