/* Sets the status of a definition: its accepted names, conditions and stored versions; see
 * definition.h. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/crd/definition.h"
#include "kube/condition.h"
#include "kube/object.h"

/* ---- Conditions ------------------------------------------------------------------------------ */

static void definition_set_condition(struct arena *arena, struct json *definition, const char *type,
                                     bool status, const char *reason, const char *message,
                                     int64_t now_ms)
{
    const struct kube_condition wanted = {.type = type,
                                          .status = status ? "True" : "False",
                                          .reason = reason,
                                          .message = message,
                                          .now_ms = now_ms};
    struct json *list =
        json_ensure_array(arena, json_ensure_object(arena, definition, "status"), "conditions");
    kube_condition_set(arena, list, &wanted, 0);
}

bool definition_is_established(const struct json *definition)
{
    return kube_condition_is_true(definition, "Established");
}

void definition_mark_deleted(const struct registry *registry, struct arena *arena,
                             struct json *definition, int64_t now_ms)
{
    if (registry_is_built_in(registry, kube_meta_name(definition)))
        return;
    kube_meta_add_finalizer(arena, definition, DEFINITION_FINALIZER);
    definition_set_condition(
        arena, definition, "Terminating", true, "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
        "soon",
        now_ms);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static bool name_is_listed(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (str_eq(*names, name))
            return true;
    return false;
}

/* Returns whether another resource of the group has the name: as its kind or list kind if
 * `is_kind`, otherwise as its plural, singular or short name. */
static bool is_taken(const struct registry *registry, const struct json *definition,
                     const char *name, bool is_kind)
{
    const char *group = json_get_string(json_get(definition, "spec"), "group", "");
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = registry_at(registry, i)); i++) {
        if (!str_eq(resource->id.group, group) ||
            str_eq(resource->storage, kube_meta_name(definition)))
            continue;
        if (is_kind ? str_eq(resource->id.kind, name) || str_eq(resource->list_kind, name)
                    : str_eq(resource->id.plural, name) || str_eq(resource->singular, name) ||
                          name_is_listed(resource->short_names, name))
            return true;
    }
    return false;
}

/* The check of a definition's names. */
struct naming {
    const struct registry *registry;
    const struct json *definition;
    const struct json *names; /* spec.names of the definition */
    const char *reason;       /* the code of the error about a taken name; NULL: none is taken */
    const char *message;      /* the message of that error */
};

/* Copies the name spec.names.`member` to `accepted` if no other resource has the name. A plural or
 * kind that another resource has becomes "", because these members are required. */
static void accept_name(struct arena *arena, struct naming *naming, struct json *accepted,
                        const char *member, const char *reason, bool is_kind)
{
    const char *name = json_get_string(naming->names, member, "");
    if (is_taken(naming->registry, naming->definition, name, is_kind)) {
        naming->reason = reason;
        naming->message = arena_printf(arena, "\"%s\" is already in use", name);
        name = str_eq(member, "plural") || str_eq(member, "kind") ? "" : NULL;
    }
    if (name)
        json_set_string(arena, accepted, member, name);
}

/* Copies the short names to `accepted` if no other resource has one of them. */
static void accept_short_names(struct arena *arena, struct naming *naming, struct json *accepted)
{
    const struct json *list = json_get(naming->names, "shortNames");
    JSON_EACH (name, list) {
        if (is_taken(naming->registry, naming->definition, json_text(name), false)) {
            naming->reason = "ShortNamesConflict";
            naming->message = arena_printf(arena, "\"%s\" is already in use", json_text(name));
            return;
        }
    }
    if (json_count(list) > 0)
        json_set(arena, accepted, "shortNames", json_clone(arena, list));
}

/* Sets status.acceptedNames and the condition NamesAccepted. Returns whether all names are
 * accepted. */
static bool accept_names(struct arena *arena, const struct registry *registry,
                         struct json *definition, int64_t now_ms)
{
    const struct json *names = json_at(definition, "spec", "names", NULL);
    struct naming naming = {.registry = registry, .definition = definition, .names = names};
    struct json *accepted = json_object(arena);
    accept_name(arena, &naming, accepted, "plural", "PluralConflict", false);
    accept_name(arena, &naming, accepted, "singular", "SingularConflict", false);
    accept_short_names(arena, &naming, accepted);
    accept_name(arena, &naming, accepted, "kind", "KindConflict", true);
    accept_name(arena, &naming, accepted, "listKind", "ListKindConflict", true);
    if (json_get(names, "categories"))
        json_set(arena, accepted, "categories", json_clone(arena, json_get(names, "categories")));
    json_set(arena, json_ensure_object(arena, definition, "status"), "acceptedNames", accepted);
    definition_set_condition(arena, definition, "NamesAccepted", !naming.reason,
                             naming.reason ? naming.reason : "NoConflicts",
                             naming.reason ? naming.message : "no conflicts found", now_ms);
    return !naming.reason;
}

/* ---- The whole status ------------------------------------------------------------------------ */

/* Adds the version in which new objects are stored to status.storedVersions. */
static void add_stored_version(struct arena *arena, struct json *definition)
{
    struct json *stored =
        json_ensure_array(arena, json_ensure_object(arena, definition, "status"), "storedVersions");
    JSON_EACH (version, json_at(definition, "spec", "versions", NULL)) {
        const char *name = json_get_string(version, "name", "");
        bool known = !json_get_bool(version, "storage", false);
        JSON_EACH (other, stored)
            known |= str_eq(json_text(other), name);
        if (!known)
            json_append(stored, json_string(arena, name));
    }
}

void definition_set_status(struct arena *arena, const struct registry *registry,
                           struct json *definition, int64_t now_ms)
{
    bool accepted = accept_names(arena, registry, definition, now_ms);
    if (accepted && !definition_is_established(definition))
        definition_set_condition(arena, definition, "Established", true, "InitialNamesAccepted",
                                 "the initial names have been accepted", now_ms);
    else if (!definition_is_established(definition))
        definition_set_condition(arena, definition, "Established", false, "NotAccepted",
                                 "not all names are accepted", now_ms);
    add_stored_version(arena, definition);
}
