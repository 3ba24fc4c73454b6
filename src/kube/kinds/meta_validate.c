/* Validates metadata, with Kubernetes' messages; see meta.h. */
#include "kube/kinds/meta.h"

#include "base/str.h"
#include "kube/object.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    ANNOTATIONS_MAX = 256 * 1024, /* bytes of keys and values, as in Kubernetes */
    LABEL_NAME_MAX = 63,
};

const char *meta_name_complaint(enum kube_name_rule rule, const char *name)
{
    switch (rule) {
    case NAME_SUBDOMAIN:
        if (strlen(name) > 253)
            return "must be no more than 253 characters";
        return str_is_dns_subdomain(name)
                   ? NULL
                   : "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                     "characters, '-' or '.', and must start and end with an alphanumeric "
                     "character (e.g. 'example.com', regex used for validation is "
                     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    case NAME_LABEL:
        if (strlen(name) > LABEL_NAME_MAX)
            return "must be no more than 63 characters";
        return str_is_dns_label(name)
                   ? NULL
                   : "a lowercase RFC 1123 label must consist of lower case alphanumeric "
                     "characters or '-', and must start and end with an alphanumeric character "
                     "(e.g. 'my-name',  or '123-abc', regex used for validation is "
                     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    case NAME_LABEL1035:
        if (strlen(name) > LABEL_NAME_MAX)
            return "must be no more than 63 characters";
        return str_is_dns1035_label(name)
                   ? NULL
                   : "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
                     "start with an alphabetic character, and end with an alphanumeric character "
                     "(e.g. 'my-name',  or 'abc-123', regex used for validation is "
                     "'[a-z]([-a-z0-9]*[a-z0-9])?')";
    case NAME_PATH:
        if (str_eq(name, ".") || str_eq(name, ".."))
            return "may not be '.' or '..'";
        return strlen(name) > 253  ? "must be no more than 253 characters"
               : strchr(name, '/') ? "may not contain '/'"
               : strchr(name, '%') ? "may not contain '%'"
                                   : NULL;
    }
    return NULL;
}

/* Returns whether the text has the form of label values and of the last part of qualified names:
 * letters, digits, '-', '_' and '.', with a letter or digit at both ends. */
static bool has_plain_letters(const char *text)
{
    size_t size = strlen(text);
    if (size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        bool edge = i == 0 || i == size - 1;
        if (c >= 0x80 || (!isalnum(c) && (edge || !strchr("-_.", c))))
            return false;
    }
    return true;
}

static bool is_plain_name(const char *text)
{
    return strlen(text) <= LABEL_NAME_MAX && has_plain_letters(text);
}

bool meta_is_qualified_name(const char *text)
{
    const char *slash = strchr(text, '/');
    if (!slash)
        return is_plain_name(text);
    char prefix[254];
    size_t size = (size_t)(slash - text);
    if (size >= sizeof(prefix))
        return false;
    memcpy(prefix, text, size);
    prefix[size] = '\0';
    return str_is_dns_subdomain(prefix) && is_plain_name(slash + 1);
}

#define NAME_WORDS                                                                                 \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "    \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "         \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

