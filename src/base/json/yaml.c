/* Parses YAML into JSON trees; see yaml.h. libyaml produces events with positions, and this file
 * builds the tree from these events. It recurses once per nested collection and keeps a map of
 * anchors per document. The limits hold for the result, not for the text: they count all values
 * that an alias expands to, and their depth. */
#include "base/json/yaml.h"

#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/json/yaml_scalar.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#include <string.h>
#include <yaml.h>

#define TAG_PREFIX "tag:yaml.org,2002:"

enum { ERROR_TEXT_MAX = 100 }; /* bytes of a key or tag shown in an error */

struct reader {
    struct arena *arena;
    struct source source;
    yaml_parser_t yaml;
    struct json_limits limits;
    size_t nodes_left;
    size_t aliased;     /* number of values that aliases have expanded to so far */
    struct map anchors; /* anchor name to struct anchor; only anchors of the current document */
    struct err *err;
};

struct anchor {
    struct json *value; /* NULL until the anchored collection is parsed completely */
};

static struct source_place place_of(yaml_mark_t mark)
{
    return (struct source_place){mark.line + 1, mark.column + 1};
}

#define FAIL(reader, mark, ...)                                                                    \
    source_err_set((reader)->err, ERR_BAD_REQUEST, &(reader)->source, place_of(mark), __VA_ARGS__)

/* Reports bytes that libyaml cannot decode. libyaml gives only their offset, so this function
 * computes line and column. */
static int fail_undecodable(struct reader *reader)
{
    yaml_mark_t mark = {0};
    const char *text = reader->source.text;
    for (size_t i = 0; i < reader->yaml.problem_offset && i < reader->source.size; i++) {
        bool continues = (text[i] & 0xc0) == 0x80; /* a UTF-8 continuation byte */
        mark.column = text[i] == '\n' ? 0 : mark.column + !continues;
        mark.line += text[i] == '\n';
    }
    return FAIL(reader, mark, "%s",
                reader->yaml.problem ? reader->yaml.problem : "the text cannot be decoded");
}

/* Reports a grammar error. libyaml reports a bracket that is never closed at the end of the text,
 * where no line can be shown. Then the error shows the start of the construct instead. */
static int fail_grammar(struct reader *reader)
{
    const yaml_parser_t *yaml = &reader->yaml;
    const char *problem = yaml->problem ? yaml->problem : "not YAML";
    yaml_mark_t mark = yaml->problem_mark, begin = yaml->context_mark;
    if (!yaml->context)
        return FAIL(reader, mark, "%s", problem);
    if (begin.line == mark.line)
        return FAIL(reader, mark, "%s %s", problem, yaml->context);
    if (source_is_blank(&reader->source, mark.line + 1))
        return FAIL(reader, begin, "%s in line %zu %s that begins here", problem, mark.line + 1,
                    yaml->context);
    return FAIL(reader, mark, "%s %s that begins in line %zu", problem, yaml->context,
                begin.line + 1);
}

static void event_release(yaml_event_t *event)
{
    yaml_event_delete(event);
}

#define _cleanup_event_ _cleanup_(event_release)

static int next_event(struct reader *reader, yaml_event_t *ret)
{
    if (yaml_parser_parse(&reader->yaml, ret))
        return 0;
    const yaml_parser_t *yaml = &reader->yaml;
    if (yaml->error == YAML_MEMORY_ERROR)
        mem_panic("out of memory while reading YAML");
    if (yaml->error == YAML_READER_ERROR)
        return fail_undecodable(reader);
    return fail_grammar(reader);
}

static int make_node(struct reader *reader, yaml_mark_t mark, enum json_type type,
                     struct json **ret)
{
    if (reader->nodes_left-- == 0)
        return FAIL(reader, mark, "more than %zu values, counting those that aliases expand to",
                    reader->limits.nodes);
    struct json *json = ARENA_NEW(reader->arena, struct json);
    json->type = type;
    json->line = (uint32_t)mark.line + 1;
    json->column = (uint32_t)mark.column + 1;
    *ret = json;
    return 0;
}

