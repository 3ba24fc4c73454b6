/* Computes the owners of fields after a write; see managed_fields.h. managed_fields_json.c has the
 * JSON form. */
#include "kube/patch/managed_fields.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "kube/patch/typed.h"

#include <stdlib.h>
#include <string.h>

/* ---- Fields without owner -------------------------------------------------------------------- */

#define UNOWNED(name_, next_)                                                                      \
    {                                                                                              \
        .element.name = (name_), .member = true, .next = (next_)                                   \
    }

static const struct fieldset_node UNOWNED_METADATA[] = {
    UNOWNED("clusterName", &UNOWNED_METADATA[1]),
    UNOWNED("creationTimestamp", &UNOWNED_METADATA[2]),
    UNOWNED("generation", &UNOWNED_METADATA[3]),
    UNOWNED("managedFields", &UNOWNED_METADATA[4]),
    UNOWNED("name", &UNOWNED_METADATA[5]),
    UNOWNED("namespace", &UNOWNED_METADATA[6]),
    UNOWNED("resourceVersion", &UNOWNED_METADATA[7]),
    UNOWNED("selfLink", &UNOWNED_METADATA[8]),
    UNOWNED("uid", NULL),
};

static const struct fieldset_node UNOWNED_FIELDS[] = {
    UNOWNED("apiVersion", &UNOWNED_FIELDS[1]),
    UNOWNED("kind", &UNOWNED_FIELDS[2]),
    {.element.name = "metadata", .member = true, .children = {UNOWNED_METADATA}},
};

struct fieldset managed_fields_strip(struct arena *arena, struct fieldset set)
{
    return fieldset_difference(arena, set, (struct fieldset){UNOWNED_FIELDS});
}

struct fieldset managed_fields_in_scope(struct arena *arena, const struct managed_write *write,
                                        struct fieldset set)
{
    struct fieldset_builder builder = {0};
    if (write->scope == MANAGED_ALL)
        return set;
    for (const struct fieldset_node *node = set.first; node; node = node->next)
        if (str_eq(node->element.kind == FIELDSET_FIELD ? node->element.name : NULL, "status") ==
            (write->scope == MANAGED_STATUS))
            fieldset_add(arena, &builder, node->element, node->member, node->children);
    return fieldset_build(arena, &builder);
}

