/* Validates a job; the reconcile calls training_job_validate() before it creates objects for the
 * job. The first mistake is reported, with a message that starts with the field's path. The checks
 * find the common mistakes for which the API server would reject the pods of the job. */
#include "operator/kind/training_job.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *training_value_describe(const struct json *value, char *buffer, size_t size)
{
    const char *text = json_text(value);

    if (!text)
        return json_type_name(value->type);
    snprintf(buffer, size, "\"%.100s\"", text);
    return buffer;
}

/* Checks an optional integer. A missing or null value is valid. */
static int validate_int(const struct json *object, const char *path, const char *name, int64_t min,
                        int64_t max, struct err *err)
{
    const struct json *value = json_get(object, name);

    if (!value || value->type == JSON_NULL)
        return 0;
    if (value->type != JSON_INT)
        return err_set(err, ERR_INVALID, "%s.%s: must be an integer, is %s", path, name,
                       json_type_name(value->type));
    if (value->integer < min && min == 0)
        return err_set(err, ERR_INVALID, "%s.%s: must not be negative, is %" PRId64, path, name,
                       value->integer);
    if (value->integer < min || value->integer > max)
        return err_set(err, ERR_INVALID,
                       "%s.%s: must be between %" PRId64 " and %" PRId64 ", is %" PRId64, path,
                       name, min, max, value->integer);
    return 0;
}

/* Checks an optional object; *ret is NULL if it is missing or null. */
static int validate_object(const struct json *parent, const char *path, const char *name,
                           const struct json **ret, struct err *err)
{
    const struct json *value = json_get(parent, name);

    *ret = NULL;
    if (!value || value->type == JSON_NULL)
        return 0;
    if (value->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "%s.%s: must be an object, is %s", path, name,
                       json_type_name(value->type));
    *ret = value;
    return 0;
}

static int validate_text(const struct json *object, const char *path, const char *name,
                         struct err *err)
{
    const struct json *value = json_get(object, name);

    if (!value || value->type == JSON_NULL || value->type == JSON_STRING)
        return 0;
    return err_set(err, ERR_INVALID, "%s.%s: must be a string, is %s", path, name,
                   json_type_name(value->type));
}

static int validate_min_resources(const struct json *policy, const char *path, struct err *err)
{
    static const struct kube_quantity zero = {0};
    const struct json *resources;
    int result = validate_object(policy, path, "minResources", &resources, err);

    if (result < 0)
        return result;
    JSON_EACH (entry, resources) {
        struct kube_quantity quantity;
        struct err why = ERR_INIT;

        if (kube_quantity_from_json(entry, &quantity, &why) < 0)
            return err_set(err, ERR_INVALID, "%s.minResources[%s]: %s", path, entry->name,
                           why.message);
        if (kube_quantity_compare(&quantity, &zero) < 0)
            return err_set(err, ERR_INVALID, "%s.minResources[%s]: must not be negative", path,
                           entry->name);
    }
    return 0;
}

static int validate_scheduling(const struct json *run_policy, struct err *err)
{
    static const char path[] = "spec.runPolicy.schedulingPolicy";
    const struct json *policy;
    int result = validate_object(run_policy, "spec.runPolicy", "schedulingPolicy", &policy, err);

    if (result == 0)
        result = validate_int(policy, path, "minAvailable", 0, INT32_MAX, err);
    if (result == 0)
        result = validate_int(policy, path, "scheduleTimeoutSeconds", 0, INT32_MAX, err);
    if (result == 0)
        result = validate_text(policy, path, "queue", err);
    if (result == 0)
        result = validate_text(policy, path, "priorityClass", err);
    return result == 0 ? validate_min_resources(policy, path, err) : result;
}

/* Checks the fields about the end of the job. They are in spec.runPolicy or, in v1beta1, in spec
 * itself. */
static int validate_limits(const struct json *policy, const char *path, struct err *err)
{
    const struct json *clean = json_get(policy, "cleanPodPolicy");
    enum training_clean_policy parsed;
    char description[TRAINING_VALUE_MAX];

    if (clean && clean->type != JSON_NULL &&
        !training_clean_policy_parse(json_text(clean), &parsed))
        return err_set(err, ERR_INVALID, "%s.cleanPodPolicy: must be None, Running or All, is %s",
                       path, training_value_describe(clean, description, sizeof(description)));
    int result = validate_int(policy, path, "ttlSecondsAfterFinished", 0, INT32_MAX, err);
    if (result < 0)
        return result;
    /* The limit allows the conversion of seconds to milliseconds. */
    result = validate_int(policy, path, "activeDeadlineSeconds", 0, INT64_MAX / 1000 / 2, err);
    if (result < 0)
        return result;
    return validate_int(policy, path, "backoffLimit", 0, INT32_MAX, err);
}

