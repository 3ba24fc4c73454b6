/* Checks strings against the words that a schema allows; see validate.h. */
#include "kube/schema/validate.h"

#include "kube/schema/path.h"
#include "kube/schema/rules.h"

static void words_check_value(struct field_errors *errors, const struct schema *schema,
                              const struct schema_path *path, const struct json *value);

static void check_word(struct field_errors *errors, const char *const *words,
                       const struct schema_path *path, const struct json *value)
{
    for (const char *const *word = words; *word; word++)
        if (str_eq(value->text, *word))
            return;
    field_unsupported(errors, schema_path_text(errors->arena, path), value->text, words);
}

static void words_check_members(struct field_errors *errors, const struct schema_object *type,
                                const struct schema_path *parent, const struct json *object)
{
    JSON_EACH (member, object) {
        const struct schema_field *field = schema_field(type, member->name);
        const struct schema_path path = {.parent = parent, .name = member->name};
        bool is_status =
            !parent && str_eq(member->name, "status"); /* a controller writes the status */
        if (field && !is_status)
            words_check_value(errors, &field->value, &path, member);
    }
}

static void check_items(struct field_errors *errors, const struct schema *items,
                        const struct schema_path *parent, const struct json *container)
{
    size_t position = 0;
    JSON_EACH (item, container) {
        const struct schema_path path = {
            .parent = parent, .name = item->name, .position = position};
        words_check_value(errors, items, &path, item);
        position++;
    }
}

static void words_check_value(struct field_errors *errors, const struct schema *schema,
                              const struct schema_path *path, const struct json *value)
{
    if (value->type == JSON_STRING && schema->rules && schema->rules->words)
        check_word(errors, schema->rules->words, path, value);
    else if (schema->type == SCHEMA_OBJECT && value->type == JSON_OBJECT)
        words_check_members(errors, schema->object, path, value);
    else if ((schema->type == SCHEMA_LIST && value->type == JSON_ARRAY) ||
             (schema->type == SCHEMA_MAP && value->type == JSON_OBJECT))
        check_items(errors, schema->items, path, value);
}

void schema_validate_words(struct field_errors *errors, const struct schema_object *type,
                           const struct json *object)
{
    words_check_members(errors, type, NULL, object);
}
