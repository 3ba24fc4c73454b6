/* Parses the text form of label selectors with the grammar of Kubernetes; see selector.h. Words are
 * separated by white space and the characters ! = < > ( ) and comma. `in` and `notin` are operators
 * only where an operator is expected, so that a label may have these names. */
#include "base/str.h"
#include "kube/selector.h"
#include "kube/selector_internal.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MAX_ = 63, PREFIX_MAX = 253 };

static bool selector_is_name(const char *text, size_t size)
{
    if (size == 0 || size > NAME_MAX_ || !isalnum((unsigned char)text[0]) ||
        !isalnum((unsigned char)text[size - 1]))
        return false;
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
            return false;
    return true;
}

int selector_check_key(const char *key, struct err *err)
{
    const char *slash = strchr(key, '/');
    const char *name = slash ? slash + 1 : key;
    bool good = selector_is_name(name, strlen(name));
    if (good && slash) {
        char prefix[PREFIX_MAX + 1];
        size_t size = (size_t)(slash - key);
        good = size <= PREFIX_MAX;
        if (good) {
            memcpy(prefix, key, size);
            prefix[size] = '\0';
            good = str_is_dns_subdomain(prefix);
        }
    }
    if (!good)
        return err_set(err, ERR_INVALID, "selector: '%.100s' is not a valid label key", key);
    return 0;
}

enum token {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_NOT,       /* ! */
    TOKEN_EQUAL,     /* = or == */
    TOKEN_NOT_EQUAL, /* != */
    TOKEN_GREATER,
    TOKEN_LESS,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_COMMA,
};

struct parser {
    struct arena *arena;
    const char *text; /* the whole text */
    const char *next; /* the position after the token */
    enum token token;
    const char *word; /* the token's text; "" at the end */
    struct err *err;
};

static bool is_special(char c)
{
    return c == '\0' || isspace((unsigned char)c) || strchr("!=<>(),", c) != NULL;
}

static void selector_next_token(struct parser *parser)
{
    const char *at = parser->next;
    while (isspace((unsigned char)*at))
        at++;
    const char *start = at;
    switch (*at) {
    case '\0':
        parser->token = TOKEN_END;
        break;
    case '!':
        parser->token = at[1] == '=' ? TOKEN_NOT_EQUAL : TOKEN_NOT;
        at += at[1] == '=' ? 2 : 1;
        break;
    case '=':
        parser->token = TOKEN_EQUAL;
        at += at[1] == '=' ? 2 : 1;
        break;
    case '>':
        parser->token = TOKEN_GREATER;
        at++;
        break;
    case '<':
        parser->token = TOKEN_LESS;
        at++;
        break;
    case '(':
        parser->token = TOKEN_OPEN;
        at++;
        break;
    case ')':
        parser->token = TOKEN_CLOSE;
        at++;
        break;
    case ',':
        parser->token = TOKEN_COMMA;
        at++;
        break;
    default:
        while (!is_special(*at))
            at++;
        parser->token = TOKEN_WORD;
    }
    parser->word = arena_strndup(parser->arena, start, (size_t)(at - start));
    parser->next = at;
}

/* Reports an error with Kubernetes' message. `within`: the error is inside a term, so the message
 * starts with "unable to parse requirement". */
static int selector_refuse(struct parser *parser, bool within, const char *expected)
{
    return err_set(parser->err, ERR_BAD_REQUEST, "%sfound '%.200s'%s expected: %s",
                   within ? "unable to parse requirement: " : "", parser->word,
                   /* Kubernetes writes no comma here */
                   str_eq(expected, "'('") ? "" : ",", expected);
}

static int selector_check_value(struct parser *parser, const char *value)
{
    if (*value == '\0' || selector_is_name(value, strlen(value)))
        return 0;
    return err_set(parser->err, ERR_BAD_REQUEST,
                   "unable to parse requirement: '%.100s' is not a valid label value", value);
}

/* Parses a value, which may be empty: "a=" and "a in (,b)". Afterwards, the current token is the
 * token after the value. */
static int parse_value(struct parser *parser, const char **ret)
{
    *ret = "";
    if (parser->token == TOKEN_WORD) {
        *ret = parser->word;
        selector_next_token(parser);
    }
    return selector_check_value(parser, *ret);
}

static int parse_set(struct parser *parser, struct kube_selector_term *term)
{
    if (parser->token != TOKEN_OPEN)
        return selector_refuse(parser, true, "'('");
    size_t room = 1;
    for (const char *c = parser->next; *c && *c != ')'; c++)
        room += *c == ',';
    if (room > KUBE_SELECTOR_TERMS_MAX)
        return err_set(parser->err, ERR_BAD_REQUEST,
                       "unable to parse requirement: more than %d values",
                       (int)KUBE_SELECTOR_TERMS_MAX);
    term->values = ARENA_ARRAY(parser->arena, const char *, room);
    do {
        selector_next_token(parser);
        int result = parse_value(parser, &term->values[term->count++]);
        if (result < 0)
            return result;
    } while (parser->token == TOKEN_COMMA);
    if (parser->token != TOKEN_CLOSE)
        return selector_refuse(parser, true, "',' or ')'");
    selector_next_token(parser);
    return 0;
}

