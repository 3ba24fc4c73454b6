/* Makes metav1.Table objects; see table.h. */
#include "kube/table/table.h"

#include "base/str.h"
#include "kube/table/cells.h"

static struct json *column_definitions(struct arena *arena, const struct kube_columns *columns)
{
    struct json *list = json_array(arena);
    for (size_t i = 0; i < columns->count; i++) {
        const struct kube_column *column = &columns->columns[i];
        struct json *definition = json_object(arena);
        json_set_string(arena, definition, "name", column->name);
        json_set_string(arena, definition, "type", column->type);
        json_set_string(arena, definition, "format", column->format);
        json_set_string(arena, definition, "description", column->description);
        json_set_int(arena, definition, "priority", column->priority);
        json_append(list, definition);
    }
    return list;
}

struct json *kube_table_new(struct arena *arena, const struct kube_columns *columns,
                            const struct json *list_meta, bool with_columns)
{
    struct json *table = json_object(arena);
    json_set_string(arena, table, "kind", "Table");
    json_set_string(arena, table, "apiVersion", "meta.k8s.io/v1");
    json_set(arena, table, "metadata",
             list_meta ? json_clone(arena, list_meta) : json_object(arena));
    json_set(arena, table, "columnDefinitions",
             with_columns ? column_definitions(arena, columns) : json_null(arena));
    json_set(arena, table, "rows", json_array(arena));
    return table;
}

static struct json *row_object(struct arena *arena, const struct json *object)
{
    struct json *partial = json_object(arena);
    json_set_string(arena, partial, "kind", "PartialObjectMetadata");
    json_set_string(arena, partial, "apiVersion", "meta.k8s.io/v1");
    const struct json *meta = json_get(object, "metadata");
    json_set(arena, partial, "metadata", meta ? json_clone(arena, meta) : json_object(arena));
    return partial;
}

void kube_table_add(struct arena *arena, struct json *table, const struct kube_columns *columns,
                    const struct json *object, enum kube_include include, int64_t now_ms)
{
    struct json *row = json_object(arena);
    struct json *cells = json_set(arena, row, "cells", json_array(arena));
    for (size_t i = 0; i < columns->count; i++) {
        const struct kube_column *column = &columns->columns[i];
        json_append(cells, column->path ? table_path_cell(arena, column, object, now_ms)
                                        : column->cell(arena, object, now_ms));
    }
    if (include == KUBE_INCLUDE_METADATA)
        json_set(arena, row, "object", row_object(arena, object));
    else if (include == KUBE_INCLUDE_OBJECT)
        json_set(arena, row, "object", json_clone(arena, object));
    json_append(json_get(table, "rows"), row);
}

int kube_include_parse(const char *text, enum kube_include *ret, struct err *err)
{
    if (str_is_empty(text) || str_eq(text, "Metadata"))
        *ret = KUBE_INCLUDE_METADATA;
    else if (str_eq(text, "Object"))
        *ret = KUBE_INCLUDE_OBJECT;
    else if (str_eq(text, "None"))
        *ret = KUBE_INCLUDE_NONE;
    else
        return err_set(err, ERR_BAD_REQUEST,
                       "includeObject: '%.64s' is not one of Metadata, Object and None", text);
    return 0;
}
