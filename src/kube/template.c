/* Fills in OpenShift Templates; see template.h. */
#include "kube/template.h"

#include "base/str.h"
#include "kube/object.h"

#include <string.h>

struct filling {
    struct arena *arena;
    struct json *values;      /* the values of all parameters: name → string */
    const struct json *wrong; /* the part of the template that is being processed, for errors */
    struct err *err;
};

static int template_check_kind(struct filling *filling, const struct json *template_)
{
    struct err *err = filling->err;
    const char *kind = json_get_string(template_, "kind", "");
    const char *version = json_get_string(template_, "apiVersion", "");
    if (!str_eq(kind, "Template") ||
        (!str_eq(version, "v1") && !str_eq(version, "template.openshift.io/v1")))
        return err_set(err, ERR_INVALID,
                       "the object has the kind '%.100s' and the apiVersion '%.100s', but must be "
                       "a Template of 'v1' or 'template.openshift.io/v1'",
                       kind, version);
    const struct json *objects = json_get(template_, "objects");
    filling->wrong = objects ? objects : template_;
    if (!objects || objects->type != JSON_ARRAY)
        return err_set(err, ERR_INVALID, "the template has no list 'objects'");
    filling->wrong = json_get(template_, "parameters");
    if (json_count(filling->wrong) > KUBE_TEMPLATE_PARAMETERS_MAX)
        return err_set(err, ERR_INVALID, "the template has more than %d parameters",
                       KUBE_TEMPLATE_PARAMETERS_MAX);
    return 0;
}

/* Sets *ret to the given value of the parameter, or to its default if no value is given. If that
 * value is empty or missing, sets *ret to a generated value, or to "" without `generate`. */
static int template_parameter_value(struct filling *filling, const struct json *parameter,
                                    const char *name, const struct json *given, const char **ret)
{
    const char *generate = json_get_string(parameter, "generate", "");
    *ret = json_text(json_get(given, name));
    if (!*ret)
        *ret = json_get_string(parameter, "value", "");
    if ((*ret)[0] != '\0' || generate[0] == '\0')
        return 0;
    if (!str_eq(generate, "expression"))
        return err_set(filling->err, ERR_INVALID,
                       "parameter '%s': unknown generator '%.100s': expected 'expression'", name,
                       generate);
    int result = kube_template_generate(filling->arena, json_get_string(parameter, "from", ""), ret,
                                        filling->err);
    return result < 0 ? err_wrap(filling->err, "parameter '%s'", name) : 0;
}

static int template_collect_values(struct filling *filling, const struct json *parameters,
                                   const struct json *given)
{
    size_t position = 0;
    JSON_EACH (parameter, parameters) {
        filling->wrong = parameter;
        const char *name = json_get_string(parameter, "name", ""), *value = NULL;
        if (name[0] == '\0')
            return err_set(filling->err, ERR_INVALID, "parameters[%zu] has no name", position);
        int result = template_parameter_value(filling, parameter, name, given, &value);
        if (result < 0)
            return result;
        if (value[0] == '\0' && json_get_bool(parameter, "required", false))
            return err_set(filling->err, ERR_INVALID,
                           "parameter '%s' is required and has no value: give it with --param "
                           "%s=VALUE",
                           name, name);
        json_set_string(filling->arena, filling->values, name, value);
        position++;
    }
    return 0;
}

/* Refuses a value whose name is not that of a parameter, because the name is probably misspelt. */
static int check_given(struct filling *filling, const struct json *given)
{
    filling->wrong = NULL;
    JSON_EACH (value, given) {
        if (json_get(filling->values, value->name))
            continue;
        size_t count = json_count(filling->values), at = 0;
        const char **names = arena_alloc(filling->arena, (count + 1) * sizeof(*names));
        JSON_EACH (known, filling->values)
            names[at++] = known->name;
        const char *nearest = str_nearest(value->name, names, count);
        return err_set(filling->err, ERR_INVALID, "the template has no parameter '%s'%s%s%s",
                       value->name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                       nearest ? "'?" : "");
    }
    return 0;
}

/* Returns the value of the parameter whose name is the text from `from` to `end`; NULL if there is
 * no such parameter. */
