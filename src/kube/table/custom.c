/* Makes the columns of a CustomResourceDefinition from its additionalPrinterColumns, and the cells
 * of these columns; see table.h and cells.h. */
#include "base/mem.h"
#include "base/str.h"
#include "kube/json_path.h"
#include "kube/table/cells.h"
#include "kube/table/table.h"

#include <math.h>

static const char NAME_DOC[] = "Name of the object, unique within its namespace.";

/* Returns the value as a cell of a column of this type. A column of type "string" shows every
 * value. Other columns show null if the value has another type. */
static struct json *value_cell(struct arena *arena, const char *type, const struct json *value,
                               int64_t now_ms)
{
    bool number = value->type == JSON_INT || value->type == JSON_REAL;
    if (str_eq(type, "string"))
        return value->type == JSON_STRING ? json_clone(arena, value)
                                          : json_string(arena, json_to_string(arena, value));
    if (str_eq(type, "integer") && number)
        return json_int(arena, (int64_t)fmax(fmin(json_number(value, 0), 9e18), -9e18));
    if ((str_eq(type, "number") && number) || (str_eq(type, "boolean") && value->type == JSON_BOOL))
        return json_clone(arena, value);
    if (str_eq(type, "date") && value->type == JSON_STRING)
        return json_string(arena, table_age(arena, value->text, now_ms));
    return json_null(arena);
}

struct json *table_path_cell(struct arena *arena, const struct kube_column *column,
                             const struct json *object, int64_t now_ms)
{
    const struct json *value = json_path_find(arena, column->path, object)[0];
    if (!value || value->type == JSON_NULL)
        return json_null(arena);
    return value_cell(arena, column->type, value, now_ms);
}

static const char *copy_column_text(struct arena *arena, const struct json *object,
                                    const char *name)
{
    return arena_strdup(arena, json_get_string(object, name, ""));
}

const struct kube_columns *kube_columns_make(struct arena *arena, const struct json *given)
{
    struct kube_columns *columns = ARENA_NEW(arena, struct kube_columns);
    struct kube_column *list = ARENA_ARRAY(arena, struct kube_column, json_count(given) + 2);
    size_t count = 0;
    list[count++] = (struct kube_column){.name = "Name",
                                         .type = "string",
                                         .format = "name",
                                         .description = NAME_DOC,
                                         .cell = table_name};
    JSON_EACH (column, given) {
        struct kube_column *made = &list[count];
        made->name = copy_column_text(arena, column, "name");
        made->type = copy_column_text(arena, column, "type");
        made->format = copy_column_text(arena, column, "format");
        made->description = copy_column_text(arena, column, "description");
        made->priority = (int)json_get_int(column, "priority", 0);
        count +=
            json_path_parse(arena, json_get_string(column, "jsonPath", ""), &made->path, NULL) == 0;
    }
    if (json_count(given) == 0)
        list[count++] = (struct kube_column){.name = "Age",
                                             .type = "date",
                                             .format = "",
                                             .description = "Time since the object was created.",
                                             .cell = table_age_cell};
    columns->columns = list;
    columns->count = count;
    return columns;
}
