/* Sets the defaults of a definition and validates it; see definition.h. definition_keywords.c,
 * definition_structure.c and definition_fallbacks.c check the schemas. */
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/crd/definition.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/schema/compile.h"

#include <ctype.h>
#include <string.h>

/* The annotation that a definition in a group of Kubernetes must have. */
static const char APPROVED[] = "api-approved.kubernetes.io";

static char *to_lower_text(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);
    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

void definition_defaults(struct arena *arena, struct json *definition)
{
    struct json *names = json_at(definition, "spec", "names", NULL);
    const char *kind = json_get_string(names, "kind", "");
    if (!names || names->type != JSON_OBJECT || !kind[0])
        return;
    if (!json_get_string(names, "singular", "")[0])
        json_set_string(arena, names, "singular", to_lower_text(arena, kind));
    if (!json_get_string(names, "listKind", "")[0])
        json_set(arena, names, "listKind", json_stringf(arena, "%sList", kind));
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Checks that the value is a DNS label. With `any_case`, it may also have capital letters. */
static void check_label(struct field_errors *errors, const char *path, const struct json *value,
                        bool any_case)
{
    const char *text = json_text(value);
    const char *complaint = meta_name_complaint(
        NAME_LABEL1035, any_case ? to_lower_text(errors->arena, text ? text : "")
                        : text   ? text
                                 : "");
    if (complaint)
        field_invalid(errors, path, value, "%s%s",
                      any_case ? "may have mixed case, but should otherwise match: " : "",
                      complaint);
}

static void check_labels(struct field_errors *errors, const char *path, const struct json *list)
{
    size_t position = 0;
    JSON_EACH (label, list)
        check_label(errors, field_path(errors, "%s[%zu]", path, position++), label, false);
}

static void check_definition_names(struct field_errors *errors, const struct json *names)
{
    static const struct {
        const char *name;
        bool any_case;
    } rows[] = {{"plural", false}, {"singular", false}, {"kind", true}, {"listKind", true}};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *path = field_path(errors, "spec.names.%s", rows[i].name);
        if (!json_get_string(names, rows[i].name, "")[0])
            field_required(errors, path, NULL);
        else
            check_label(errors, path, json_get(names, rows[i].name), rows[i].any_case);
    }
    check_labels(errors, "spec.names.shortNames", json_get(names, "shortNames"));
    check_labels(errors, "spec.names.categories", json_get(names, "categories"));
    const struct json *kind = json_get(names, "kind"), *list_kind = json_get(names, "listKind");
    if (kind && list_kind && json_text(kind) && json_text(kind)[0] && json_equal(kind, list_kind))
        field_invalid(errors, "spec.names.listKind", list_kind,
                      "kind and listKind may not be the same");
}

/* Returns whether the group is "k8s.io" or "kubernetes.io", or a subdomain of one of them. */
static bool is_protected(const char *group)
{
    static const char *const owners[] = {"k8s.io", "kubernetes.io"};
    size_t size = strlen(group);
    for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
        size_t tail = strlen(owners[i]);
        if (size >= tail && str_eq(group + size - tail, owners[i]) &&
            (size == tail || group[size - tail - 1] == '.'))
            return true;
    }
    return false;
}

static void check_group(struct field_errors *errors, const struct json *definition)
{
    const struct json *group = json_at(definition, "spec", "group", NULL);
    const char *text = json_text(group) ? json_text(group) : "";
    const char *complaint = meta_name_complaint(NAME_SUBDOMAIN, text);
    if (!text[0])
        field_required(errors, "spec.group", NULL);
    else if (complaint)
        field_invalid(errors, "spec.group", group, "%s", complaint);
    else if (!strchr(text, '.'))
        field_invalid(errors, "spec.group", group, "should be a domain with at least one dot");
    if (is_protected(text) && str_is_empty(kube_meta_annotation(definition, APPROVED)))
        field_required(errors, field_path(errors, "metadata.annotations[%s]", APPROVED),
                       "protected groups must have approval annotation "
                       "\"api-approved.kubernetes.io\", see "
                       "https://github.com/kubernetes/enhancements/pull/1111");
}

static void check_scope(struct field_errors *errors, const struct json *spec)
{
    static const char *const scopes[] = {"Cluster", "Namespaced", NULL};
    const char *scope = json_get_string(spec, "scope", "");
    if (!scope[0])
        field_required(errors, "spec.scope", NULL);
    else if (!str_eq(scope, scopes[0]) && !str_eq(scope, scopes[1]))
        field_unsupported(errors, "spec.scope", scope, scopes);
}

/* Checks that the name of the definition is PLURAL.GROUP. */
static void check_own_name(struct field_errors *errors, const struct json *definition)
{
    const struct json *spec = json_get(definition, "spec");
    const char *name = kube_meta_name(definition);
    const char *wanted =
        arena_printf(errors->arena, "%s.%s", json_get_string(json_get(spec, "names"), "plural", ""),
                     json_get_string(spec, "group", ""));
    if (!str_eq(name, wanted))
        field_invalid(errors, "metadata.name", json_at(definition, "metadata", "name", NULL),
                      "must be spec.names.plural+\".\"+spec.group");
}

