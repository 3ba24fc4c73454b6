/* Makes the rows (struct kube_kind) of a custom resource from its definition, one per served
 * version; see definition.h. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/crd/definition.h"
#include "kube/object.h"
#include "kube/schema/compile.h"
#include "kube/table/table.h"
#include "kube/types/types.h"

#include <stdlib.h>

enum {
    VERBS = VERB_CREATE | VERB_DELETE | VERB_DELETE_COLLECTION | VERB_GET | VERB_LIST | VERB_PATCH |
            VERB_UPDATE | VERB_WATCH,
    SUBRESOURCE_VERBS = VERB_GET | VERB_PATCH | VERB_UPDATE,
};

static const char *copy_definition_text(struct arena *arena, const struct json *object,
                                        const char *name)
{
    return arena_strdup(arena, json_get_string(object, name, ""));
}

static const char *const *copy_list(struct arena *arena, const struct json *list)
{
    size_t count = 0;
    if (json_count(list) == 0)
        return NULL;
    const char **texts = ARENA_ARRAY(arena, const char *, json_count(list) + 1);
    JSON_EACH (text, list)
        texts[count++] = arena_strdup(arena, json_text(text) ? json_text(text) : "");
    return texts;
}

/* ---- Subresources ---------------------------------------------------------------------------- */

/* Returns the path without its first dot: "spec.replicas". Returns NULL if the definition lacks
 * the path. */
static const char *scale_path(struct arena *arena, const struct json *scale, const char *name)
{
    const char *path = json_get_string(scale, name, "");
    return path[0] ? arena_strdup(arena, path + 1) : NULL;
}