/* Refuses an unknown manager, because its job would wait forever. */
int training_managed_by_validate(const struct json *spec, struct err *err)
{
    const struct json *manager = json_at(spec, "runPolicy", "managedBy", NULL);
    char description[TRAINING_VALUE_MAX];

    if (!manager || manager->type == JSON_NULL || str_eq(json_text(manager), TRAINING_MANAGER) ||
        str_eq(json_text(manager), TRAINING_OTHER_MANAGER))
        return 0;
    return err_set(err, ERR_INVALID,
                   "spec.runPolicy.managedBy: must be " TRAINING_MANAGER
                   " or " TRAINING_OTHER_MANAGER ", is %s",
                   training_value_describe(manager, description, sizeof(description)));
}

static int validate_run_policy(const struct json *spec, struct err *err)
{
    const struct json *policy, *suspend;

    int result = validate_object(spec, "spec", "runPolicy", &policy, err);
    if (result == 0)
        result = validate_limits(policy, "spec.runPolicy", err);
    if (result == 0)
        result = validate_limits(spec, "spec", err);
    if (result == 0)
        result = training_managed_by_validate(spec, err);
    if (result == 0)
        result = validate_scheduling(policy, err);
    if (result < 0)
        return result;
    suspend = json_get(policy, "suspend");
    if (suspend && suspend->type != JSON_NULL && suspend->type != JSON_BOOL)
        return err_set(err, ERR_INVALID, "spec.runPolicy.suspend: must be true or false, is %s",
                       json_type_name(suspend->type));
    return 0;
}

/* Checks that a member to which the operator appends is a list, null or missing. `what` describes
 * the list for the message. */
static int validate_list(const struct json *container, const char *path, const char *name,
                         const char *what, struct err *err)
{
    const struct json *list = json_get(container, name);

    if (!list || list->type == JSON_NULL || list->type == JSON_ARRAY)
        return 0;
    return err_set(err, ERR_INVALID, "%s.%s: must be %s, is %s", path, name, what,
                   json_type_name(list->type));
}

static int validate_container_ports(const struct json *container, const char *path, struct err *err)
{
    size_t position = 0;

    JSON_EACH (port, json_get(container, "ports")) {
        int64_t number = json_get_int(port, "containerPort", 0);

        if (number < 1 || number > 65535)
            return err_set(err, ERR_INVALID,
                           "%s.ports[%zu].containerPort: must be between 1 and 65535", path,
                           position);
        position++;
    }
    return 0;
}

static int validate_containers(const struct training_kind *kind, const struct json *replica,
                               struct err *err)
{
    const struct json *pod_spec = json_at(replica, "template", "spec", NULL);
    const struct json *containers = json_get(pod_spec, "containers");
    size_t position = 0;

    if (json_count(containers) == 0 || containers->type != JSON_ARRAY)
        return err_set(err, ERR_INVALID,
                       "spec.%s[%s].template.spec.containers: must be specified, as a list with at "
                       "least one container",
                       kind->specs, replica->name);
    JSON_EACH (container, containers) {
        char path[160];

        snprintf(path, sizeof(path), "spec.%s[%.60s].template.spec.containers[%zu]", kind->specs,
                 replica->name, position);
        if (container->type != JSON_OBJECT)
            return err_set(err, ERR_INVALID, "%s: must be an object, is %s", path,
                           json_type_name(container->type));
        if (str_is_empty(json_get_string(container, "image", NULL)))
            return err_set(err, ERR_INVALID, "%s.image: must be given, as a string", path);
        int result = validate_list(container, path, "env", "a list of names and values", err);
        if (result == 0)
            result = validate_list(container, path, "ports", "a list", err);
        if (result == 0)
            result = validate_container_ports(container, path, err);
        if (result < 0)
            return result;
        position++;
    }
    if (!training_job_container(kind, pod_spec))
        return err_set(err, ERR_INVALID,
                       "spec.%s[%s].template.spec.containers: must have at least one container "
                       "with name %s",
                       kind->specs, replica->name, kind->container);
    return 0;
}

/* Checks the length of pod names. The name of a pod is also its host name and the name of its
 * service, so it must be one DNS label. */
static int validate_name_length(const struct json *replica, enum training_replica_type type,
                                const char *job_name, struct err *err)
{
    int64_t replicas = json_get_int(replica, "replicas", 1);
    char name[512];

    if (replicas < 1)
        return 0;
    int length = snprintf(name, sizeof(name), "%s-%s-%" PRId64, job_name,
                          training_replica_type_lower(type), replicas - 1);
    if (length > TRAINING_POD_NAME_MAX)
        return err_set(err, ERR_INVALID,
                       "metadata.name: too long: pod '%s' would have %d characters, at most %d are "
                       "allowed; shorten the job's name by %d",
                       name, length, TRAINING_POD_NAME_MAX, length - TRAINING_POD_NAME_MAX);
    return 0;
}

