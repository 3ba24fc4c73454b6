/* Reads and writes metadata.managedFields as JSON; see managed_fields.h. */
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/patch/managed_fields.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading --------------------------------------------------------------------------------- */

static int read_entry(struct arena *arena, const struct json *json, struct managed_entry *entry,
                      struct err *err)
{
    const char *operation = json_get_string(json, "operation", "");
    const char *type = json_get_string(json, "fieldsType", "");
    const char *time = json_get_string(json, "time", "");
    const struct json *fields = json_get(json, "fieldsV1");
    *entry = (struct managed_entry){
        .manager = json_get_string(json, "manager", ""),
        .api_version = json_get_string(json, "apiVersion", ""),
        .subresource = json_get_string(json, "subresource", ""),
        .applied = str_eq(operation, "Apply"),
    };
    if (!entry->applied && !str_eq(operation, "Update"))
        return err_set(err, ERR_BAD_REQUEST, "operation must be `Apply` or `Update`");
    if (entry->api_version[0] == '\0')
        return err_set(err, ERR_BAD_REQUEST, "apiVersion must not be empty");
    if (!str_eq(type, "FieldsV1"))
        return err_set(err, ERR_BAD_REQUEST, "invalid fieldsType \"%.100s\"", type);
    if (time[0] != '\0' && moment_parse(time, &entry->time_ms, err) < 0)
        return err_wrap(err, "time");
    if (entry->time_ms < 0)
        entry->time_ms = 0; /* a time before 1970 counts as unknown */
    if (!fields || fields->type == JSON_NULL)
        return 0;
    return fieldset_from_json(arena, fields, &entry->fields, err);
}

int managed_fields_read(struct arena *arena, const struct json *list, struct managed_fields *ret,
                        struct err *err)
{
    struct managed_fields managed = {0};
    struct managed_entry **end = &managed.first;
    size_t position = 0;
    if (list && list->type != JSON_ARRAY && list->type != JSON_NULL)
        return err_set(err, ERR_BAD_REQUEST, "managedFields must be an array, not %s",
                       json_type_name(list->type));
    if (json_count(list) > MANAGED_ENTRIES_MAX)
        return err_set(err, ERR_BAD_REQUEST, "managedFields has more than %d entries",
                       (int)MANAGED_ENTRIES_MAX);
    JSON_EACH (json, list) {
        struct managed_entry *entry = ARENA_NEW(arena, struct managed_entry);
        int result = read_entry(arena, json, entry, err);
        if (result < 0)
            return err_wrap(err, "managedFields[%zu]", position);
        *end = entry;
        end = &entry->next;
        position++;
    }
    *ret = managed;
    return 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Orders the entries as Kubernetes does: first the entries of operation Apply, then by time. */
static int compare_entries(const void *a, const void *b)
{
    const struct managed_entry *x = *(const struct managed_entry *const *)a;
    const struct managed_entry *y = *(const struct managed_entry *const *)b;
    int64_t before = x->time_ms / 1000, after = y->time_ms / 1000;
    if (x->applied != y->applied)
        return x->applied ? -1 : 1;
    if (before != after)
        return before < after ? -1 : 1;
    int order = strcmp(x->manager, y->manager);
    if (order == 0)
        order = strcmp(x->api_version, y->api_version);
    return order ? order : strcmp(x->subresource, y->subresource);
}

static struct json *managed_entry_write(struct arena *arena, const struct managed_entry *entry)
{
    struct json *json = json_object(arena);
    if (entry->manager[0] != '\0')
        json_set_string(arena, json, "manager", entry->manager);
    json_set_string(arena, json, "operation", entry->applied ? "Apply" : "Update");
    json_set_string(arena, json, "apiVersion", entry->api_version);
    if (entry->time_ms) {
        char time[MOMENT_TEXT_MAX];
        moment_format(entry->time_ms, time);
        json_set_string(arena, json, "time", time);
    }
    json_set_string(arena, json, "fieldsType", "FieldsV1");
    json_set(arena, json, "fieldsV1", fieldset_to_json(arena, entry->fields));
    if (entry->subresource[0] != '\0')
        json_set_string(arena, json, "subresource", entry->subresource);
    return json;
}

void managed_fields_put(struct arena *arena, const struct managed_fields *managed,
                        struct json *object)
{
    struct json *meta = json_ensure_object(arena, object, "metadata");
    size_t count = 0, room = 0;
    for (const struct managed_entry *entry = managed->first; entry; entry = entry->next)
        room++;
    const struct managed_entry **sorted = ARENA_ARRAY(arena, const struct managed_entry *, room);
    for (const struct managed_entry *entry = managed->first; entry; entry = entry->next)
        if (!fieldset_is_empty(entry->fields))
            sorted[count++] = entry;
    json_remove(meta, "managedFields");
    if (count == 0)
        return;
    qsort(sorted, count, sizeof(const struct managed_entry *), compare_entries);
    struct json *list = json_array(arena);
    for (size_t i = 0; i < count; i++)
        json_append(list, managed_entry_write(arena, sorted[i]));
    json_set(arena, meta, "managedFields", list);
}
