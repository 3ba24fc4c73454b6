/* Matches label selectors and reads them from objects; see selector.h. selector_parse.c parses the
 * text form. */
#include "kube/selector.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/selector_internal.h"

#include <string.h>

static bool has_value(const struct kube_selector_term *term, const char *value)
{
    for (size_t i = 0; i < term->count; i++)
        if (strcmp(term->values[i], value) == 0)
            return true;
    return false;
}

/* Returns whether the label is greater or less than the number of the term. A label that is not an
 * integer does not match, as in Kubernetes. */
static bool term_compare_numbers(const struct kube_selector_term *term, const char *value)
{
    int64_t have, limit;
    if (!value || term->count != 1 || str_to_int64(value, INT64_MIN, INT64_MAX, &have, NULL) < 0 ||
        str_to_int64(term->values[0], INT64_MIN, INT64_MAX, &limit, NULL) < 0)
        return false;
    return term->op == KUBE_SELECTOR_GREATER ? have > limit : have < limit;
}

static bool term_matches(const struct kube_selector_term *term, const struct json *labels)
{
    const char *value = json_get_string(labels, term->key, NULL);
    switch (term->op) {
    case KUBE_SELECTOR_IN:
        return value && has_value(term, value);
    case KUBE_SELECTOR_NOT_IN:
        return !value || !has_value(term, value);
    case KUBE_SELECTOR_EXISTS:
        return value != NULL;
    case KUBE_SELECTOR_NOT_EXISTS:
        return value == NULL;
    case KUBE_SELECTOR_GREATER:
    case KUBE_SELECTOR_LESS:
        return term_compare_numbers(term, value);
    }
    return false;
}

bool kube_selector_matches(const struct kube_selector *selector, const struct json *labels)
{
    if (selector->nothing)
        return false;
    for (size_t i = 0; i < selector->count; i++)
        if (!term_matches(&selector->terms[i], labels))
            return false;
    return true;
}

static const struct {
    const char *name;
    enum kube_selector_op op;
    size_t values_min, values_max;
    bool affinity_only; /* valid only in node affinity */
} OPERATORS[] = {
    {"In", KUBE_SELECTOR_IN, 1, SIZE_MAX, false},
    {"NotIn", KUBE_SELECTOR_NOT_IN, 1, SIZE_MAX, false},
    {"Exists", KUBE_SELECTOR_EXISTS, 0, 0, false},
    {"DoesNotExist", KUBE_SELECTOR_NOT_EXISTS, 0, 0, false},
    {"Gt", KUBE_SELECTOR_GREATER, 1, 1, true},
    {"Lt", KUBE_SELECTOR_LESS, 1, 1, true},
};

static int term_from_expression(struct arena *arena, const struct json *expression, bool affinity,
                                struct kube_selector_term *ret, struct err *err)
{
    const char *key = json_get_string(expression, "key", NULL);
    const char *name = json_get_string(expression, "operator", NULL);
    if (!key)
        return err_set(err, ERR_INVALID, "selector: an expression needs a 'key'");
    if (selector_check_key(key, err) < 0)
        return -(int)ERR_INVALID;
    if (!name)
        return err_set(err, ERR_INVALID, "selector: '%s' needs an 'operator'", key);
    for (size_t i = 0; i < ARRAY_SIZE(OPERATORS); i++) {
        if (!str_eq(OPERATORS[i].name, name) || (OPERATORS[i].affinity_only && !affinity))
            continue;
        const struct json *values = json_get(expression, "values");
        size_t count = json_count(values);
        if (count < OPERATORS[i].values_min || count > OPERATORS[i].values_max)
            return err_set(err, ERR_INVALID,
                           "selector: '%s': operator %s does not allow %zu values", key, name,
                           count);
        *ret = (struct kube_selector_term){
            .key = arena_strdup(arena, key),
            .op = OPERATORS[i].op,
            .values = ARENA_ARRAY(arena, const char *, count + 1),
        };
        JSON_EACH (value, values) {
            if (value->type != JSON_STRING)
                return err_set(err, ERR_INVALID,
                               "selector: a value of '%s' must be a string, not %s", key,
                               json_type_name(value->type));
            ret->values[ret->count++] = arena_strdup(arena, value->text);
        }
        return 0;
    }
    return err_set(err, ERR_INVALID, "selector: '%s' has the unknown operator '%s'", key, name);
}

static int check_count(size_t count, struct err *err)
{
    if (count > KUBE_SELECTOR_TERMS_MAX)
        return err_set(err, ERR_INVALID, "selector: it has %zu requirements, but the limit is %d",
                       count, (int)KUBE_SELECTOR_TERMS_MAX);
    return 0;
}

