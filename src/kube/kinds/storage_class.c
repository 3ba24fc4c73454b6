/* StorageClasses: their row and validation. */
#include "kube/kinds/row.h"

#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/rule.h"

#include <ctype.h>
#include <string.h>

enum { PARAMETERS_MAX = 512, PARAMETERS_SIZE_MAX = 256 * 1024 };

static void validate_provisioner(struct field_errors *errors, const struct json *class_)
{
    const char *name = json_get_string(class_, "provisioner", "");
    if (name[0] == '\0') {
        field_required(errors, "provisioner", NULL);
        return;
    }
    char *lower = arena_strdup(errors->arena, name);
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    meta_validate_label_name(errors, lower, "provisioner");
}

static void validate_parameters(struct field_errors *errors, const struct json *parameters)
{
    size_t total = 0;
    if (json_count(parameters) > PARAMETERS_MAX) {
        field_too_long(errors, "parameters", PARAMETERS_MAX);
        return;
    }
    JSON_EACH (parameter, parameters) {
        total += strlen(parameter->name) + (json_text(parameter) ? parameter->size : 0);
        if (parameter->name[0] == '\0')
            field_invalid(errors, "parameters", json_string(errors->arena, ""),
                          "field can not be empty.");
    }
    if (total > PARAMETERS_SIZE_MAX)
        field_too_long(errors, "parameters", PARAMETERS_SIZE_MAX);
}

static void validate_word(struct field_errors *errors, const struct json *class_, const char *name,
                          const char *const *words)
{
    const char *word = json_get_string(class_, name, "");
    for (size_t i = 0; words[i]; i++)
        if (str_eq(word, words[i]))
            return;
    field_unsupported(errors, name, word, words);
}

static void storage_class_validate(struct field_errors *errors, const struct json *class_,
                                   const struct json *old)
{
    static const char *const policies[] = {"Delete", "Retain", NULL};
    static const char *const modes[] = {"Immediate", "WaitForFirstConsumer", NULL};
    static const char *const fixed[] = {"parameters", "provisioner", "reclaimPolicy",
                                        "volumeBindingMode", NULL};
    for (size_t i = 0; old && fixed[i]; i++) {
        bool forbidden = i < 3; /* the message differs for the three oldest fields */
        if (forbidden && !rule_same(json_get(class_, fixed[i]), json_get(old, fixed[i])))
            field_forbidden(errors, fixed[i],
                            arena_printf(errors->arena, "updates to %s are forbidden.", fixed[i]));
        else if (!forbidden)
            rule_immutable(errors, json_get(class_, fixed[i]), json_get(old, fixed[i]), fixed[i]);
    }
    if (old)
        return;
    validate_provisioner(errors, class_);
    validate_parameters(errors, json_get(class_, "parameters"));
    validate_word(errors, class_, "reclaimPolicy", policies);
    validate_word(errors, class_, "volumeBindingMode", modes);
}

static const struct kube_column CLASS_COLUMNS[] = {
    {"Name", "string", "name", "Name of the class, and whether it is the default.", 0,
     table_class_name},
    COLUMN_TEXT("Provisioner", "Provisioner of its volumes.", table_class_provisioner),
    COLUMN_TEXT("ReclaimPolicy", "What happens to a volume after its claim is deleted.",
                table_class_reclaim),
    COLUMN_TEXT("VolumeBindingMode", "When volumes are provisioned and bound.",
                table_class_binding),
    COLUMN_TEXT("AllowVolumeExpansion", "Whether claims of the class can be expanded.",
                table_class_expansion),
    COLUMN_AGE,
};

/* clang-format off */

KUBE_KIND(KUBE_STORAGECLASSES, KUBE_STORAGECLASS_KIND, "storage.k8s.io", "v1", "storageclasses",
        "StorageClass", CLUSTER_WIDE,
    .schema = &TYPE_STORAGE_CLASS,
    .singular = "storageclass",
    .short_names = NAMES("sc"),
    .verbs = VERBS_ALL,
    .columns = COLUMNS(CLASS_COLUMNS),
    .hooks = {.validate = storage_class_validate});
