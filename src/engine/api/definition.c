/* What is said to who writes a definition, and what becomes of it at once; a hook of the registry.
 */
#include "engine/crd/definition.h"
#include "base/str.h"
#include "engine/api/rest.h"
#include "kube/json_path.h"
#include "kube/object.h"

static bool has_cel(const struct json *definition)
{
    JSON_EACH (version, json_at(definition, "spec", "versions", NULL))
        if (definition_has_cel(json_at(version, "schema", "openAPIV3Schema", NULL)))
            return true;
    return false;
}

/* Kubernetes takes a path that it cannot read and shows no column for it. */
static void warn_of_columns(struct rest *rest, const struct json *version)
{
    const struct json_path *path;
    struct err err = ERR_INIT;
    JSON_EACH (column, json_get(version, "additionalPrinterColumns")) {
        const char *text = json_get_string(column, "jsonPath", "");
        if (json_path_parse(rest->arena, text, &path, &err) < 0)
            rest_warn(rest, arena_printf(rest->arena, "column '%.63s' is not shown: %.100s: %s",
                                         json_get_string(column, "name", ""), text, err.message));
    }
}

int rest_admit_definition(struct rest *rest, struct json *definition, const struct json *old,
                          struct err *err)
{
    const struct json *before = json_get(old, "spec"), *spec = json_get(definition, "spec");
    definition_set_status(rest->arena, engine_registry(rest->engine), definition,
                          loop_wall_ms(engine_loop(rest->engine)));
    if (before && json_equal(before, spec))
        return 0;
    if (registry_is_built_in(engine_registry(rest->engine), kube_meta_name(definition)))
        rest_warn(rest, arena_printf(rest->arena,
                                     "%s is built in: this definition is kept, but the schema that "
                                     "holds is the server's own",
                                     kube_meta_name(definition)));
    JSON_EACH (version, json_get(spec, "versions"))
        warn_of_columns(rest, version);
    if (has_cel(definition))
        rest_warn(rest, "x-kubernetes-validations: rules in CEL are kept, but not evaluated by "
                        "this server");
    if (str_eq(json_get_string(json_get(spec, "conversion"), "strategy", ""), "Webhook"))
        rest_warn(rest, "spec.conversion: this server asks no webhooks; with one served version "
                        "there is nothing to convert");
    return 0;
}
