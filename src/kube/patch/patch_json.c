/* Applies a JSON patch (RFC 6902), which is a list of operations; see patch.h. Works on a copy of
 * the object, so a patch that fails changes nothing. Pure. */
#include "base/mem.h"
#include "base/str.h"
#include "kube/patch/patch.h"

#include <ctype.h>
#include <string.h>

struct patching {
    struct arena *arena;
    struct json *root;
    size_t copied;  /* bytes that copy operations have added so far */
    size_t scanned; /* members that paths have scanned so far */
    struct err *err;
};

/* The target of a JSON pointer, such as "/spec/containers/0". */
struct place {
    struct json *parent; /* the object or list that contains the target; NULL: the whole object */
    const char *token;   /* the last token of the pointer, unescaped */
    struct json *value;  /* the value at the target; NULL: missing */
    size_t depth;        /* the number of tokens in the pointer */
};

static int refuse_pointer(struct patching *patching, const char *pointer, const char *why)
{
    return err_set(patching->err, ERR_INVALID, "json patch: path '%.200s' %s", pointer, why);
}

/* Reads the token after the '/' at *at, and moves *at to its end. In a token, "~1" stands for '/'
 * and "~0" for '~'. */
static int next_token(struct patching *patching, const char *pointer, const char **at, char **ret)
{
    const char *end = strchrnul(*at + 1, '/');
    char *token = arena_alloc(patching->arena, (size_t)(end - *at));
    size_t size = 0;
    for (const char *c = *at + 1; c < end; c++) {
        char letter = *c;
        if (letter == '~') {
            c++;
            if (c == end || (*c != '0' && *c != '1'))
                return refuse_pointer(patching, pointer,
                                      "has a '~' that is not followed by 0 or 1");
            letter = *c == '0' ? '~' : '/';
        }
        token[size++] = letter;
    }
    token[size] = '\0';
    *at = end;
    *ret = token;
    return 0;
}

/* Parses digits without a leading zero. Returns SIZE_MAX if the token is not an index. */
static size_t parse_index(const char *token)
{
    size_t index = 0, size = strlen(token);
    if (size == 0 || size > 9 || (size > 1 && token[0] == '0'))
        return SIZE_MAX;
    for (; *token; token++) {
        if (!isdigit((unsigned char)*token))
            return SIZE_MAX;
        index = index * 10 + (size_t)(*token - '0');
    }
    return index;
}

/* Finds the target of a pointer. The target itself may be missing, but its parent must exist.
 * Returns -ERR_BAD_REQUEST, -ERR_INVALID or -ERR_TOO_LARGE if the target cannot be found. */
static int patch_resolve_pointer(struct patching *patching, const char *pointer, struct place *ret)
{
    *ret = (struct place){.value = patching->root};
    if (*pointer != '\0' && *pointer != '/')
        return err_set(patching->err, ERR_BAD_REQUEST,
                       "json patch: path '%.200s' does not begin with '/'", pointer);
    for (const char *at = pointer; *at;) {
        char *token = NULL;
        int result = next_token(patching, pointer, &at, &token);
        if (result < 0)
            return result;
        struct json *inside = ret->value;
        if (!inside || (inside->type != JSON_OBJECT && inside->type != JSON_ARRAY))
            return refuse_pointer(patching, pointer,
                                  "has a parent that is missing or is not an object or list");
        patching->scanned += inside->count;
        if (patching->scanned > KUBE_PATCH_SCANNED_MAX)
            return err_set(patching->err, ERR_TOO_LARGE,
                           "json patch: there are too many operations for objects of this size; "
                           "send a merge patch");
        ret->parent = inside;
        ret->token = token;
        ret->depth++;
        if (inside->type == JSON_OBJECT)
            ret->value = json_get(inside, token);
        else if (strcmp(token, "-") == 0)
            ret->value = NULL;
        else if (parse_index(token) == SIZE_MAX)
            return refuse_pointer(patching, pointer, "has a list index that is not a number");
        else
            ret->value = json_element(inside, parse_index(token));
    }
    return 0;
}

static int require_value(struct patching *patching, const char *pointer, const struct place *place)
{
    return place->value ? 0 : refuse_pointer(patching, pointer, "does not exist");
}