/* Checks that the resolved scalar has the type that its tag demands. */
static int check_tag(struct reader *reader, yaml_mark_t mark, const char *tag,
                     const struct json *json)
{
    static const struct {
        const char *name;
        enum json_type types[2];
    } TAGS[] = {{"null", {JSON_NULL, JSON_NULL}},
                {"bool", {JSON_BOOL, JSON_BOOL}},
                {"int", {JSON_INT, JSON_INT}},
                {"float", {JSON_INT, JSON_REAL}}};
    const char *name = str_has_prefix(tag, TAG_PREFIX) ? tag + strlen(TAG_PREFIX) : "";
    if (str_eq(name, "binary"))
        return FAIL(reader, mark,
                    "the tag '!!binary' is not supported: write the base64 text without a tag");
    for (size_t i = 0; i < ARRAY_SIZE(TAGS); i++) {
        if (!str_eq(name, TAGS[i].name))
            continue;
        if (json->type == TAGS[i].types[0] || json->type == TAGS[i].types[1])
            return 0;
        return FAIL(reader, mark, "the value is %s, but its tag is '!!%s'",
                    json_type_name(json->type), name);
    }
    return FAIL(reader, mark, "unknown tag '%.*s'", ERROR_TEXT_MAX, tag);
}

static bool is_string_tag(const char *tag)
{
    return str_eq(tag, "!") || str_eq(tag, TAG_PREFIX "str") || str_eq(tag, TAG_PREFIX "timestamp");
}

static int read_scalar(struct reader *reader, const yaml_event_t *event, struct json **ret)
{
    const char *text = (const char *)event->data.scalar.value;
    const char *tag = (const char *)event->data.scalar.tag;
    size_t size = event->data.scalar.length;
    int result = make_node(reader, event->start_mark, JSON_STRING, ret);
    if (result < 0)
        return result;
    struct json *json = *ret;
    if (memchr(text, '\0', size))
        return FAIL(reader, event->start_mark, "a string may not hold the NUL character");
    bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if ((!tag && !is_plain) || (tag && is_string_tag(tag))) {
        json->text = arena_strndup(reader->arena, text, size);
        json->size = size;
        return 0;
    }
    struct err why = ERR_INIT;
    result = yaml_scalar_resolve(reader->arena, text, size, json, &why);
    if (result < 0)
        return FAIL(reader, event->start_mark, "%s", why.message);
    return tag ? check_tag(reader, event->start_mark, tag, json) : 0;
}

/* Copies the values of an alias. The copy shares the strings, because no code changes a string in
 * place. */
static int alias_expand(struct reader *reader, yaml_mark_t mark, const struct json *json,
                        size_t depth_left, struct json **ret)
{
    struct json *copy;
    if (++reader->aliased > YAML_ALIASED_MAX)
        return FAIL(reader, mark, "aliases expand to more than %d values", (int)YAML_ALIASED_MAX);
    int result = make_node(reader, mark, json->type, &copy);
    if (result < 0)
        return result;
    *copy = *json;
    copy->next = NULL;
    copy->name = NULL;
    *ret = copy;
    if (json->type != JSON_ARRAY && json->type != JSON_OBJECT)
        return 0;
    if (depth_left == 0)
        return FAIL(reader, mark, "nested more than %zu levels deep", reader->limits.depth);
    copy->first = copy->last = NULL;
    copy->count = 0;
    JSON_EACH (item, json) {
        struct json *child;
        result = alias_expand(reader, mark, item, depth_left - 1, &child);
        if (result < 0)
            return result;
        child->name = item->name;
        json_list_append(copy, child);
    }
    return 0;
}

static int read_alias(struct reader *reader, const yaml_event_t *event, size_t depth_left,
                      struct json **ret)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct anchor *anchor = map_get(&reader->anchors, name);
    if (!anchor)
        return FAIL(reader, event->start_mark, "no anchor '&%.*s' is defined before this alias",
                    ERROR_TEXT_MAX, name);
    if (!anchor->value)
        return FAIL(reader, event->start_mark,
                    "the alias '*%.*s' is inside the value that it refers to", ERROR_TEXT_MAX,
                    name);
    return alias_expand(reader, event->start_mark, anchor->value, depth_left, ret);
}

static struct anchor *anchor_add(struct reader *reader, const yaml_char_t *name)
{
    struct anchor *anchor = ARENA_NEW(reader->arena, struct anchor);
    if (name)
        map_put(&reader->anchors, (const char *)name, anchor);
    return anchor;
}

static int read_node(struct reader *reader, const yaml_event_t *event, size_t depth_left,
                     struct json **ret);

static int read_next_node(struct reader *reader, size_t depth_left, struct json **ret)
{
    _cleanup_event_ yaml_event_t event = {0};
    int result = next_event(reader, &event);
    return result < 0 ? result : read_node(reader, &event, depth_left, ret);
}

