/* Types of CustomResourceDefinitions. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(EXTERNAL_DOCUMENTATION, EXTENSIONS "ExternalDocumentation",
        "where there is more to read",
    TEXT(1, "description", "a description of the page"),
    TEXT(2, "url", "its address"));

LOCAL_TYPE(VALIDATION_RULE, EXTENSIONS "ValidationRule", "a rule in the expression language CEL",
    TEXT(1, "rule", "the expression that must hold", REQUIRED, ALWAYS),
    TEXT(2, "message", "the message if the rule is violated"),
    TEXT(3, "messageExpression", "an expression that returns the message"),
    TEXT(4, "reason", "why it is refused, as one word for programs", IF_SET),
    TEXT(5, "fieldPath", "the field that is named as the cause"),
    BOOL(6, "optionalOldSelf", "true: the rule is also checked for new values", IF_SET));

static const struct schema_object JSON_SCHEMA; /* it contains itself */

LOCAL_TYPE(JSON_SCHEMA, EXTENSIONS "JSONSchemaProps", "what a value must look like",
    TEXT(1, "id", "not used"),
    TEXT(2, "$schema", "which version of JSON schema it is written in"),
    TEXT(3, "$ref", "not allowed here", IF_SET),
    TEXT(4, "description", "a description"),
    TEXT(5, "type", "object, array, string, integer, number or boolean"),
    TEXT(6, "format", "what kind of string or number, such as int32 or date-time"),
    TEXT(7, "title", "a short description"),
    ANYTHING(8, "default", "the value where none is given"),
    NUMBER(9, "maximum", "the largest number", IF_SET),
    BOOL(10, "exclusiveMaximum", "true: the number must be smaller than the maximum"),
    NUMBER(11, "minimum", "the smallest number", IF_SET),
    BOOL(12, "exclusiveMinimum", "true: the number must be larger than the minimum"),
    INT64(13, "maxLength", "the most characters", IF_SET),
    INT64(14, "minLength", "the least characters", IF_SET),
    TEXT(15, "pattern", "a regular expression the text must match"),
    INT64(16, "maxItems", "the most elements", IF_SET),
    INT64(17, "minItems", "the least elements", IF_SET),
    BOOL(18, "uniqueItems", "true: no two elements are the same"),
    NUMBER(19, "multipleOf", "a number it must be a multiple of", IF_SET),
    LIST_OF(20, "enum", TYPE_ANYTHING, "the values there are"),
    INT64(21, "maxProperties", "the most members", IF_SET),
    INT64(22, "minProperties", "the least members", IF_SET),
    TEXTS(23, "required", "members that must be there"),
    ANYTHING(24, "items", "what the elements look like"),
    LIST(25, "allOf", JSON_SCHEMA, "all of these must hold, too"),
    LIST(26, "oneOf", JSON_SCHEMA, "exactly one of these must hold"),
    LIST(27, "anyOf", JSON_SCHEMA, "at least one of these must hold"),
    OBJECT(28, "not", JSON_SCHEMA, "this must not hold"),
    MAP(29, "properties", JSON_SCHEMA, "what members of these names look like"),
    ANYTHING(30, "additionalProperties", "what all other members look like"),
    MAP(31, "patternProperties", JSON_SCHEMA, "not allowed here"),
    MAP_OF(32, "dependencies", TYPE_ANYTHING, "not allowed here"),
    ANYTHING(33, "additionalItems", "not allowed here"),
    MAP(34, "definitions", JSON_SCHEMA, "not allowed here"),
    OBJECT(35, "externalDocs", EXTERNAL_DOCUMENTATION, "where there is more to read"),
    ANYTHING(36, "example", "an example"),
    BOOL(37, "nullable", "true: it may be null"),
    BOOL(38, "x-kubernetes-preserve-unknown-fields",
        "true: members that are not described are kept", IF_SET),
    BOOL(39, "x-kubernetes-embedded-resource",
        "true: it is a whole object with metadata of its own"),
    BOOL(40, "x-kubernetes-int-or-string", "true: a whole number or a text"),
    TEXTS(41, "x-kubernetes-list-map-keys", "members that tell the elements of a list apart"),
    TEXT(42, "x-kubernetes-list-type", "how a list is merged: atomic, set or map", IF_SET),
    TEXT(43, "x-kubernetes-map-type", "how an object is merged: granular or atomic", IF_SET),
    LIST(44, "x-kubernetes-validations", VALIDATION_RULE, "rules that must hold besides",
        KEYS("rule"), MERGE("rule")));

