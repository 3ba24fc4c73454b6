/* metav1.Table: what `kubectl get` prints. Columns are rows of constant data with a function that
 * makes the cell. The row of each kind (kube/kinds/kind.h) has its columns. */
#ifndef TRAINYARD_KUBE_TABLE_H
#define TRAINYARD_KUBE_TABLE_H

#include "base/json/json.h"

struct json_path;

struct kube_column {
    const char *name;        /* "Status" */
    const char *type;        /* "string", "integer", "date" … of OpenAPI */
    const char *format;      /* "name" for the first column, else "" */
    const char *description; /* one sentence */
    int priority;            /* 0, or 1 for those of -o wide */
    /* What makes the cell: a function, or where the value stands. */
    struct json *(*cell)(struct arena *arena, const struct json *object, int64_t now_ms);
    const struct json_path *path;
};

struct kube_columns {
    const struct kube_column *columns;
    size_t count;
};

/* Those a definition asks for (its additionalPrinterColumns; NULL: AGE) behind NAME; in the arena.
 */
const struct kube_columns *kube_columns_make(struct arena *arena, const struct json *given);

/* ?includeObject= : what stands in each row's `object`. */
enum kube_include { KUBE_INCLUDE_METADATA, KUBE_INCLUDE_OBJECT, KUBE_INCLUDE_NONE };
int kube_include_parse(const char *text, enum kube_include *ret,
                       struct err *err); /* NULL: default */

/* An empty table. In a watch only the first event needs the columns. `list_meta` (may be NULL) is
 * the metadata of the list: resourceVersion, continue, remainingItemCount. */
struct json *kube_table_new(struct arena *arena, const struct kube_columns *columns,
                            const struct json *list_meta, bool with_columns);

/* The object is copied as far as `include` asks. */
void kube_table_add(struct arena *arena, struct json *table, const struct kube_columns *columns,
                    const struct json *object, enum kube_include include, int64_t now_ms);

#endif
