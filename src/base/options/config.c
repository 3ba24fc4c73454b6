/* Reads option values from a config file, and writes parsed values as JSON; see options.h. The file
 * contains one YAML or JSON object, whose member names are option names without the leading
 * dashes. */
#include "base/json/yaml.h"
#include "base/options/internal.h"
#include "base/system/file.h"

#include <string.h>

enum { CONFIG_MAX = 1 << 20, CONFIG_NODES_MAX = 10000, CONFIG_DEPTH_MAX = 8 };

/* Checks the names in the file. An unknown name, the name of the config option itself, and two
 * names of one option are errors. */
static int config_check_names(const struct command *command, const struct option_config *config,
                              struct err *err)
{
    JSON_EACH (member, config->values) {
        const struct option *option = options_find(command, member->name, strlen(member->name));
        int result = 0;
        if (!option)
            result = options_refuse_unknown(command, "", member->name, strlen(member->name), err);
        else if (option->type == OPTION_CONFIG)
            result = err_set(err, ERR_USAGE,
                             "'%s' is not allowed in an options file: give it on the command line",
                             member->name);
        for (const struct json *other = member->next; result == 0 && other; other = other->next)
            if (options_find(command, other->name, strlen(other->name)) == option)
                result = err_set(err, ERR_USAGE, "'%s' and '%s' are the same option", member->name,
                                 other->name);
        if (result < 0)
            return source_err_wrap(err, &config->source,
                                   source_name_place(&config->source, member));
    }
    return 0;
}

int options_config_read(const struct command *command, const char *path, struct option_config *ret,
                        struct err *err)
{
    static const struct json_limits LIMITS = {.depth = CONFIG_DEPTH_MAX, .nodes = CONFIG_NODES_MAX};
    _cleanup_buf_ struct buf text;
    struct json *documents = NULL;
    buf_init(&text, CONFIG_MAX);
    ret->arena = arena_new();
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    ret->source = (struct source){
        .name = path,
        .text = arena_strndup(ret->arena, text.data, text.size),
        .size = text.size,
    };
    result = yaml_parse(ret->arena, &ret->source, &LIMITS, &documents, err);
    if (result < 0)
        return result;
    struct json *values = json_first(documents);
    if (json_count(documents) != 1 || values->type != JSON_OBJECT)
        return err_set(err, ERR_USAGE, "'%s' must map options to values, such as 'steps: 400'",
                       path);
    ret->values = values;
    return config_check_names(command, ret, err);
}

/* Returns the value as text, or NULL if it is null, an array or an object. */
static const char *config_text(struct arena *arena, const struct json *value)
{
    switch (value->type) {
    case JSON_STRING:
    case JSON_REAL:
        return value->text;
    case JSON_INT:
        return arena_printf(arena, "%lld", (long long)value->integer);
    case JSON_BOOL:
        return value->boolean ? "true" : "false";
    default:
        return NULL;
    }
}

int options_config_get(const struct command *command, const struct option_config *config,
                       const struct option *option, const struct json **ret_member,
                       const char *const **ret_texts, size_t *ret_count, struct err *err)
{
    const struct json *value = NULL;
    JSON_EACH (member, config->values)
        if (options_find(command, member->name, strlen(member->name)) == option)
            value = member;
    bool many = value && value->type == JSON_ARRAY && option->type == OPTION_LIST;
    size_t count = many ? json_count(value) : value ? 1 : 0;
    const char **texts = arena_alloc(config->arena, (count + 1) * sizeof(*texts));
    for (size_t i = 0; i < count; i++) {
        const struct json *item = many ? json_element(value, i) : value;
        texts[i] = config_text(config->arena, item);
        if (!texts[i])
            return source_err_set(err, ERR_USAGE, &config->source, source_value_place(item),
                                  "'%s' takes a value, not %s", value->name,
                                  json_type_name(item->type));
    }
    *ret_member = value;
    *ret_texts = texts;
    *ret_count = count;
    return 0;
}

static struct json *config_value(struct arena *arena, const struct option *option,
                                 const void *field)
{
    switch (option->type) {
    case OPTION_FLAG:
        return json_bool(arena, *(const bool *)field);
    case OPTION_INT:
        return json_int(arena, *(const int64_t *)field);
    case OPTION_REAL:
        return json_real(arena, *(const double *)field);
    case OPTION_LIST: {
        const struct option_list *list = field;
        struct json *array = json_array(arena);
        for (size_t i = 0; i < list->count; i++)
            json_append(array, json_string(arena, list->items[i]));
        return array;
    }
    case OPTION_CONFIG:
        return json_string(arena, ((const struct option_config *)field)->path);
    default:
        return json_string(arena, *(const char *const *)field);
    }
}

struct json *options_to_json(struct arena *arena, const struct command *command, const void *values,
                             unsigned with, unsigned without)
{
    struct json *object = json_object(arena);
    OPTIONS_EACH (option, command) {
        if ((option->marks & with) != with || option->marks & without)
            continue;
        json_set(arena, object, option->name,
                 config_value(arena, option, (const char *)values + option->offset));
    }
    return object;
}
