/* Evaluates a parsed path on an object; see json_path.h. */
#include "kube/json_path_internal.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

struct path_matches {
    struct arena *arena;
    const struct json **list; /* has room for the final NULL */
    size_t count, room;
};

static void matches_add(struct path_matches *found, const struct json *value)
{
    if (!value || found->count == JSON_PATH_FOUND_MAX)
        return;
    if (found->count == found->room) {
        size_t room = found->room ? found->room * 4 : 4;
        const struct json **list = ARENA_ARRAY(found->arena, const struct json *, room + 1);
        if (found->count > 0)
            memcpy(list, found->list, found->count * sizeof(*list));
        found->list = list;
        found->room = room;
    }
    found->list[found->count++] = value;
}

static struct path_matches path_follow(struct arena *arena, const struct json_path *path,
                                       const struct json *object);

/* Returns a negative number, 0 or a positive number if `left` is less than, equal to or greater
 * than `right`. *ret_comparable is set if both are numbers or both are strings. If it is not set,
 * the result only says whether the values are equal (0) or not. */
static int values_compare(const struct json *left, const struct json *right, bool *ret_comparable)
{
    bool numbers = (left->type == JSON_INT || left->type == JSON_REAL) &&
                   (right->type == JSON_INT || right->type == JSON_REAL);
    *ret_comparable = numbers || (left->type == JSON_STRING && right->type == JSON_STRING);
    if (!*ret_comparable)
        return !json_equal(left, right);
    if (!numbers)
        return strcmp(left->text, right->text);
    double a = json_number(left, 0), b = json_number(right, 0);
    return (a > b) - (a < b);
}

static bool filter_holds(struct arena *arena, const struct json_path_step *step,
                         const struct json *element)
{
    struct path_matches found = path_follow(arena, step->left, element);
    bool comparable;
    if (found.count == 0 || step->comparison == COMPARE_EXISTS)
        return found.count > 0;
    int compared = values_compare(found.list[0], step->right, &comparable);
    switch (step->comparison) {
    case COMPARE_EQ:
        return compared == 0;
    case COMPARE_NE:
        return compared != 0;
    case COMPARE_LT:
        return comparable && compared < 0;
    case COMPARE_LE:
        return comparable && compared <= 0;
    case COMPARE_GT:
        return comparable && compared > 0;
    case COMPARE_GE:
        return comparable && compared >= 0;
    case COMPARE_EXISTS:
        break;
    }
    return true;
}

static int64_t position_clamp(int64_t position, int64_t count)
{
    position += position < 0 ? count : 0;
    return position < 0 ? 0 : position > count ? count : position;
}

static void matches_add_slice(struct path_matches *found, const struct json_path_step *step,
                              const struct json *list)
{
    int64_t count = (int64_t)json_count(list), position = 0;
    if (!list || list->type != JSON_ARRAY)
        return;
    if (step->one) {
        int64_t at = step->first + (step->first < 0 ? count : 0);
        matches_add(found, at >= 0 && at < count ? json_element(list, (size_t)at) : NULL);
        return;
    }
    int64_t first = position_clamp(step->has_first ? step->first : 0, count);
    int64_t end = step->has_end ? position_clamp(step->end, count) : count;
    JSON_EACH (element, list) {
        if (position >= first && position < end && (position - first) % step->stride == 0)
            matches_add(found, element);
        position++;
    }
}

static void matches_add_deep(struct path_matches *found, const char *name, const struct json *value,
                             int depth)
{
    matches_add(found, value->type == JSON_OBJECT ? json_get(value, name) : NULL);
    JSON_EACH (inner, value)
        if (depth < JSON_DEPTH_MAX)
            matches_add_deep(found, name, inner, depth + 1);
}

