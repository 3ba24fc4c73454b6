/* Validates the volumes of a pod; see validate.h. */
#include "kube/kinds/pod/validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/rule.h"
#include "kube/kinds/volume.h"
#include "kube/object.h"
#include "kube/pod_claim.h"
#include "kube/quantity.h"

static void validate_mode(struct field_errors *errors, const struct json *source, const char *name,
                          const char *field)
{
    const struct json *mode = json_get(source, name);
    if (mode && mode->type == JSON_INT && (mode->integer < 0 || mode->integer > 0777))
        field_invalid(errors, field_path(errors, "%s.%s", field, name), mode,
                      "must be a number between 0 and 0777 (octal), both inclusive");
}

static void validate_needed(struct field_errors *errors, const struct json *source,
                            const char *name, const char *field)
{
    if (json_get_string(source, name, "")[0] == '\0')
        field_required(errors, field_path(errors, "%s.%s", field, name), NULL);
}

static void validate_target(struct field_errors *errors, const struct json *item, const char *field)
{
    const char *path = json_get_string(item, "path", "");
    validate_needed(errors, item, "path", field);
    rule_file_path(errors, path, field_path(errors, "%s.path", field));
    validate_mode(errors, item, "mode", field);
}

static void validate_items(struct field_errors *errors, const struct json *source,
                           const char *field)
{
    size_t position = 0;
    JSON_EACH (item, json_get(source, "items")) {
        const char *path = field_path(errors, "%s.items[%zu]", field, position++);
        validate_needed(errors, item, "key", path);
        validate_target(errors, item, path);
    }
}

/* Validates the files of a ConfigMap or Secret volume. */
static void validate_files(struct field_errors *errors, const struct json *source, const char *name,
                           const char *field)
{
    validate_needed(errors, source, name, field);
    validate_mode(errors, source, "defaultMode", field);
    validate_items(errors, source, field);
}

static void validate_downward(struct field_errors *errors, const struct json *source,
                              const char *field)
{
    static const char *const fields[] = {"metadata.annotations", "metadata.labels", "metadata.name",
                                         "metadata.namespace",   "metadata.uid",    NULL};
    validate_mode(errors, source, "defaultMode", field);
    JSON_EACH (item, json_get(source, "items")) {
        const struct json *ref = json_get(item, "fieldRef");
        const struct json *resource = json_get(item, "resourceFieldRef");
        validate_target(errors, item, field);
        if (ref && resource)
            field_invalid(errors, field, json_string(errors->arena, "resource"),
                          "fieldRef and resourceFieldRef can not be specified simultaneously");
        else if (ref)
            kube_pod_validate_field_ref(errors, ref, fields,
                                        field_path(errors, "%s.fieldRef", field));
        else if (resource)
            kube_pod_validate_resource_ref(errors, resource,
                                           field_path(errors, "%s.resourceFieldRef", field));
        else
            field_required(errors, field, "one of fieldRef and resourceFieldRef is required");
    }
}

void kube_pod_validate_host_path(struct field_errors *errors, const struct json *source,
                                 const char *field)
{
    static const char *const types[] = {
        "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
        "File", "FileOrCreate", "Socket",     NULL};
    validate_needed(errors, source, "path", field);
    rule_no_backsteps(errors, json_get_string(source, "path", ""),
                      field_path(errors, "%s.path", field));
    rule_word(errors, source, "type", types, field);
}

static void validate_empty(struct field_errors *errors, const struct json *source,
                           const char *field)
{
    struct kube_quantity limit;
    if (kube_quantity_from_json(json_get(source, "sizeLimit"), &limit, NULL) == 0 && limit.nano < 0)
        field_forbidden(errors, field_path(errors, "%s.sizeLimit", field),
                        "SizeLimit field must be a valid resource quantity");
}

