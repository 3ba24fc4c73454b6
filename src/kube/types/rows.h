/* Macros that define a type and its fields in a field table. For example:
 *
 *   LOCAL_TYPE(CONTAINER_PORT, CORE "ContainerPort", "a port that a container listens on",
 *       TEXT(1, "name", "the name of the port, which services can refer to"),
 *       INT32(3, "containerPort", "the port number in the container", REQUIRED, ALWAYS));
 *
 * A row has the field's number in protobuf, its name, a type in macros such as OBJECT and LIST, a
 * description for `kubectl explain`, and further properties. The tables are laid out by hand with
 * one field per row, because clang-format would put several rows into one line. */
#ifndef TRAINYARD_KUBE_TYPES_ROWS_H
#define TRAINYARD_KUBE_TYPES_ROWS_H

#include "kube/schema/rules.h"
#include "kube/schema/schema.h"

/* ---- Types ----------------------------------------------------------------------------------- */

/* TYPE is exported, LOCAL_TYPE is static. In server-side apply, one field manager owns a value of
 * an …_ATOMIC type as a whole. A …_CHECKED type belongs to a custom resource: its rules are part
 * of the resource's definition (schema_has_rules()). */
#define TYPE(type_, name_, doc_, ...) DEFINE_TYPE(, false, false, type_, name_, doc_, __VA_ARGS__)
#define TYPE_ATOMIC(type_, name_, doc_, ...)                                                       \
    DEFINE_TYPE(, true, false, type_, name_, doc_, __VA_ARGS__)
#define TYPE_CHECKED(type_, name_, doc_, ...)                                                      \
    DEFINE_TYPE(, false, true, type_, name_, doc_, __VA_ARGS__)
#define LOCAL_TYPE(type_, name_, doc_, ...)                                                        \
    DEFINE_TYPE(static, false, false, type_, name_, doc_, __VA_ARGS__)
#define LOCAL_TYPE_ATOMIC(type_, name_, doc_, ...)                                                 \
    DEFINE_TYPE(static, true, false, type_, name_, doc_, __VA_ARGS__)
#define LOCAL_TYPE_CHECKED(type_, name_, doc_, ...)                                                \
    DEFINE_TYPE(static, false, true, type_, name_, doc_, __VA_ARGS__)

#define DEFINE_TYPE(storage_, atomic_, checked_, type_, name_, doc_, ...)                          \
    static const struct schema_field type_##_FIELDS[] = {__VA_ARGS__, {0}};                        \
    storage_ const struct schema_object type_ = {.name = (name_),                                  \
                                                 .doc = (doc_),                                    \
                                                 .fields = type_##_FIELDS,                         \
                                                 .atomic = (atomic_),                              \
                                                 .checked = (checked_)}

/* The prefixes of the type names in OpenAPI. */
#define CORE           "io.k8s.api.core.v1."
#define META           "io.k8s.apimachinery.pkg.apis.meta.v1."
#define APPS           "io.k8s.api.apps.v1."
#define AUTHENTICATION "io.k8s.api.authentication.v1."
#define AUTHORIZATION  "io.k8s.api.authorization.v1."
#define AUTOSCALING    "io.k8s.api.autoscaling.v1."
#define BATCH          "io.k8s.api.batch.v1."
#define COORDINATION   "io.k8s.api.coordination.v1."
#define DISCOVERY      "io.k8s.api.discovery.v1."
#define EXTENSIONS     "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
#define METRICS        "io.k8s.metrics.pkg.apis.metrics.v1beta1."
#define POLICY         "io.k8s.api.policy.v1."
#define RBAC           "io.k8s.api.rbac.v1."
#define SCHEDULING     "io.k8s.api.scheduling.v1."
#define STORAGE        "io.k8s.api.storage.v1."

/* ---- Fields ---------------------------------------------------------------------------------- */

/* The first of `...` is the description. The others are further properties (below). */
#define ROW(number_, name_, type_, ...)                                                            \
    {                                                                                              \
        .name = (name_), .number = (number_), .value.type = (type_), .doc = __VA_ARGS__            \
    }

