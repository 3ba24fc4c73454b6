/* Values of an object by their path; see json_path.h. */
#include "kube/json_path.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum step_type { STEP_NAME, STEP_ALL, STEP_SLICE, STEP_FILTER, STEP_DEEP };
enum comparison {
    COMPARE_EXISTS,
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE
};

struct step {
    enum step_type type;
    const char *name; /* of STEP_NAME and STEP_DEEP */
    /* Of STEP_SLICE; `one`: a position, which is nothing where there is none. */
    bool one, has_first, has_end;
    int64_t first, end, stride;
    /* Of STEP_FILTER. */
    const struct json_path *left;
    enum comparison comparison;
    const struct json *right;
};

struct json_path {
    struct step steps[JSON_PATH_STEPS_MAX];
    size_t count;
};

struct parser {
    struct arena *arena;
    const char *whole, *at;
    int depth;
    struct err *err;
};

static int refuse(struct parser *parser, const char *why)
{
    return err_set(parser->err, ERR_BAD_REQUEST, "%s at '%.40s'", why, parser->at);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int parse_path(struct parser *parser, const char *ends, const struct json_path **ret);

/* 'text' or "text" with backslashes; `at` is on the quote. */
static int take_quoted(struct parser *parser, const char **ret)
{
    char quote = *parser->at++;
    char *text = arena_strdup(parser->arena, parser->at), *end = text;
    for (; *parser->at != quote; parser->at++) {
        if (*parser->at == '\\' && parser->at[1])
            parser->at++;
        if (!*parser->at)
            return refuse(parser, "unterminated quoted string");
        *end++ = *parser->at;
    }
    *end = '\0';
    parser->at++;
    *ret = text;
    return 0;
}

static bool take_integer(struct parser *parser, int64_t *ret)
{
    size_t sign = *parser->at == '-', size = sign + strspn(parser->at + sign, "0123456789");
    char digits[20];
    if (size == sign || size >= sizeof(digits))
        return false;
    memcpy(digits, parser->at, size);
    digits[size] = '\0';
    parser->at += size;
    return str_to_int64(digits, INT64_MIN, INT64_MAX, ret, NULL) == 0;
}

/* "0", "-1:", "1:3", "::2". */
static int take_slice(struct parser *parser, struct step *step)
{
    step->stride = 1;
    step->has_first = take_integer(parser, &step->first);
    if (*parser->at != ':') {
        step->one = step->has_first;
        return step->one ? 0 : refuse(parser, "invalid array index");
    }
    parser->at++;
    step->has_end = take_integer(parser, &step->end);
    if (*parser->at == ':') {
        parser->at++;
        if (!take_integer(parser, &step->stride) || step->stride < 1)
            return refuse(parser, "step must be a positive number");
    }
    return 0;
}

static int take_operand(struct parser *parser, const struct json **ret)
{
    const char *text;
    if (*parser->at == '\'' || *parser->at == '"') {
        int r = take_quoted(parser, &text);
        if (r == 0)
            *ret = json_string(parser->arena, text);
        return r;
    }
    size_t size = strcspn(parser->at, " )");
    struct json *value;
    if (json_parse(parser->arena, parser->at, size, NULL, &value, NULL) < 0)
        return refuse(parser, "a filter compares with a number, true, false or a quoted text, not");
    parser->at += size;
    *ret = value;
    return 0;
}

/* "?(@.type=="Ready")"; `at` is behind "?(". */
static int take_filter(struct parser *parser, struct step *step)
{
    static const struct {
        const char *sign;
        enum comparison comparison;
    } signs[] = {{"==", COMPARE_EQ}, {"!=", COMPARE_NE}, {"<=", COMPARE_LE},
                 {">=", COMPARE_GE}, {"<", COMPARE_LT},  {">", COMPARE_GT}};
    parser->at += strspn(parser->at, " ");
    if (*parser->at != '@')
        return refuse(parser, "a filter begins with @");
    parser->at++;
    if (parser->depth == 4)
        return refuse(parser, "filters nest too deeply");
    parser->depth++;
    int r = parse_path(parser, " =!<>)", &step->left);
    parser->depth--;
    if (r < 0)
        return r;
    parser->at += strspn(parser->at, " ");
    step->comparison = COMPARE_EXISTS;
    for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
        if (!str_has_prefix(parser->at, signs[i].sign))
            continue;
        parser->at += strlen(signs[i].sign);
        parser->at += strspn(parser->at, " ");
        step->comparison = signs[i].comparison;
        r = take_operand(parser, &step->right);
        if (r < 0)
            return r;
        break;
    }
    parser->at += strspn(parser->at, " ");
    if (*parser->at != ')')
        return refuse(parser, "unterminated filter");
    parser->at++;
    return 0;
}

/* `at` is behind the bracket. */
static int take_bracket(struct parser *parser, struct step *step)
{
    int r = 0;
    if (*parser->at == '*') {
        parser->at++;
        step->type = STEP_ALL;
    } else if (*parser->at == '\'' || *parser->at == '"') {
        step->type = STEP_NAME;
        r = take_quoted(parser, &step->name);
    } else if (str_has_prefix(parser->at, "?(")) {
        parser->at += 2;
        step->type = STEP_FILTER;
        r = take_filter(parser, step);
    } else {
        r = take_slice(parser, step);
    }
    if (r < 0)
        return r;
    if (*parser->at != ']')
        return refuse(parser, "unterminated array");
    parser->at++;
    return 0;
}

