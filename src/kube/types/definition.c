/* Definitions of custom resources. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(EXTERNAL_DOCUMENTATION, EXTENSIONS "ExternalDocumentation", "",
    TEXT(1, "description", ""),
    TEXT(2, "url", ""));

LOCAL_TYPE(VALIDATION_RULE, EXTENSIONS "ValidationRule", "",
    TEXT(1, "rule", "", REQUIRED, ALWAYS),
    TEXT(2, "message", ""),
    TEXT(3, "messageExpression", ""),
    TEXT(4, "reason", "", IF_SET),
    TEXT(5, "fieldPath", ""),
    BOOL(6, "optionalOldSelf", "", IF_SET));

static const struct schema_object JSON_SCHEMA; /* its own parts */

LOCAL_TYPE(JSON_SCHEMA, EXTENSIONS "JSONSchemaProps", "",
    TEXT(1, "id", ""),
    TEXT(2, "$schema", ""),
    TEXT(3, "$ref", "", IF_SET),
    TEXT(4, "description", ""),
    TEXT(5, "type", ""),
    TEXT(6, "format", ""),
    TEXT(7, "title", ""),
    ANYTHING(8, "default", ""),
    NUMBER(9, "maximum", "", IF_SET),
    BOOL(10, "exclusiveMaximum", ""),
    NUMBER(11, "minimum", "", IF_SET),
    BOOL(12, "exclusiveMinimum", ""),
    INT64(13, "maxLength", "", IF_SET),
    INT64(14, "minLength", "", IF_SET),
    TEXT(15, "pattern", ""),
    INT64(16, "maxItems", "", IF_SET),
    INT64(17, "minItems", "", IF_SET),
    BOOL(18, "uniqueItems", ""),
    NUMBER(19, "multipleOf", "", IF_SET),
    LIST_OF(20, "enum", TYPE_ANYTHING, ""),
    INT64(21, "maxProperties", "", IF_SET),
    INT64(22, "minProperties", "", IF_SET),
    TEXTS(23, "required", ""),
    ANYTHING(24, "items", ""),
    LIST(25, "allOf", JSON_SCHEMA, ""),
    LIST(26, "oneOf", JSON_SCHEMA, ""),
    LIST(27, "anyOf", JSON_SCHEMA, ""),
    OBJECT(28, "not", JSON_SCHEMA, ""),
    MAP(29, "properties", JSON_SCHEMA, ""),
    ANYTHING(30, "additionalProperties", ""),
    MAP(31, "patternProperties", JSON_SCHEMA, ""),
    ANYTHING(32, "dependencies", ""),
    ANYTHING(33, "additionalItems", ""),
    MAP(34, "definitions", JSON_SCHEMA, ""),
    OBJECT(35, "externalDocs", EXTERNAL_DOCUMENTATION, ""),
    ANYTHING(36, "example", ""),
    BOOL(37, "nullable", ""),
    BOOL(38, "x-kubernetes-preserve-unknown-fields", "", IF_SET),
    BOOL(39, "x-kubernetes-embedded-resource", ""),
    BOOL(40, "x-kubernetes-int-or-string", ""),
    TEXTS(41, "x-kubernetes-list-map-keys", ""),
    TEXT(42, "x-kubernetes-list-type", "", IF_SET),
    TEXT(43, "x-kubernetes-map-type", "", IF_SET),
    LIST(44, "x-kubernetes-validations", VALIDATION_RULE, "", KEYS("rule"), MERGE("rule")));

LOCAL_TYPE(DEFINITION_VALIDATION, EXTENSIONS "CustomResourceValidation", "",
    OBJECT(1, "openAPIV3Schema", JSON_SCHEMA, ""));

static const struct schema_object DEFINITION_SUBRESOURCE_STATUS = {
    .name = EXTENSIONS "CustomResourceSubresourceStatus",
    .doc = "",
    .fields = (const struct schema_field[]){{0}},
};

LOCAL_TYPE(DEFINITION_SUBRESOURCE_SCALE, EXTENSIONS "CustomResourceSubresourceScale", "",
    TEXT(1, "specReplicasPath", "", REQUIRED, ALWAYS),
    TEXT(2, "statusReplicasPath", "", REQUIRED, ALWAYS),
    TEXT(3, "labelSelectorPath", "", IF_SET));

LOCAL_TYPE(DEFINITION_SUBRESOURCES, EXTENSIONS "CustomResourceSubresources", "",
    OBJECT(1, "status", DEFINITION_SUBRESOURCE_STATUS, ""),
    OBJECT(2, "scale", DEFINITION_SUBRESOURCE_SCALE, ""));