static const struct kube_subresource *
make_subresources(struct arena *arena, const struct json *version, const char *kind)
{
    struct kube_subresource *list = ARENA_ARRAY(arena, struct kube_subresource, 3);
    const struct json *subresources = json_get(version, "subresources");
    const struct json *scale = json_get(subresources, "scale");
    size_t count = 0;
    if (scale) {
        struct kube_scale_paths *paths = ARENA_NEW(arena, struct kube_scale_paths);
        paths->spec_path = scale_path(arena, scale, "specReplicasPath");
        paths->status_path = scale_path(arena, scale, "statusReplicasPath");
        paths->selector_path = scale_path(arena, scale, "labelSelectorPath");
        paths->makes_spec = true;
        list[count++] = (struct kube_subresource){.id = SUB_SCALE,
                                                  .name = "scale",
                                                  .kind = "Scale",
                                                  .group = "autoscaling",
                                                  .version = "v1",
                                                  .schema = &TYPE_SCALE,
                                                  .verbs = SUBRESOURCE_VERBS,
                                                  .scale = paths};
    }
    if (json_get(subresources, "status"))
        list[count++] = (struct kube_subresource){
            .id = SUB_STATUS, .name = "status", .kind = kind, .verbs = SUBRESOURCE_VERBS};
    return count > 0 ? list : NULL;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* Returns the fields that field selectors may use. The selectable field ".spec.color" becomes
 * "spec.color". */
static const char *const *make_fields(struct arena *arena, const struct json *version)
{
    const struct json *given = json_get(version, "selectableFields");
    size_t count = 0;
    if (json_count(given) == 0)
        return NULL;
    const char **fields = ARENA_ARRAY(arena, const char *, json_count(given) + 1);
    JSON_EACH (field, given) {
        const char *path = json_get_string(field, "jsonPath", "");
        fields[count++] = arena_strdup(arena, path[0] == '.' ? path + 1 : path);
    }
    return fields;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Returns the version in which new objects are stored, or NULL. */
static const struct json *stored_version(const struct json *spec)
{
    JSON_EACH (version, json_get(spec, "versions"))
        if (json_get_bool(version, "storage", false))
            return version;
    return NULL;
}

static const char *api_version(struct arena *arena, const struct json *spec, const char *version)
{
    return arena_printf(arena, "%s/%s", json_get_string(spec, "group", ""), version);
}

/* Sets the names, the version and the storage name of the resource. */
static void fill_identity(struct registry_definition *definition, struct kube_kind *row,
                          const struct json *spec, const struct json *version)
{
    struct arena *arena = definition->arena;
    const struct json *names = json_get(spec, "names");
    const char *stored = json_get_string(stored_version(spec), "name", "");
    const char *name = json_get_string(version, "name", "");
    row->id = (struct kube_resource){
        .group = copy_definition_text(arena, spec, "group"),
        .version = arena_strdup(arena, name),
        .plural = copy_definition_text(arena, names, "plural"),
        .kind = copy_definition_text(arena, names, "kind"),
        .namespaced = str_eq(json_get_string(spec, "scope", ""), "Namespaced"),
    };
    row->storage = definition->name;
    row->api_version = api_version(arena, spec, name);
    row->stored_version = str_eq(stored, name) ? NULL : api_version(arena, spec, stored);
    row->list_kind = copy_definition_text(arena, names, "listKind");
    row->singular = copy_definition_text(arena, names, "singular");
    row->verbs = VERBS;
}

/* Returns the warning for clients that use a deprecated version, or NULL. */
static const char *deprecation_warning(struct arena *arena, const struct kube_kind *row,
                                       const struct json *version)
{
    const char *warning = json_get_string(version, "deprecationWarning", "");
    if (!json_get_bool(version, "deprecated", false))
        return NULL;
    return warning[0] ? arena_strdup(arena, warning)
                      : arena_printf(arena, "%s %s is deprecated", row->api_version, row->id.kind);
}

static void fill_row(struct registry_definition *definition, struct kube_kind *row,
                     const struct json *object, const struct json *version)
{
    struct arena *arena = definition->arena;
    const struct json *spec = json_get(object, "spec"), *names = json_get(spec, "names");
    const struct json *source = json_at(version, "schema", "openAPIV3Schema", NULL);
    fill_identity(definition, row, spec, version);
    row->whole = schema_compile(arena, source);
    row->schema = row->whole->object;
    row->source = json_clone(arena, source);
    row->form = SCHEMA_FORM_STRUCTURAL;
    row->short_names = copy_list(arena, json_get(names, "shortNames"));
    row->categories = copy_list(arena, json_get(names, "categories"));
    row->fields = make_fields(arena, version);
    row->subresources = make_subresources(arena, version, row->id.kind);
    row->columns = *kube_columns_make(arena, json_get(version, "additionalPrinterColumns"));
    row->generation = true;
    row->warning = deprecation_warning(arena, row, version);
    /* Clients cannot create objects while the definition is being deleted. */
    if (kube_meta_is_deleting(object))
        row->verbs &= ~(unsigned)VERB_CREATE;
}

static int compare_rows(const void *a, const void *b)
{
    const struct kube_kind *left = a, *right = b;
    return registry_version_compare(left->id.version, right->id.version);
}

static bool serves_any(const struct json *spec)
{
    JSON_EACH (version, json_get(spec, "versions"))
        if (json_get_bool(version, "served", false))
            return true;
    return false;
}

/* Returns whether the version is served. When a definition is deleted, the controller first deletes
 * its objects through the API. If the definition serves no version, the stored version is served
 * for this. */
static bool is_served(const struct json *definition, const struct json *version)
{
    const struct json *spec = json_get(definition, "spec");
    if (kube_meta_is_deleting(definition) && !serves_any(spec))
        return version == stored_version(spec);
    return json_get_bool(version, "served", false);
}

struct registry_definition *definition_rows(const struct json *definition)
{
    size_t count = 0;
    const struct json *versions = json_at(definition, "spec", "versions", NULL);
    JSON_EACH (version, versions)
        count += is_served(definition, version);
    if (count == 0 || !definition_is_established(definition))
        return NULL;
    struct registry_definition *made = registry_definition_new(kube_meta_name(definition), count);
    count = 0;
    JSON_EACH (version, versions)
        if (is_served(definition, version))
            fill_row(made, &made->rows[count++], definition, version);
    qsort(made->rows, made->count, sizeof(*made->rows), compare_rows);
    return made;
}

/* Returns all served versions except `watched`, because an owner reference may name any of them. */
static const struct kube_older_version *other_versions(struct arena *arena, const struct json *spec,
                                                       const struct json *watched)
{
    size_t count = 0;
    const struct json *versions = json_get(spec, "versions");
    struct kube_older_version *others =
        ARENA_ARRAY(arena, struct kube_older_version, json_count(versions) + 1);
    JSON_EACH (version, versions) {
        const char *name = json_get_string(version, "name", "");
        if (version != watched && json_get_bool(version, "served", false))
            others[count++] =
                (struct kube_older_version){.version = arena_strdup(arena, name),
                                            .api_version = api_version(arena, spec, name)};
    }
    return others;
}

struct registry_definition *definition_watched_row(const struct registry *registry,
                                                   const struct json *definition)
{
    const struct json *spec = json_get(definition, "spec"), *watched = stored_version(spec);
    if (!definition_is_established(definition) ||
        registry_is_built_in(registry, kube_meta_name(definition)))
        return NULL;
    JSON_EACH (version, json_get(spec, "versions"))
        if (!is_served(definition, watched) && is_served(definition, version))
            watched = version;
    if (!is_served(definition, watched))
        return NULL;
    struct registry_definition *made = registry_definition_new(kube_meta_name(definition), 1);
    fill_identity(made, &made->rows[0], spec, watched);
    made->rows[0].older = other_versions(made->arena, spec, watched);
    return made;
}
