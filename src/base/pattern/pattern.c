/* Executes the steps of an expression on a text; see pattern.h. */
#include "base/pattern/pattern.h"

#include "base/mem.h"
#include "base/pattern/program.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORK_MAX = 50 * 1000 * 1000, /* limit of search.work */
    NO_CHARACTER = 0x110000,     /* the "character" before and after the text */
};

/* A set of OP_SET steps: the states that partial matches have reached. */
struct places {
    uint32_t *list;
    uint32_t count;
};

struct search {
    const struct pattern *pattern;
    struct places now, next; /* the steps before and after the current character */
    uint32_t *stack;         /* steps that search_reach() must still visit */
    uint64_t *marked;        /* for each step: the value of `round` at its last visit */
    uint64_t round;
    size_t work; /* number of visits to steps */
    bool found;
};

static bool pattern_is_word(uint32_t character)
{
    return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
           (character >= 'a' && character <= 'z') || character == '_';
}

/* Returns whether an assertion such as OP_LINE_BEGIN is true between these two characters. */
static bool step_passes(enum pattern_op op, uint32_t before, uint32_t after)
{
    switch (op) {
    case OP_TEXT_BEGIN:
        return before == NO_CHARACTER;
    case OP_TEXT_END:
        return after == NO_CHARACTER;
    case OP_LINE_BEGIN:
        return before == NO_CHARACTER || before == '\n';
    case OP_LINE_END:
        return after == NO_CHARACTER || after == '\n';
    case OP_WORD_BOUNDARY:
        return pattern_is_word(before) != pattern_is_word(after);
    case OP_NO_WORD_BOUNDARY:
        return pattern_is_word(before) == pattern_is_word(after);
    default:
        return false;
    }
}

static void search_push(struct search *search, size_t *depth, uint32_t step)
{
    if (search->marked[step] == search->round)
        return;
    search->marked[step] = search->round;
    search->stack[(*depth)++] = step;
}

/* Adds to `places` all OP_SET steps that are reachable from `start` without matching a
 * character. */
static void search_reach(struct search *search, struct places *places, uint32_t start,
                         uint32_t before, uint32_t after)
{
    size_t depth = 0;
    search_push(search, &depth, start);
    while (depth > 0) {
        uint32_t at = search->stack[--depth];
        const struct pattern_step *step = &search->pattern->steps[at];
        search->work++;
        switch (step->op) {
        case OP_SET:
            places->list[places->count++] = at;
            break;
        case OP_SPLIT:
            search_push(search, &depth, step->b);
            search_push(search, &depth, step->a);
            break;
        case OP_JUMP:
            search_push(search, &depth, step->a);
            break;
        case OP_FOUND:
            search->found = true;
            break;
        default:
            if (step_passes(step->op, before, after))
                search_push(search, &depth, at + 1);
        }
    }
}

static bool set_has(const struct pattern_set *set, uint32_t character)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (character > set->ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->count && character >= set->ranges[low].first;
}

/* Decodes a character. An invalid byte counts as U+FFFD. */
static uint32_t pattern_decode_utf8(const char *text, size_t size, size_t *ret_size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = size > 0 ? utf8_size(text, size) : 0;
    *ret_size = length ? length : 1;
    switch (length) {
    case 1:
        return bytes[0];
    case 2:
        return (bytes[0] & 0x1fU) << 6 | (bytes[1] & 0x3fU);
    case 3:
        return (bytes[0] & 0x0fU) << 12 | (bytes[1] & 0x3fU) << 6 | (bytes[2] & 0x3fU);
    case 4:
        return (bytes[0] & 0x07U) << 18 | (bytes[1] & 0x3fU) << 12 | (bytes[2] & 0x3fU) << 6 |
               (bytes[3] & 0x3fU);
    default:
        return 0xfffd;
    }
}

static void search_walk(struct search *search, const char *text, size_t size)
{
    uint32_t before = NO_CHARACTER;
    size_t length = 0, after_length = 0;
    uint32_t at = size > 0 ? pattern_decode_utf8(text, size, &length) : NO_CHARACTER;
    search_reach(search, &search->now, 0, before, at);
    while (!search->found && at != NO_CHARACTER && search->work <= WORK_MAX) {
        text += length;
        size -= length;
        uint32_t after = size > 0 ? pattern_decode_utf8(text, size, &after_length) : NO_CHARACTER;
        search->round++;
        search->next.count = 0;
        for (uint32_t i = 0; i < search->now.count; i++) {
            uint32_t step = search->now.list[i];
            search->work++;
            if (set_has(&search->pattern->steps[step].set, at))
                search_reach(search, &search->next, step + 1, at, after);
        }
        search_reach(search, &search->next, 0, at, after); /* a match may begin anywhere */
        struct places taken = search->now;
        search->now = search->next;
        search->next = taken;
        at = after;
        length = after_length;
    }
}

int pattern_find(const struct pattern *pattern, const char *text, size_t size, bool *ret,
                 struct err *err)
{
    uint32_t *lists = mem_alloc(3 * pattern->count * sizeof(*lists));
    struct search search = {.pattern = pattern, .round = 1};
    search.now.list = lists;
    search.next.list = lists + pattern->count;
    search.stack = lists + 2 * pattern->count;
    search.marked = mem_zalloc(pattern->count * sizeof(*search.marked));
    search_walk(&search, text, size);
    free(search.marked);
    free(lists);
    if (!search.found && search.work > WORK_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "the text of %zu bytes is too long for an expression with %zu steps", size,
                       pattern->count);
    *ret = search.found;
    return 0;
}