LOCAL_TYPE(DEFINITION_COLUMN_DEFINITION, EXTENSIONS "CustomResourceColumnDefinition", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(2, "type", "", REQUIRED, ALWAYS),
    TEXT(3, "format", ""),
    TEXT(4, "description", ""),
    INT32(5, "priority", ""),
    TEXT(6, "jsonPath", "", REQUIRED, ALWAYS));

LOCAL_TYPE(SELECTABLE_FIELD, EXTENSIONS "SelectableField", "",
    TEXT(1, "jsonPath", "", REQUIRED, ALWAYS));

LOCAL_TYPE(DEFINITION_VERSION, EXTENSIONS "CustomResourceDefinitionVersion", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    BOOL(2, "served", "", REQUIRED, ALWAYS),
    BOOL(3, "storage", "", REQUIRED, ALWAYS),
    BOOL(7, "deprecated", ""),
    TEXT(8, "deprecationWarning", "", IF_SET),
    OBJECT(4, "schema", DEFINITION_VALIDATION, ""),
    OBJECT(5, "subresources", DEFINITION_SUBRESOURCES, ""),
    LIST(6, "additionalPrinterColumns", DEFINITION_COLUMN_DEFINITION, ""),
    LIST(9, "selectableFields", SELECTABLE_FIELD, ""));

LOCAL_TYPE(DEFINITION_NAMES, EXTENSIONS "CustomResourceDefinitionNames", "",
    TEXT(1, "plural", "", REQUIRED, ALWAYS),
    TEXT(2, "singular", ""),
    TEXTS(3, "shortNames", ""),
    TEXT(4, "kind", "", REQUIRED, ALWAYS),
    TEXT(5, "listKind", ""),
    TEXTS(6, "categories", ""));

LOCAL_TYPE(WEBHOOK_SERVICE, EXTENSIONS "ServiceReference", "",
    TEXT(1, "namespace", "", REQUIRED, ALWAYS),
    TEXT(2, "name", "", REQUIRED, ALWAYS),
    TEXT(3, "path", "", IF_SET),
    INT32(4, "port", "", IF_SET));

LOCAL_TYPE(WEBHOOK_CLIENT_CONFIG, EXTENSIONS "WebhookClientConfig", "",
    TEXT(3, "url", "", IF_SET),
    OBJECT(1, "service", WEBHOOK_SERVICE, ""),
    BYTES(2, "caBundle", ""));

LOCAL_TYPE(WEBHOOK_CONVERSION, EXTENSIONS "WebhookConversion", "",
    OBJECT(2, "clientConfig", WEBHOOK_CLIENT_CONFIG, ""),
    TEXTS(3, "conversionReviewVersions", "", REQUIRED, ALWAYS));

LOCAL_TYPE(DEFINITION_CONVERSION, EXTENSIONS "CustomResourceConversion", "",
    TEXT(1, "strategy", "", REQUIRED, ALWAYS, WORDS("None", "Webhook"), FALLBACK("\"None\"")),
    OBJECT(2, "webhook", WEBHOOK_CONVERSION, ""));

LOCAL_TYPE(DEFINITION_SPEC, EXTENSIONS "CustomResourceDefinitionSpec", "",
    TEXT(1, "group", "", REQUIRED, ALWAYS),
    STRUCT(3, "names", DEFINITION_NAMES, "", REQUIRED),
    TEXT(4, "scope", "", REQUIRED, ALWAYS, WORDS("Cluster", "Namespaced")),
    LIST(7, "versions", DEFINITION_VERSION, "", REQUIRED, ALWAYS),
    OBJECT(9, "conversion", DEFINITION_CONVERSION, "", FALLBACK("{\"strategy\":\"None\"}")),
    BOOL(10, "preserveUnknownFields", ""));

LOCAL_TYPE(DEFINITION_CONDITION, EXTENSIONS "CustomResourceDefinitionCondition", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    TEXT(2, "status", "", REQUIRED, ALWAYS),
    TIME(3, "lastTransitionTime", ""),
    TEXT(4, "reason", ""),
    TEXT(5, "message", ""),
    INT64(6, "observedGeneration", ""));

LOCAL_TYPE(DEFINITION_STATUS, EXTENSIONS "CustomResourceDefinitionStatus", "",
    LIST(1, "conditions", DEFINITION_CONDITION, "", ALWAYS, KEYS("type")),
    STRUCT(2, "acceptedNames", DEFINITION_NAMES, ""),
    TEXTS(3, "storedVersions", "", ALWAYS),
    INT64(4, "observedGeneration", ""));

TYPE(TYPE_CUSTOM_RESOURCE_DEFINITION, EXTENSIONS "CustomResourceDefinition", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", DEFINITION_SPEC, ""),
    STRUCT(3, "status", DEFINITION_STATUS, ""));
