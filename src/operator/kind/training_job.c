/* Reads the typed view of a job, with the defaults that Kubeflow's operator applies in memory. Must
 * never write to the tree. */
#include "operator/kind/training_job.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

bool training_clean_policy_parse(const char *text, enum training_clean_policy *ret)
{
    static const struct {
        const char *name;
        enum training_clean_policy value;
    } rows[] = {
        {"None", TRAINING_CLEAN_NONE},
        {"Running", TRAINING_CLEAN_RUNNING},
        {"All", TRAINING_CLEAN_ALL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (str_eq(text, rows[i].name)) {
            *ret = rows[i].value;
            return true;
        }
    }
    return false;
}

struct json *training_job_container(const struct training_kind *kind, const struct json *pod_spec)
{
    JSON_EACH (container, json_get(pod_spec, "containers")) {
        if (str_eq(json_get_string(container, "name", NULL), kind->container))
            return container;
    }
    return NULL;
}

static const struct json *job_find_port(const struct training_kind *kind,
                                        const struct json *template)
{
    const struct json *container = training_job_container(kind, json_get(template, "spec"));

    JSON_EACH (port, json_get(container, "ports")) {
        if (str_eq(json_get_string(port, "name", NULL), kind->port_name))
            return port;
    }
    return NULL;
}

static void read_replica_spec(const struct training_kind *kind, const struct json *spec,
                              struct training_replica_spec *ret)
{
    int64_t replicas = json_get_int(spec, "replicas", 1);

    if (replicas < 0)
        replicas = 0;
    if (replicas > TRAINING_REPLICAS_MAX)
        replicas = TRAINING_REPLICAS_MAX;

    ret->present = true;
    ret->replicas = (int)replicas;
    ret->restart_policy = kind->restart_policy;
    training_restart_policy_parse(json_get_string(spec, "restartPolicy", NULL),
                                  &ret->restart_policy);
    ret->template = json_get(spec, "template");
    const struct json *port = job_find_port(kind, ret->template);
    ret->port = (int)json_get_int(port, "containerPort", kind->port);
    /* If the template names a host port, the replica keeps that port. */
    ret->host_network = json_get_bool(json_get(ret->template, "spec"), "hostNetwork", false) &&
                        json_get_int(port, "hostPort", 0) == 0;
}

/* Returns a member that is a string. Returns NULL if it is empty or missing. */
static const char *job_read_text(const struct json *object, const char *name)
{
    const char *text = json_get_string(object, name, "");

    return str_is_empty(text) ? NULL : text;
}

static void read_scheduling(const struct json *policy, struct training_scheduling *ret)
{
    const struct json *resources = json_get(policy, "minResources");

    *ret = (struct training_scheduling){
        .min_available = json_get_int(policy, "minAvailable", -1),
        .queue = job_read_text(policy, "queue"),
        .priority_class = job_read_text(policy, "priorityClass"),
        .min_resources = json_count(resources) > 0 ? resources : NULL,
        .timeout_seconds = json_get_int(policy, "scheduleTimeoutSeconds", -1),
    };
}

static bool is_given(const struct json *value)
{
    return value && value->type != JSON_NULL;
}

const struct json *training_job_policy(const struct json *spec, const char *name)
{
    const struct json *value = json_at(spec, "runPolicy", name, NULL);

    if (!is_given(value))
        value = json_get(spec, name);
    return is_given(value) ? value : NULL;
}

/* Returns a limit, or -1 if it is missing or not an integer. */
static int64_t read_limit(const struct json *spec, const char *name)
{
    const struct json *value = training_job_policy(spec, name);

    /* The value is capped, because it is converted to milliseconds even if the job is invalid. */
    return !value || value->type != JSON_INT ? -1
           : value->integer > INT32_MAX      ? INT32_MAX
                                             : value->integer;
}

static void read_run_policy(const struct json *spec, struct training_job *ret)
{
    const struct json *clean = training_job_policy(spec, "cleanPodPolicy");

    ret->clean_policy = TRAINING_CLEAN_NONE;
    training_clean_policy_parse(clean ? json_text(clean) : NULL, &ret->clean_policy);
    ret->ttl_seconds = read_limit(spec, "ttlSecondsAfterFinished");
    ret->deadline_seconds = read_limit(spec, "activeDeadlineSeconds");
    ret->backoff_limit = read_limit(spec, "backoffLimit");
    ret->suspend = json_get_bool(json_get(spec, "runPolicy"), "suspend", false);
    read_scheduling(json_at(spec, "runPolicy", "schedulingPolicy", NULL), &ret->scheduling);
}

void training_job_share_address(struct training_job *job, const char *address)
{
    job->shared_address = address;
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        struct training_replica_spec *spec = &job->replicas[type];
        const struct json *port = job_find_port(job->kind, spec->template);

        if (spec->present && json_get_int(port, "hostPort", 0) == 0)
            spec->host_network = true;
    }
}

