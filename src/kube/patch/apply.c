/* Implements server-side apply; see apply.h. */
#include "kube/patch/apply.h"

#include "base/str.h"
#include "kube/object.h"
#include "kube/patch/apply_internal.h"
#include "kube/patch/typed.h"

#include <string.h>

struct applying {
    struct arena *arena;
    const struct managed_write *write;
    const struct json *live;         /* the stored object, or the zero object for a create */
    const struct json *config;       /* the applied configuration */
    struct managed_fields managed;   /* the owners of all fields */
    struct managed_entry *own_entry; /* the entry of the manager that applies */
    struct json *merged;             /* the new object */
    /* The differences between `live` and `merged` in the fields that the write may change. */
    struct typed_comparison comparison;
};

/* ---- Fields that are no longer applied ------------------------------------------------------- */

static struct fieldset fields_of(const struct applying *applying, const struct json *object)
{
    const struct schema_object *type = applying->write->type;
    return typed_with_parents(applying->arena, type, typed_fields(applying->arena, type, object));
}

static struct fieldset all_owned_fields(const struct applying *applying)
{
    struct fieldset owned = {0};
    for (const struct managed_entry *entry = applying->managed.first; entry; entry = entry->next)
        owned = fieldset_union(applying->arena, owned, entry->fields);
    return typed_with_parents(applying->arena, applying->write->type, owned);
}

static struct json *apply_merged_without(const struct applying *applying, struct fieldset set)
{
    struct json *rest = json_clone(applying->arena, applying->merged);
    typed_remove(applying->arena, applying->write->type, rest, set);
    return rest;
}

/* Removes the fields that the manager applied previously but does not apply now, unless another
 * manager owns them. `previous` is the set of the previously applied fields.
 *
 * Removing a list element would also remove the fields that other managers set in it. So the
 * function first finds all fields that would disappear with the fields in `previous`. It keeps the
 * fields that have an owner, and removes the others only if they are in `previous`. */
static void apply_prune(struct applying *applying, struct fieldset previous)
{
    struct arena *arena = applying->arena;
    if (fieldset_is_empty(previous))
        return;
    previous = typed_with_parents(arena, applying->write->type, previous);
    struct fieldset all = fields_of(applying, applying->merged);
    struct fieldset kept = fields_of(applying, apply_merged_without(applying, previous));
    kept = fieldset_union(arena, kept, all_owned_fields(applying));
    struct json *pruned = apply_merged_without(applying, fieldset_difference(arena, all, kept));
    struct fieldset gone = fieldset_difference(arena, all, fields_of(applying, pruned));
    typed_remove(arena, applying->write->type, applying->merged,
                 fieldset_intersection(arena, gone, previous));
}

/* ---- Conflicts ------------------------------------------------------------------------------- */

static struct fieldset apply_changed_fields(const struct applying *applying)
{
    return fieldset_union(applying->arena, applying->comparison.modified,
                          applying->comparison.added);
}

/* Sets *ret to the other managers that own fields which would be modified or added, and returns
 * their number. A change of a field in `allowed` is not a conflict. */
static size_t find_conflicts(const struct applying *applying, struct fieldset allowed,
                             struct apply_conflict **ret)
{
    struct arena *arena = applying->arena;
    struct fieldset change = fieldset_difference(arena, apply_changed_fields(applying), allowed);
    size_t count = 0, room = 0;
    for (const struct managed_entry *entry = applying->managed.first; entry; entry = entry->next)
        room++;
    *ret = ARENA_ARRAY(arena, struct apply_conflict, room);
    for (const struct managed_entry *entry = applying->managed.first; entry; entry = entry->next) {
        struct fieldset fields = fieldset_intersection(arena, entry->fields, change);
        if (entry != applying->own_entry && !fieldset_is_empty(fields))
            (*ret)[count++] = (struct apply_conflict){.entry = entry, .fields = fields};
    }
    return count;
}

static int check_conflicts(const struct applying *applying, struct apply_conflicts *ret,
                           struct err *err)
{
    struct apply_conflict *conflicts;
    size_t count = find_conflicts(applying, (struct fieldset){0}, &conflicts);
    if (count > 0 && apply_last_is_used(applying->write))
        count = find_conflicts(applying,
                               apply_last_allowed(applying->arena, applying->write, applying->live),
                               &conflicts);
    if (count == 0)
        return 0;
    *ret = apply_conflicts_describe(applying->arena, conflicts, count);
    return err_set(err, ERR_CONFLICT, "%s", ret->message);
}

