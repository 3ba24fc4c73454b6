/* The messages of gnostic's OpenAPIv3.proto, as far as our documents have them; see
 * openapi_gnostic_message.h. */
#include "engine/openapi_gnostic_message.h"

static const struct gnostic_message SCHEMA;

static const struct gnostic_field SCHEMA_FIELDS[] = {
    {"nullable", 1, FLAG},
    {"multipleOf", 10, REAL},
    {"maximum", 11, REAL},
    {"exclusiveMaximum", 12, FLAG},
    {"minimum", 13, REAL},
    {"exclusiveMinimum", 14, FLAG},
    {"maxLength", 15, COUNT},
    {"minLength", 16, COUNT},
    {"pattern", 17, TEXT},
    {"maxItems", 18, COUNT},
    {"minItems", 19, COUNT},
    {"uniqueItems", 20, FLAG},
    {"maxProperties", 21, COUNT},
    {"minProperties", 22, COUNT},
    {"required", 23, TEXT},
    {"enum", 24, YAML},
    {"type", 25, TEXT},
    {"allOf", 26, OBJECT, &SCHEMA, .refers = true},
    {"oneOf", 27, OBJECT, &SCHEMA, .refers = true},
    {"anyOf", 28, OBJECT, &SCHEMA, .refers = true},
    {"not", 29, OBJECT, &SCHEMA},
    {"items", 30, OBJECT, &SCHEMA, .around = {1}, .refers = true},
    {"properties", 31, NAMED, &SCHEMA, .entry = 1, .refers = true},
    {"additionalProperties", 32, OBJECT, &SCHEMA, .around = {1}, .refers = true},
    {"default", 33, SCALAR},
    {"description", 34, TEXT},
    {"format", 35, TEXT},
    {0},
};
static const struct gnostic_message SCHEMA = {SCHEMA_FIELDS, .extensions = 36};

static const struct gnostic_field MEDIA_TYPE_FIELDS[] = {
    {"schema", 1, OBJECT, &SCHEMA, .refers = true}, {0}};
static const struct gnostic_message MEDIA_TYPE = {MEDIA_TYPE_FIELDS, .extensions = 5};

static const struct gnostic_field PARAMETER_FIELDS[] = {
    {"name", 1, TEXT},
    {"in", 2, TEXT},
    {"description", 3, TEXT},
    {"required", 4, FLAG},
    {"schema", 10, OBJECT, &SCHEMA, .refers = true},
    {0},
};
static const struct gnostic_message PARAMETER_MESSAGE = {PARAMETER_FIELDS, .extensions = 14};

static const struct gnostic_field REQUEST_BODY_FIELDS[] = {
    {"description", 1, TEXT},
    {"content", 2, NAMED, &MEDIA_TYPE, .entry = 1},
    {"required", 3, FLAG},
    {0},
};
static const struct gnostic_message REQUEST_BODY = {REQUEST_BODY_FIELDS, .extensions = 4};

static const struct gnostic_field RESPONSE_FIELDS[] = {
    {"description", 1, TEXT},
    {"content", 3, NAMED, &MEDIA_TYPE, .entry = 1},
    {0},
};
static const struct gnostic_message RESPONSE = {RESPONSE_FIELDS, .extensions = 5};

static const struct gnostic_field OPERATION_FIELDS[] = {
    {"tags", 1, TEXT},
    {"summary", 2, TEXT},
    {"description", 3, TEXT},
    {"operationId", 5, TEXT},
    {"parameters", 6, OBJECT, &PARAMETER_MESSAGE, .refers = true},
    {"requestBody", 7, OBJECT, &REQUEST_BODY, .refers = true},
    {"responses", 8, NAMED, &RESPONSE, .entry = 2, .refers = true},
    {"deprecated", 10, FLAG},
    {0},
};
static const struct gnostic_message OPERATION = {OPERATION_FIELDS, .extensions = 13};

static const struct gnostic_field PATH_ITEM_FIELDS[] = {
    {"get", 4, OBJECT, &OPERATION},
    {"put", 5, OBJECT, &OPERATION},
    {"post", 6, OBJECT, &OPERATION},
    {"delete", 7, OBJECT, &OPERATION},
    {"patch", 10, OBJECT, &OPERATION},
    {"parameters", 13, OBJECT, &PARAMETER_MESSAGE, .refers = true},
    {0},
};
static const struct gnostic_message PATH_ITEM = {PATH_ITEM_FIELDS, .extensions = 14};

static const struct gnostic_field COMPONENTS_FIELDS[] = {
    {"schemas", 1, NAMED, &SCHEMA, .entry = 1, .refers = true}, {0}};
static const struct gnostic_message COMPONENTS = {COMPONENTS_FIELDS, .extensions = 10};

static const struct gnostic_field INFO_FIELDS[] = {
    {"title", 1, TEXT}, {"description", 2, TEXT}, {"version", 6, TEXT}, {0}};
static const struct gnostic_message INFO = {INFO_FIELDS, .extensions = 7};

static const struct gnostic_field DOCUMENT_FIELDS[] = {
    {"openapi", 1, TEXT},
    {"info", 2, OBJECT, &INFO},
    {"paths", 4, NAMED, &PATH_ITEM, .entry = 1},
    {"components", 5, OBJECT, &COMPONENTS},
    {0},
};
const struct gnostic_message OPENAPI_GNOSTIC_V3 = {DOCUMENT_FIELDS, .extensions = 9};