void kube_pod_validate_nfs(struct field_errors *errors, const struct json *source,
                           const char *field)
{
    const char *path = json_get_string(source, "path", "");
    validate_needed(errors, source, "server", field);
    validate_needed(errors, source, "path", field);
    if (path[0] && path[0] != '/')
        field_invalid(errors, field_path(errors, "%s.path", field), json_get(source, "path"),
                      "must be an absolute path");
}

static void validate_claim(struct field_errors *errors, const struct json *source,
                           const char *field)
{
    validate_needed(errors, source, "claimName", field);
}

/* Validates the template of an ephemeral claim. The template's metadata may only have labels and
 * annotations. */
static void validate_ephemeral(struct field_errors *errors, const struct json *source,
                               const char *field)
{
    const struct json *template_ = json_get(source, "volumeClaimTemplate");
    const struct json *meta = json_get(template_, "metadata");
    field = field_path(errors, "%s.volumeClaimTemplate", field);
    if (!template_ || template_->type == JSON_NULL) {
        field_required(errors, field, NULL);
        return;
    }
    meta_validate_labels(errors, json_get(meta, "labels"),
                         field_path(errors, "%s.metadata.labels", field));
    meta_validate_annotations(errors, json_get(meta, "annotations"),
                              field_path(errors, "%s.metadata.annotations", field));
    JSON_EACH (member, meta) {
        if (member->type != JSON_NULL && !str_eq(member->name, "labels") &&
            !str_eq(member->name, "annotations"))
            field_forbidden(errors, field_path(errors, "%s.metadata.%s", field, member->name),
                            "cannot be set for an ephemeral volume");
    }
    kube_claim_validate_spec(errors, json_get(template_, "spec"),
                             field_path(errors, "%s.spec", field));
}

/* Validates the name of an ephemeral claim, which is made of the names of the pod and the volume
 * and may be too long. Missing names are reported elsewhere. */
static void validate_claim_name(struct pod_scope *scope, const struct json *volume,
                                const char *field)
{
    struct field_errors *errors = scope->errors;
    if (!json_get(volume, "ephemeral") || !kube_meta_name(scope->pod)[0] ||
        !json_get_string(volume, "name", "")[0])
        return;
    const char *claim = kube_pod_claim_name(errors->arena, scope->pod, volume);
    const char *complaint = meta_name_complaint(NAME_SUBDOMAIN, claim);
    if (complaint)
        field_invalid(errors, field_path(errors, "%s.name", field), json_get(volume, "name"),
                      "PVC name \"%s\": %s", claim, complaint);
}

static void validate_config_map(struct field_errors *errors, const struct json *source,
                                const char *field)
{
    validate_files(errors, source, "name", field);
}

static void validate_secret(struct field_errors *errors, const struct json *source,
                            const char *field)
{
    validate_files(errors, source, "secretName", field);
}

/* Adds the path of a file in a projected volume to `paths`. Two sources must not write the same
 * file. As in Kubernetes, the error shows the name of the source, or the path if the source has no
 * name. */
static void note_path(struct field_errors *errors, struct map *paths, const struct json *item,
                      const struct json *value, const char *field)
{
    const char *path = json_get_string(item, "path", "");
    if (path[0] && rule_seen(paths, path))
        field_invalid(errors, field, value, "conflicting duplicate paths");
}

static void validate_projected_files(struct field_errors *errors, const struct json *source,
                                     const char *field)
{
    validate_needed(errors, source, "name", field);
    validate_items(errors, source, field);
}

static void validate_projected_token(struct field_errors *errors, const struct json *source,
                                     const char *field)
{
    enum { LIFE_MIN_S = 10 * 60 };
    const struct json *life = json_get(source, "expirationSeconds");
    const char *path = field_path(errors, "%s.expirationSeconds", field);
    if (life && life->type == JSON_INT && life->integer < LIFE_MIN_S)
        field_invalid(errors, path, life, "may not specify a duration less than 10 minutes");
    if (life && life->type == JSON_INT && life->integer > (int64_t)1 << 32)
        field_invalid(errors, path, life, "may not specify a duration larger than 2^32 seconds");
    validate_needed(errors, source, "path", field);
    rule_file_path(errors, json_get_string(source, "path", ""),
                   field_path(errors, "%s.path", field));
}