static size_t depth_of(const struct json *json)
{
    size_t deepest = 0;
    JSON_EACH (item, json) {
        size_t depth = depth_of(item);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

static size_t bytes_of(const struct json *json)
{
    size_t bytes = sizeof(*json) + (json->name ? strlen(json->name) : 0);
    if (json->type == JSON_STRING || json->type == JSON_REAL)
        bytes += json->size;
    JSON_EACH (item, json)
        bytes += bytes_of(item);
    return bytes;
}

/* Inserts `value` before the element at `index`. An index equal to the count appends. */
static void insert_before(struct json *array, struct json *value, size_t index)
{
    if (index == array->count) {
        json_append(array, value);
        return;
    }
    value->name = NULL;
    if (index == 0) {
        value->next = array->first;
        array->first = value;
    } else {
        struct json *before = json_element(array, index - 1);
        value->next = before->next;
        before->next = value;
    }
    array->count++;
}

static int add_value(struct patching *patching, const char *pointer, struct json *value)
{
    struct place place;
    int result = patch_resolve_pointer(patching, pointer, &place);
    if (result < 0)
        return result;
    if (place.depth + depth_of(value) > KUBE_PATCH_DEPTH_MAX)
        return refuse_pointer(patching, pointer, "would be nested too deeply");
    if (!place.parent) {
        patching->root = value;
    } else if (place.parent->type == JSON_OBJECT) {
        json_set(patching->arena, place.parent, place.token, value);
    } else {
        size_t count = place.parent->count;
        size_t index = strcmp(place.token, "-") == 0 ? count : parse_index(place.token);
        if (index > count)
            return refuse_pointer(patching, pointer, "is past the end of the list");
        insert_before(place.parent, value, index);
    }
    return 0;
}

/* Removes the value at a pointer. Sets *ret to the removed value. */
static int take_value(struct patching *patching, const char *pointer, struct json **ret)
{
    struct place place;
    int result = patch_resolve_pointer(patching, pointer, &place);
    if (result == 0)
        result = require_value(patching, pointer, &place);
    if (result < 0)
        return result;
    if (!place.parent)
        return refuse_pointer(patching, pointer, "is the whole object, which cannot be removed");
    if (place.parent->type == JSON_OBJECT)
        json_remove(place.parent, place.token);
    else
        json_remove_element(place.parent, place.value);
    *ret = place.value;
    return 0;
}

static int op_add(struct patching *patching, const char *path, const char *from,
                  const struct json *value)
{
    return add_value(patching, path, json_clone(patching->arena, value));
}

static int op_remove(struct patching *patching, const char *path, const char *from,
                     const struct json *value)
{
    struct json *removed;
    return take_value(patching, path, &removed);
}

static int op_replace(struct patching *patching, const char *path, const char *from,
                      const struct json *value)
{
    struct place place;
    int result = patch_resolve_pointer(patching, path, &place);
    if (result == 0)
        result = require_value(patching, path, &place);
    if (result < 0)
        return result;
    if (place.depth + depth_of(value) > KUBE_PATCH_DEPTH_MAX)
        return refuse_pointer(patching, path, "would be nested too deeply");
    struct json *copy = json_clone(patching->arena, value);
    if (!place.parent) {
        patching->root = copy;
    } else if (place.parent->type == JSON_OBJECT) {
        json_set(patching->arena, place.parent, place.token, copy);
    } else {
        insert_before(place.parent, copy, parse_index(place.token));
        json_remove_element(place.parent, place.value);
    }
    return 0;
}

static int op_move(struct patching *patching, const char *path, const char *from,
                   const struct json *value)
{
    size_t size = strlen(from);
    if (strncmp(path, from, size) == 0 && path[size] == '/')
        return refuse_pointer(patching, from, "cannot be moved into itself");
    struct json *moved;
    int result = take_value(patching, from, &moved);
    return result < 0 ? result : add_value(patching, path, moved);
}

static int op_copy(struct patching *patching, const char *path, const char *from,
                   const struct json *value)
{
    struct place place;
    int result = patch_resolve_pointer(patching, from, &place);
    if (result == 0)
        result = require_value(patching, from, &place);
    if (result < 0)
        return result;
    patching->copied += bytes_of(place.value);
    if (patching->copied > KUBE_PATCH_COPIED_MAX)
        return err_set(patching->err, ERR_TOO_LARGE,
                       "json patch: its copy operations would add more than %d bytes",
                       (int)KUBE_PATCH_COPIED_MAX);
    return add_value(patching, path, json_clone(patching->arena, place.value));
}

static int op_test(struct patching *patching, const char *path, const char *from,
                   const struct json *value)
{
    struct place place;
    int result = patch_resolve_pointer(patching, path, &place);
    if (result < 0)
        return result;
    /* As in Kubernetes, a test for null succeeds if the value is missing. */
    if (!place.value && value->type == JSON_NULL)
        return 0;
    if (!json_equal(place.value, value))
        return refuse_pointer(patching, path, "does not have the value that the patch tests for");
    return 0;
}

static const struct {
    const char *name;
    bool has_from, has_value;
    int (*apply)(struct patching *patching, const char *path, const char *from,
                 const struct json *value);
} OPERATIONS[] = {
    {"add", false, true, op_add},         {"remove", false, false, op_remove},
    {"replace", false, true, op_replace}, {"move", true, false, op_move},
    {"copy", true, false, op_copy},       {"test", false, true, op_test},
};

static int apply_one(struct patching *patching, const struct json *operation)
{
    const char *name = json_get_string(operation, "op", "");
    const char *path = json_get_string(operation, "path", NULL);
    const char *from = json_get_string(operation, "from", NULL);
    const struct json *value = json_get(operation, "value");
    for (size_t i = 0; i < ARRAY_SIZE(OPERATIONS); i++) {
        if (strcmp(OPERATIONS[i].name, name) != 0)
            continue;
        const char *missing = !path                               ? "path"
                              : OPERATIONS[i].has_from && !from   ? "from"
                              : OPERATIONS[i].has_value && !value ? "value"
                                                                  : NULL;
        if (missing)
            return err_set(patching->err, ERR_BAD_REQUEST,
                           "json patch: operation '%s' needs the field '%s'", name, missing);
        return OPERATIONS[i].apply(patching, path, from, value);
    }
    return err_set(
        patching->err, ERR_BAD_REQUEST,
        "json patch: unknown operation '%.64s': expected add, remove, replace, move, copy or test",
        name);
}

int kube_patch_json(struct arena *arena, const struct json *current, const struct json *operations,
                    struct json **ret, struct err *err)
{
    if (operations->type != JSON_ARRAY)
        return err_set(err, ERR_BAD_REQUEST, "a json patch must be a list of operations, not %s",
                       json_type_name(operations->type));
    if (operations->count > KUBE_PATCH_OPERATIONS_MAX)
        return err_set(err, ERR_TOO_LARGE, "json patch: it has %zu operations, but the limit is %d",
                       json_count(operations), (int)KUBE_PATCH_OPERATIONS_MAX);
    struct patching patching = {.arena = arena, .root = json_clone(arena, current), .err = err};
    JSON_EACH (operation, operations) {
        int result = apply_one(&patching, operation);
        if (result < 0)
            return result;
    }
    *ret = patching.root;
    return 0;
}
