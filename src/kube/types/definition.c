/* Types of CustomResourceDefinitions. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(EXTERNAL_DOCUMENTATION, EXTENSIONS "ExternalDocumentation",
        "a link to further documentation",
    TEXT(1, "description", "a description of the page"),
    TEXT(2, "url", "the URL of the page"));

LOCAL_TYPE(VALIDATION_RULE, EXTENSIONS "ValidationRule", "a validation rule in CEL",
    TEXT(1, "rule", "the CEL expression that must be true", REQUIRED, ALWAYS),
    TEXT(2, "message", "the message if the rule is violated"),
    TEXT(3, "messageExpression", "a CEL expression that returns the message"),
    TEXT(4, "reason", "the reason of the error as one word, for programs", IF_SET),
    TEXT(5, "fieldPath", "the path of the field that the error names"),
    BOOL(6, "optionalOldSelf", "true: a rule that uses oldSelf is also checked on creation",
        IF_SET));

static const struct schema_object JSON_SCHEMA; /* the type contains itself */

LOCAL_TYPE(JSON_SCHEMA, EXTENSIONS "JSONSchemaProps", "the schema of a value",
    TEXT(1, "id", "not used"),
    TEXT(2, "$schema", "the version of JSON Schema"),
    TEXT(3, "$ref", "not allowed in a CustomResourceDefinition", IF_SET),
    TEXT(4, "description", "a description of the value"),
    TEXT(5, "type", "the type: object, array, string, integer, number or boolean"),
    TEXT(6, "format", "the format of a string or number, such as date-time or int32"),
    TEXT(7, "title", "a short title of the value"),
    ANYTHING(8, "default", "the default value"),
    NUMBER(9, "maximum", "the maximum of a number", IF_SET),
    BOOL(10, "exclusiveMaximum", "true: the number must be less than the maximum"),
    NUMBER(11, "minimum", "the minimum of a number", IF_SET),
    BOOL(12, "exclusiveMinimum", "true: the number must be greater than the minimum"),
    INT64(13, "maxLength", "the maximum length of a string", IF_SET),
    INT64(14, "minLength", "the minimum length of a string", IF_SET),
    TEXT(15, "pattern", "a regular expression that a string must match"),
    INT64(16, "maxItems", "the maximum number of items in an array", IF_SET),
    INT64(17, "minItems", "the minimum number of items in an array", IF_SET),
    BOOL(18, "uniqueItems", "true: all items of an array must differ"),
    NUMBER(19, "multipleOf", "the number must be a multiple of this one", IF_SET),
    LIST_OF(20, "enum", TYPE_ANYTHING, "the allowed values"),
    INT64(21, "maxProperties", "the maximum number of properties of an object", IF_SET),
    INT64(22, "minProperties", "the minimum number of properties of an object", IF_SET),
    TEXTS(23, "required", "the names of required properties"),
    ANYTHING(24, "items", "the schema of the items of an array"),
    LIST(25, "allOf", JSON_SCHEMA, "schemas that must all match"),
    LIST(26, "oneOf", JSON_SCHEMA, "schemas of which exactly one must match"),
    LIST(27, "anyOf", JSON_SCHEMA, "schemas of which at least one must match"),
    OBJECT(28, "not", JSON_SCHEMA, "a schema that must not match"),
    MAP(29, "properties", JSON_SCHEMA, "the schema of each named property"),
    ANYTHING(30, "additionalProperties",
        "the schema of all other properties, or whether they are allowed"),
    MAP(31, "patternProperties", JSON_SCHEMA, "not allowed in a CustomResourceDefinition"),
    MAP_OF(32, "dependencies", TYPE_ANYTHING, "not allowed in a CustomResourceDefinition"),
    ANYTHING(33, "additionalItems", "not allowed in a CustomResourceDefinition"),
    MAP(34, "definitions", JSON_SCHEMA, "not allowed in a CustomResourceDefinition"),
    OBJECT(35, "externalDocs", EXTERNAL_DOCUMENTATION, "a link to further documentation"),
    ANYTHING(36, "example", "an example of the value"),
    BOOL(37, "nullable", "true: the value may be null"),
    BOOL(38, "x-kubernetes-preserve-unknown-fields",
        "true: fields that the schema does not name are kept", IF_SET),
    BOOL(39, "x-kubernetes-embedded-resource",
        "true: the value is an object with apiVersion, kind and metadata"),
    BOOL(40, "x-kubernetes-int-or-string", "true: the value is an integer or a string"),
    TEXTS(41, "x-kubernetes-list-map-keys",
        "the fields that identify an item of a list of type map"),
    TEXT(42, "x-kubernetes-list-type", "how a list is merged: atomic, set or map", IF_SET),
    TEXT(43, "x-kubernetes-map-type", "how an object is merged: granular or atomic", IF_SET),
    LIST(44, "x-kubernetes-validations", VALIDATION_RULE, "CEL rules that the value must satisfy",
        KEYS("rule"), MERGE("rule")));

