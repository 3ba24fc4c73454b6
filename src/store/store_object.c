/* Versions of objects that readers and watches share; see store.h. References are counted on the
 * loop thread only. The writer thread may read an object while a pending change has a reference to
 * it.
 *
 * The base of a delta is always stored completely. So any object is restored in one step, and an
 * object keeps at most one other version in memory. An object has a reference to its base, so the
 * base stays in memory even if it is superseded. */
#include "store/store_internal.h"

#include "base/buf.h"
#include "base/mem.h"
#include "store/delta.h"

#include <stdlib.h>
#include <string.h>

/* Larger objects are stored completely. A delta uses only the first 64 KiB of the base, so it would
 * usually save less than half of such an object. */
enum { DELTA_TEXT_MAX = 4 * DELTA_BASE_MAX };

/* Initializes `delta` and writes the difference to the base into it. Returns false if there is no
 * base, if the data is too large, or if the difference is larger than half of the data. The caller
 * releases `delta`. */
static bool write_similar_delta(const struct store_object *base, const char *data, size_t size,
                                struct buf *delta)
{
    buf_init(delta, size / 2);
    if (!base || size > DELTA_TEXT_MAX)
        return false;
    delta_write(base->kept, base->kept_size, data, size, delta);
    return !delta->overflowed;
}

struct store_object *store_object_new(const char *key, const void *data, size_t size,
                                      int64_t revision, int64_t create_revision,
                                      struct store_object *sibling)
{
    _cleanup_buf_ struct buf delta;
    struct store_object *base = sibling && sibling->base ? sibling->base : sibling;
    bool whole = !write_similar_delta(base, data, size, &delta);
    const void *kept = whole ? data : delta.data;
    size_t kept_size = whole ? size : delta.size, key_size = strlen(key) + 1;
    struct store_object *object = mem_alloc(sizeof(*object) + key_size + kept_size + 1);
    char *key_copy = (char *)(object + 1), *kept_copy = key_copy + key_size;
    memcpy(key_copy, key, key_size);
    if (kept_size)
        memcpy(kept_copy, kept, kept_size);
    kept_copy[kept_size] = '\0'; /* so that the data can be parsed as text */
    *object = (struct store_object){.references = 1,
                                    .revision = revision,
                                    .create_revision = create_revision,
                                    .key = key_copy,
                                    .size = size,
                                    .base = whole ? NULL : store_object_ref(base),
                                    .kept = kept_copy,
                                    .kept_size = kept_size};
    return object;
}

struct store_object *store_object_ref(struct store_object *object)
{
    object->references++;
    return object;
}

void store_object_unref(struct store_object *object)
{
    if (!object || --object->references > 0)
        return;
    store_object_unref(object->base);
    free(object);
}

const char *store_object_data(const struct store_object *object, struct arena *arena)
{
    if (!object->base)
        return object->kept;
    char *data = arena_alloc(arena, object->size + 1);
    delta_read(object->base->kept, object->kept, data, object->size);
    data[object->size] = '\0';
    return data;
}