LOCAL_TYPE(DEFINITION_VALIDATION, EXTENSIONS "CustomResourceValidation",
        "what objects must look like",
    OBJECT(1, "openAPIV3Schema", JSON_SCHEMA, "the schema"));

static const struct schema_object DEFINITION_SUBRESOURCE_STATUS = {
    .name = EXTENSIONS "CustomResourceSubresourceStatus",
    .doc = "nothing is said of it: that it is there is enough",
    .fields = (const struct schema_field[]){{0}},
};

LOCAL_TYPE(DEFINITION_SUBRESOURCE_SCALE, EXTENSIONS "CustomResourceSubresourceScale",
        "where a resource has its number of replicas",
    TEXT(1, "specReplicasPath", "the field with the number that is wanted", REQUIRED, ALWAYS),
    TEXT(2, "statusReplicasPath", "the field with the number there is", REQUIRED, ALWAYS),
    TEXT(3, "labelSelectorPath", "the field with the selector of its pods", IF_SET));

LOCAL_TYPE(DEFINITION_SUBRESOURCES, EXTENSIONS "CustomResourceSubresources",
        "the subresources of an object",
    OBJECT(1, "status", DEFINITION_SUBRESOURCE_STATUS, "the status has a subresource of its own"),
    OBJECT(2, "scale", DEFINITION_SUBRESOURCE_SCALE,
        "the number of replicas has a subresource of its own"));

LOCAL_TYPE(DEFINITION_COLUMN_DEFINITION, EXTENSIONS "CustomResourceColumnDefinition",
        "a column of what kubectl prints",
    TEXT(1, "name", "its title", REQUIRED, ALWAYS),
    TEXT(2, "type", "the type of the column", REQUIRED, ALWAYS),
    TEXT(3, "format", "how that is written, such as date"),
    TEXT(4, "description", "a description of the column"),
    INT32(5, "priority", "more than 0: only in wide output"),
    TEXT(6, "jsonPath", "the field it shows", REQUIRED, ALWAYS));

LOCAL_TYPE(SELECTABLE_FIELD, EXTENSIONS "SelectableField", "a field that field selectors may name",
    TEXT(1, "jsonPath", "its path", REQUIRED, ALWAYS));

LOCAL_TYPE(DEFINITION_VERSION, EXTENSIONS "CustomResourceDefinitionVersion",
        "one version of a kind",
    TEXT(1, "name", "its name, such as v1", REQUIRED, ALWAYS),
    BOOL(2, "served", "whether the API serves it", REQUIRED, ALWAYS),
    BOOL(3, "storage", "true: objects are stored in it; one version only", REQUIRED, ALWAYS),
    BOOL(7, "deprecated", "true: clients that use the version get a warning"),
    TEXT(8, "deprecationWarning", "what the warning says", IF_SET),
    OBJECT(4, "schema", DEFINITION_VALIDATION, "what its objects look like"),
    OBJECT(5, "subresources", DEFINITION_SUBRESOURCES, "the subresources of its objects"),
    LIST(6, "additionalPrinterColumns", DEFINITION_COLUMN_DEFINITION, "the columns kubectl prints"),
    LIST(9, "selectableFields", SELECTABLE_FIELD, "fields that selectors may name"));

