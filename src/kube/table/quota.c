/* The cells of quotas; see cells.h. */
#include "base/buf.h"
#include "base/str.h"
#include "kube/quantity.h"
#include "kube/table/cells.h"

#include <stdlib.h>
#include <string.h>

enum { CELL_MAX = 4096 };

static int compare_quota_names(const void *a, const void *b)
{
    return strcmp((*(const struct json *const *)a)->name, (*(const struct json *const *)b)->name);
}

static void append_quantity(struct buf *buf, const struct json *value)
{
    char text[KUBE_QUANTITY_TEXT_MAX] = "0";
    struct kube_quantity quantity;
    if (kube_quantity_from_json(value, &quantity, NULL) == 0)
        kube_quantity_format(&quantity, text);
    buf_append_str(buf, text);
}

/* Returns the used and the hard amounts, "pods: 3/10, …". Shows the resources "limits.…" if
 * `limits` is true, and all other resources if it is false. */
static struct json *used_cell(struct arena *arena, const struct json *quota, bool limits)
{
    const struct json *hard = json_at(quota, "status", "hard", NULL);
    const struct json **sorted = ARENA_ARRAY(arena, const struct json *, json_count(hard) + 1);
    size_t count = 0;
    _cleanup_buf_ struct buf buf;
    JSON_EACH (item, hard)
        sorted[count++] = item;
    qsort(sorted, count, sizeof(*sorted), compare_quota_names);
    buf_init(&buf, CELL_MAX);
    for (size_t i = 0; i < count; i++) {
        if (str_has_prefix(sorted[i]->name, "limits.") != limits)
            continue;
        buf_printf(&buf, "%s%s: ", buf.size ? ", " : "", sorted[i]->name);
        append_quantity(&buf, json_at(quota, "status", "used", sorted[i]->name, NULL));
        buf_append_char(&buf, '/');
        append_quantity(&buf, sorted[i]);
    }
    return json_string_n(arena, buf.data ? buf.data : "", buf.size);
}

struct json *table_quota_requests(struct arena *arena, const struct json *quota, int64_t now_ms)
{
    return used_cell(arena, quota, false);
}

struct json *table_quota_limits(struct arena *arena, const struct json *quota, int64_t now_ms)
{
    return used_cell(arena, quota, true);
}