LOCAL_TYPE(DEFINITION_VALIDATION, EXTENSIONS "CustomResourceValidation",
        "the schema of a custom resource",
    OBJECT(1, "openAPIV3Schema", JSON_SCHEMA, "the OpenAPI v3 schema of the objects"));

static const struct schema_object DEFINITION_SUBRESOURCE_STATUS = {
    .name = EXTENSIONS "CustomResourceSubresourceStatus",
    .doc = "has no fields; an empty object enables the status subresource",
    .fields = (const struct schema_field[]){{0}},
};

LOCAL_TYPE(DEFINITION_SUBRESOURCE_SCALE, EXTENSIONS "CustomResourceSubresourceScale",
        "the fields that the scale subresource reads and writes",
    TEXT(1, "specReplicasPath", "the JSON path of the desired number of replicas", REQUIRED,
        ALWAYS),
    TEXT(2, "statusReplicasPath", "the JSON path of the actual number of replicas", REQUIRED,
        ALWAYS),
    TEXT(3, "labelSelectorPath", "the JSON path of the label selector of the pods", IF_SET));

LOCAL_TYPE(DEFINITION_SUBRESOURCES, EXTENSIONS "CustomResourceSubresources",
        "the subresources of a custom resource",
    OBJECT(1, "status", DEFINITION_SUBRESOURCE_STATUS, "enables the status subresource"),
    OBJECT(2, "scale", DEFINITION_SUBRESOURCE_SCALE, "enables the scale subresource"));

LOCAL_TYPE(DEFINITION_COLUMN_DEFINITION, EXTENSIONS "CustomResourceColumnDefinition",
        "a column that kubectl get prints",
    TEXT(1, "name", "the title of the column", REQUIRED, ALWAYS),
    TEXT(2, "type", "the type of the column", REQUIRED, ALWAYS),
    TEXT(3, "format", "the format of the values, such as date or int32"),
    TEXT(4, "description", "a description of the column"),
    INT32(5, "priority", "the priority; columns above 0 appear only in wide output"),
    TEXT(6, "jsonPath", "the JSON path of the field that the column shows", REQUIRED, ALWAYS));

LOCAL_TYPE(SELECTABLE_FIELD, EXTENSIONS "SelectableField", "a field that field selectors can use",
    TEXT(1, "jsonPath", "the JSON path of the field", REQUIRED, ALWAYS));

LOCAL_TYPE(DEFINITION_VERSION, EXTENSIONS "CustomResourceDefinitionVersion",
        "a version of a custom resource",
    TEXT(1, "name", "the name of the version, such as v1", REQUIRED, ALWAYS),
    BOOL(2, "served", "true: the API serves this version", REQUIRED, ALWAYS),
    BOOL(3, "storage", "true: objects are stored in this version; set for exactly one version",
        REQUIRED, ALWAYS),
    BOOL(7, "deprecated", "true: requests for this version return a warning"),
    TEXT(8, "deprecationWarning", "the text of the deprecation warning", IF_SET),
    OBJECT(4, "schema", DEFINITION_VALIDATION, "the schema of the objects"),
    OBJECT(5, "subresources", DEFINITION_SUBRESOURCES, "the subresources of the objects"),
    LIST(6, "additionalPrinterColumns", DEFINITION_COLUMN_DEFINITION,
        "the columns that kubectl get prints"),
    LIST(9, "selectableFields", SELECTABLE_FIELD, "the fields that field selectors can use"));

