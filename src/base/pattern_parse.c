/* From the text of an expression to its steps; see pattern.h. First a tree, since what is repeated
 * so many times is written out so many times; then the steps, counted before they are made. */
#include "base/mem.h"
#include "base/pattern.h"
#include "base/pattern_program.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { CHARACTER_MAX = 0x10ffff, UNLIMITED = -1 };

enum node_type { NODE_EMPTY, NODE_SET, NODE_EDGE, NODE_BOTH, NODE_EITHER, NODE_REPEAT };

struct node {
    enum node_type type;
    struct pattern_set set;          /* of NODE_SET */
    enum pattern_op edge;            /* of NODE_EDGE */
    const struct node *left, *right; /* of NODE_BOTH and NODE_EITHER; left: of NODE_REPEAT */
    int min, max;                    /* of NODE_REPEAT */
};

struct flags {
    bool any_case, dot_all, lines;
};

struct parser {
    struct arena *arena;
    const char *whole, *at;
    struct flags flags;
    int depth;
    struct err *err;
};

static int fail(struct parser *parser, const char *what, const char *from, size_t size)
{
    return err_set(parser->err, ERR_BAD_REQUEST, "error parsing regexp: %s: `%.*s`", what,
                   (int)(size > 100 ? 100 : size), from);
}

/* ---- Sets of characters ---------------------------------------------------------------------- */

struct set_builder {
    VEC(struct pattern_range) ranges;
};

static void add_range(struct set_builder *set, uint32_t first, uint32_t last)
{
    vec_push(&set->ranges, ((struct pattern_range){first, last}));
}

/* ASCII letters in the other case, too. */
static void add_other_case(struct set_builder *set)
{
    for (size_t i = 0, count = set->ranges.count; i < count; i++) {
        struct pattern_range range = set->ranges.items[i];
        for (uint32_t c = 'a'; c <= 'z'; c++) {
            uint32_t upper = c - 'a' + 'A';
            if (c >= range.first && c <= range.last)
                add_range(set, upper, upper);
            if (upper >= range.first && upper <= range.last)
                add_range(set, c, c);
        }
    }
}

static int compare_ranges(const void *a, const void *b)
{
    const struct pattern_range *left = a, *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

/* Sorted, what overlaps or touches made one; then the others, if these are the ones it has not. */
static struct pattern_set finish_set(struct arena *arena, struct set_builder *set, bool negated)
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
    if (negated && next <= CHARACTER_MAX)
        ranges[count++] = (struct pattern_range){next, CHARACTER_MAX};
    vec_release(&set->ranges);
    return (struct pattern_set){ranges, count};
}

/* \d, \s, \w and, in capitals, all others. */
static bool add_perl(struct parser *parser, struct set_builder *set, char letter)
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
        struct set_builder one = {0};
        for (const struct pattern_range *range = classes[i].ranges; range->last; range++)
            add_range(&one, range->first, range->last);
        struct pattern_set made = finish_set(parser->arena, &one, negated);
        for (size_t j = 0; j < made.count; j++)
            add_range(set, made.ranges[j].first, made.ranges[j].last);
        return true;
    }
    return false;
}

/* "[:alpha:]" within a class. */
static bool add_named(struct parser *parser, struct set_builder *set)
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
    const char *name = parser->at + 2;
    bool negated = *name == '^';
    name += negated;
    for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
        size_t size = strlen(classes[i].name);
        if (strncmp(name, classes[i].name, size) != 0 || !str_has_prefix(name + size, ":]"))
            continue;
        struct set_builder one = {0};
        for (const struct pattern_range *range = classes[i].ranges; range->last; range++)
            add_range(&one, range->first, range->last);
        struct pattern_set made = finish_set(parser->arena, &one, negated);
        for (size_t j = 0; j < made.count; j++)
            add_range(set, made.ranges[j].first, made.ranges[j].last);
        parser->at = name + size + 2;
        return true;
    }
    return false;
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

