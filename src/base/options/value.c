/* Converts the text of an option's value to its type and stores it in the command's struct; see
 * options.h. */
#include "base/mem.h"
#include "base/options/internal.h"
#include "base/str.h"

#include <string.h>

bool options_next_name(const char **at, const char **ret, size_t *ret_size)
{
    if (!*at || !**at)
        return false;
    const char *end = strchrnul(*at, '|');
    *ret = *at;
    *ret_size = (size_t)(end - *at);
    *at = *end ? end + 1 : NULL;
    return true;
}

static bool is_choice(const char *choices, const char *text)
{
    const char *piece;
    for (size_t size; options_next_name(&choices, &piece, &size);)
        if (strlen(text) == size && memcmp(piece, text, size) == 0)
            return true;
    return false;
}

static int to_bool(const char *text, bool *ret, struct err *err)
{
    static const struct {
        const char *text;
        bool value;
    } WORDS[] = {{"true", true},   {"1", true},  {"yes", true}, {"on", true},
                 {"false", false}, {"0", false}, {"no", false}, {"off", false}};
    for (size_t i = 0; i < ARRAY_SIZE(WORDS); i++) {
        if (str_eq_nocase(text, WORDS[i].text)) {
            *ret = WORDS[i].value;
            return 0;
        }
    }
    return err_set(err, ERR_USAGE, "'%s' is neither true nor false", text);
}

int options_check_path(const char *text, struct err *err)
{
    if (!strstr(text, "://"))
        return 0;
    return err_set(
        err, ERR_USAGE,
        "'%s' is a URL, not a path: mount a volume (a PersistentVolumeClaim) and give a path on it",
        text);
}

static int to_int(const struct option *option, const char *text, int64_t *ret, struct err *err)
{
    bool any = option->min == 0 && option->max == 0;
    int result =
        str_to_int64(text, any ? INT64_MIN : option->min, any ? INT64_MAX : option->max, ret, err);
    if (result == 0 && option->multiple_of && *ret % option->multiple_of)
        return err_set(err, ERR_USAGE, "'%s' is not a multiple of %lld", text,
                       (long long)option->multiple_of);
    return result;
}

static int to_real(const struct option *option, const char *text, double *ret, struct err *err)
{
    const struct option_range *range = &option->range;
    int result = str_to_double(text, ret, err);
    if (result < 0 || (range->min == 0 && range->max == 0))
        return result;
    if (range->above_min && !(*ret > range->min))
        return err_set(err, ERR_USAGE, "'%s' is not above %g", text, range->min);
    if (*ret < range->min || *ret > range->max)
        return err_set(err, ERR_USAGE, "'%s' is not between %g and %g", text, range->min,
                       range->max);
    return 0;
}

static int value_store(const struct option *option, const char *text, void *target, struct err *err)
{
    switch (option->type) {
    case OPTION_FLAG:
        return to_bool(text, target, err);
    case OPTION_INT:
        return to_int(option, text, target, err);
    case OPTION_REAL:
        return to_real(option, text, target, err);
    case OPTION_CHOICE:
        if (!is_choice(option->choices, text))
            return err_set(err, ERR_USAGE, "'%s' is not one of %s", text, option->choices);
        *(const char **)target = text;
        return 0;
    case OPTION_PATH:
        *(const char **)target = text;
        return options_check_path(text, err);
    case OPTION_STRING:
        *(const char **)target = text;
        return 0;
    case OPTION_CONFIG:
        ((struct option_config *)target)->path = text;
        return options_check_path(text, err);
    case OPTION_LIST: {
        struct option_list *list = target;
        list->items = mem_realloc(list->items, (list->count + 1) * sizeof(*list->items));
        list->items[list->count++] = text;
        return 0;
    }
    }
    mem_panic("option '%s' has an unknown type", option->name);
}

int options_store(const struct option *option, const char *text, void *values, struct err *err)
{
    int result = value_store(option, text, (char *)values + option->offset, err);
    return result == 0 && option->check ? option->check(text, err) : result;
}