static const char *template_find_value(struct filling *filling, const char *from, const char *end)
{
    return json_text(
        json_get(filling->values, arena_strndup(filling->arena, from, (size_t)(end - from))));
}

/* Replaces a string that is exactly "${{NAME}}" by the value parsed as JSON, for example a number
 * or an object. A value that is not JSON is inserted as a string. Returns whether the string was
 * replaced. */
static bool fill_whole(struct filling *filling, struct json *string)
{
    size_t size = string->size;
    if (size < 6 || !str_has_prefix(string->text, "${{") || !str_has_suffix(string->text, "}}"))
        return false;
    const char *value = template_find_value(filling, string->text + 3, string->text + size - 2);
    if (!value)
        return false;
    struct json *parsed, *next = string->next;
    const char *name = string->name;
    if (json_parse(filling->arena, value, strlen(value), NULL, &parsed, NULL) < 0)
        parsed = json_string(filling->arena, value);
    *string = *parsed;
    string->name = name;
    string->next = next;
    return true;
}

/* Replaces the references "${NAME}" inside a string. */
static int fill_parts(struct filling *filling, struct json *string)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, KUBE_TEMPLATE_VALUE_MAX);
    const char *at = string->text;
    for (const char *from; (from = strstr(at, "${")) != NULL;) {
        const char *end = strchr(from, '}');
        const char *value = end ? template_find_value(filling, from + 2, end) : NULL;
        const char *next = value ? end + 1 : from + 2;
        buf_append(&text, at, (size_t)((value ? from : next) - at));
        if (value)
            buf_append_str(&text, value);
        at = next;
    }
    if (at == string->text)
        return 0;
    buf_append_str(&text, at);
    if (text.overflowed)
        return err_set(filling->err, ERR_TOO_LARGE,
                       "a string of the template would be longer than %d bytes",
                       KUBE_TEMPLATE_VALUE_MAX);
    string->text = arena_strndup(filling->arena, text.data, text.size);
    string->size = text.size;
    return 0;
}

/* The recursion is limited, because the parser limits the depth of the document. */
static int template_fill(struct filling *filling, struct json *json)
{
    if (json->type == JSON_STRING)
        return fill_whole(filling, json) ? 0 : fill_parts(filling, json);
    JSON_EACH (item, json) {
        int result = template_fill(filling, item);
        if (result < 0)
            return result;
    }
    return 0;
}

static void add_labels(struct arena *arena, struct json *object, const struct json *labels)
{
    JSON_EACH (label, labels)
        if (json_text(label))
            kube_meta_set_label(arena, object, label->name, json_text(label));
}

static int fill_objects(struct filling *filling, const struct json *template_,
                        struct json **ret_list)
{
    struct arena *arena = filling->arena;
    struct json *labels = json_get(template_, "labels");
    filling->wrong = labels;
    int result = labels ? template_fill(filling, labels = json_clone(arena, labels)) : 0;
    if (result < 0)
        return result;
    struct json *list = json_object(arena);
    json_set_string(arena, list, "kind", "List");
    json_set_string(arena, list, "apiVersion", "v1");
    json_set(arena, list, "metadata", json_object(arena));
    struct json *items = json_ensure_array(arena, list, "items");
    JSON_EACH (original, json_get(template_, "objects")) {
        filling->wrong = original;
        if (original->type != JSON_OBJECT)
            return err_set(filling->err, ERR_INVALID, "objects[%zu] is %s, not an object",
                           json_count(items), json_type_name(original->type));
        struct json *object = json_clone(arena, original);
        result = template_fill(filling, object);
        if (result < 0)
            return result;
        add_labels(arena, object, labels);
        json_append(items, object);
    }
    *ret_list = list;
    return 0;
}

int kube_template_process(struct arena *arena, const struct json *template_,
                          const struct json *values, struct json **ret_list,
                          const struct json **ret_wrong, struct err *err)
{
    struct filling filling = {
        .arena = arena, .values = json_object(arena), .wrong = template_, .err = err};
    int result = template_check_kind(&filling, template_);
    if (result == 0)
        result = template_collect_values(&filling, json_get(template_, "parameters"), values);
    if (result == 0)
        result = check_given(&filling, values);
    if (result == 0)
        result = fill_objects(&filling, template_, ret_list);
    if (result < 0)
        *ret_wrong = filling.wrong;
    return result;
}