LOCAL_TYPE(DEFINITION_NAMES, EXTENSIONS "CustomResourceDefinitionNames",
        "the names of a custom resource",
    TEXT(1, "plural", "the plural name, used in URL paths, such as lamps", REQUIRED, ALWAYS),
    TEXT(2, "singular", "the singular name"),
    TEXTS(3, "shortNames", "short names for kubectl"),
    TEXT(4, "kind", "the kind of the objects", REQUIRED, ALWAYS),
    TEXT(5, "listKind", "the kind of a list of the objects"),
    TEXTS(6, "categories", "the categories that include the resource, such as all"));

LOCAL_TYPE(WEBHOOK_SERVICE, EXTENSIONS "ServiceReference", "the service of a webhook",
    TEXT(1, "namespace", "the namespace of the service", REQUIRED, ALWAYS),
    TEXT(2, "name", "the name of the service", REQUIRED, ALWAYS),
    TEXT(3, "path", "the URL path of the webhook", IF_SET),
    INT32(4, "port", "the port of the service; default: 443", IF_SET));

LOCAL_TYPE(WEBHOOK_CLIENT_CONFIG, EXTENSIONS "WebhookClientConfig", "the address of a webhook",
    TEXT(3, "url", "the URL of the webhook", IF_SET),
    OBJECT(1, "service", WEBHOOK_SERVICE, "the service of the webhook"),
    BYTES(2, "caBundle", "the CA certificates that verify the webhook's certificate"));

LOCAL_TYPE(WEBHOOK_CONVERSION, EXTENSIONS "WebhookConversion",
        "a webhook that converts objects between versions",
    OBJECT(2, "clientConfig", WEBHOOK_CLIENT_CONFIG, "the address of the webhook"),
    TEXTS(3, "conversionReviewVersions", "the ConversionReview versions that the webhook accepts",
        REQUIRED, ALWAYS));

LOCAL_TYPE(DEFINITION_CONVERSION, EXTENSIONS "CustomResourceConversion",
        "how objects are converted between versions",
    TEXT(1, "strategy", "None: only apiVersion changes; Webhook: a webhook converts the objects",
        REQUIRED, ALWAYS, WORDS("None", "Webhook"), FALLBACK("\"None\"")),
    OBJECT(2, "webhook", WEBHOOK_CONVERSION, "the webhook; only for strategy Webhook"));

LOCAL_TYPE(DEFINITION_SPEC, EXTENSIONS "CustomResourceDefinitionSpec",
        "the definition of a custom resource",
    TEXT(1, "group", "the API group of the resource", REQUIRED, ALWAYS),
    STRUCT(3, "names", DEFINITION_NAMES, "the names of the resource", REQUIRED),
    TEXT(4, "scope", "Namespaced or Cluster: whether objects belong to a namespace", REQUIRED,
        ALWAYS, WORDS("Cluster", "Namespaced")),
    LIST(7, "versions", DEFINITION_VERSION, "the versions of the resource", REQUIRED, ALWAYS),
    OBJECT(9, "conversion", DEFINITION_CONVERSION, "how objects are converted between versions",
        FALLBACK("{\"strategy\":\"None\"}")),
    BOOL(10, "preserveUnknownFields",
        "deprecated: use x-kubernetes-preserve-unknown-fields in the schema"));

LOCAL_TYPE(DEFINITION_CONDITION, EXTENSIONS "CustomResourceDefinitionCondition",
        "a condition of a definition",
    TEXT(1, "type", "the type of the condition, such as Established", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(4, "reason", "the reason as one word, for programs"),
    TEXT(5, "message", "the reason as a sentence, for people"),
    INT64(6, "observedGeneration", "the metadata.generation that the condition was set for"));

LOCAL_TYPE(DEFINITION_STATUS, EXTENSIONS "CustomResourceDefinitionStatus",
        "the current state of a definition",
    LIST(1, "conditions", DEFINITION_CONDITION, "the conditions of the definition", ALWAYS,
        KEYS("type")),
    STRUCT(2, "acceptedNames", DEFINITION_NAMES, "the names that the server has accepted"),
    TEXTS(3, "storedVersions", "the versions in which objects have ever been stored", ALWAYS),
    INT64(4, "observedGeneration", "the newest metadata.generation that the server has processed"));

TYPE(TYPE_CUSTOM_RESOURCE_DEFINITION, EXTENSIONS "CustomResourceDefinition",
        "defines a custom resource of the API",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", DEFINITION_SPEC, "the definition of the resource", REQUIRED),
    STRUCT(3, "status", DEFINITION_STATUS, "its current state"));
