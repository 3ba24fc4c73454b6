/* The `admit` hook of CustomResourceDefinitions: sets their status and warns the client; see
 * handlers.h. */
#include "engine/crd/definition.h"
#include "base/str.h"
#include "engine/api/handlers.h"
#include "kube/json_path.h"
#include "kube/object.h"

/* Returns whether the schema of a version has CEL rules. */
static bool has_cel(const struct json *definition)
{
    JSON_EACH (version, json_at(definition, "spec", "versions", NULL))
        if (definition_has_cel(json_at(version, "schema", "openAPIV3Schema", NULL)))
            return true;
    return false;
}

/* Kubernetes accepts a column whose JSON path cannot be parsed, and does not show the column. This
 * server also warns the client. */
static void warn_of_columns(struct api_call *call, const struct json *version)
{
    const struct json_path *path;
    struct err err = ERR_INIT;
    JSON_EACH (column, json_get(version, "additionalPrinterColumns")) {
        const char *text = json_get_string(column, "jsonPath", "");
        if (json_path_parse(call->arena, text, &path, &err) < 0)
            api_warn(call, arena_printf(call->arena, "column '%.63s' is not shown: %.100s: %s",
                                        json_get_string(column, "name", ""), text, err.message));
    }
}

int api_admit_definition(struct api_call *call, struct json *definition, const struct json *old,
                         struct err *err)
{
    const struct json *before = json_get(old, "spec"), *spec = json_get(definition, "spec");
    definition_set_status(call->arena, engine_registry(call->engine), definition,
                          loop_wall_ms(engine_loop(call->engine)));
    if (before && json_equal(before, spec))
        return 0;
    if (registry_is_built_in(engine_registry(call->engine), kube_meta_name(definition)))
        api_warn(call, arena_printf(call->arena,
                                    "%s is built in: this definition is stored, but the server "
                                    "uses its own schema",
                                    kube_meta_name(definition)));
    JSON_EACH (version, json_get(spec, "versions"))
        warn_of_columns(call, version);
    if (has_cel(definition))
        api_warn(call, "x-kubernetes-validations: CEL rules are stored, but not evaluated by "
                       "this server");
    if (str_eq(json_get_string(json_get(spec, "conversion"), "strategy", ""), "Webhook"))
        api_warn(call, "spec.conversion: this server calls no webhooks; with one served version "
                       "there is nothing to convert");
    return 0;
}
