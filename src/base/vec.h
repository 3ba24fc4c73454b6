/* A typed growing array. Zeroed memory is an empty array: `VEC(struct pod *) pods = {0};
 * vec_push(&pods, pod); vec_release(&pods);`. */
#ifndef TRAINYARD_BASE_VEC_H
#define TRAINYARD_BASE_VEC_H

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

#define vec_push(vec, item)                                                                        \
    do {                                                                                           \
        if ((vec)->count == (vec)->capacity) {                                                     \
            (vec)->capacity = (vec)->capacity ? (vec)->capacity * 2 : 8;                           \
            (vec)->items = mem_realloc((vec)->items, (vec)->capacity * sizeof(*(vec)->items));     \
        }                                                                                          \
        (vec)->items[(vec)->count++] = (item);                                                     \
    } while (0)

/* Removes the item at a position. The other items keep their order. */
#define vec_remove(vec, position)                                                                  \
    do {                                                                                           \
        size_t position_ = (position);                                                             \
        memmove(&(vec)->items[position_], &(vec)->items[position_ + 1],                            \
                ((vec)->count - position_ - 1) * sizeof(*(vec)->items));                           \
        (vec)->count--;                                                                            \
    } while (0)

#define vec_release(vec)                                                                           \
    do {                                                                                           \
        free((vec)->items);                                                                        \
        (vec)->items = NULL;                                                                       \
        (vec)->count = (vec)->capacity = 0;                                                        \
    } while (0)

#endif
