/* Parses an expression into a syntax tree; see tree.h. */
#include "base/mem.h"
#include "base/pattern/tree.h"
#include "base/str.h"
#include "base/utf8.h"

#include <string.h>

struct flags {
    bool any_case; /* i: ignore the case of ASCII letters */
    bool dot_all;  /* s: the dot also matches a line break */
    bool lines;    /* m: ^ and $ also match at line breaks */
};

struct parser {
    struct arena *arena;
    const char *whole, *at; /* the expression, and the current position in it */
    struct flags flags;     /* the flags at the current position */
    int depth;              /* number of open groups */
    struct err *err;
};

static int parser_fail(struct parser *parser, const char *what, const char *from, size_t size)
{
    return err_set(parser->err, ERR_BAD_REQUEST, "error parsing regexp: %s: `%.*s`", what,
                   (int)(size > 100 ? 100 : size), from);
}

/* ---- Single characters ----------------------------------------------------------------------- */

static uint32_t take_character(struct parser *parser)
{
    const unsigned char *bytes = (const unsigned char *)parser->at;
    size_t size = utf8_size(parser->at, strlen(parser->at));
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t character = size ? bytes[0] & masks[size] : 0xfffd;
    for (size_t i = 1; i < size; i++)
        character = character << 6 | (bytes[i] & 0x3fU);
    parser->at += size ? size : 1;
    return character;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return found ? (int)(found - digits) : -1;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Parses \x7f or \x{10ffff}. The position is after the x. */
static bool take_hex(struct parser *parser, uint32_t *ret)
{
    bool braced = *parser->at == '{';
    uint32_t value = 0;
    size_t count = 0;
    parser->at += braced;
    for (; count < (braced ? 6 : 2) && hex_digit(*parser->at) >= 0; count++)
        value = value << 4 | (uint32_t)hex_digit(*parser->at++);
    if (braced ? count == 0 || *parser->at != '}' || value > PATTERN_CHARACTER_MAX : count != 2)
        return false;
    parser->at += braced;
    *ret = value;
    return true;
}

/* Parses an escape for one character. The position is after the backslash. */
static int take_escaped(struct parser *parser, uint32_t *ret)
{
    static const char letters[] = "afnrtv", values[] = "\a\f\n\r\t\v";
    const char *start = parser->at - 1;
    char letter = *parser->at;
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (letter == '\0')
        return parser_fail(parser, "trailing backslash at end of expression", "", 0);
    if (strchr("pPQ", letter))
        return err_set(
            parser->err, ERR_UNSUPPORTED,
            "\\%c is not supported in patterns here: name the characters, as in [a-zA-Z]", letter);
    if (known) {
        parser->at++;
        *ret = (uint32_t)values[known - letters];
        return 0;
    }
    if (letter == 'x') {
        parser->at++;
        if (take_hex(parser, ret))
            return 0;
    } else if (letter == '0' || (is_octal(letter) && is_octal(parser->at[1]))) {
        /* Up to three octal digits. A single digit except 0 would be a reference to a group. */
        uint32_t value = 0;
        for (int i = 0; i < 3 && is_octal(*parser->at); i++)
            value = value << 3 | (uint32_t)(*parser->at++ - '0');
        *ret = value;
        return 0;
    } else if (letter > 0 && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", letter)) {
        parser->at++;
        *ret = (uint32_t)letter;
        return 0;
    }
    return parser_fail(parser, "invalid escape sequence", start,
                       utf8_size(start + 1, strlen(start + 1)) + 1);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static struct pattern_node *node_new(struct parser *parser, enum pattern_node_type type)
{
    struct pattern_node *node = ARENA_NEW(parser->arena, struct pattern_node);
    node->type = type;
    return node;
}

static const struct pattern_node *set_node(struct parser *parser, struct pattern_set_builder *set,
                                           bool negated)
{
    struct pattern_node *node = node_new(parser, NODE_SET);
    if (parser->flags.any_case)
        pattern_set_add_other_case(set);
    node->set = pattern_set_finish(parser->arena, set, negated);
    return node;
}

static const struct pattern_node *character_node(struct parser *parser, uint32_t character)
{
    struct pattern_set_builder set = {0};
    pattern_set_add(&set, character, character);
    return set_node(parser, &set, false);
}

static const struct pattern_node *assertion_node(struct parser *parser, enum pattern_op op)
{
    struct pattern_node *node = node_new(parser, NODE_ASSERTION);
    node->assertion = op;
    return node;
}

static const struct pattern_node *dot_node(struct parser *parser)
{
    struct pattern_set_builder set = {0};
    if (!parser->flags.dot_all)
        pattern_set_add(&set, '\n', '\n');
    return set_node(parser, &set, true);
}

/* ---- Classes --------------------------------------------------------------------------------- */

static int take_class_character(struct parser *parser, const char *start, uint32_t *ret)
{
    if (*parser->at == '\0')
        return parser_fail(parser, "missing closing ]", start, strlen(start));
    if (*parser->at != '\\') {
        *ret = take_character(parser);
        return 0;
    }
    parser->at++;
    return take_escaped(parser, ret);
}

static int take_class_item(struct parser *parser, const char *start,
                           struct pattern_set_builder *set)
{
    const char *item = parser->at;
    uint32_t first;
    if (str_has_prefix(item, "[:") && strstr(item, ":]")) {
        const char *after = pattern_set_add_named(parser->arena, set, item);
        if (after) {
            parser->at = after;
            return 0;
        }
        return parser_fail(parser, "invalid character class range", item,
                           (size_t)(strstr(item, ":]") - item) + 2);
    }
    if (item[0] == '\\' && item[1] && pattern_set_add_perl(parser->arena, set, item[1])) {
        parser->at += 2;
        return 0;
    }
    int result = take_class_character(parser, start, &first);
    if (result < 0)
        return result;
    uint32_t last = first;
    if (parser->at[0] == '-' && parser->at[1] != ']' && parser->at[1] != '\0') {
        parser->at++;
        result = take_class_character(parser, start, &last);
        if (result < 0)
            return result;
    }
    if (last < first)
        return parser_fail(parser, "invalid character class range", item,
                           (size_t)(parser->at - item));
    pattern_set_add(set, first, last);
    return 0;
}

static int take_class(struct parser *parser, const struct pattern_node **ret)
{
    const char *start = parser->at++;
    struct pattern_set_builder set = {0};
    bool negated = *parser->at == '^';
    parser->at += negated;
    int result = 0;
    for (bool first = true; result == 0 && (*parser->at != ']' || first); first = false)
        result = *parser->at ? take_class_item(parser, start, &set)
                             : parser_fail(parser, "missing closing ]", start, strlen(start));
    if (result < 0) {
        pattern_set_drop(&set);
        return result;
    }
    parser->at++;
    *ret = set_node(parser, &set, negated);
    return 0;
}

/* ---- Groups and repetitions ------------------------------------------------------------------ */

static int take_alternation(struct parser *parser, const struct pattern_node **ret);

/* Parses "P<name>" or "<name>". The name consists of ASCII letters, digits and underscores. */
static int take_group_name(struct parser *parser, const char *start, const char *at)
{
    static const char allowed[] = "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *name = strchr(at, '<') + 1, *end = strchr(at, '>');
    if (!end)
        return parser_fail(parser, "invalid named capture", start, strlen(start));
    if (end == name || name + strspn(name, allowed) != end)
        return parser_fail(parser, "invalid named capture", start, (size_t)(end - start) + 1);
    parser->at = end + 1;
    return 0;
}

/* Parses "?i", "?i-s:" or "?P<name>" after the parenthesis. Sets *ret_flags_only to true if the
 * parentheses only set flags and contain no group. */
static int take_group_head(struct parser *parser, const char *start, bool *ret_flags_only)
{
    const char *at = parser->at + 1;
    bool value = true;
    if (str_has_prefix(at, "P<") || (at[0] == '<' && at[1] != '=' && at[1] != '!'))
        return take_group_name(parser, start, at);
    for (; *at; at++) {
        switch (*at) {
        case 'i':
            parser->flags.any_case = value;
            continue;
        case 's':
            parser->flags.dot_all = value;
            continue;
        case 'm':
            parser->flags.lines = value;
            continue;
        case 'U': /* ungreedy; does not change whether there is a match */
            continue;
        case '-':
            if (!value)
                break;
            value = false;
            continue;
        case ':':
        case ')':
            *ret_flags_only = *at == ')';
            parser->at = at + (*at == ':');
            return 0;
        default:
            break;
        }
        break;
    }
    return parser_fail(parser, "invalid or unsupported Perl syntax", start,
                       *at ? (size_t)(at - start) + 1 : strlen(start));
}

static int take_group(struct parser *parser, const struct pattern_node **ret)
{
    const char *start = parser->at++;
    const struct flags outside = parser->flags;
    bool flags_only = false;
    if (parser->depth == PATTERN_DEPTH_MAX)
        return parser_fail(parser, "expression nests too deeply", parser->whole,
                           strlen(parser->whole));
    if (*parser->at == '?') {
        int result = take_group_head(parser, start, &flags_only);
        if (result < 0)
            return result;
    }
    if (flags_only) { /* the flags apply until the end of the enclosing group */
        parser->at++;
        *ret = node_new(parser, NODE_EMPTY);
        return 0;
    }
    parser->depth++;
    int result = take_alternation(parser, ret);
    parser->depth--;
    if (result < 0)
        return result;
    if (*parser->at != ')')
        return parser_fail(parser, "missing closing )", parser->whole, strlen(parser->whole));
    parser->at++;
    parser->flags = outside;
    return 0;
}

static bool take_count(const char **at, int *ret)
{
    size_t size = strspn(*at, "0123456789");
    if (size == 0)
        return false;
    int value = 0;
    for (size_t i = 0; i < size && value <= PATTERN_REPEAT_MAX; i++)
        value = value * 10 + ((*at)[i] - '0');
    *at += size;
    *ret = value;
    return true;
}

/* Parses "{2}", "{2,}" or "{2,5}" at `*at`. Returns false if the brace is a plain character, as in
 * Go. */
static bool take_counts(const char **at, int *ret_min, int *ret_max)
{
    const char *p = *at + 1;
    if (!take_count(&p, ret_min))
        return false;
    *ret_max = *ret_min;
    if (*p == ',') {
        p++;
        if (!take_count(&p, ret_max))
            *ret_max = PATTERN_UNLIMITED;
    }
    if (*p != '}')
        return false;
    *at = p + 1;
    return true;
}

/* If a repetition operator starts at `*at`, moves `*at` after it and returns true. */
static bool take_repeat(const char **at, int *ret_min, int *ret_max)
{
    *ret_min = **at == '+';
    *ret_max = **at == '?' ? 1 : PATTERN_UNLIMITED;
    if (**at == '{')
        return take_counts(at, ret_min, ret_max);
    if (**at == '\0' || !strchr("*+?", **at))
        return false;
    (*at)++;
    return true;
}

static int take_atom(struct parser *parser, const struct pattern_node **ret);

static int take_repeated(struct parser *parser, const struct pattern_node **ret)
{
    int min, max;
    const char *sign = parser->at;
    if (take_repeat(&parser->at, &min, &max))
        return parser_fail(parser, "missing argument to repetition operator", sign,
                           (size_t)(parser->at - sign));
    int result = take_atom(parser, ret);
    if (result < 0)
        return result;
    sign = parser->at;
    if (!take_repeat(&parser->at, &min, &max))
        return 0;
    if (min > PATTERN_REPEAT_MAX || max > PATTERN_REPEAT_MAX ||
        (max != PATTERN_UNLIMITED && max < min))
        return parser_fail(parser, "invalid repeat count", sign, (size_t)(parser->at - sign));
    /* A lazy operator does not change whether there is a match. */
    parser->at += *parser->at == '?';
    struct pattern_node *node = node_new(parser, NODE_REPEAT);
    node->left = *ret;
    node->min = min;
    node->max = max;
    *ret = node;
    const char *second = parser->at;
    if (take_repeat(&second, &min, &max))
        return parser_fail(parser, "invalid nested repetition operator", sign,
                           (size_t)(second - sign));
    return 0;
}

/* ---- The whole expression -------------------------------------------------------------------- */

static int take_backslash(struct parser *parser, const struct pattern_node **ret)
{
    static const struct {
        char letter;
        enum pattern_op op;
    } assertions[] = {{'A', OP_TEXT_BEGIN},
                      {'z', OP_TEXT_END},
                      {'b', OP_WORD_BOUNDARY},
                      {'B', OP_NO_WORD_BOUNDARY}};
    char letter = *++parser->at;
    struct pattern_set_builder set = {0};
    uint32_t character;
    for (size_t i = 0; i < ARRAY_SIZE(assertions); i++) {
        if (letter == assertions[i].letter) {
            parser->at++;
            *ret = assertion_node(parser, assertions[i].op);
            return 0;
        }
    }
    if (letter && pattern_set_add_perl(parser->arena, &set, letter)) {
        parser->at++;
        *ret = set_node(parser, &set, false);
        return 0;
    }
    int result = take_escaped(parser, &character);
    if (result == 0)
        *ret = character_node(parser, character);
    return result;
}

static int take_atom(struct parser *parser, const struct pattern_node **ret)
{
    switch (*parser->at) {
    case '(':
        return take_group(parser, ret);
    case '[':
        return take_class(parser, ret);
    case '\\':
        return take_backslash(parser, ret);
    case '.':
        parser->at++;
        *ret = dot_node(parser);
        return 0;
    case '^':
        parser->at++;
        *ret = assertion_node(parser, parser->flags.lines ? OP_LINE_BEGIN : OP_TEXT_BEGIN);
        return 0;
    case '$':
        parser->at++;
        *ret = assertion_node(parser, parser->flags.lines ? OP_LINE_END : OP_TEXT_END);
        return 0;
    default:
        *ret = character_node(parser, take_character(parser));
        return 0;
    }
}

static const struct pattern_node *node_join(struct parser *parser, enum pattern_node_type type,
                                            const struct pattern_node *left,
                                            const struct pattern_node *right)
{
    struct pattern_node *node = node_new(parser, type);
    node->left = left;
    node->right = right;
    return node;
}

static int take_concatenation(struct parser *parser, const struct pattern_node **ret)
{
    const struct pattern_node *all = node_new(parser, NODE_EMPTY), *next;
    while (*parser->at && *parser->at != '|' && *parser->at != ')') {
        int result = take_repeated(parser, &next);
        if (result < 0)
            return result;
        all = node_join(parser, NODE_CONCATENATION, all, next);
    }
    *ret = all;
    return 0;
}

static int take_alternation(struct parser *parser, const struct pattern_node **ret)
{
    const struct pattern_node *all, *next;
    int result = take_concatenation(parser, &all);
    while (result == 0 && *parser->at == '|') {
        parser->at++;
        result = take_concatenation(parser, &next);
        if (result == 0)
            all = node_join(parser, NODE_ALTERNATION, all, next);
    }
    if (result == 0)
        *ret = all;
    return result;
}

int pattern_parse(struct arena *arena, const char *expression, const struct pattern_node **ret,
                  struct err *err)
{
    struct parser parser = {.arena = arena, .whole = expression, .at = expression, .err = err};
    int result = take_alternation(&parser, ret);
    if (result < 0)
        return result;
    return *parser.at == ')' ? parser_fail(&parser, "unexpected )", expression, strlen(expression))
                             : 0;
}