void meta_validate_label_name(struct field_errors *errors, const char *key, const char *field)
{
    const struct json *value = json_string(errors->arena, key);
    const char *slash = strchr(key, '/'), *name = slash ? slash + 1 : key;
    if (strchr(name, '/')) {
        field_invalid(errors, field, value,
                      "a qualified name " NAME_WORDS
                      " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
        return;
    }
    if (slash) {
        const char *prefix = arena_strndup(errors->arena, key, (size_t)(slash - key));
        const char *complaint = meta_name_complaint(NAME_SUBDOMAIN, prefix);
        if (prefix[0] == '\0')
            field_invalid(errors, field, value, "prefix part must be non-empty");
        else if (complaint)
            field_invalid(errors, field, value, "prefix part %s", complaint);
    }
    if (name[0] == '\0')
        field_invalid(errors, field, value, "name part must be non-empty");
    else if (strlen(name) > LABEL_NAME_MAX)
        field_invalid(errors, field, value, "name part must be no more than %d characters",
                      LABEL_NAME_MAX);
    if (!has_plain_letters(name))
        field_invalid(errors, field, value, "name part " NAME_WORDS);
}

void meta_validate_label_value(struct field_errors *errors, const char *value, const char *field)
{
    const struct json *shown = json_string(errors->arena, value);
    if (strlen(value) > LABEL_NAME_MAX)
        field_invalid(errors, field, shown, "must be no more than %d characters", LABEL_NAME_MAX);
    if (value[0] != '\0' && !has_plain_letters(value))
        field_invalid(errors, field, shown,
                      "a valid label must be an empty string or consist of alphanumeric "
                      "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                      "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
                      "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
}

void meta_validate_labels(struct field_errors *errors, const struct json *labels, const char *field)
{
    JSON_EACH (label, labels) {
        meta_validate_label_name(errors, label->name, field);
        meta_validate_label_value(errors, json_text(label) ? label->text : "?", field);
    }
}

void meta_validate_annotations(struct field_errors *errors, const struct json *annotations,
                               const char *field)
{
    size_t total = 0;
    JSON_EACH (annotation, annotations) {
        meta_validate_label_name(errors, annotation->name, field);
        total += strlen(annotation->name) + (json_text(annotation) ? annotation->size : 0);
    }
    if (total > ANNOTATIONS_MAX)
        field_too_long(errors, field, ANNOTATIONS_MAX);
}

static void validate_owners(struct field_errors *errors, const struct json *owners)
{
    static const char *const needed[] = {"kind", "name", "uid", NULL};
    const char *controller = NULL;
    JSON_EACH (owner, owners) {
        if (str_is_empty(json_get_string(owner, "apiVersion", "")))
            field_invalid(errors, "metadata.ownerReferences.apiVersion",
                          json_string(errors->arena, ""), "version must not be empty");
        for (size_t i = 0; needed[i]; i++)
            if (str_is_empty(json_get_string(owner, needed[i], "")))
                field_invalid(errors, field_path(errors, "metadata.ownerReferences.%s", needed[i]),
                              json_string(errors->arena, ""), "%s must not be empty", needed[i]);
        if (!json_get_bool(owner, "controller", false))
            continue;
        if (controller)
            field_invalid(errors, "metadata.ownerReferences", owners,
                          "Only one reference can have Controller set to true. Found \"true\" in "
                          "references for %s and %s",
                          controller, json_get_string(owner, "name", ""));
        controller = json_get_string(owner, "name", "");
    }
}

/* Validates a finalizer. Without a domain it must be one of Kubernetes' own. `custom`: the kind is
 * not one of Kubernetes, and this rule does not apply. */
static void validate_finalizer(struct field_errors *errors, bool custom, const char *text,
                               size_t position)
{
    static const char *const standard[] = {"kubernetes", "orphan", "foregroundDeletion", NULL};
    meta_validate_label_name(errors, text, "metadata.finalizers");
    for (size_t i = 0; standard[i]; i++)
        if (str_eq(text, standard[i]))
            return;
    if (!custom && !strchr(text, '/'))
        field_invalid(errors, field_path(errors, "metadata.finalizers[%zu]", position),
                      json_string(errors->arena, text),
                      "name is neither a standard finalizer name nor is it fully qualified");
}

static void validate_finalizers(struct field_errors *errors, bool custom, const struct json *object,
                                const struct json *old)
{
    size_t position = 0;
    JSON_EACH (finalizer, json_at(object, "metadata", "finalizers", NULL)) {
        const char *text = json_text(finalizer);
        validate_finalizer(errors, custom, text ? text : "", position++);
        if (old && kube_meta_is_deleting(old) && text && !kube_meta_has_finalizer(old, text))
            field_forbidden(errors, "metadata.finalizers",
                            arena_printf(errors->arena,
                                         "no new finalizers can be added if the object is being "
                                         "deleted, found new finalizers []string{\"%s\"}",
                                         text));
    }
}

void meta_validate(struct field_errors *errors, const struct kube_kind *resource,
                   const struct json *object, const struct json *old)
{
    const struct json *meta = json_get(object, "metadata");
    const char *name = kube_meta_name(object);
    if (name[0] == '\0') {
        field_required(errors, "metadata.name", "name or generateName is required");
    } else if (!old) {
        const char *complaint = meta_name_complaint(resource->name_rule, name);
        if (complaint)
            field_invalid(errors, "metadata.name", json_get(meta, "name"), "%s", complaint);
    }
    meta_validate_labels(errors, json_get(meta, "labels"), "metadata.labels");
    meta_validate_annotations(errors, json_get(meta, "annotations"), "metadata.annotations");
    validate_owners(errors, json_get(meta, "ownerReferences"));
    validate_finalizers(errors, resource->form != SCHEMA_FORM_TYPED, object, old);
}
