/* Finds members of large objects by name; see json_names.h. */
#include "base/json/json_names.h"

#include "base/mem.h"

#include <string.h>

enum {
    COMPARED_MAX = 32, /* if an object has fewer members, their names are compared one by one */
    CAPACITY_FIRST =
        128, /* first capacity of the hash set: a power of two, more than twice COMPARED_MAX */
};

void json_names_release(struct json_names *names)
{
    free(names->slots);
    *names = (struct json_names){0};
}

static struct json **find_slot(struct json_names *names, const char *name, size_t size)
{
    size_t mask = names->capacity - 1, i = hash_bytes(&names->key, name, size) & mask;
    while (names->slots[i] && strcmp(names->slots[i]->name, name) != 0)
        i = (i + 1) & mask;
    return &names->slots[i];
}

/* Allocates more than two slots per member and puts all members into them. A search ends at an
 * empty slot, so some slots must stay empty. */
static void names_grow(struct json_names *names, const struct json *object)
{
    if (!names->capacity) {
        hash_key_draw(&names->key);
        names->capacity = CAPACITY_FIRST;
    }
    while (names->capacity <= (size_t)object->count * 2)
        names->capacity *= 2;
    free(names->slots);
    names->slots = mem_calloc(names->capacity, sizeof(*names->slots));
    JSON_EACH (member, object)
        *find_slot(names, member->name, strlen(member->name)) = member;
}

/* Returns whether all names of the object are in rising order and `name` is above all of them. */
static bool is_above_all(struct json_names *names, const struct json *object, const char *name)
{
    if (names->order == JSON_NAMES_UNKNOWN) {
        names->order = JSON_NAMES_RISE;
        for (const struct json *member = object->first; member->next; member = member->next)
            if (strcmp(member->name, member->next->name) >= 0)
                names->order = JSON_NAMES_MIXED;
    }
    if (names->order == JSON_NAMES_RISE && strcmp(object->last->name, name) >= 0)
        names->order = JSON_NAMES_MIXED;
    return names->order == JSON_NAMES_RISE;
}

bool json_names_add(struct json_names *names, const struct json *object, struct json *member,
                    size_t size)
{
    if (object->count >= COMPARED_MAX) {
        /* Once the hash set exists, every name must be added to it, even a name in rising order. */
        if (!names->capacity && is_above_all(names, object, member->name))
            return true;
        if ((size_t)object->count * 2 >= names->capacity)
            names_grow(names, object);
        struct json **slot = find_slot(names, member->name, size);
        if (*slot)
            return false;
        *slot = member;
        return true;
    }
    const unsigned char *name = (const unsigned char *)member->name;
    unsigned mixed = size ? name[0] + name[size / 2] * 3u + name[size - 1] * 5u : 0;
    uint64_t bit = UINT64_C(1) << ((mixed + (unsigned)size * 7u) & 63);
    if (names->filter & bit && json_get(object, member->name))
        return false;
    names->filter |= bit;
    return true;
}

struct json *json_names_find(struct json_names *names, const struct json *object, const char *name)
{
    if (json_count(object) < COMPARED_MAX)
        return json_get(object, name);
    if (object->type != JSON_OBJECT)
        return NULL;
    if ((size_t)object->count * 2 >= names->capacity)
        names_grow(names, object);
    return *find_slot(names, name, strlen(name));
}