/* \x7f and \x{10ffff}; `at` is behind the x. */
static bool take_hex(struct parser *parser, uint32_t *ret)
{
    bool braced = *parser->at == '{';
    uint32_t value = 0;
    size_t count = 0;
    parser->at += braced;
    for (; count < (braced ? 6 : 2) && hex_digit(*parser->at) >= 0; count++)
        value = value << 4 | (uint32_t)hex_digit(*parser->at++);
    if (braced ? count == 0 || *parser->at != '}' || value > CHARACTER_MAX : count != 2)
        return false;
    parser->at += braced;
    *ret = value;
    return true;
}

/* An escape that is one character; `at` is on the letter behind the backslash. */
static int take_escaped(struct parser *parser, uint32_t *ret)
{
    static const char letters[] = "afnrtv", values[] = "\a\f\n\r\t\v";
    const char *start = parser->at - 1;
    char letter = *parser->at;
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (letter == '\0')
        return fail(parser, "trailing backslash at end of expression", "", 0);
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
    } else if (letter == '0') { /* up to two more digits of an octal number */
        uint32_t value = 0;
        for (int i = 0; i < 3 && *parser->at >= '0' && *parser->at <= '7'; i++)
            value = value << 3 | (uint32_t)(*parser->at++ - '0');
        *ret = value;
        return 0;
    } else if (letter > 0 && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", letter)) {
        parser->at++;
        *ret = (uint32_t)letter;
        return 0;
    }
    return fail(parser, "invalid escape sequence", start,
                utf8_size(start + 1, strlen(start + 1)) + 1);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static struct node *node_new(struct parser *parser, enum node_type type)
{
    struct node *node = ARENA_NEW(parser->arena, struct node);
    node->type = type;
    return node;
}

static const struct node *set_node(struct parser *parser, struct set_builder *set, bool negated)
{
    struct node *node = node_new(parser, NODE_SET);
    if (parser->flags.any_case)
        add_other_case(set);
    node->set = finish_set(parser->arena, set, negated);
    return node;
}

static const struct node *character_node(struct parser *parser, uint32_t character)
{
    struct set_builder set = {0};
    add_range(&set, character, character);
    return set_node(parser, &set, false);
}

static const struct node *edge_node(struct parser *parser, enum pattern_op op)
{
    struct node *node = node_new(parser, NODE_EDGE);
    node->edge = op;
    return node;
}

static const struct node *dot_node(struct parser *parser)
{
    struct set_builder set = {0};
    if (!parser->flags.dot_all)
        add_range(&set, '\n', '\n');
    return set_node(parser, &set, true);
}

/* ---- Classes --------------------------------------------------------------------------------- */

static int take_class_character(struct parser *parser, const char *start, uint32_t *ret)
{
    if (*parser->at == '\0')
        return fail(parser, "missing closing ]", start, strlen(start));
    if (*parser->at != '\\') {
        *ret = take_character(parser);
        return 0;
    }
    parser->at++;
    return take_escaped(parser, ret);
}

static int take_class_item(struct parser *parser, const char *start, struct set_builder *set)
{
    const char *item = parser->at;
    uint32_t first, last;
    if (str_has_prefix(item, "[:") && strstr(item, ":]")) {
        if (add_named(parser, set))
            return 0;
        return fail(parser, "invalid character class range", item,
                    (size_t)(strstr(item, ":]") - item) + 2);
    }
    if (item[0] == '\\' && item[1] && add_perl(parser, set, item[1])) {
        parser->at += 2;
        return 0;
    }
    int r = take_class_character(parser, start, &first);
    if (r < 0)
        return r;
    last = first;
    if (parser->at[0] == '-' && parser->at[1] != ']' && parser->at[1] != '\0') {
        parser->at++;
        r = take_class_character(parser, start, &last);
        if (r < 0)
            return r;
    }
    if (last < first)
        return fail(parser, "invalid character class range", item, (size_t)(parser->at - item));
    add_range(set, first, last);
    return 0;
}

