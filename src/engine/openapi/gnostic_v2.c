/* The messages of gnostic's OpenAPIv2.proto, as far as our documents use them; see
 * gnostic_message.h. */
#include "engine/openapi/gnostic_message.h"

static const struct gnostic_message SCHEMA;

static const struct gnostic_field SCHEMA_FIELDS[] = {
    {"$ref", 1, GNOSTIC_TEXT},
    {"format", 2, GNOSTIC_TEXT},
    {"title", 3, GNOSTIC_TEXT},
    {"description", 4, GNOSTIC_TEXT},
    {"multipleOf", 6, GNOSTIC_REAL},
    {"maximum", 7, GNOSTIC_REAL},
    {"exclusiveMaximum", 8, GNOSTIC_FLAG},
    {"minimum", 9, GNOSTIC_REAL},
    {"exclusiveMinimum", 10, GNOSTIC_FLAG},
    {"maxLength", 11, GNOSTIC_COUNT},
    {"minLength", 12, GNOSTIC_COUNT},
    {"pattern", 13, GNOSTIC_TEXT},
    {"maxItems", 14, GNOSTIC_COUNT},
    {"minItems", 15, GNOSTIC_COUNT},
    {"uniqueItems", 16, GNOSTIC_FLAG},
    {"maxProperties", 17, GNOSTIC_COUNT},
    {"minProperties", 18, GNOSTIC_COUNT},
    {"required", 19, GNOSTIC_TEXT},
    {"enum", 20, GNOSTIC_YAML},
    {"additionalProperties", 21, GNOSTIC_OBJECT, &SCHEMA, .around = {1}},
    {"type", 22, GNOSTIC_TEXT, .around = {1}},
    {"items", 23, GNOSTIC_OBJECT, &SCHEMA, .around = {1}},
    {"allOf", 24, GNOSTIC_OBJECT, &SCHEMA},
    {"properties", 25, GNOSTIC_NAMED, &SCHEMA, .entry = 1},
    {0},
};
static const struct gnostic_message SCHEMA = {SCHEMA_FIELDS, .extensions = 31};

static const struct gnostic_field BODY_FIELDS[] = {
    {"description", 1, GNOSTIC_TEXT},
    {"name", 2, GNOSTIC_TEXT},
    {"in", 3, GNOSTIC_TEXT},
    {"required", 4, GNOSTIC_FLAG},
    {"schema", 5, GNOSTIC_OBJECT, &SCHEMA},
    {0},
};
static const struct gnostic_message BODY_PARAMETER = {BODY_FIELDS, .extensions = 6};

static const struct gnostic_field QUERY_FIELDS[] = {
    {"required", 1, GNOSTIC_FLAG},     {"in", 2, GNOSTIC_TEXT},
    {"description", 3, GNOSTIC_TEXT},  {"name", 4, GNOSTIC_TEXT},
    {"type", 6, GNOSTIC_TEXT},         {"format", 7, GNOSTIC_TEXT},
    {"uniqueItems", 20, GNOSTIC_FLAG}, {0},
};
static const struct gnostic_message QUERY_PARAMETER = {QUERY_FIELDS, .extensions = 23};

static const struct gnostic_field PATH_FIELDS[] = {
    {"required", 1, GNOSTIC_FLAG},     {"in", 2, GNOSTIC_TEXT},
    {"description", 3, GNOSTIC_TEXT},  {"name", 4, GNOSTIC_TEXT},
    {"type", 5, GNOSTIC_TEXT},         {"format", 6, GNOSTIC_TEXT},
    {"uniqueItems", 19, GNOSTIC_FLAG}, {0},
};
static const struct gnostic_message PATH_PARAMETER = {PATH_FIELDS, .extensions = 22};

static const struct gnostic_place PLACES[] = {
    {"body", &BODY_PARAMETER, {1, 1}},
    {"query", &QUERY_PARAMETER, {1, 2, 3}},
    {"path", &PATH_PARAMETER, {1, 2, 4}},
    {0},
};

static const struct gnostic_field RESPONSE_FIELDS[] = {
    {"description", 1, GNOSTIC_TEXT},
    {"schema", 2, GNOSTIC_OBJECT, &SCHEMA, .around = {1}},
    {0},
};
static const struct gnostic_message RESPONSE = {RESPONSE_FIELDS, .extensions = 5};

static const struct gnostic_field OPERATION_FIELDS[] = {
    {"tags", 1, GNOSTIC_TEXT},
    {"summary", 2, GNOSTIC_TEXT},
    {"description", 3, GNOSTIC_TEXT},
    {"operationId", 5, GNOSTIC_TEXT},
    {"produces", 6, GNOSTIC_TEXT},
    {"consumes", 7, GNOSTIC_TEXT},
    {"parameters", 8, GNOSTIC_PARAMETER, .places = PLACES},
    {"responses", 9, GNOSTIC_NAMED, &RESPONSE, .entry = 1, .within = {1}},
    {0},
};
static const struct gnostic_message OPERATION = {OPERATION_FIELDS, .extensions = 13};

static const struct gnostic_field PATH_ITEM_FIELDS[] = {
    {"get", 2, GNOSTIC_OBJECT, &OPERATION},
    {"put", 3, GNOSTIC_OBJECT, &OPERATION},
    {"post", 4, GNOSTIC_OBJECT, &OPERATION},
    {"delete", 5, GNOSTIC_OBJECT, &OPERATION},
    {"patch", 8, GNOSTIC_OBJECT, &OPERATION},
    {"parameters", 9, GNOSTIC_PARAMETER, .places = PLACES},
    {0},
};
static const struct gnostic_message PATH_ITEM = {PATH_ITEM_FIELDS, .extensions = 10};

static const struct gnostic_field INFO_FIELDS[] = {{"title", 1, GNOSTIC_TEXT},
                                                   {"version", 2, GNOSTIC_TEXT},
                                                   {"description", 3, GNOSTIC_TEXT},
                                                   {0}};
static const struct gnostic_message INFO = {INFO_FIELDS, .extensions = 7};

static const struct gnostic_field DOCUMENT_FIELDS[] = {
    {"swagger", 1, GNOSTIC_TEXT},
    {"info", 2, GNOSTIC_OBJECT, &INFO},
    {"paths", 8, GNOSTIC_NAMED, &PATH_ITEM, .entry = 2},
    {"definitions", 9, GNOSTIC_NAMED, &SCHEMA, .entry = 1},
    {0},
};
const struct gnostic_message OPENAPI_GNOSTIC_V2 = {DOCUMENT_FIELDS, .extensions = 16};
