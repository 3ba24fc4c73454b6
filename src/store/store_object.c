/* The versions that readers and watchers share; see store.h. References are counted on the loop's
 * thread alone; the writer's thread reads an object that a change under way holds.
 *
 * A base is always whole, so that any object is put together in one step. It stays as long as
 * somebody needs it, also when it is itself superseded: at most one for every object. */
#include "store/store_internal.h"

#include "base/buf.h"
#include "base/mem.h"
#include "store/delta.h"

#include <stdlib.h>
#include <string.h>

/* Of a base only the first 64 KiB are looked at, which can hardly be half of more than this. */
enum { LIKE_MAX = 4 * DELTA_BASE_MAX };

/* Whether the data takes less than half beside the base; then `delta` is all of it. */
static bool is_like(const struct store_object *base, const char *data, size_t size,
                    struct buf *delta)
{
    buf_init(delta, size / 2);
    if (!base || size > LIKE_MAX)
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
    bool whole = !is_like(base, data, size, &delta);
    const void *kept = whole ? data : delta.data;
    size_t kept_size = whole ? size : delta.size, key_size = strlen(key) + 1;
    struct store_object *object = mem_alloc(sizeof(*object) + key_size + kept_size + 1);
    char *key_copy = (char *)(object + 1), *kept_copy = key_copy + key_size;
    memcpy(key_copy, key, key_size);
    if (kept_size)
        memcpy(kept_copy, kept, kept_size);
    kept_copy[kept_size] = '\0'; /* for whoever parses it as text */
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