static int read_sequence(struct reader *reader, size_t depth_left, struct json *array)
{
    for (;;) {
        _cleanup_event_ yaml_event_t event = {0};
        int result = next_event(reader, &event);
        if (result < 0 || event.type == YAML_SEQUENCE_END_EVENT)
            return result;
        struct json *value;
        result = read_node(reader, &event, depth_left, &value);
        if (result < 0)
            return result;
        json_list_append(array, value);
    }
}

/* Converts a key to a string, because JSON has no other keys. Booleans and integers that fit int64
 * become their canonical text, as in kubectl. Other numbers keep the text of a JSON_REAL. */
static int key_text(struct reader *reader, const struct json *key, yaml_mark_t mark,
                    const char **ret)
{
    switch (key->type) {
    case JSON_STRING:
    case JSON_REAL:
        *ret = key->text;
        return 0;
    case JSON_INT:
        *ret = arena_printf(reader->arena, "%lld", (long long)key->integer);
        return 0;
    case JSON_BOOL:
        *ret = key->boolean ? "true" : "false";
        return 0;
    default:
        return FAIL(reader, mark, "a key may not be %s: JSON allows only strings as keys",
                    json_type_name(key->type));
    }
}

static bool is_merge_key(const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT || !str_eq((const char *)event->data.scalar.value, "<<"))
        return false;
    const char *tag = (const char *)event->data.scalar.tag;
    return tag ? str_eq(tag, TAG_PREFIX "merge")
               : event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/* Collects the values of `<<` keys, which are merged after all members of the object itself are
 * read. The object's own members take precedence over merged members, and an earlier merged member
 * over a later one. */
static int keep_merge(struct reader *reader, yaml_mark_t mark, struct json *value,
                      struct json *merges)
{
    if (value->type == JSON_OBJECT) {
        json_list_append(merges, value);
        return 0;
    }
    bool good = value->type == JSON_ARRAY;
    JSON_EACH (item, value)
        good = good && item->type == JSON_OBJECT;
    if (!good)
        return FAIL(reader, mark, "the value of '<<' must be a mapping or a list of mappings");
    for (struct json *item = value->first, *next; item; item = next) {
        next = item->next;
        json_list_append(merges, item);
    }
    return 0;
}

static void apply_merges(struct json *object, struct json_names *names, const struct json *merges)
{
    JSON_EACH (merge, merges) {
        for (struct json *member = merge->first, *next; member; member = next) {
            next = member->next;
            if (!json_names_add(names, object, member, strlen(member->name)))
                continue;
            json_list_append(object, member);
        }
    }
}

static int read_member(struct reader *reader, const yaml_event_t *event, size_t depth_left,
                       struct json *object, struct json_names *names, struct json *merges)
{
    struct json *key, *value;
    const char *name;
    int result;
    if (is_merge_key(event)) {
        result = read_next_node(reader, depth_left, &value);
        return result < 0 ? result : keep_merge(reader, event->start_mark, value, merges);
    }
    result = read_node(reader, event, depth_left, &key);
    if (result < 0)
        return result;
    result = key_text(reader, key, event->start_mark, &name);
    if (result < 0)
        return result;
    result = read_next_node(reader, depth_left, &value);
    if (result < 0)
        return result;
    value->name = name;
    if (!json_names_add(names, object, value, strlen(name)) && !reader->limits.repeats)
        return FAIL(reader, event->start_mark, "the key '%.*s' is duplicated in one mapping",
                    ERROR_TEXT_MAX, name);
    json_list_append(object, value);
    return 0;
}

static int read_mapping(struct reader *reader, size_t depth_left, struct json *object)
{
    _cleanup_(json_names_release) struct json_names names = {0};
    struct json merges = {.type = JSON_ARRAY};
    for (;;) {
        _cleanup_event_ yaml_event_t event = {0};
        int result = next_event(reader, &event);
        if (result < 0)
            return result;
        if (event.type == YAML_MAPPING_END_EVENT)
            break;
        result = read_member(reader, &event, depth_left, object, &names, &merges);
        if (result < 0)
            return result;
    }
    apply_merges(object, &names, &merges);
    return 0;
}

static int read_collection(struct reader *reader, const yaml_event_t *event, size_t depth_left,
                           struct json **ret)
{
    bool is_mapping = event->type == YAML_MAPPING_START_EVENT;
    const char *tag =
        (const char *)(is_mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag);
    if (tag && !str_eq(tag, "!") && !str_eq(tag, is_mapping ? TAG_PREFIX "map" : TAG_PREFIX "seq"))
        return FAIL(reader, event->start_mark, "unknown tag '%.*s'", ERROR_TEXT_MAX, tag);
    if (depth_left == 0)
        return FAIL(reader, event->start_mark, "nested more than %zu levels deep",
                    reader->limits.depth);
    int result = make_node(reader, event->start_mark, is_mapping ? JSON_OBJECT : JSON_ARRAY, ret);
    if (result < 0)
        return result;
    return is_mapping ? read_mapping(reader, depth_left - 1, *ret)
                      : read_sequence(reader, depth_left - 1, *ret);
}