void training_job_read(const struct training_kind *kind, const struct json *object,
                       struct training_job *ret)
{
    const struct json *metadata = json_get(object, "metadata");
    const struct json *annotations = json_get(metadata, "annotations");
    const struct json *spec = json_get(object, "spec");

    *ret = (struct training_job){
        .kind = kind,
        .json = object,
        .namespace_ = json_get_string(metadata, "namespace", "default"),
        .name = json_get_string(metadata, "name", ""),
        .uid = json_get_string(metadata, "uid", ""),
        .workers_to_start = -1,
        .restart_together =
            str_eq(json_get_string(annotations, TRAINING_RESTART_SCOPE_ANNOTATION, ""), "job"),
    };
    read_run_policy(spec, ret);

    JSON_EACH (replica, json_get(spec, kind->specs)) {
        enum training_replica_type type;

        if (training_replica_type_parse(kind, replica->name, &type) && replica->type == JSON_OBJECT)
            read_replica_spec(kind, replica, &ret->replicas[type]);
    }
    kind->read(spec, ret);
}

bool training_job_has_started(const struct json *object)
{
    return !str_is_empty(json_get_string(json_get(object, "status"), "startTime", NULL));
}

bool training_job_is_managed_elsewhere(const struct json *object)
{
    const struct json *managed_by = json_at(object, "spec", "runPolicy", "managedBy", NULL);

    return is_given(managed_by) && !str_eq(json_text(managed_by), TRAINING_MANAGER);
}

bool training_job_has_chief(const struct training_job *job)
{
    return job->replicas[TRAINING_CHIEF].present || job->replicas[TRAINING_MASTER].present;
}

int training_job_total_replicas(const struct training_job *job)
{
    int total = 0;

    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++)
        total += job->replicas[type].replicas;
    return total;
}

int training_replica_port(const struct training_job *job, enum training_replica_type type,
                          int index)
{
    const struct training_replica_spec *spec = &job->replicas[type];

    return spec->ports && index < spec->replicas && spec->ports[index] ? spec->ports[index]
                                                                       : spec->port;
}

char *training_replica_name(struct arena *arena, const struct training_job *job,
                            enum training_replica_type type, int index)
{
    return arena_printf(arena, "%s-%s-%d", job->name, training_replica_type_lower(type), index);
}

char *training_job_message(struct arena *arena, const struct training_job *job, const char *message,
                           enum training_replica_type type, int count)
{
    const struct {
        const char *place, *text;
    } FILLINGS[] = {
        {"{namespace}", job->namespace_},
        {"{name}", job->name},
        {"{type}", training_replica_type_name(type)},
        {"{count}", arena_printf(arena, "%d", count)},
    };
    char *filled = arena_strdup(arena, message);

    for (size_t i = 0; i < ARRAY_SIZE(FILLINGS); i++) {
        const char *place = strstr(filled, FILLINGS[i].place);

        if (place)
            filled = arena_printf(arena, "%.*s%s%s", (int)(place - filled), filled,
                                  FILLINGS[i].text, place + strlen(FILLINGS[i].place));
    }
    return filled;
}

char *training_job_reason(struct arena *arena, const struct training_job *job, const char *event)
{
    return arena_printf(arena, "%s%s", job->kind->row->id.kind, event);
}