static int take_class(struct parser *parser, const struct node **ret)
{
    const char *start = parser->at++;
    struct set_builder set = {0};
    bool negated = *parser->at == '^';
    parser->at += negated;
    int r = 0;
    for (bool first = true; r == 0 && (*parser->at != ']' || first); first = false)
        r = *parser->at ? take_class_item(parser, start, &set)
                        : fail(parser, "missing closing ]", start, strlen(start));
    if (r < 0) {
        vec_release(&set.ranges);
        return r;
    }
    parser->at++;
    *ret = set_node(parser, &set, negated);
    return 0;
}

/* ---- Groups and what is repeated ------------------------------------------------------------- */

static int take_either(struct parser *parser, const struct node **ret);

/* "?i", "?i-s:", "?P<name>" behind the bracket. *ret_only: flags for what follows, and no group. */
static int take_group_head(struct parser *parser, const char *start, bool *ret_only)
{
    const char *at = parser->at + 1;
    bool value = true;
    if (str_has_prefix(at, "P<") || (at[0] == '<' && at[1] != '=' && at[1] != '!')) {
        const char *end = strchr(at, '>');
        if (!end || end == at + (*at == 'P' ? 2 : 1))
            return fail(parser, "invalid named capture", start, strlen(start));
        parser->at = end + 1;
        return 0;
    }
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
        case 'U': /* which match is taken does not count here */
            continue;
        case '-':
            if (!value)
                break;
            value = false;
            continue;
        case ':':
        case ')':
            *ret_only = *at == ')';
            parser->at = at + (*at == ':');
            return 0;
        default:
            break;
        }
        break;
    }
    return fail(parser, "invalid or unsupported Perl syntax", start,
                *at ? (size_t)(at - start) + 1 : strlen(start));
}

static int take_group(struct parser *parser, const struct node **ret)
{
    const char *start = parser->at++;
    const struct flags outside = parser->flags;
    bool only = false;
    if (parser->depth == PATTERN_DEPTH_MAX)
        return fail(parser, "expression nests too deeply", parser->whole, strlen(parser->whole));
    if (*parser->at == '?') {
        int r = take_group_head(parser, start, &only);
        if (r < 0)
            return r;
    }
    if (only) { /* holds to the end of the group that it stands in */
        parser->at++;
        *ret = node_new(parser, NODE_EMPTY);
        return 0;
    }
    parser->depth++;
    int r = take_either(parser, ret);
    parser->depth--;
    if (r < 0)
        return r;
    if (*parser->at != ')')
        return fail(parser, "missing closing )", parser->whole, strlen(parser->whole));
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

/* "{2}", "{2,}", "{2,5}" at `*at`; false: plain characters, as in Go. */
static bool take_counts(const char **at, int *ret_min, int *ret_max)
{
    const char *p = *at + 1;
    if (!take_count(&p, ret_min))
        return false;
    *ret_max = *ret_min;
    if (*p == ',') {
        p++;
        if (!take_count(&p, ret_max))
            *ret_max = UNLIMITED;
    }
    if (*p != '}')
        return false;
    *at = p + 1;
    return true;
}

/* Whether an operator of repetition begins there, and where it ends. */
static bool take_repeat(const char **at, int *ret_min, int *ret_max)
{
    *ret_min = **at == '+';
    *ret_max = **at == '?' ? 1 : UNLIMITED;
    if (**at == '{')
        return take_counts(at, ret_min, ret_max);
    if (**at == '\0' || !strchr("*+?", **at))
        return false;
    (*at)++;
    return true;
}

static int take_atom(struct parser *parser, const struct node **ret);

static int take_repeated(struct parser *parser, const struct node **ret)
{
    int min, max;
    const char *sign = parser->at;
    if (take_repeat(&parser->at, &min, &max))
        return fail(parser, "missing argument to repetition operator", sign,
                    (size_t)(parser->at - sign));
    int r = take_atom(parser, ret);
    if (r < 0)
        return r;
    sign = parser->at;
    if (!take_repeat(&parser->at, &min, &max))
        return 0;
    if (min > PATTERN_REPEAT_MAX || max > PATTERN_REPEAT_MAX || (max != UNLIMITED && max < min))
        return fail(parser, "invalid repeat count", sign, (size_t)(parser->at - sign));
    parser->at += *parser->at == '?'; /* rather few: the same here */
    struct node *node = node_new(parser, NODE_REPEAT);
    node->left = *ret;
    node->min = min;
    node->max = max;
    *ret = node;
    const char *second = parser->at;
    if (take_repeat(&second, &min, &max))
        return fail(parser, "invalid nested repetition operator", sign, (size_t)(second - sign));
    return 0;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int take_backslash(struct parser *parser, const struct node **ret)
{
    static const struct {
        char letter;
        enum pattern_op op;
    } edges[] = {
        {'A', OP_TEXT_BEGIN}, {'z', OP_TEXT_END}, {'b', OP_WORD_EDGE}, {'B', OP_NO_WORD_EDGE}};
    char letter = *++parser->at;
    struct set_builder set = {0};
    uint32_t character;
    for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
        if (letter == edges[i].letter) {
            parser->at++;
            *ret = edge_node(parser, edges[i].op);
            return 0;
        }
    }
    if (letter && add_perl(parser, &set, letter)) {
        parser->at++;
        *ret = set_node(parser, &set, false);
        return 0;
    }
    int r = take_escaped(parser, &character);
    if (r == 0)
        *ret = character_node(parser, character);
    return r;
}

static int take_atom(struct parser *parser, const struct node **ret)
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
        *ret = edge_node(parser, parser->flags.lines ? OP_LINE_BEGIN : OP_TEXT_BEGIN);
        return 0;
    case '$':
        parser->at++;
        *ret = edge_node(parser, parser->flags.lines ? OP_LINE_END : OP_TEXT_END);
        return 0;
    default:
        *ret = character_node(parser, take_character(parser));
        return 0;
    }
}

