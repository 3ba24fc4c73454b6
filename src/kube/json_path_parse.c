/* Parses the text of a path; see json_path.h. */
#include "kube/json_path_internal.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

struct path_parser {
    struct arena *arena;
    const char *at; /* the rest of the text */
    int depth;      /* number of filters around this position */
    struct err *err;
};

static int parser_refuse(struct path_parser *parser, const char *why)
{
    return err_set(parser->err, ERR_BAD_REQUEST, "%s at '%.40s'", why, parser->at);
}

static int parser_take_path(struct path_parser *parser, const char *ends,
                            const struct json_path **ret);

/* Parses 'text' or "text", in which a backslash escapes the next character. `at` is on the opening
 * quote. */
static int parser_take_quoted(struct path_parser *parser, const char **ret)
{
    char quote = *parser->at++;
    char *text = arena_strdup(parser->arena, parser->at), *end = text;
    for (; *parser->at != quote; parser->at++) {
        if (*parser->at == '\\' && parser->at[1])
            parser->at++;
        if (!*parser->at)
            return parser_refuse(parser, "unterminated quoted string");
        *end++ = *parser->at;
    }
    *end = '\0';
    parser->at++;
    *ret = text;
    return 0;
}

static bool parser_take_integer(struct path_parser *parser, int64_t *ret)
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

/* Parses "0", "-1:", "1:3" or "::2". */
static int parser_take_slice(struct path_parser *parser, struct json_path_step *step)
{
    step->stride = 1;
    step->has_first = parser_take_integer(parser, &step->first);
    if (*parser->at != ':') {
        step->one = step->has_first;
        return step->one ? 0 : parser_refuse(parser, "invalid array index");
    }
    parser->at++;
    step->has_end = parser_take_integer(parser, &step->end);
    if (*parser->at == ':') {
        parser->at++;
        if (!parser_take_integer(parser, &step->stride) || step->stride < 1)
            return parser_refuse(parser, "step must be a positive number");
    }
    return 0;
}

static int parser_take_operand(struct path_parser *parser, const struct json **ret)
{
    const char *text;
    if (*parser->at == '\'' || *parser->at == '"') {
        int result = parser_take_quoted(parser, &text);
        if (result == 0)
            *ret = json_string(parser->arena, text);
        return result;
    }
    size_t size = strcspn(parser->at, " )");
    struct json *value;
    if (json_parse(parser->arena, parser->at, size, NULL, &value, NULL) < 0)
        return parser_refuse(
            parser, "a filter can compare only with a number, true, false or a quoted text");
    parser->at += size;
    *ret = value;
    return 0;
}

/* Parses "?(@.type=="Ready")"; `at` is after "?(". */
static int parser_take_filter(struct path_parser *parser, struct json_path_step *step)
{
    static const struct {
        const char *sign;
        enum json_path_comparison comparison;
    } signs[] = {{"==", COMPARE_EQ}, {"!=", COMPARE_NE}, {"<=", COMPARE_LE},
                 {">=", COMPARE_GE}, {"<", COMPARE_LT},  {">", COMPARE_GT}};
    parser->at += strspn(parser->at, " ");
    if (*parser->at != '@')
        return parser_refuse(parser, "a filter must begin with @");
    parser->at++;
    if (parser->depth == 4)
        return parser_refuse(parser, "filters nest too deeply");
    parser->depth++;
    int result = parser_take_path(parser, " =!<>)", &step->left);
    parser->depth--;
    if (result < 0)
        return result;
    parser->at += strspn(parser->at, " ");
    step->comparison = COMPARE_EXISTS;
    for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
        if (!str_has_prefix(parser->at, signs[i].sign))
            continue;
        parser->at += strlen(signs[i].sign);
        parser->at += strspn(parser->at, " ");
        step->comparison = signs[i].comparison;
        result = parser_take_operand(parser, &step->right);
        if (result < 0)
            return result;
        break;
    }
    parser->at += strspn(parser->at, " ");
    if (*parser->at != ')')
        return parser_refuse(parser, "unterminated filter");
    parser->at++;
    return 0;
}

/* Parses the content of brackets; `at` is after the opening bracket. */
static int parser_take_bracket(struct path_parser *parser, struct json_path_step *step)
{
    int result = 0;
    if (*parser->at == '*') {
        parser->at++;
        step->type = STEP_ALL;
    } else if (*parser->at == '\'' || *parser->at == '"') {
        step->type = STEP_NAME;
        result = parser_take_quoted(parser, &step->name);
    } else if (str_has_prefix(parser->at, "?(")) {
        parser->at += 2;
        step->type = STEP_FILTER;
        result = parser_take_filter(parser, step);
    } else {
        result = parser_take_slice(parser, step);
    }
    if (result < 0)
        return result;
    if (*parser->at != ']')
        return parser_refuse(parser, "unterminated array");
    parser->at++;
    return 0;
}

/* Parses a name after a dot, up to the next dot, bracket or character of `ends`. In the name, a
 * backslash escapes the next character. */
static int parser_take_name(struct path_parser *parser, const char *ends,
                            struct json_path_step *step)
{
    const char *start = parser->at;
    char *name = arena_strdup(parser->arena, start), *end = name;
    if (step->type == STEP_DEEP && *start == '*')
        return parser_refuse(parser, "a name must follow '..'");
    for (; *parser->at && !strchr(".[", *parser->at) && !strchr(ends, *parser->at); parser->at++) {
        if (strchr("{}|,()@?:]=! ", *parser->at))
            return parser_refuse(parser, "unrecognized character");
        if (*parser->at == '\\' && parser->at[1])
            parser->at++;
        *end++ = *parser->at;
    }
    if (end == name)
        return parser_refuse(parser, "a name is missing");
    *end = '\0';
    if (*start == '*' && parser->at == start + 1)
        step->type = STEP_ALL;
    step->name = name;
    return 0;
}

/* Parses a path up to the end of the text or the first of the characters `ends` outside of brackets
 * and quotes. */
static int parser_take_path(struct path_parser *parser, const char *ends,
                            const struct json_path **ret)
{
    struct json_path *path = ARENA_NEW(parser->arena, struct json_path);
    while (*parser->at && !strchr(ends, *parser->at)) {
        if (path->count == JSON_PATH_STEPS_MAX)
            return parser_refuse(parser, "the path has too many steps");
        struct json_path_step *step = &path->steps[path->count++];
        step->type = STEP_SLICE;
        int result;
        if (*parser->at == '[') {
            parser->at++;
            result = parser_take_bracket(parser, step);
        } else if (*parser->at == '.') {
            bool deep = parser->at[1] == '.';
            parser->at += deep ? 2 : 1;
            if (!*parser->at && path->count == 1) { /* "." is the whole object */
                path->count = 0;
                break;
            }
            step->type = deep ? STEP_DEEP : STEP_NAME;
            result = parser_take_name(parser, ends, step);
        } else {
            result = parser_refuse(parser, "a path must begin with '.'");
        }
        if (result < 0)
            return result;
    }
    *ret = path;
    return 0;
}

int json_path_parse(struct arena *arena, const char *text, const struct json_path **ret,
                    struct err *err)
{
    struct path_parser parser = {.arena = arena, .at = text, .err = err};
    if (*parser.at == '$')
        parser.at++;
    return parser_take_path(&parser, "", ret);
}