LOCAL_TYPE(DEFINITION_NAMES, EXTENSIONS "CustomResourceDefinitionNames", "what a kind is called",
    TEXT(1, "plural", "its name in paths, such as lamps", REQUIRED, ALWAYS),
    TEXT(2, "singular", "its name in the singular"),
    TEXTS(3, "shortNames", "shorter names for kubectl"),
    TEXT(4, "kind", "the kind of its objects", REQUIRED, ALWAYS),
    TEXT(5, "listKind", "the kind of lists of them"),
    TEXTS(6, "categories", "groups of resources it belongs to, such as all"));

LOCAL_TYPE(WEBHOOK_SERVICE, EXTENSIONS "ServiceReference", "the service to call",
    TEXT(1, "namespace", "its namespace", REQUIRED, ALWAYS),
    TEXT(2, "name", "its name", REQUIRED, ALWAYS),
    TEXT(3, "path", "the path of the request", IF_SET),
    INT32(4, "port", "its port, 443 by default", IF_SET));

LOCAL_TYPE(WEBHOOK_CLIENT_CONFIG, EXTENSIONS "WebhookClientConfig", "how a webhook is reached",
    TEXT(3, "url", "by this address", IF_SET),
    OBJECT(1, "service", WEBHOOK_SERVICE, "through this service"),
    BYTES(2, "caBundle", "the CA certificate that has signed the webhook's certificate"));

LOCAL_TYPE(WEBHOOK_CONVERSION, EXTENSIONS "WebhookConversion",
        "a webhook that converts between versions",
    OBJECT(2, "clientConfig", WEBHOOK_CLIENT_CONFIG, "how it is reached"),
    TEXTS(3, "conversionReviewVersions", "the versions of the question it understands", REQUIRED,
        ALWAYS));

LOCAL_TYPE(DEFINITION_CONVERSION, EXTENSIONS "CustomResourceConversion",
        "how objects get from one version to another",
    TEXT(1, "strategy", "None: only apiVersion is changed; Webhook: a webhook converts objects",
        REQUIRED, ALWAYS, WORDS("None", "Webhook"), FALLBACK("\"None\"")),
    OBJECT(2, "webhook", WEBHOOK_CONVERSION, "the webhook that converts"));

LOCAL_TYPE(DEFINITION_SPEC, EXTENSIONS "CustomResourceDefinitionSpec", "a new kind of object",
    TEXT(1, "group", "the group it belongs to", REQUIRED, ALWAYS),
    STRUCT(3, "names", DEFINITION_NAMES, "its names", REQUIRED),
    TEXT(4, "scope", "whether its objects are in namespaces", REQUIRED, ALWAYS,
        WORDS("Cluster", "Namespaced")),
    LIST(7, "versions", DEFINITION_VERSION, "its versions", REQUIRED, ALWAYS),
    OBJECT(9, "conversion", DEFINITION_CONVERSION, "how objects get from one version to another",
        FALLBACK("{\"strategy\":\"None\"}")),
    BOOL(10, "preserveUnknownFields", "not allowed any more; say it in the schema"));

LOCAL_TYPE(DEFINITION_CONDITION, EXTENSIONS "CustomResourceDefinitionCondition",
        "a condition of a definition",
    TEXT(1, "type", "the type of the condition, such as Established", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(4, "reason", "the reason as one word, for programs"),
    TEXT(5, "message", "the reason as a sentence, for people"),
    INT64(6, "observedGeneration", "the generation of the object that this was said of"));

LOCAL_TYPE(DEFINITION_STATUS, EXTENSIONS "CustomResourceDefinitionStatus",
        "the present state of a definition",
    LIST(1, "conditions", DEFINITION_CONDITION, "its conditions", ALWAYS, KEYS("type")),
    STRUCT(2, "acceptedNames", DEFINITION_NAMES, "the names it got"),
    TEXTS(3, "storedVersions", "the versions in which objects were ever stored", ALWAYS),
    INT64(4, "observedGeneration", "the generation that was acted on"));

TYPE(TYPE_CUSTOM_RESOURCE_DEFINITION, EXTENSIONS "CustomResourceDefinition",
        "a kind of object that is added to the API",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", DEFINITION_SPEC, "its specification", REQUIRED),
    STRUCT(3, "status", DEFINITION_STATUS, "its present state"));