static int add_expressions(struct arena *arena, const struct json *expressions, bool affinity,
                           struct kube_selector_term *terms, size_t *count, struct err *err)
{
    JSON_EACH (expression, expressions) {
        int result = term_from_expression(arena, expression, affinity, &terms[*count], err);
        if (result < 0)
            return result;
        (*count)++;
    }
    return 0;
}

static int add_map(struct arena *arena, const struct json *map, struct kube_selector_term *terms,
                   size_t *count, struct err *err)
{
    JSON_EACH (entry, map) {
        if (entry->type != JSON_STRING)
            return err_set(err, ERR_INVALID, "selector: the value of '%s' must be a string, not %s",
                           entry->name, json_type_name(entry->type));
        struct kube_selector_term *term = &terms[(*count)++];
        *term = (struct kube_selector_term){
            .key = arena_strdup(arena, entry->name),
            .op = KUBE_SELECTOR_IN,
            .values = ARENA_ARRAY(arena, const char *, 1),
            .count = 1,
        };
        term->values[0] = arena_strdup(arena, entry->text);
    }
    return 0;
}

int kube_selector_from_json(struct arena *arena, const struct json *label_selector,
                            struct kube_selector *ret, struct err *err)
{
    if (!label_selector || label_selector->type == JSON_NULL) {
        *ret = (struct kube_selector){.nothing = true};
        return 0;
    }
    const struct json *map = json_get(label_selector, "matchLabels");
    const struct json *expressions = json_get(label_selector, "matchExpressions");
    size_t room = json_count(map) + json_count(expressions), count = 0;
    if (check_count(room, err) < 0)
        return -(int)ERR_INVALID;
    struct kube_selector_term *terms = ARENA_ARRAY(arena, struct kube_selector_term, room + 1);
    int result = add_map(arena, map, terms, &count, err);
    if (result == 0)
        result = add_expressions(arena, expressions, false, terms, &count, err);
    if (result < 0)
        return result;
    *ret = (struct kube_selector){.terms = terms, .count = count};
    return 0;
}

int kube_selector_from_map(struct arena *arena, const struct json *map, struct kube_selector *ret,
                           struct err *err)
{
    size_t room = json_count(map), count = 0;
    if (check_count(room, err) < 0)
        return -(int)ERR_INVALID;
    struct kube_selector_term *terms = ARENA_ARRAY(arena, struct kube_selector_term, room + 1);
    int result = add_map(arena, map, terms, &count, err);
    if (result < 0)
        return result;
    *ret = (struct kube_selector){.terms = terms, .count = count, .nothing = count == 0};
    return 0;
}

int kube_selector_from_expressions(struct arena *arena, const struct json *expressions,
                                   struct kube_selector *ret, struct err *err)
{
    size_t room = json_count(expressions), count = 0;
    if (check_count(room, err) < 0)
        return -(int)ERR_INVALID;
    struct kube_selector_term *terms = ARENA_ARRAY(arena, struct kube_selector_term, room + 1);
    int result = add_expressions(arena, expressions, true, terms, &count, err);
    if (result < 0)
        return result;
    *ret = (struct kube_selector){.terms = terms, .count = count};
    return 0;
}

static void write_term(const struct kube_selector_term *term, struct buf *buf)
{
    bool one = term->count == 1;
    switch (term->op) {
    case KUBE_SELECTOR_EXISTS:
        buf_append_str(buf, term->key);
        return;
    case KUBE_SELECTOR_NOT_EXISTS:
        buf_printf(buf, "!%s", term->key);
        return;
    case KUBE_SELECTOR_GREATER:
        buf_printf(buf, "%s>%s", term->key, one ? term->values[0] : "");
        return;
    case KUBE_SELECTOR_LESS:
        buf_printf(buf, "%s<%s", term->key, one ? term->values[0] : "");
        return;
    case KUBE_SELECTOR_IN:
    case KUBE_SELECTOR_NOT_IN:
        break;
    }
    bool in = term->op == KUBE_SELECTOR_IN;
    if (one) {
        buf_printf(buf, "%s%s%s", term->key, in ? "=" : "!=", term->values[0]);
        return;
    }
    buf_printf(buf, "%s %s (", term->key, in ? "in" : "notin");
    for (size_t i = 0; i < term->count; i++)
        buf_printf(buf, "%s%s", i ? "," : "", term->values[i]);
    buf_append_char(buf, ')');
}

char *kube_selector_text(struct arena *arena, const struct kube_selector *selector)
{
    _cleanup_buf_ struct buf buf;
    /* The buffer needs no limit: its text is about as long as the text or JSON that was parsed. */
    buf_init(&buf, SIZE_MAX / 2);
    for (size_t i = 0; i < selector->count; i++) {
        if (i)
            buf_append_char(&buf, ',');
        write_term(&selector->terms[i], &buf);
    }
    return arena_strndup(arena, buf.data, buf.size);
}
