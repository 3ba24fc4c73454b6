/* Describes conflicts as Kubernetes does; see apply_internal.h. */
#include "base/str.h"
#include "kube/patch/apply_internal.h"
#include "kube/status.h"

#include <stdlib.h>
#include <string.h>

enum {
    CONFLICTS_LISTED_MAX = 1000, /* fields in the message and in the causes; all are counted */
    MESSAGE_MAX = 64 * 1024,
};

/* Returns `"kubectl" using v1` or `"operator" with subresource "status"`. */
static const char *manager_text(struct arena *arena, const struct managed_entry *entry)
{
    const char *text = json_to_string(arena, json_string(arena, entry->manager));
    if (entry->subresource[0] != '\0')
        text = arena_printf(arena, "%s with subresource \"%s\"", text, entry->subresource);
    return entry->applied ? text : arena_printf(arena, "%s using %s", text, entry->api_version);
}

struct description {
    struct arena *arena;
    struct json *causes;
    const char *manager; /* the manager whose fields are being added, as manager_text() writes it */
    struct buf *lines;   /* the message: one line per manager and per field */
    size_t count;        /* the number of fields of all managers */
};

static void conflict_add_path(void *context, const char *path)
{
    struct description *description = context;
    if (description->count++ >= CONFLICTS_LISTED_MAX)
        return;
    kube_status_add_cause(
        description->arena, description->causes, "FieldManagerConflict", path,
        arena_printf(description->arena, "conflict with %s", description->manager));
    buf_printf(description->lines, "\n- %s", path);
}

static int conflict_compare(const void *a, const void *b)
{
    const struct apply_conflict *x = a, *y = b;
    int order = strcmp(x->entry->manager, y->entry->manager);
    if (order == 0)
        order = (int)y->entry->applied - (int)x->entry->applied;
    if (order == 0)
        order = strcmp(x->entry->api_version, y->entry->api_version);
    return order ? order : strcmp(x->entry->subresource, y->entry->subresource);
}

struct apply_conflicts apply_conflicts_describe(struct arena *arena,
                                                struct apply_conflict *conflicts, size_t count)
{
    _cleanup_buf_ struct buf lines;
    buf_init(&lines, MESSAGE_MAX);
    struct description description = {.arena = arena, .causes = json_array(arena), .lines = &lines};
    qsort(conflicts, count, sizeof(*conflicts), conflict_compare);
    for (size_t i = 0; i < count; i++) {
        description.manager = manager_text(arena, conflicts[i].entry);
        buf_printf(&lines, "%sconflicts with %s:", i > 0 ? "\n" : "", description.manager);
        fieldset_visit(arena, conflicts[i].fields, conflict_add_path, &description);
    }
    struct apply_conflicts described = {.causes = description.causes};
    const struct json *only = json_first(description.causes);
    described.message =
        description.count == 1
            ? arena_printf(arena, "Apply failed with 1 conflict: %s: %s",
                           json_get_string(only, "message", ""), json_get_string(only, "field", ""))
            : arena_printf(arena, "Apply failed with %zu conflicts: %s", description.count,
                           lines.data);
    return described;
}