static int read_node(struct reader *reader, const yaml_event_t *event, size_t depth_left,
                     struct json **ret)
{
    struct anchor *anchor;
    int result;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return read_alias(reader, event, depth_left, ret);
    case YAML_SCALAR_EVENT:
        anchor = anchor_add(reader, event->data.scalar.anchor);
        result = read_scalar(reader, event, ret);
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = anchor_add(reader, event->data.sequence_start.anchor);
        result = read_collection(reader, event, depth_left, ret);
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = anchor_add(reader, event->data.mapping_start.anchor);
        result = read_collection(reader, event, depth_left, ret);
        break;
    default:
        return FAIL(reader, event->start_mark, "a value is expected here");
    }
    if (result == 0)
        anchor->value = *ret;
    return result;
}

static int read_document(struct reader *reader, struct json *documents)
{
    struct json *root;
    int result = read_next_node(reader, reader->limits.depth, &root);
    map_release(&reader->anchors);
    if (result < 0)
        return result;
    if (root->type != JSON_NULL)
        json_list_append(documents, root);
    return 0;
}

static int read_stream(struct reader *reader, struct json *documents)
{
    for (;;) {
        _cleanup_event_ yaml_event_t event = {0};
        int result = next_event(reader, &event);
        if (result < 0 || event.type == YAML_STREAM_END_EVENT)
            return result;
        if (event.type == YAML_DOCUMENT_START_EVENT)
            result = read_document(reader, documents);
        if (result < 0)
            return result;
    }
}

/* Returns whether the text starts like a JSON object. Such a text is parsed as JSON, and as YAML
 * only if that fails. JSON is nearly a subset of YAML, but YAML treats surrogate pairs and tabs
 * differently. */
static bool looks_like_json(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    return at < size && text[at] == '{';
}

/* A position in a JSON text. */
struct column_counter {
    const char *at;
    uint32_t line, byte, character; /* from 1; `byte` and `character` count within the line */
};

static bool column_counter_is_before(const struct column_counter *counter, const struct json *value)
{
    return counter->line < value->line ||
           (counter->line == value->line && counter->byte < value->column);
}

/* Converts the columns of a tree from bytes to characters, as in YAML. The counter only advances,
 * because values are in the order of the text. */
static void column_counter_convert(struct column_counter *counter, struct json *value)
{
    while (*counter->at && column_counter_is_before(counter, value)) {
        bool continues = (counter->at[1] & 0xc0) == 0x80; /* a UTF-8 continuation byte */
        bool ends = *counter->at++ == '\n';
        counter->line += ends;
        counter->byte = ends ? 1 : counter->byte + 1;
        counter->character = ends ? 1 : counter->character + !continues;
    }
    value->column = counter->character;
    JSON_EACH (inner, value)
        column_counter_convert(counter, inner);
}

int yaml_parse(struct arena *arena, const struct source *source, const struct json_limits *limits,
               struct json **ret_documents, struct err *err)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    const char *text = source->text;
    size_t size = source->size;
    if (size >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        size -= 3;
    }
    struct json *documents = json_array(arena), *document;
    if (looks_like_json(text, size) &&
        json_parse(arena, text, size, limits, &document, NULL) == 0) {
        column_counter_convert(&(struct column_counter){text, 1, 1, 1}, document);
        json_list_append(documents, document);
        *ret_documents = documents;
        return 0;
    }
    struct reader reader = {
        .arena = arena,
        .source = {source->name, text, size, source->secret},
        .limits = {JSON_DEPTH_MAX, JSON_NODES_MAX, limits && limits->repeats},
        .err = err,
    };
    if (limits && limits->depth && limits->depth < JSON_DEPTH_MAX)
        reader.limits.depth = limits->depth;
    if (limits && limits->nodes)
        reader.limits.nodes = limits->nodes;
    reader.nodes_left = reader.limits.nodes;
    if (!yaml_parser_initialize(&reader.yaml))
        mem_panic("out of memory while reading YAML");
    yaml_parser_set_encoding(&reader.yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.yaml, (const unsigned char *)text, size);
    int result = read_stream(&reader, documents);
    yaml_parser_delete(&reader.yaml);
    if (result < 0)
        return result;
    *ret_documents = documents;
    return 0;
}
