/* Parses and matches field selectors; see selector.h. */
#include "base/str.h"
#include "kube/selector.h"

#include <string.h>

/* Returns the end of the term: the next comma that is not escaped, or the end of the text. */
static const char *term_end(const char *text)
{
    for (; *text && *text != ','; text++)
        if (*text == '\\' && text[1])
            text++;
    return text;
}

static int field_selector_unescape(struct arena *arena, const char *text, const char *end,
                                   const char **ret, struct err *err)
{
    char *value = arena_alloc(arena, (size_t)(end - text) + 1);
    size_t size = 0;
    for (; text < end; text++) {
        if (*text == '\\') {
            if (++text == end || !strchr("\\,=", *text))
                return err_set(err, ERR_BAD_REQUEST,
                               "invalid field selector: only \\\\ \\, and \\= may be escaped");
        } else if (*text == '=') {
            return err_set(err, ERR_BAD_REQUEST,
                           "invalid field selector: a '=' in a value must be escaped as \\=");
        }
        value[size++] = *text;
    }
    value[size] = '\0';
    *ret = value;
    return 0;
}

static int parse_term(struct arena *arena, const char *whole, const char *text, const char *end,
                      struct kube_field_term *ret, struct err *err)
{
    const char *operator_ = text;
    while (operator_ < end && *operator_ != '=' && *operator_ != '!')
        operator_++;
    bool not_equal = end - operator_ >= 2 && operator_[0] == '!' && operator_[1] == '=';
    bool double_equal = end - operator_ >= 2 && operator_[0] == '=' && operator_[1] == '=';
    if (operator_ == text || operator_ == end || (*operator_ == '!' && !not_equal))
        return err_set(err, ERR_BAD_REQUEST, "invalid selector: '%.200s'; can't understand '%.*s'",
                       whole, (int)(end - text > 200 ? 200 : end - text), text);
    ret->path = arena_strndup(arena, text, (size_t)(operator_ - text));
    ret->equal = !not_equal;
    return field_selector_unescape(arena, operator_ + (not_equal || double_equal ? 2 : 1), end,
                                   &ret->value, err);
}

int kube_field_selector_parse(struct arena *arena, const char *text,
                              struct kube_field_selector *ret, struct err *err)
{
    const char *whole = text = text ? text : "";
    if (strlen(text) > KUBE_SELECTOR_MAX)
        return err_set(err, ERR_BAD_REQUEST,
                       "field selector too long: %zu bytes, but the limit is %d", strlen(text),
                       (int)KUBE_SELECTOR_MAX);
    size_t room = 1, count = 0;
    for (const char *c = text; *c; c++)
        room += *c == ',';
    struct kube_field_term *terms = ARENA_ARRAY(arena, struct kube_field_term, room);
    while (*text) {
        const char *end = term_end(text);
        /* an empty term is ignored, as in Kubernetes */
        if (end > text) {
            int result = parse_term(arena, whole, text, end, &terms[count], err);
            if (result < 0)
                return result;
            count++;
        }
        text = *end ? end + 1 : end;
    }
    *ret = (struct kube_field_selector){.terms = terms, .count = count};
    return 0;
}

const char *kube_field_get(const struct json *object, const char *path)
{
    char name[128];
    while (object) {
        size_t size = strcspn(path, ".");
        if (size >= sizeof(name))
            return "";
        memcpy(name, path, size);
        name[size] = '\0';
        object = json_get(object, name);
        if (path[size] == '\0')
            break;
        path += size + 1;
    }
    const char *text = json_text(object);
    return text ? text : "";
}

bool kube_field_selector_matches(const struct kube_field_selector *selector,
                                 const struct json *object, kube_field_getter *get)
{
    for (size_t i = 0; i < selector->count; i++) {
        const struct kube_field_term *term = &selector->terms[i];
        if (str_eq(get(object, term->path), term->value) != term->equal)
            return false;
    }
    return true;
}