static int parse_one_value(struct parser *parser, struct kube_selector_term *term,
                           enum kube_selector_op op)
{
    term->op = op;
    term->values = ARENA_ARRAY(parser->arena, const char *, 1);
    term->count = 1;
    selector_next_token(parser);
    int result = parse_value(parser, &term->values[0]);
    if (result < 0 || (op != KUBE_SELECTOR_GREATER && op != KUBE_SELECTOR_LESS))
        return result;
    int64_t number;
    if (str_to_int64(term->values[0], INT64_MIN, INT64_MAX, &number, NULL) < 0)
        return err_set(parser->err, ERR_BAD_REQUEST,
                       "unable to parse requirement: values[0]: Invalid value: \"%.100s\": for "
                       "'Gt', 'Lt' operators, the value must be an integer",
                       term->values[0]);
    return 0;
}

static int parse_term(struct parser *parser, struct kube_selector_term *term)
{
    bool negated = parser->token == TOKEN_NOT;
    if (negated)
        selector_next_token(parser);
    if (parser->token != TOKEN_WORD)
        return selector_refuse(parser, true, "identifier");
    if (selector_check_key(parser->word, parser->err) < 0)
        return err_set(parser->err, ERR_BAD_REQUEST,
                       "unable to parse requirement: '%.100s' is not a valid label key",
                       parser->word);
    *term = (struct kube_selector_term){
        .key = parser->word,
        .op = negated ? KUBE_SELECTOR_NOT_EXISTS : KUBE_SELECTOR_EXISTS,
    };
    selector_next_token(parser);
    if (negated || parser->token == TOKEN_COMMA || parser->token == TOKEN_END)
        return 0;
    switch (parser->token) {
    case TOKEN_EQUAL:
        return parse_one_value(parser, term, KUBE_SELECTOR_IN);
    case TOKEN_NOT_EQUAL:
        return parse_one_value(parser, term, KUBE_SELECTOR_NOT_IN);
    case TOKEN_GREATER:
        return parse_one_value(parser, term, KUBE_SELECTOR_GREATER);
    case TOKEN_LESS:
        return parse_one_value(parser, term, KUBE_SELECTOR_LESS);
    default:
        break;
    }
    bool in = parser->token == TOKEN_WORD && strcmp(parser->word, "in") == 0;
    bool not_in = parser->token == TOKEN_WORD && strcmp(parser->word, "notin") == 0;
    if (!in && !not_in)
        return selector_refuse(parser, true, "in, notin, =, ==, !=, gt, lt");
    term->op = in ? KUBE_SELECTOR_IN : KUBE_SELECTOR_NOT_IN;
    selector_next_token(parser);
    return parse_set(parser, term);
}

int kube_selector_parse(struct arena *arena, const char *text, struct kube_selector *ret,
                        struct err *err)
{
    struct parser parser = {.arena = arena, .text = text ? text : "", .err = err};
    parser.next = parser.text;
    size_t room = 1;
    for (const char *c = parser.text; *c; c++)
        room += *c == ',';
    if (room > KUBE_SELECTOR_TERMS_MAX)
        return err_set(err, ERR_BAD_REQUEST,
                       "selector too long: %zu requirements and values, but the limit is %d", room,
                       (int)KUBE_SELECTOR_TERMS_MAX);
    if (strlen(parser.text) > KUBE_SELECTOR_MAX)
        return err_set(err, ERR_BAD_REQUEST, "selector too long: %zu bytes, but the limit is %d",
                       strlen(parser.text), (int)KUBE_SELECTOR_MAX);
    struct kube_selector_term *terms = ARENA_ARRAY(arena, struct kube_selector_term, room);
    size_t count = 0;
    selector_next_token(&parser);
    while (parser.token != TOKEN_END) {
        if (parser.token != TOKEN_WORD && parser.token != TOKEN_NOT)
            return selector_refuse(&parser, false, "!, identifier, or 'end of string'");
        int result = parse_term(&parser, &terms[count++]);
        if (result < 0)
            return result;
        if (parser.token == TOKEN_END)
            break;
        if (parser.token != TOKEN_COMMA)
            return selector_refuse(&parser, false, "',' or 'end of string'");
        selector_next_token(&parser);
        if (parser.token != TOKEN_WORD && parser.token != TOKEN_NOT)
            return selector_refuse(&parser, false, "identifier after ','");
    }
    *ret = (struct kube_selector){.terms = terms, .count = count};
    return 0;
}
