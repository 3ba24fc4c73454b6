/* The messages of gnostic's OpenAPIv3.proto, as far as our documents use them; see
 * gnostic_message.h. */
#include "engine/openapi/gnostic_message.h"

static const struct gnostic_message SCHEMA;

static const struct gnostic_field SCHEMA_FIELDS[] = {
    {"nullable", 1, GNOSTIC_FLAG},
    {"multipleOf", 10, GNOSTIC_REAL},
    {"maximum", 11, GNOSTIC_REAL},
    {"exclusiveMaximum", 12, GNOSTIC_FLAG},
    {"minimum", 13, GNOSTIC_REAL},
    {"exclusiveMinimum", 14, GNOSTIC_FLAG},
    {"maxLength", 15, GNOSTIC_COUNT},
    {"minLength", 16, GNOSTIC_COUNT},
    {"pattern", 17, GNOSTIC_TEXT},
    {"maxItems", 18, GNOSTIC_COUNT},
    {"minItems", 19, GNOSTIC_COUNT},
    {"uniqueItems", 20, GNOSTIC_FLAG},
    {"maxProperties", 21, GNOSTIC_COUNT},
    {"minProperties", 22, GNOSTIC_COUNT},
    {"required", 23, GNOSTIC_TEXT},
    {"enum", 24, GNOSTIC_YAML},
    {"type", 25, GNOSTIC_TEXT},
    {"allOf", 26, GNOSTIC_OBJECT, &SCHEMA, .refers = true},
    {"oneOf", 27, GNOSTIC_OBJECT, &SCHEMA, .refers = true},
    {"anyOf", 28, GNOSTIC_OBJECT, &SCHEMA, .refers = true},
    {"not", 29, GNOSTIC_OBJECT, &SCHEMA},
    {"items", 30, GNOSTIC_OBJECT, &SCHEMA, .around = {1}, .refers = true},
    {"properties", 31, GNOSTIC_NAMED, &SCHEMA, .entry = 1, .refers = true},
    {"additionalProperties", 32, GNOSTIC_OBJECT, &SCHEMA, .around = {1}, .refers = true},
    {"default", 33, GNOSTIC_SCALAR},
    {"description", 34, GNOSTIC_TEXT},
    {"format", 35, GNOSTIC_TEXT},
    {0},
};
static const struct gnostic_message SCHEMA = {SCHEMA_FIELDS, .extensions = 36};

static const struct gnostic_field MEDIA_TYPE_FIELDS[] = {
    {"schema", 1, GNOSTIC_OBJECT, &SCHEMA, .refers = true}, {0}};
static const struct gnostic_message MEDIA_TYPE = {MEDIA_TYPE_FIELDS, .extensions = 5};

static const struct gnostic_field PARAMETER_FIELDS[] = {
    {"name", 1, GNOSTIC_TEXT},
    {"in", 2, GNOSTIC_TEXT},
    {"description", 3, GNOSTIC_TEXT},
    {"required", 4, GNOSTIC_FLAG},
    {"schema", 10, GNOSTIC_OBJECT, &SCHEMA, .refers = true},
    {0},
};
static const struct gnostic_message PARAMETER_MESSAGE = {PARAMETER_FIELDS, .extensions = 14};

static const struct gnostic_field REQUEST_BODY_FIELDS[] = {
    {"description", 1, GNOSTIC_TEXT},
    {"content", 2, GNOSTIC_NAMED, &MEDIA_TYPE, .entry = 1},
    {"required", 3, GNOSTIC_FLAG},
    {0},
};
static const struct gnostic_message REQUEST_BODY = {REQUEST_BODY_FIELDS, .extensions = 4};

static const struct gnostic_field RESPONSE_FIELDS[] = {
    {"description", 1, GNOSTIC_TEXT},
    {"content", 3, GNOSTIC_NAMED, &MEDIA_TYPE, .entry = 1},
    {0},
};
static const struct gnostic_message RESPONSE = {RESPONSE_FIELDS, .extensions = 5};

static const struct gnostic_field OPERATION_FIELDS[] = {
    {"tags", 1, GNOSTIC_TEXT},
    {"summary", 2, GNOSTIC_TEXT},
    {"description", 3, GNOSTIC_TEXT},
    {"operationId", 5, GNOSTIC_TEXT},
    {"parameters", 6, GNOSTIC_OBJECT, &PARAMETER_MESSAGE, .refers = true},
    {"requestBody", 7, GNOSTIC_OBJECT, &REQUEST_BODY, .refers = true},
    {"responses", 8, GNOSTIC_NAMED, &RESPONSE, .entry = 2, .refers = true},
    {"deprecated", 10, GNOSTIC_FLAG},
    {0},
};
static const struct gnostic_message OPERATION = {OPERATION_FIELDS, .extensions = 13};

static const struct gnostic_field PATH_ITEM_FIELDS[] = {
    {"get", 4, GNOSTIC_OBJECT, &OPERATION},
    {"put", 5, GNOSTIC_OBJECT, &OPERATION},
    {"post", 6, GNOSTIC_OBJECT, &OPERATION},
    {"delete", 7, GNOSTIC_OBJECT, &OPERATION},
    {"patch", 10, GNOSTIC_OBJECT, &OPERATION},
    {"parameters", 13, GNOSTIC_OBJECT, &PARAMETER_MESSAGE, .refers = true},
    {0},
};
static const struct gnostic_message PATH_ITEM = {PATH_ITEM_FIELDS, .extensions = 14};

static const struct gnostic_field COMPONENTS_FIELDS[] = {
    {"schemas", 1, GNOSTIC_NAMED, &SCHEMA, .entry = 1, .refers = true}, {0}};
static const struct gnostic_message COMPONENTS = {COMPONENTS_FIELDS, .extensions = 10};

static const struct gnostic_field INFO_FIELDS[] = {{"title", 1, GNOSTIC_TEXT},
                                                   {"description", 2, GNOSTIC_TEXT},
                                                   {"version", 6, GNOSTIC_TEXT},
                                                   {0}};
static const struct gnostic_message INFO = {INFO_FIELDS, .extensions = 7};

static const struct gnostic_field DOCUMENT_FIELDS[] = {
    {"openapi", 1, GNOSTIC_TEXT},
    {"info", 2, GNOSTIC_OBJECT, &INFO},
    {"paths", 4, GNOSTIC_NAMED, &PATH_ITEM, .entry = 1},
    {"components", 5, GNOSTIC_OBJECT, &COMPONENTS},
    {0},
};
const struct gnostic_message OPENAPI_GNOSTIC_V3 = {DOCUMENT_FIELDS, .extensions = 9};
