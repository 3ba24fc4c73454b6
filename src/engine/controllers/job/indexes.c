/* Implements sets of completion indexes as sorted ranges; see indexes.h. */
#include "engine/controllers/job/indexes.h"

#include "base/buf.h"
#include "base/str.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT_MAX = 8 * 1024 * 1024 };

void job_indexes_init(struct job_indexes *indexes, struct arena *arena)
{
    *indexes = (struct job_indexes){.arena = arena};
}

/* Returns the position of the first range that ends at or after the index, or `count` if none
 * does. */
static size_t job_indexes_find(const struct job_indexes *indexes, int64_t index)
{
    size_t low = 0, high = indexes->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (indexes->ranges[middle].last < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool job_indexes_has(const struct job_indexes *indexes, int64_t index)
{
    size_t at = job_indexes_find(indexes, index);
    return at < indexes->count && indexes->ranges[at].first <= index;
}

int64_t job_indexes_next_missing(const struct job_indexes *indexes, int64_t from)
{
    size_t at = job_indexes_find(indexes, from);
    return at < indexes->count && indexes->ranges[at].first <= from ? indexes->ranges[at].last + 1
                                                                    : from;
}

static void job_indexes_insert(struct job_indexes *indexes, size_t at, struct job_index_range range)
{
    if (indexes->count == indexes->capacity) {
        size_t capacity = indexes->capacity ? 2 * indexes->capacity : 8;
        struct job_index_range *grown =
            ARENA_ARRAY(indexes->arena, struct job_index_range, capacity);
        if (indexes->count)
            memcpy(grown, indexes->ranges, indexes->count * sizeof(*grown));
        indexes->ranges = grown;
        indexes->capacity = capacity;
    }
    memmove(&indexes->ranges[at + 1], &indexes->ranges[at],
            (indexes->count - at) * sizeof(*indexes->ranges));
    indexes->ranges[at] = range;
    indexes->count++;
}

static void add_range(struct job_indexes *indexes, int64_t first, int64_t last)
{
    /* A range that ends just before `first` is extended. */
    size_t at = job_indexes_find(indexes, first - 1), end = at;
    while (end < indexes->count && indexes->ranges[end].first <= last + 1) {
        if (indexes->ranges[end].first < first)
            first = indexes->ranges[end].first;
        if (indexes->ranges[end].last > last)
            last = indexes->ranges[end].last;
        end++;
    }
    if (end == at) {
        job_indexes_insert(indexes, at, (struct job_index_range){first, last});
        return;
    }
    indexes->ranges[at] = (struct job_index_range){first, last};
    memmove(&indexes->ranges[at + 1], &indexes->ranges[end],
            (indexes->count - end) * sizeof(*indexes->ranges));
    indexes->count -= end - at - 1;
}

void job_indexes_add(struct job_indexes *indexes, int64_t index)
{
    add_range(indexes, index, index);
}

int64_t job_indexes_size(const struct job_indexes *indexes, int64_t limit)
{
    int64_t size = 0;
    for (size_t i = 0; i < indexes->count && indexes->ranges[i].first < limit; i++) {
        int64_t last = indexes->ranges[i].last < limit ? indexes->ranges[i].last : limit - 1;
        size += last - indexes->ranges[i].first + 1;
    }
    return size;
}

void job_indexes_parse(struct job_indexes *indexes, const char *text)
{
    size_t count;
    char **pieces = str_split(indexes->arena, text, ',', &count);
    for (size_t i = 0; i < count; i++) {
        int64_t first, last;
        char *dash = strchr(pieces[i], '-');
        if (dash)
            *dash = '\0';
        if (str_to_int64(pieces[i], 0, INT32_MAX, &first, NULL) < 0 ||
            str_to_int64(dash ? dash + 1 : pieces[i], first, INT32_MAX, &last, NULL) < 0)
            continue;
        add_range(indexes, first, last);
    }
}

char *job_indexes_text(const struct job_indexes *indexes)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < indexes->count; i++) {
        const struct job_index_range *range = &indexes->ranges[i];
        buf_printf(&text, "%s%" PRId64, i ? "," : "", range->first);
        if (range->last > range->first)
            /* Two consecutive indexes are written one by one, as in Kubernetes. */
            buf_printf(&text, "%c%" PRId64, range->last == range->first + 1 ? ',' : '-',
                       range->last);
    }
    return arena_strdup(indexes->arena, text.data ? text.data : "");
}
