/* Builds sets of characters; see tree.h. */
#include "base/mem.h"
#include "base/pattern/tree.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

void pattern_set_add(struct pattern_set_builder *set, uint32_t first, uint32_t last)
{
    vec_push(&set->ranges, ((struct pattern_range){first, last}));
}

void pattern_set_add_other_case(struct pattern_set_builder *set)
{
    for (size_t i = 0, count = set->ranges.count; i < count; i++) {
        struct pattern_range range = set->ranges.items[i];
        for (uint32_t c = 'a'; c <= 'z'; c++) {
            uint32_t upper = c - 'a' + 'A';
            if (c >= range.first && c <= range.last)
                pattern_set_add(set, upper, upper);
            if (upper >= range.first && upper <= range.last)
                pattern_set_add(set, c, c);
        }
    }
}

static int compare_ranges(const void *a, const void *b)
{
    const struct pattern_range *left = a, *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

struct pattern_set pattern_set_finish(struct arena *arena, struct pattern_set_builder *set,
                                      bool negated)
{
    size_t count = 0, kept = 0;
    if (set->ranges.count > 1)
        qsort(set->ranges.items, set->ranges.count, sizeof(*set->ranges.items), compare_ranges);
    for (size_t i = 0; i < set->ranges.count; i++) {
        struct pattern_range range = set->ranges.items[i];
        struct pattern_range *last = kept > 0 ? &set->ranges.items[kept - 1] : NULL;
        if (last && range.first <= last->last + 1)
            last->last = range.last > last->last ? range.last : last->last;
        else
            set->ranges.items[kept++] = range;
    }
    struct pattern_range *ranges = ARENA_ARRAY(arena, struct pattern_range, kept + 1);
    uint32_t next = 0;
    for (size_t i = 0; i < kept; i++) {
        struct pattern_range range = set->ranges.items[i];
        if (!negated)
            ranges[count++] = range;
        else if (range.first > next)
            ranges[count++] = (struct pattern_range){next, range.first - 1};
        next = range.last + 1;
    }
    if (negated && next <= PATTERN_CHARACTER_MAX)
        ranges[count++] = (struct pattern_range){next, PATTERN_CHARACTER_MAX};
    vec_release(&set->ranges);
    return (struct pattern_set){ranges, count};
}

bool pattern_set_add_perl(struct arena *arena, struct pattern_set_builder *set, char letter)
{
    static const struct {
        char letter;
        struct pattern_range ranges[5];
    } classes[] = {
        {'d', {{'0', '9'}}},
        {'s', {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}},
        {'w', {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    };
    for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
        bool negated = letter == classes[i].letter - 'a' + 'A';
        if (letter != classes[i].letter && !negated)
            continue;
        struct pattern_set_builder one = {0};
        for (const struct pattern_range *range = classes[i].ranges; range->last; range++)
            pattern_set_add(&one, range->first, range->last);
        struct pattern_set made = pattern_set_finish(arena, &one, negated);
        for (size_t j = 0; j < made.count; j++)
            pattern_set_add(set, made.ranges[j].first, made.ranges[j].last);
        return true;
    }
    return false;
}

const char *pattern_set_add_named(struct arena *arena, struct pattern_set_builder *set,
                                  const char *text)
{
    static const struct {
        const char *name;
        struct pattern_range ranges[5];
    } classes[] = {
        {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
        {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
        {"ascii", {{0, 0x7f}}},
        {"blank", {{'\t', '\t'}, {' ', ' '}}},
        {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
        {"digit", {{'0', '9'}}},
        {"graph", {{'!', '~'}}},
        {"lower", {{'a', 'z'}}},
        {"print", {{' ', '~'}}},
        {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
        {"space", {{'\t', '\r'}, {' ', ' '}}},
        {"upper", {{'A', 'Z'}}},
        {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
        {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
    };
    const char *name = text + 2;
    bool negated = *name == '^';
    name += negated;
    for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
        size_t size = strlen(classes[i].name);
        if (strncmp(name, classes[i].name, size) != 0 || !str_has_prefix(name + size, ":]"))
            continue;
        struct pattern_set_builder one = {0};
        for (const struct pattern_range *range = classes[i].ranges; range->last; range++)
            pattern_set_add(&one, range->first, range->last);
        struct pattern_set made = pattern_set_finish(arena, &one, negated);
        for (size_t j = 0; j < made.count; j++)
            pattern_set_add(set, made.ranges[j].first, made.ranges[j].last);
        return name + size + 2;
    }
    return NULL;
}

void pattern_set_drop(struct pattern_set_builder *set)
{
    vec_release(&set->ranges);
}
