/* Makes metav1.Table objects, which `kubectl get` prints. The API server makes them for lists,
 * single objects and watches. The row of each kind (kube/kinds/kind.h) lists its columns. */
#ifndef TRAINYARD_KUBE_TABLE_TABLE_H
#define TRAINYARD_KUBE_TABLE_TABLE_H

#include "base/json/json.h"

struct json_path;

struct kube_column {
    const char *name;        /* "Status" */
    const char *type;        /* a type of OpenAPI: "string", "integer", "date" … */
    const char *format;      /* such as "name" for the column of names; "": none */
    const char *description; /* one sentence; "": none */
    int priority;            /* 0: always shown; greater: only shown by -o wide */
    /* The function that makes the cell. Not used if `path` is set. */
    struct json *(*cell)(struct arena *arena, const struct json *object, int64_t now_ms);
    const struct json_path *path; /* the path of the value in a custom resource; NULL: none */
};

struct kube_columns {
    const struct kube_column *columns;
    size_t count;
};

/* Returns the columns of a custom resource, in the arena: the name, then the columns in `given`,
 * the definition's additionalPrinterColumns. A column with an invalid path is left out. If `given`
 * is NULL or empty, the second column is the age. */
const struct kube_columns *kube_columns_make(struct arena *arena, const struct json *given);

/* The part of the object that each row contains: the query parameter includeObject. */
enum kube_include { KUBE_INCLUDE_METADATA, KUBE_INCLUDE_OBJECT, KUBE_INCLUDE_NONE };
/* Parses includeObject. NULL and "" mean KUBE_INCLUDE_METADATA. Returns 0 or -ERR_BAD_REQUEST. */
int kube_include_parse(const char *text, enum kube_include *ret, struct err *err);

/* Makes a table without rows. `list_meta` is the metadata of the list (resourceVersion, continue,
 * remainingItemCount) or NULL. A watch sends the columns with its first event only. */
struct json *kube_table_new(struct arena *arena, const struct kube_columns *columns,
                            const struct json *list_meta, bool with_columns);

/* Adds the row of the object to `table`. Copies the part of the object that `include` names. Ages
 * in the cells are relative to `now_ms`. */
void kube_table_add(struct arena *arena, struct json *table, const struct kube_columns *columns,
                    const struct json *object, enum kube_include include, int64_t now_ms);

#endif