/* ---- Versions -------------------------------------------------------------------------------- */

/* Returns whether the word is an element of a list such as "a,b,c". */
static bool list_has_word(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += size)
        if ((at == list || at[-1] == ',') && (at[size] == ',' || at[size] == '\0'))
            return true;
    return false;
}

static void check_column(struct field_errors *errors, const char *path, const struct json *column)
{
    static const char types[] = "boolean,date,integer,number,string";
    static const char formats[] = "byte,date,date-time,double,float,int32,int64,password";
    const char *type = json_get_string(column, "type", "");
    const char *format = json_get_string(column, "format", "");
    const char *at = field_path(errors, "%s.jsonPath", path);
    if (!json_get_string(column, "name", "")[0])
        field_required(errors, field_path(errors, "%s.name", path), NULL);
    if (!type[0])
        field_required(errors, field_path(errors, "%s.type", path),
                       field_path(errors, "must be one of %s", types));
    else if (!list_has_word(types, type))
        field_invalid(errors, field_path(errors, "%s.type", path), json_get(column, "type"),
                      "must be one of %s", types);
    if (format[0] && !list_has_word(formats, format))
        field_invalid(errors, field_path(errors, "%s.format", path), json_get(column, "format"),
                      "must be one of %s", formats);
    const char *json_path = json_get_string(column, "jsonPath", "");
    if (!json_path[0])
        field_required(errors, at, NULL);
    else if (json_path[0] != '.')
        field_invalid(errors, at, json_get(column, "jsonPath"),
                      "must be a simple json path starting with .");
}

/* Checks a path of a Scale. The path may contain names but no list indexes, because the server
 * writes the value at specReplicasPath. `below` lists the prefixes that the path may have. */
static void check_scale_path(struct field_errors *errors, const char *at, const struct json *path,
                             const char *const *below)
{
    const char *text = json_text(path) ? json_text(path) : "";
    if (text[0] != '.') {
        field_invalid(errors, at, path, "must be a simple json path starting with .");
        return;
    }
    if (strpbrk(text, "[]{}*?@()' \\") || strstr(text, "..")) {
        field_invalid(errors, at, path, "must be a json path in the dot notation");
        return;
    }
    for (size_t i = 0; below[i]; i++)
        if (str_has_prefix(text, below[i]))
            return;
    field_invalid(errors, at, path, "should be a json path under %s%.*s%s%s",
                  below[1] ? "either " : "", (int)strlen(below[0]) - 1, below[0],
                  below[1] ? " or " : "", below[1] ? ".status" : "");
}

static void check_scale(struct field_errors *errors, const char *path, const struct json *scale)
{
    static const struct {
        const char *name;
        const char *below[3];
        bool required;
    } rows[] = {{"specReplicasPath", {".spec."}, true},
                {"statusReplicasPath", {".status."}, true},
                {"labelSelectorPath", {".spec.", ".status."}, false}};
    for (size_t i = 0; scale && i < ARRAY_SIZE(rows); i++) {
        const char *at = field_path(errors, "%s.scale.%s", path, rows[i].name);
        if (json_get_string(scale, rows[i].name, "")[0])
            check_scale_path(errors, at, json_get(scale, rows[i].name), rows[i].below);
        else if (rows[i].required)
            field_required(errors, at, NULL);
    }
}

static void check_schema(struct field_errors *errors, const char *path, const struct json *schema)
{
    if (!schema || schema->type == JSON_NULL) {
        field_required(errors, path, "schemas are required");
        return;
    }
    if (schema_count_nodes(schema) > SCHEMA_NODES_MAX) {
        field_invalid(errors, path, NULL, "must not have more than %d schemas in it",
                      SCHEMA_NODES_MAX);
        return;
    }
    if (!definition_check_keywords(errors, path, schema))
        return;
    size_t count = errors->count;
    definition_check_structure(errors, path, schema);
    if (errors->count == count)
        definition_check_fallbacks(errors, path, schema);
}

static void check_version(struct field_errors *errors, const char *path, const struct json *version)
{
    size_t position = 0;
    check_label(errors, field_path(errors, "%s.name", path), json_get(version, "name"), false);
    check_schema(errors, field_path(errors, "%s.schema.openAPIV3Schema", path),
                 json_at(version, "schema", "openAPIV3Schema", NULL));
    check_scale(errors, field_path(errors, "%s.subresources", path),
                json_at(version, "subresources", "scale", NULL));
    JSON_EACH (column, json_get(version, "additionalPrinterColumns"))
        check_column(errors,
                     field_path(errors, "%s.additionalPrinterColumns[%zu]", path, position++),
                     column);
}