static void step_apply(struct arena *arena, struct path_matches *next,
                       const struct json_path_step *step, const struct json *value)
{
    switch (step->type) {
    case STEP_NAME:
        matches_add(next, value->type == JSON_OBJECT ? json_get(value, step->name) : NULL);
        break;
    case STEP_ALL:
        JSON_EACH (element, value)
            matches_add(next, element);
        break;
    case STEP_SLICE:
        matches_add_slice(next, step, value);
        break;
    case STEP_FILTER:
        JSON_EACH (element, value)
            if (filter_holds(arena, step, element))
                matches_add(next, element);
        break;
    case STEP_DEEP:
        matches_add_deep(next, step->name, value, 0);
        break;
    }
}

static struct path_matches path_follow(struct arena *arena, const struct json_path *path,
                                       const struct json *object)
{
    struct path_matches now = {.arena = arena};
    matches_add(&now, object);
    for (size_t i = 0; i < path->count && now.count > 0; i++) {
        struct path_matches next = {.arena = arena};
        for (size_t j = 0; j < now.count; j++)
            step_apply(arena, &next, &path->steps[i], now.list[j]);
        now = next;
    }
    return now;
}

const struct json *const *json_path_find(struct arena *arena, const struct json_path *path,
                                         const struct json *object)
{
    static const struct json *const nothing[] = {NULL};
    struct path_matches found = path_follow(arena, path, object);
    if (found.count == 0)
        return nothing;
    found.list[found.count] = NULL;
    return found.list;
}

/* ---- One value ------------------------------------------------------------------------------- */

/* Returns the member called `name`. In a list, `name` is the position as a number. */
static const struct json *value_below(const struct json *value, const char *name)
{
    int64_t position;
    if (!value || value->type != JSON_ARRAY)
        return json_get(value, name);
    if (str_to_int64(name, 0, JSON_PATH_POSITION_MAX, &position, NULL) < 0)
        return NULL;
    return json_element(value, (size_t)position);
}

static bool step_is_single(const struct json_path_step *step)
{
    return step->type == STEP_NAME || (step->type == STEP_SLICE && step->one && step->first >= 0 &&
                                       step->first <= JSON_PATH_POSITION_MAX);
}

/* Returns the path without kubectl's braces and without '$'. Adds the leading '.', which is
 * optional in kubectl. */
static const char *path_normalize(struct arena *arena, const char *text)
{
    size_t size = strlen(text);
    if (size >= 2 && text[0] == '{' && text[size - 1] == '}')
        text = arena_strndup(arena, text + 1, size - 2);
    if (*text == '$')
        text++;
    return *text && *text != '.' && *text != '[' ? arena_printf(arena, ".%s", text) : text;
}

int json_path_find_one(struct arena *arena, const char *text, const struct json *object,
                       const struct json **ret, struct err *err)
{
    const struct json_path *path;
    bool is_single = json_path_parse(arena, path_normalize(arena, text), &path, NULL) == 0;
    for (size_t i = 0; is_single && i < path->count; i++)
        is_single = step_is_single(&path->steps[i]);
    if (!is_single)
        return err_set(err, ERR_UNSUPPORTED,
                       "'%.100s' is not a supported JSON path: write it like '{.metadata.name}' or "
                       "'{.spec.list[0].name}'",
                       text);
    for (size_t i = 0; object && i < path->count; i++) {
        const struct json_path_step *step = &path->steps[i];
        if (step->type == STEP_NAME)
            object = value_below(object, step->name);
        else
            object = object->type == JSON_ARRAY ? json_element(object, (size_t)step->first) : NULL;
    }
    *ret = object;
    return 0;
}

const struct json *json_path_find_dotted(struct arena *arena, const char *text,
                                         const struct json *object)
{
    size_t count;
    char **names = str_split(arena, *text == '.' ? text + 1 : text, '.', &count);
    for (size_t i = 0; object && i < count; i++)
        object = value_below(object, names[i]);
    return object;
}

const char *json_path_print(struct arena *arena, const struct json *value)
{
    if (!value || value->type == JSON_NULL)
        return NULL;
    return value->type == JSON_STRING ? value->text : json_to_string(arena, value);
}