static void validate_projected(struct field_errors *errors, const struct json *projected,
                               const char *field)
{
    static const struct {
        const char *name;
        void (*validate)(struct field_errors *errors, const struct json *source, const char *field);
    } KINDS[] = {
        {"secret", validate_projected_files},
        {"configMap", validate_projected_files},
        {"downwardAPI", validate_downward},
        {"serviceAccountToken", validate_projected_token},
    };
    _cleanup_(map_release) struct map paths = {0};
    size_t position = 0;
    validate_mode(errors, projected, "defaultMode", field);
    JSON_EACH (row, json_get(projected, "sources")) {
        const char *list = field_path(errors, "%s.sources[%zu]", field, position++);
        size_t count = 0;
        for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++) {
            const struct json *source = json_get(row, KINDS[i].name);
            const char *path = field_path(errors, "%s.%s", list, KINDS[i].name);
            if (!source || source->type == JSON_NULL)
                continue;
            if (count++ > 0)
                field_forbidden(errors, path, "may not specify more than 1 volume type");
            KINDS[i].validate(errors, source, path);
            JSON_EACH (item, json_get(source, "items")) {
                const struct json *name = json_get(source, "name");
                note_path(errors, &paths, item, name ? name : json_get(item, "path"), field);
            }
            note_path(errors, &paths, source, json_get(source, "path"), field);
        }
    }
}

/* The sources of a volume in Kubernetes' order. If a volume has two sources, the later one in this
 * order is refused. */
static const struct {
    const char *name;
    void (*validate)(struct field_errors *errors, const struct json *source, const char *field);
} SOURCES[] = {
    {"emptyDir", validate_empty},
    {"hostPath", kube_pod_validate_host_path},
    {"gitRepo"},
    {"gcePersistentDisk"},
    {"awsElasticBlockStore"},
    {"secret", validate_secret},
    {"nfs", kube_pod_validate_nfs},
    {"iscsi"},
    {"glusterfs"},
    {"flocker"},
    {"persistentVolumeClaim", validate_claim},
    {"rbd"},
    {"cinder"},
    {"cephfs"},
    {"quobyte"},
    {"downwardAPI", validate_downward},
    {"fc"},
    {"flexVolume"},
    {"configMap", validate_config_map},
    {"azureFile"},
    {"vsphereVolume"},
    {"photonPersistentDisk"},
    {"portworxVolume"},
    {"azureDisk"},
    {"storageos"},
    {"projected", validate_projected},
    {"scaleIO"},
    {"csi"},
    {"ephemeral", validate_ephemeral},
    {"image"},
};

void kube_pod_validate_volumes(struct pod_scope *scope)
{
    struct field_errors *errors = scope->errors;
    const struct json *volumes = json_get(scope->spec, "volumes");
    size_t position = 0;
    JSON_EACH (volume, volumes) {
        const char *field = field_path(errors, "spec.volumes[%zu]", position++);
        const char *name = json_get_string(volume, "name", "");
        size_t count = 0;
        for (size_t i = 0; i < ARRAY_SIZE(SOURCES); i++) {
            const struct json *source = json_get(volume, SOURCES[i].name);
            const char *path = field_path(errors, "%s.%s", field, SOURCES[i].name);
            if (!source || source->type == JSON_NULL)
                continue;
            if (count++ > 0)
                field_forbidden(errors, path, "may not specify more than 1 volume type");
            else if (SOURCES[i].validate)
                SOURCES[i].validate(errors, source, path);
        }
        validate_claim_name(scope, volume, field);
        rule_name(errors, volume, "name", NAME_LABEL, true, field);
        if (!map_get(&scope->volumes, name))
            map_put(&scope->volumes, name, volume);
        else if (name[0])
            field_duplicate(errors, field_path(errors, "%s.name", field), name);
    }
}