struct json *managed_fields_zero(struct arena *arena, const struct managed_write *write)
{
    return write->custom ? json_object(arena) : typed_zero(arena, write->type);
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* Returns whether the entry belongs to the manager of the write. The apiVersion is compared only
 * for updates: a manager that applies has one entry for all versions. */
static bool entry_matches(const struct managed_entry *entry, const struct managed_write *write,
                          bool applied)
{
    return entry->applied == applied && str_eq(entry->manager, write->manager) &&
           str_eq(entry->subresource, write->subresource) &&
           (applied || str_eq(entry->api_version, write->api_version));
}

struct managed_entry *managed_fields_find(const struct managed_fields *managed,
                                          const struct managed_write *write, bool applied)
{
    for (struct managed_entry *entry = managed->first; entry; entry = entry->next)
        if (entry_matches(entry, write, applied))
            return entry;
    return NULL;
}

struct managed_entry *managed_fields_add(struct arena *arena, struct managed_fields *managed,
                                         const struct managed_write *write, bool applied)
{
    struct managed_entry *entry = ARENA_NEW(arena, struct managed_entry);
    *entry = (struct managed_entry){.manager = write->manager,
                                    .api_version = write->api_version,
                                    .subresource = write->subresource,
                                    .applied = applied,
                                    .next = managed->first};
    managed->first = entry;
    return entry;
}

static bool has_owned_fields(const struct managed_fields *managed)
{
    for (const struct managed_entry *entry = managed->first; entry; entry = entry->next)
        if (!fieldset_is_empty(entry->fields))
            return true;
    return false;
}

/* ---- Limit on the number of entries ---------------------------------------------------------- */

/* Compares whole seconds, because managedFields has no fractions of a second. */
static int managed_entry_compare_age(const void *a, const void *b)
{
    const struct managed_entry *x = *(struct managed_entry *const *)a;
    const struct managed_entry *y = *(struct managed_entry *const *)b;
    int64_t before = x->time_ms / 1000, after = y->time_ms / 1000;
    if (before != after)
        return before < after ? -1 : 1;
    int order = strcmp(x->manager, y->manager);
    if (order == 0)
        order = strcmp(x->api_version, y->api_version);
    return order ? order : strcmp(x->subresource, y->subresource);
}

/* Returns the entry "ancient-changes" into which oldest[position] is merged. If no such entry
 * exists for its apiVersion, renames the oldest entry of that apiVersion. Returns NULL if
 * oldest[position] cannot be merged: no older entry has its apiVersion, or it is the entry
 * "ancient-changes". */
static struct managed_entry *ancient_entry(const struct managed_fields *managed,
                                           struct managed_entry **oldest, size_t position)
{
    const struct managed_write ancient = {.manager = "ancient-changes",
                                          .api_version = oldest[position]->api_version,
                                          .subresource = ""};
    struct managed_entry *first = NULL;
    for (size_t i = 0; i < position && !first; i++)
        if (str_eq(oldest[i]->api_version, ancient.api_version))
            first = oldest[i];
    struct managed_entry *found = managed_fields_find(managed, &ancient, false);
    if (first && !found) {
        first->manager = ancient.manager;
        first->subresource = ancient.subresource;
        found = first;
    }
    return first && found != oldest[position] ? found : NULL;
}

/* Merges the oldest entries of operation Update until at most MANAGED_UPDATERS_MAX are left. More
 * stay if they all have different apiVersions. */
static void limit_updaters(struct arena *arena, const struct managed_fields *managed)
{
    size_t count = 0;
    for (const struct managed_entry *entry = managed->first; entry; entry = entry->next)
        count += !entry->applied && !fieldset_is_empty(entry->fields);
    if (count <= MANAGED_UPDATERS_MAX)
        return;
    struct managed_entry **oldest = ARENA_ARRAY(arena, struct managed_entry *, count);
    size_t filled = 0;
    for (struct managed_entry *entry = managed->first; entry; entry = entry->next)
        if (!entry->applied && !fieldset_is_empty(entry->fields))
            oldest[filled++] = entry;
    qsort(oldest, count, sizeof(struct managed_entry *), managed_entry_compare_age);
    size_t left = count;
    for (size_t i = 0; i < count && left > MANAGED_UPDATERS_MAX; i++) {
        struct managed_entry *ancient = ancient_entry(managed, oldest, i);
        if (!ancient)
            continue;
        ancient->fields = fieldset_union(arena, ancient->fields, oldest[i]->fields);
        ancient->time_ms = oldest[i]->time_ms;
        oldest[i]->fields = (struct fieldset){0};
        left--;
    }
}

/* ---- A write --------------------------------------------------------------------------------- */

void managed_fields_update(struct arena *arena, struct managed_fields *managed,
                           const struct managed_write *write, const struct json *old,
                           const struct json *object)
{
    struct typed_comparison comparison = typed_compare(arena, write->type, old, object);
    struct fieldset taken =
        managed_fields_strip(arena, fieldset_union(arena, comparison.modified, comparison.added));
    taken = managed_fields_in_scope(arena, write, taken);
    struct fieldset lost =
        fieldset_union(arena, taken, managed_fields_in_scope(arena, write, comparison.removed));
    for (struct managed_entry *entry = managed->first; entry; entry = entry->next)
        entry->fields = fieldset_difference(arena, entry->fields, lost);
    if (fieldset_is_empty(taken))
        return;
    struct managed_entry *own = managed_fields_find(managed, write, false);
    if (!own)
        own = managed_fields_add(arena, managed, write, false);
    own->fields = fieldset_union(arena, own->fields, taken);
    own->time_ms = write->now_ms;
    limit_updaters(arena, managed);
}

/* Returns whether the client's list removes all owners: it is empty or has one empty entry. */
static bool is_reset(const struct json *list)
{
    return list && list->type == JSON_ARRAY &&
           (list->count == 0 ||
            (list->count == 1 && list->first->type == JSON_OBJECT && list->first->count == 0));
}

static const struct json *list_of(const struct json *object)
{
    return json_get(json_get(object, "metadata"), "managedFields");
}

/* Returns the owners before the write: the list that the client sent, or the list of `old` if the
 * client's list is missing, invalid or without fields. Ignores the client's list in a write to a
 * subresource. */
static struct managed_fields read_sent_or_old(struct arena *arena,
                                              const struct managed_write *write,
                                              const struct json *old, const struct json *object)
{
    const struct json *sent = write->subresource[0] == '\0' ? list_of(object) : NULL;
    struct managed_fields managed = {0};
    if (is_reset(sent))
        return managed;
    if (sent && managed_fields_read(arena, sent, &managed, NULL) == 0 && has_owned_fields(&managed))
        return managed;
    managed = (struct managed_fields){0};
    if (managed_fields_read(arena, list_of(old), &managed, NULL) < 0)
        managed = (struct managed_fields){0};
    return managed;
}

void managed_fields_track(struct arena *arena, const struct managed_write *write,
                          const struct json *old, struct json *object)
{
    struct managed_fields managed = read_sent_or_old(arena, write, old, object);
    json_remove(json_get(object, "metadata"), "managedFields");
    if (old && !managed.first)
        return;
    managed_fields_update(arena, &managed, write, old ? old : managed_fields_zero(arena, write),
                          object);
    managed_fields_put(arena, &managed, object);
}

void managed_fields_move(struct arena *arena, const struct managed_write *write,
                         struct json *object, const char *const *path)
{
    struct managed_fields managed = {0};
    struct fieldset moved = fieldset_of_path(arena, path);
    if (managed_fields_read(arena, list_of(object), &managed, NULL) < 0 || !managed.first)
        return;
    for (struct managed_entry *entry = managed.first; entry; entry = entry->next)
        entry->fields = fieldset_difference(arena, entry->fields, moved);
    struct managed_entry *own = managed_fields_find(&managed, write, false);
    if (!own)
        own = managed_fields_add(arena, &managed, write, false);
    own->fields = fieldset_union(arena, own->fields, moved);
    managed_fields_put(arena, &managed, object);
}

const char *managed_fields_name(struct arena *arena, const char *user_agent)
{
    _cleanup_buf_ struct buf name;
    buf_init(&name, MANAGED_NAME_MAX);
    size_t left = user_agent ? strcspn(user_agent, "/") : 0;
    for (const char *at = user_agent; left > 0 && !name.overflowed;) {
        size_t size = utf8_size(at, left);
        if (size > 1 || (size == 1 && (unsigned char)*at >= ' ' && *at != 0x7f))
            buf_append(&name, at, size);
        at += size ? size : 1;
        left -= size ? size : 1;
    }
    return arena_strdup(arena, name.size ? name.data : "unknown");
}
