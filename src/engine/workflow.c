/* Workflows as the API server sees them: only what its schema requires. What the fields mean is the
 * workflow controller's to judge, on any cluster. Its status is no subresource, as in Argo. */
#include "engine/kinds.h"

void kind_workflow_validate(struct field_errors *errors, const struct json *workflow,
                            const struct json *old)
{
    const struct json *spec = json_get(workflow, "spec"), *templates = json_get(spec, "templates");
    size_t position = 0;

    if (!spec || spec->type == JSON_NULL) {
        field_required(errors, "spec", NULL);
        return;
    }
    if (spec->type != JSON_OBJECT) {
        field_invalid(errors, "spec", spec, "spec in body must be of type object");
        return;
    }
    if (templates && templates->type != JSON_NULL && templates->type != JSON_ARRAY) {
        field_invalid(errors, "spec.templates", templates,
                      "spec.templates in body must be of type array");
        return;
    }
    JSON_EACH (template_, templates) {
        const char *field = field_path(errors, "spec.templates[%zu]", position++);

        if (template_->type != JSON_OBJECT)
            field_invalid(errors, field, template_, "%s in body must be of type object", field);
    }
}