#define TEXT(number_, name_, ...)        ROW(number_, name_, SCHEMA_STRING, __VA_ARGS__)
#define BOOL(number_, name_, ...)        ROW(number_, name_, SCHEMA_BOOL, __VA_ARGS__)
#define INT32(number_, name_, ...)       ROW(number_, name_, SCHEMA_INT32, __VA_ARGS__)
#define INT64(number_, name_, ...)       ROW(number_, name_, SCHEMA_INT64, __VA_ARGS__)
#define NUMBER(number_, name_, ...)      ROW(number_, name_, SCHEMA_NUMBER, __VA_ARGS__)
#define BYTES(number_, name_, ...)       ROW(number_, name_, SCHEMA_BYTES, __VA_ARGS__)
#define QUANTITY(number_, name_, ...)    ROW(number_, name_, SCHEMA_QUANTITY, __VA_ARGS__)
#define INT_OR_TEXT(number_, name_, ...) ROW(number_, name_, SCHEMA_INT_OR_STRING, __VA_ARGS__)
#define TIME(number_, name_, ...)        ROW(number_, name_, SCHEMA_TIME, __VA_ARGS__)
#define MICRO_TIME(number_, name_, ...)  ROW(number_, name_, SCHEMA_MICRO_TIME, __VA_ARGS__)
#define ANYTHING(number_, name_, ...)    ROW(number_, name_, SCHEMA_ANY, __VA_ARGS__)

/* OBJECT may be absent. STRUCT is always written; an empty one is written as {}. */
#define OBJECT(number_, name_, object_, ...)                                                       \
    ROW(number_, name_, SCHEMA_OBJECT, __VA_ARGS__, .value.object = &(object_),                    \
        .presence = PRESENCE_IF_SET)
#define STRUCT(number_, name_, object_, ...)                                                       \
    ROW(number_, name_, SCHEMA_OBJECT, __VA_ARGS__, .value.object = &(object_),                    \
        .presence = PRESENCE_ALWAYS)

/* Lists and maps. The values of LIST and MAP are objects of a type, those of TEXTS and TEXT_MAP are
 * strings, and those of LIST_OF and MAP_OF are of any other type (TYPE_INT32, …). */
#define LIST(number_, name_, object_, ...)                                                         \
    ROW(number_, name_, SCHEMA_LIST, __VA_ARGS__, .value.items = OBJECT_OF(object_))
#define MAP(number_, name_, object_, ...)                                                          \
    ROW(number_, name_, SCHEMA_MAP, __VA_ARGS__, .value.items = OBJECT_OF(object_))
#define LIST_OF(number_, name_, items_, ...)                                                       \
    ROW(number_, name_, SCHEMA_LIST, __VA_ARGS__, .value.items = &(items_))
#define MAP_OF(number_, name_, items_, ...)                                                        \
    ROW(number_, name_, SCHEMA_MAP, __VA_ARGS__, .value.items = &(items_))
#define TEXTS(number_, name_, ...)    LIST_OF(number_, name_, TYPE_TEXT, __VA_ARGS__)
#define TEXT_MAP(number_, name_, ...) MAP_OF(number_, name_, TYPE_TEXT, __VA_ARGS__)

#define OBJECT_OF(object_) (&(const struct schema){.type = SCHEMA_OBJECT, .object = &(object_)})

/* The first fields of every kind. */
#define KIND_ROWS                                                                                  \
    TEXT(0, "apiVersion", "the API group and version of this object"),                             \
        TEXT(0, "kind", "the kind of this object")
#define METADATA(number_)                                                                          \
    STRUCT(number_, "metadata", TYPE_OBJECT_META, "the object's name, labels and other metadata")

/* ---- Further properties of a field ----------------------------------------------------------- */

/* Each macro sets the member of the same meaning in struct schema_field, struct schema or struct
 * schema_rules. AT_LEAST and WITHIN limit a number. NOT_EMPTY requires a map with entries. */

#define REQUIRED          .required = true
#define IF_SET            .presence = PRESENCE_IF_SET
#define ALWAYS            .presence = PRESENCE_ALWAYS
#define FALLBACK(text_)   .fallback = (text_)
#define UNSUPPORTED(why_) .unsupported = (why_)
#define ATOMIC            .value.atomic = true
#define SET               .value.set = true
#define KEYS(...)                                                                                  \
    .value.keys = (const char *const[])                                                            \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define MERGE(key_) .value.merge_key = (key_)
#define RETAIN      .value.retain = true
#define WORDS(...)                                                                                 \
    .value.rules = &(const struct schema_rules)                                                    \
    {                                                                                              \
        .words = (const char *const[])                                                             \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
#define RULES(...)                                                                                 \
    .value.rules = &(const struct schema_rules)                                                    \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define AT_LEAST(min_) RULES(.minimum = {.given = true, .value = (min_)})
#define WITHIN(min_, max_)                                                                         \
    RULES(.minimum = {.given = true, .value = (min_)}, .maximum = {.given = true, .value = (max_)})
#define NOT_EMPTY RULES(.members_min = {.given = true, .value = 1})

/* The number of a field that protobuf has in an inner message. */
#define INSIDE(outer_, number_) SCHEMA_INSIDE(outer_, number_)

#endif