static void check_versions(struct field_errors *errors, const struct json *versions)
{
    _cleanup_(map_release) struct map known = {0};
    size_t position = 0, stored = 0;
    bool twice = false;
    JSON_EACH (version, versions) {
        check_version(errors, field_path(errors, "spec.versions[%zu]", position++), version);
        stored += json_get_bool(version, "storage", false);
        twice |= map_put(&known, json_get_string(version, "name", ""), version) != NULL;
    }
    /* The message shows only the names of the versions, because a whole version may be pages
     * long. */
    struct json *names = json_array(errors->arena);
    JSON_EACH (version, versions)
        json_append(names, json_string(errors->arena, json_get_string(version, "name", "")));
    if (twice)
        field_invalid(errors, "spec.versions", names, "must contain unique version names");
    if (stored != 1)
        field_invalid(errors, "spec.versions", names,
                      "must have exactly one version marked as storage version");
}

static void check_conversion(struct field_errors *errors, const struct json *spec)
{
    static const char *const strategies[] = {"None", "Webhook", NULL};
    const struct json *conversion = json_get(spec, "conversion");
    const struct json *webhook = json_get(conversion, "webhook");
    const char *strategy = json_get_string(conversion, "strategy", "None");
    size_t served = 0;
    JSON_EACH (version, json_get(spec, "versions"))
        served += json_get_bool(version, "served", false);
    if (!str_eq(strategy, strategies[0]) && !str_eq(strategy, strategies[1])) {
        field_unsupported(errors, "spec.conversion.strategy", strategy, strategies);
    } else if (str_eq(strategy, "None")) {
        if (json_get(webhook, "clientConfig"))
            field_forbidden(errors, "spec.conversion.webhookClientConfig",
                            "should not be set when strategy is not set to Webhook");
        if (json_count(json_get(webhook, "conversionReviewVersions")) > 0)
            field_forbidden(errors, "spec.conversion.conversionReviewVersions",
                            "should not be set when strategy is not set to Webhook");
    } else {
        if (!json_get(webhook, "clientConfig"))
            field_required(errors, "spec.conversion.webhookClientConfig",
                           "required when strategy is set to Webhook");
        if (json_count(json_get(webhook, "conversionReviewVersions")) == 0)
            field_required(errors, "spec.conversion.conversionReviewVersions", NULL);
        if (served > 1)
            field_forbidden(errors, "spec.conversion.strategy",
                            "this server calls no conversion webhooks: serve only one version, or "
                            "set the strategy to None, which changes only apiVersion");
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Adds an error for each immutable field that has changed. */
static void check_immutable(struct field_errors *errors, const struct json *definition,
                            const struct json *old)
{
    static const struct {
        const char *path;
        bool if_established;
    } rows[] = {{"group", false}, {"scope", true}, {"names.plural", false}, {"names.kind", true}};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *inner = strchr(rows[i].path, '.');
        const struct json *value = json_get(definition, "spec"), *old_value = json_get(old, "spec");
        value = inner ? json_at(value, "names", inner + 1, NULL) : json_get(value, rows[i].path);
        old_value = inner ? json_at(old_value, "names", inner + 1, NULL)
                          : json_get(old_value, rows[i].path);
        if (value && old_value && !json_equal(value, old_value) &&
            (!rows[i].if_established || definition_is_established(old)))
            field_invalid(errors, field_path(errors, "spec.%s", rows[i].path), value,
                          "field is immutable");
    }
}

/* Checks that the spec has each version in status.storedVersions, because objects may be stored in
 * this version. */
static void check_stored(struct field_errors *errors, const struct json *definition)
{
    size_t position = 0;
    JSON_EACH (stored, json_at(definition, "status", "storedVersions", NULL)) {
        bool known = false;
        JSON_EACH (version, json_at(definition, "spec", "versions", NULL))
            known |= str_eq(json_get_string(version, "name", ""), json_text(stored));
        if (!known)
            field_invalid(errors, field_path(errors, "status.storedVersions[%zu]", position),
                          stored, "must appear in spec.versions");
        position++;
    }
}

void definition_validate(struct field_errors *errors, const struct json *definition,
                         const struct json *old)
{
    const struct json *spec = json_get(definition, "spec");
    const struct json *preserve = json_get(spec, "preserveUnknownFields");
    size_t before = errors->count;
    if (old)
        check_immutable(errors, definition, old);
    if (errors->count > before)
        return; /* further errors would repeat the errors about immutable fields */
    check_own_name(errors, definition);
    check_group(errors, definition);
    check_scope(errors, spec);
    check_versions(errors, json_get(spec, "versions"));
    check_definition_names(errors, json_get(spec, "names"));
    check_conversion(errors, spec);
    if (preserve && preserve->type == JSON_BOOL && preserve->boolean)
        field_invalid(errors, "spec.preserveUnknownFields", preserve,
                      "cannot set to true, set x-preserve-unknown-fields to true in "
                      "spec.versions[*].schema instead");
    if (old)
        check_stored(errors, definition);
}