/* Behind a dot: letters up to what ends them, with backslashes before those that would. */
static int take_name(struct parser *parser, const char *ends, struct step *step)
{
    char *name = arena_strdup(parser->arena, parser->at), *end = name;
    for (; *parser->at && !strchr(".[", *parser->at) && !strchr(ends, *parser->at); parser->at++) {
        if (strchr("{}|,()@?:]=! ", *parser->at))
            return refuse(parser, "unrecognized character");
        if (*parser->at == '\\' && parser->at[1])
            parser->at++;
        *end++ = *parser->at;
    }
    if (end == name)
        return refuse(parser, "a name is missing");
    *end = '\0';
    if (str_eq(name, "*"))
        step->type = STEP_ALL;
    step->name = name;
    return 0;
}

static int parse_path(struct parser *parser, const char *ends, const struct json_path **ret)
{
    struct json_path *path = ARENA_NEW(parser->arena, struct json_path);
    while (*parser->at && !strchr(ends, *parser->at)) {
        if (path->count == JSON_PATH_STEPS_MAX)
            return refuse(parser, "more steps than anybody needs");
        struct step *step = &path->steps[path->count++];
        step->type = STEP_SLICE;
        int r;
        if (*parser->at == '[') {
            parser->at++;
            r = take_bracket(parser, step);
        } else if (*parser->at == '.') {
            bool deep = parser->at[1] == '.';
            parser->at += deep ? 2 : 1;
            if (!*parser->at && path->count == 1) { /* "." is all of it */
                path->count = 0;
                break;
            }
            step->type = deep ? STEP_DEEP : STEP_NAME;
            r = take_name(parser, ends, step);
        } else {
            r = refuse(parser, "a path begins with '.'");
        }
        if (r < 0)
            return r;
    }
    *ret = path;
    return 0;
}

int json_path_parse(struct arena *arena, const char *text, const struct json_path **ret,
                    struct err *err)
{
    struct parser parser = {.arena = arena, .whole = text, .at = text, .err = err};
    if (*parser.at == '$')
        parser.at++;
    return parse_path(&parser, "", ret);
}

/* ---- Finding --------------------------------------------------------------------------------- */

struct found {
    struct arena *arena;
    const struct json **list; /* with room for one more */
    size_t count, room;
};

static void add(struct found *found, const struct json *value)
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

static struct found find(struct arena *arena, const struct json_path *path,
                         const struct json *object);

static int order(const struct json *left, const struct json *right, bool *ret_comparable)
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

static bool passes(struct arena *arena, const struct step *step, const struct json *element)
{
    struct found found = find(arena, step->left, element);
    bool comparable;
    if (found.count == 0 || step->comparison == COMPARE_EXISTS)
        return found.count > 0;
    int compared = order(found.list[0], step->right, &comparable);
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

static int64_t clamp(int64_t position, int64_t count)
{
    position += position < 0 ? count : 0;
    return position < 0 ? 0 : position > count ? count : position;
}

static void add_slice(struct found *found, const struct step *step, const struct json *list)
{
    int64_t count = (int64_t)json_count(list), position = 0;
    if (!list || list->type != JSON_ARRAY)
        return;
    if (step->one) {
        int64_t at = step->first + (step->first < 0 ? count : 0);
        add(found, at >= 0 && at < count ? json_element(list, (size_t)at) : NULL);
        return;
    }
    int64_t first = clamp(step->has_first ? step->first : 0, count);
    int64_t end = step->has_end ? clamp(step->end, count) : count;
    JSON_EACH (element, list) {
        if (position >= first && position < end && (position - first) % step->stride == 0)
            add(found, element);
        position++;
    }
}

static void add_deep(struct found *found, const char *name, const struct json *value, int depth)
{
    add(found, value->type == JSON_OBJECT ? json_get(value, name) : NULL);
    JSON_EACH (inner, value)
        if (depth < JSON_DEPTH_MAX)
            add_deep(found, name, inner, depth + 1);
}

static void apply(struct arena *arena, struct found *next, const struct step *step,
                  const struct json *value)
{
    switch (step->type) {
    case STEP_NAME:
        add(next, value->type == JSON_OBJECT ? json_get(value, step->name) : NULL);
        break;
    case STEP_ALL:
        JSON_EACH (element, value)
            add(next, element);
        break;
    case STEP_SLICE:
        add_slice(next, step, value);
        break;
    case STEP_FILTER:
        JSON_EACH (element, value)
            if (passes(arena, step, element))
                add(next, element);
        break;
    case STEP_DEEP:
        add_deep(next, step->name, value, 0);
        break;
    }
}

static struct found find(struct arena *arena, const struct json_path *path,
                         const struct json *object)
{
    struct found now = {.arena = arena};
    add(&now, object);
    for (size_t i = 0; i < path->count && now.count > 0; i++) {
        struct found next = {.arena = arena};
        for (size_t j = 0; j < now.count; j++)
            apply(arena, &next, &path->steps[i], now.list[j]);
        now = next;
    }
    return now;
}

const struct json *const *json_path_find(struct arena *arena, const struct json_path *path,
                                         const struct json *object)
{
    static const struct json *const nothing[] = {NULL};
    struct found found = find(arena, path, object);
    if (found.count == 0)
        return nothing;
    found.list[found.count] = NULL;
    return found.list;
}
