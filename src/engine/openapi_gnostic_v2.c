/* The messages of gnostic's OpenAPIv2.proto, as far as our documents have them; see
 * openapi_gnostic_message.h. */
#include "engine/openapi_gnostic_message.h"

static const struct gnostic_message SCHEMA;

static const struct gnostic_field SCHEMA_FIELDS[] = {
    {"$ref", 1, TEXT},
    {"format", 2, TEXT},
    {"title", 3, TEXT},
    {"description", 4, TEXT},
    {"multipleOf", 6, REAL},
    {"maximum", 7, REAL},
    {"exclusiveMaximum", 8, FLAG},
    {"minimum", 9, REAL},
    {"exclusiveMinimum", 10, FLAG},
    {"maxLength", 11, COUNT},
    {"minLength", 12, COUNT},
    {"pattern", 13, TEXT},
    {"maxItems", 14, COUNT},
    {"minItems", 15, COUNT},
    {"uniqueItems", 16, FLAG},
    {"maxProperties", 17, COUNT},
    {"minProperties", 18, COUNT},
    {"required", 19, TEXT},
    {"enum", 20, YAML},
    {"additionalProperties", 21, OBJECT, &SCHEMA, .around = {1}},
    {"type", 22, TEXT, .around = {1}},
    {"items", 23, OBJECT, &SCHEMA, .around = {1}},
    {"allOf", 24, OBJECT, &SCHEMA},
    {"properties", 25, NAMED, &SCHEMA, .entry = 1},
    {0},
};
static const struct gnostic_message SCHEMA = {SCHEMA_FIELDS, .extensions = 31};

static const struct gnostic_field BODY_FIELDS[] = {
    {"description", 1, TEXT},
    {"name", 2, TEXT},
    {"in", 3, TEXT},
    {"required", 4, FLAG},
    {"schema", 5, OBJECT, &SCHEMA},
    {0},
};
static const struct gnostic_message BODY_PARAMETER = {BODY_FIELDS, .extensions = 6};

static const struct gnostic_field QUERY_FIELDS[] = {
    {"required", 1, FLAG}, {"in", 2, TEXT},     {"description", 3, TEXT},  {"name", 4, TEXT},
    {"type", 6, TEXT},     {"format", 7, TEXT}, {"uniqueItems", 20, FLAG}, {0},
};
static const struct gnostic_message QUERY_PARAMETER = {QUERY_FIELDS, .extensions = 23};

static const struct gnostic_field PATH_FIELDS[] = {
    {"required", 1, FLAG}, {"in", 2, TEXT},     {"description", 3, TEXT},  {"name", 4, TEXT},
    {"type", 5, TEXT},     {"format", 6, TEXT}, {"uniqueItems", 19, FLAG}, {0},
};
static const struct gnostic_message PATH_PARAMETER = {PATH_FIELDS, .extensions = 22};

static const struct gnostic_place PLACES[] = {
    {"body", &BODY_PARAMETER, {1, 1}},
    {"query", &QUERY_PARAMETER, {1, 2, 3}},
    {"path", &PATH_PARAMETER, {1, 2, 4}},
    {0},
};

static const struct gnostic_field RESPONSE_FIELDS[] = {
    {"description", 1, TEXT},
    {"schema", 2, OBJECT, &SCHEMA, .around = {1}},
    {0},
};
static const struct gnostic_message RESPONSE = {RESPONSE_FIELDS, .extensions = 5};

static const struct gnostic_field OPERATION_FIELDS[] = {
    {"tags", 1, TEXT},
    {"summary", 2, TEXT},
    {"description", 3, TEXT},
    {"operationId", 5, TEXT},
    {"produces", 6, TEXT},
    {"consumes", 7, TEXT},
    {"parameters", 8, PARAMETER, .places = PLACES},
    {"responses", 9, NAMED, &RESPONSE, .entry = 1, .within = {1}},
    {0},
};
static const struct gnostic_message OPERATION = {OPERATION_FIELDS, .extensions = 13};

static const struct gnostic_field PATH_ITEM_FIELDS[] = {
    {"get", 2, OBJECT, &OPERATION},
    {"put", 3, OBJECT, &OPERATION},
    {"post", 4, OBJECT, &OPERATION},
    {"delete", 5, OBJECT, &OPERATION},
    {"patch", 8, OBJECT, &OPERATION},
    {"parameters", 9, PARAMETER, .places = PLACES},
    {0},
};
static const struct gnostic_message PATH_ITEM = {PATH_ITEM_FIELDS, .extensions = 10};

static const struct gnostic_field INFO_FIELDS[] = {
    {"title", 1, TEXT}, {"version", 2, TEXT}, {"description", 3, TEXT}, {0}};
static const struct gnostic_message INFO = {INFO_FIELDS, .extensions = 7};

static const struct gnostic_field DOCUMENT_FIELDS[] = {
    {"swagger", 1, TEXT},
    {"info", 2, OBJECT, &INFO},
    {"paths", 8, NAMED, &PATH_ITEM, .entry = 2},
    {"definitions", 9, NAMED, &SCHEMA, .entry = 1},
    {0},
};
const struct gnostic_message OPENAPI_GNOSTIC_V2 = {DOCUMENT_FIELDS, .extensions = 16};
