/* Replaces references in texts; see text.h. If the value of a reference contains references, these
 * are not replaced, so that the output of a step cannot refer to other values. */
#include "pipeline/spec/text.h"

#include "base/str.h"

#include <string.h>

static bool is_reference_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

static bool text_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Reads the name between "{{" at `text` and "}}". Returns 1 and sets `name` and *ret_behind, the
 * text after the reference. Returns 0 if this is no reference, or a negative code. */
static int read_reference(const char *text, char name[WORKFLOW_REFERENCE_MAX],
                          const char **ret_behind, struct err *err)
{
    const char *at = text + 2;
    size_t size = 0;

    while (text_is_blank(*at))
        at++;
    if (*at == '=')
        return err_set(err, ERR_UNSUPPORTED,
                       "'%.60s' is an expression, which is not supported: use plain references",
                       text);
    while (is_reference_char(at[size]))
        size++;
    const char *behind = at + size;
    while (text_is_blank(*behind))
        behind++;
    if (size == 0 || size >= WORKFLOW_REFERENCE_MAX || behind[0] != '}' || behind[1] != '}')
        return 0;
    memcpy(name, at, size);
    name[size] = '\0';
    *ret_behind = behind + 2;
    return 1;
}

int workflow_text_expand(struct arena *arena, const char *text, workflow_resolve *resolve,
                         void *context, const char **ret, struct err *err)
{
    const char *open = strstr(text, "{{");
    _cleanup_buf_ struct buf out = {0};
    char name[WORKFLOW_REFERENCE_MAX] = "";

    if (!open) {
        *ret = text;
        return 0;
    }
    buf_init(&out, WORKFLOW_TEXT_MAX);
    while (open) {
        const char *behind;
        int found = read_reference(open, name, &behind, err);

        if (found < 0)
            return found;
        if (found == 0) {
            /* In "{{{x}}" the reference begins one character later. */
            buf_append(&out, text, (size_t)(open + 1 - text));
            text = open + 1;
        } else {
            const char *value = resolve(context, name, err);

            if (!value)
                return -ERR_INVALID; /* the resolver has set `err` */
            buf_append(&out, text, (size_t)(open - text));
            buf_append_str(&out, value);
            text = behind;
        }
        open = strstr(text, "{{");
    }
    buf_append_str(&out, text);
    if (out.overflowed && !name[0])
        return err_set(err, ERR_TOO_LARGE, "the text is larger than %d bytes", WORKFLOW_TEXT_MAX);
    if (out.overflowed)
        return err_set(err, ERR_TOO_LARGE,
                       "the text is larger than %d bytes after '{{%s}}' is replaced",
                       WORKFLOW_TEXT_MAX, name);
    *ret = arena_strndup(arena, out.data, out.size);
    return 0;
}

static int expand_members(struct arena *arena, const struct json *tree, workflow_resolve *resolve,
                          void *context, struct json *copy, struct err *err)
{
    JSON_EACH (member, tree) {
        struct json *value;
        int result = workflow_tree_expand(arena, member, resolve, context, &value, err);

        if (result < 0)
            return result;
        if (tree->type == JSON_OBJECT)
            json_set(arena, copy, member->name, value);
        else
            json_append(copy, value);
    }
    return 0;
}

int workflow_tree_expand(struct arena *arena, const struct json *tree, workflow_resolve *resolve,
                         void *context, struct json **ret, struct err *err)
{
    const char *text;
    int result = 0;

    switch (tree->type) {
    case JSON_STRING:
        result = workflow_text_expand(arena, tree->text, resolve, context, &text, err);
        if (result == 0)
            *ret = json_string(arena, text);
        return result;
    case JSON_ARRAY:
    case JSON_OBJECT:
        *ret = tree->type == JSON_ARRAY ? json_array(arena) : json_object(arena);
        return expand_members(arena, tree, resolve, context, *ret, err);
    default:
        *ret = json_clone(arena, tree);
        return 0;
    }
}