static const struct node *join(struct parser *parser, enum node_type type, const struct node *left,
                               const struct node *right)
{
    struct node *node = node_new(parser, type);
    node->left = left;
    node->right = right;
    return node;
}

static int take_both(struct parser *parser, const struct node **ret)
{
    const struct node *all = node_new(parser, NODE_EMPTY), *next;
    while (*parser->at && *parser->at != '|' && *parser->at != ')') {
        int r = take_repeated(parser, &next);
        if (r < 0)
            return r;
        all = join(parser, NODE_BOTH, all, next);
    }
    *ret = all;
    return 0;
}

static int take_either(struct parser *parser, const struct node **ret)
{
    const struct node *all, *next;
    int r = take_both(parser, &all);
    while (r == 0 && *parser->at == '|') {
        parser->at++;
        r = take_both(parser, &next);
        if (r == 0)
            all = join(parser, NODE_EITHER, all, next);
    }
    if (r == 0)
        *ret = all;
    return r;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Chains of what stands one after the other lean to the left, as long as the expression is: they
 * are walked, not called. How many steps a node takes; more than the limit is only known to be
 * more. */
static size_t count_steps(const struct node *node)
{
    size_t count = 0, inner;
    for (; count <= PATTERN_PROGRAM_MAX; node = node->left) {
        switch (node->type) {
        case NODE_EMPTY:
            return count;
        case NODE_SET:
        case NODE_EDGE:
            return count + 1;
        case NODE_BOTH:
            count += count_steps(node->right);
            break;
        case NODE_EITHER:
            count += 2 + count_steps(node->right);
            break;
        case NODE_REPEAT:
            inner = count_steps(node->left);
            if (inner > PATTERN_PROGRAM_MAX)
                return inner;
            return count + (node->max == UNLIMITED
                                ? (size_t)node->min * inner + inner + 2
                                : (size_t)node->min * inner +
                                      (size_t)(node->max - node->min) * (inner + 1));
        }
    }
    return count;
}

struct emitter {
    struct pattern_step *steps;
    uint32_t count;
};

static void emit(struct emitter *emitter, struct arena *scratch, const struct node *node);

static void emit_repeat(struct emitter *emitter, struct arena *scratch, const struct node *node)
{
    for (int i = 0; i < node->min; i++)
        emit(emitter, scratch, node->left);
    if (node->max == UNLIMITED) {
        uint32_t split = emitter->count++;
        emit(emitter, scratch, node->left);
        emitter->steps[emitter->count] = (struct pattern_step){.op = OP_JUMP, .a = split};
        emitter->count++;
        emitter->steps[split] =
            (struct pattern_step){.op = OP_SPLIT, .a = split + 1, .b = emitter->count};
        return;
    }
    /* Each may be the last: all of them skip to the end. */
    uint32_t first = emitter->count;
    for (int i = node->min; i < node->max; i++) {
        emitter->steps[emitter->count] =
            (struct pattern_step){.op = OP_SPLIT, .a = emitter->count + 1, .b = UINT32_MAX};
        emitter->count++;
        emit(emitter, scratch, node->left);
    }
    for (uint32_t i = first; i < emitter->count; i++)
        if (emitter->steps[i].op == OP_SPLIT && emitter->steps[i].b == UINT32_MAX)
            emitter->steps[i].b = emitter->count;
}

static void emit_either(struct emitter *emitter, struct arena *scratch, const struct node *node)
{
    uint32_t split = emitter->count++;
    emit(emitter, scratch, node->left);
    uint32_t jump = emitter->count++;
    emitter->steps[split] =
        (struct pattern_step){.op = OP_SPLIT, .a = split + 1, .b = emitter->count};
    emit(emitter, scratch, node->right);
    emitter->steps[jump] = (struct pattern_step){.op = OP_JUMP, .a = emitter->count};
}

static void emit(struct emitter *emitter, struct arena *scratch, const struct node *node)
{
    /* The chain from its far end on. */
    size_t length = 0;
    for (const struct node *at = node; at->type == NODE_BOTH; at = at->left)
        length++;
    const struct node **chain = ARENA_ARRAY(scratch, const struct node *, length + 1);
    for (size_t i = length; i > 0; i--, node = node->left)
        chain[i] = node->right;
    chain[0] = node;
    for (size_t i = 0; i <= length; i++) {
        const struct node *one = chain[i];
        if (one->type == NODE_BOTH)
            emit(emitter, scratch, one);
        else if (one->type == NODE_EITHER)
            emit_either(emitter, scratch, one);
        else if (one->type == NODE_REPEAT)
            emit_repeat(emitter, scratch, one);
        else if (one->type != NODE_EMPTY)
            emitter->steps[emitter->count++] = (struct pattern_step){
                .op = one->type == NODE_SET ? OP_SET : one->edge, .set = one->set};
    }
}

int pattern_compile(struct arena *arena, const char *expression, const struct pattern **ret,
                    struct err *err)
{
    const struct node *node;
    struct parser parser = {.arena = arena, .whole = expression, .at = expression, .err = err};
    int r = take_either(&parser, &node);
    if (r < 0)
        return r;
    if (*parser.at == ')')
        return fail(&parser, "unexpected )", expression, strlen(expression));
    size_t count = count_steps(node) + 1;
    if (count > PATTERN_PROGRAM_MAX)
        return fail(&parser, "expression too large", expression, strlen(expression));
    struct emitter emitter = {.steps = ARENA_ARRAY(arena, struct pattern_step, count)};
    emit(&emitter, arena, node);
    emitter.steps[emitter.count++].op = OP_FOUND;
    struct pattern *pattern = ARENA_NEW(arena, struct pattern);
    pattern->steps = emitter.steps;
    pattern->count = emitter.count;
    *ret = pattern;
    return 0;
}