static int validate_replica_type(const struct training_kind *kind, const struct json *replica,
                                 enum training_replica_type *ret, struct err *err)
{
    const char *names[TRAINING_REPLICA_TYPES], *nearest;
    char list[80] = "";
    size_t count = 0;

    if (training_replica_type_parse(kind, replica->name, ret))
        return 0;
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        if (training_kind_supports(kind, (enum training_replica_type)type))
            names[count++] = training_replica_type_name((enum training_replica_type)type);
    }
    for (size_t i = 0; i < count; i++) {
        const char *joint = i == 0 ? "" : i + 1 == count ? " or " : ", ";

        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", joint, names[i]);
    }
    nearest = str_nearest(replica->name, names, count);
    return err_set(err, ERR_INVALID, "spec.%s[%s]: unknown replica type, must be %s%s%s%s",
                   kind->specs, replica->name, list, nearest ? "; did you mean '" : "",
                   nearest ? nearest : "", nearest ? "'?" : "");
}

static int validate_replica(const struct training_kind *kind, const struct json *replica,
                            enum training_replica_type type, const char *job_name, struct err *err)
{
    char path[160], description[TRAINING_VALUE_MAX];
    enum training_restart_policy parsed;

    snprintf(path, sizeof(path), "spec.%s[%.60s]", kind->specs, replica->name);
    if (replica->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "%s: must be an object, is %s", path,
                       json_type_name(replica->type));

    int result = validate_int(replica, path, "replicas", 0, TRAINING_REPLICAS_MAX, err);
    if (result < 0)
        return result;
    if ((type == TRAINING_CHIEF || type == TRAINING_MASTER) &&
        json_get_int(replica, "replicas", 1) > 1)
        return err_set(err, ERR_INVALID, "%s.replicas: must not be more than 1, is %" PRId64, path,
                       json_get_int(replica, "replicas", 1));

    const struct json *policy = json_get(replica, "restartPolicy");
    if (policy && policy->type != JSON_NULL && !str_eq(json_text(policy), "") &&
        !training_restart_policy_parse(json_text(policy), &parsed))
        return err_set(err, ERR_INVALID,
                       "%s.restartPolicy: must be Always, OnFailure, Never or ExitCode, is %s",
                       path, training_value_describe(policy, description, sizeof(description)));

    result = validate_containers(kind, replica, err);
    if (result < 0)
        return result;
    return validate_name_length(replica, type, job_name, err);
}

static int validate_replica_specs(const struct training_kind *kind, const struct json *spec,
                                  const char *job_name, struct err *err)
{
    const struct json *specs = json_get(spec, kind->specs);
    const char *seen[TRAINING_REPLICA_TYPES] = {0};
    int64_t total = 0;

    if (json_count(specs) == 0 || specs->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID,
                       "spec.%s: must be specified, with at least one replica type", kind->specs);
    JSON_EACH (replica, specs) {
        enum training_replica_type type;
        int result = validate_replica_type(kind, replica, &type, err);

        if (result == 0)
            result = validate_replica(kind, replica, type, job_name, err);
        if (result < 0)
            return result;
        if (seen[type])
            return err_set(err, ERR_INVALID,
                           "spec.%s[%s]: duplicate replica type, also given as '%s'", kind->specs,
                           replica->name, seen[type]);
        seen[type] = replica->name;
        total += json_get_int(replica, "replicas", 1);
    }
    if (seen[TRAINING_CHIEF] && seen[TRAINING_MASTER])
        return err_set(err, ERR_INVALID, "spec.%s: must not have more than 1 Chief or Master role",
                       kind->specs);
    if (total > TRAINING_REPLICAS_MAX)
        return err_set(err, ERR_INVALID,
                       "spec.%s: at most %d replicas in total are supported, but the job has "
                       "%" PRId64,
                       kind->specs, TRAINING_REPLICAS_MAX, total);
    return 0;
}

int training_job_validate(const struct training_kind *kind, const struct json *object,
                          struct err *err)
{
    const char *name = json_get_string(json_get(object, "metadata"), "name", "");
    const struct json *spec = json_get(object, "spec");

    if (!str_is_dns1035_label(name))
        return err_set(err, ERR_INVALID,
                       "metadata.name: must be a DNS-1035 label (lower case letters, digits and "
                       "'-', starting with a letter, at most 63 characters), is \"%s\"",
                       name);
    int result = validate_run_policy(spec, err);
    if (result < 0)
        return result;
    result = validate_replica_specs(kind, spec, name, err);
    if (result < 0)
        return result;
    return kind->validate(object, err);
}
