/* The versions that readers and watchers share; see store.h. References are counted on the loop's
 * thread alone; the writer's thread reads an object that a change under way holds. */
#include "store/store_internal.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct store_object *store_object_new(const char *key, const void *data, size_t size,
                                      int64_t revision, int64_t create_revision)
{
    size_t key_size = strlen(key) + 1;
    struct store_object *object = mem_alloc(sizeof(*object) + key_size + size + 1);
    char *key_copy = (char *)(object + 1), *data_copy = key_copy + key_size;
    memcpy(key_copy, key, key_size);
    if (size)
        memcpy(data_copy, data, size);
    data_copy[size] = '\0'; /* for whoever parses it as text */
    *object = (struct store_object){.references = 1,
                                    .revision = revision,
                                    .create_revision = create_revision,
                                    .key = key_copy,
                                    .data = data_copy,
                                    .size = size};
    return object;
}

struct store_object *store_object_ref(struct store_object *object)
{
    object->references++;
    return object;
}

void store_object_unref(struct store_object *object)
{
    if (object && --object->references == 0)
        free(object);
}