/* Removes the fields that the apply changes or removes from the entries of the other managers. */
static void take_from_others(struct applying *applying)
{
    struct arena *arena = applying->arena;
    struct fieldset lost =
        fieldset_union(arena, apply_changed_fields(applying), applying->comparison.removed);
    for (struct managed_entry *entry = applying->managed.first; entry; entry = entry->next)
        if (entry != applying->own_entry)
            entry->fields = fieldset_difference(arena, entry->fields, lost);
}

/* ---- The whole apply ------------------------------------------------------------------------- */

/* Reads the owners from managedFields. If the object has no valid managedFields, its fields belong
 * to the manager "before-first-apply". */
static void read_owners(struct applying *applying)
{
    struct arena *arena = applying->arena;
    const struct json *list = json_get(json_get(applying->live, "metadata"), "managedFields");
    if (managed_fields_read(arena, list, &applying->managed, NULL) < 0)
        applying->managed = (struct managed_fields){0};
    if (applying->managed.first)
        return;
    struct managed_write before = *applying->write;
    before.manager = "before-first-apply";
    before.subresource = "";
    before.scope = MANAGED_ALL;
    managed_fields_update(arena, &applying->managed, &before, managed_fields_zero(arena, &before),
                          applying->live);
}

/* Makes the fields of the configuration the only fields of the manager's entry. Sets *ret_previous
 * to the fields that the entry had before. */
static void claim_config_fields(struct applying *applying, struct fieldset *ret_previous)
{
    struct arena *arena = applying->arena;
    const struct managed_write *write = applying->write;
    applying->own_entry = managed_fields_find(&applying->managed, write, true);
    if (!applying->own_entry)
        applying->own_entry = managed_fields_add(arena, &applying->managed, write, true);
    *ret_previous = applying->own_entry->fields;
    applying->own_entry->api_version = write->api_version;
    applying->own_entry->fields =
        managed_fields_in_scope(arena, write, typed_fields(arena, write->type, applying->config));
}

static void compare_in_scope(struct applying *applying)
{
    struct arena *arena = applying->arena;
    const struct managed_write *write = applying->write;
    struct typed_comparison all =
        typed_compare(arena, write->type, applying->live, applying->merged);
    applying->comparison =
        (struct typed_comparison){.removed = managed_fields_in_scope(arena, write, all.removed),
                                  .modified = managed_fields_in_scope(arena, write, all.modified),
                                  .added = managed_fields_in_scope(arena, write, all.added)};
}

static int apply_check_config(struct arena *arena, const struct managed_write *write,
                              const struct json *config, struct err *err)
{
    int result = typed_check(arena, write->type, config, err);
    if (result == 0)
        return 0;
    /* Kubernetes treats this as an internal error: 500 without a reason. */
    err_wrap(err, "failed to create typed patch object (%.100s/%.100s; %s%s, Kind=%s)",
             kube_meta_namespace(config), kube_meta_name(config),
             strchr(write->api_version, '/') ? "" : "/", write->api_version,
             json_get_string(config, "kind", ""));
    return err_set(err, ERR_UNKNOWN, "%s", arena_strdup(arena, err ? err->message : ""));
}

int apply_config(struct arena *arena, const struct managed_write *write, const struct json *live,
                 const struct json *config, bool force, struct json **ret,
                 struct apply_conflicts *ret_conflicts, struct err *err)
{
    struct applying applying = {.arena = arena, .write = write, .config = config};
    struct fieldset previous;
    int result = apply_check_config(arena, write, config, err);
    if (result < 0)
        return result;
    applying.live = live ? live : managed_fields_zero(arena, write);
    read_owners(&applying);
    applying.merged = typed_merge(arena, write->type, applying.live, config);
    claim_config_fields(&applying, &previous);
    apply_prune(&applying, previous);
    compare_in_scope(&applying);
    if (!force) {
        result = check_conflicts(&applying, ret_conflicts, err);
        if (result < 0)
            return result;
    }
    take_from_others(&applying);
    applying.own_entry->fields = managed_fields_strip(arena, applying.own_entry->fields);
    /* The time is updated only if the object changes. */
    if (!json_equal(applying.merged, applying.live))
        applying.own_entry->time_ms = write->now_ms;
    managed_fields_put(arena, &applying.managed, applying.merged);
    if (apply_last_is_used(write))
        apply_last_update(arena, applying.merged, config);
    *ret = applying.merged;
    return 0;
}
