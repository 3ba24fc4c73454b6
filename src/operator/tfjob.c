/* Reading the typed view of a TFJob, with the defaults the incumbent applies in memory. Called by
 * everything that decides on a job; it must never write to the tree it reads. */
#include "operator/tfjob.h"

#include "base/mem.h"
#include "base/str.h"

static const struct {
    const char *name, *lower;
} type_names[TFJOB_REPLICA_TYPES] = {
    [TFJOB_CHIEF] = {"Chief", "chief"},
    [TFJOB_MASTER] = {"Master", "master"},
    [TFJOB_WORKER] = {"Worker", "worker"},
    [TFJOB_PS] = {"PS", "ps"},
    [TFJOB_EVALUATOR] = {"Evaluator", "evaluator"},
};

const char *tfjob_replica_type_name(enum tfjob_replica_type type)
{
    return type_names[type].name;
}

const char *tfjob_replica_type_lower(enum tfjob_replica_type type)
{
    return type_names[type].lower;
}

bool tfjob_replica_type_parse(const char *text, enum tfjob_replica_type *ret)
{
    for (int type = 0; type < TFJOB_REPLICA_TYPES; type++) {
        if (str_eq_nocase(text, type_names[type].name)) {
            *ret = (enum tfjob_replica_type)type;
            return true;
        }
    }
    return false;
}

bool tfjob_restart_policy_parse(const char *text, enum tfjob_restart_policy *ret)
{
    static const struct {
        const char *name;
        enum tfjob_restart_policy value;
    } rows[] = {
        {"Never", TFJOB_RESTART_NEVER},
        {"Always", TFJOB_RESTART_ALWAYS},
        {"OnFailure", TFJOB_RESTART_ON_FAILURE},
        {"ExitCode", TFJOB_RESTART_EXIT_CODE},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (str_eq(text, rows[i].name)) {
            *ret = rows[i].value;
            return true;
        }
    }
    return false;
}

bool tfjob_clean_policy_parse(const char *text, enum tfjob_clean_policy *ret)
{
    static const struct {
        const char *name;
        enum tfjob_clean_policy value;
    } rows[] = {
        {"None", TFJOB_CLEAN_NONE},
        {"Running", TFJOB_CLEAN_RUNNING},
        {"All", TFJOB_CLEAN_ALL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (str_eq(text, rows[i].name)) {
            *ret = rows[i].value;
            return true;
        }
    }
    return false;
}

struct json *tfjob_container(const struct json *pod_spec)
{
    JSON_EACH (container, json_get(pod_spec, "containers")) {
        if (str_eq(json_get_string(container, "name", NULL), TFJOB_CONTAINER))
            return container;
    }
    return NULL;
}

static int read_port(const struct json *template)
{
    const struct json *container = tfjob_container(json_get(template, "spec"));

    JSON_EACH (port, json_get(container, "ports")) {
        if (str_eq(json_get_string(port, "name", NULL), TFJOB_PORT_NAME))
            return (int)json_get_int(port, "containerPort", TFJOB_PORT_DEFAULT);
    }
    return TFJOB_PORT_DEFAULT;
}

static void read_replica_spec(const struct json *spec, struct tfjob_replica_spec *ret)
{
    int64_t replicas = json_get_int(spec, "replicas", 1);

    if (replicas < 0)
        replicas = 0;
    if (replicas > TFJOB_REPLICAS_MAX)
        replicas = TFJOB_REPLICAS_MAX;

    ret->present = true;
    ret->replicas = (int)replicas;
    ret->restart_policy = TFJOB_RESTART_NEVER;
    tfjob_restart_policy_parse(json_get_string(spec, "restartPolicy", NULL), &ret->restart_policy);
    ret->template = json_get(spec, "template");
    ret->port = read_port(ret->template);
}

static void read_run_policy(const struct json *policy, struct tfjob *ret)
{
    ret->clean_policy = TFJOB_CLEAN_NONE;
    tfjob_clean_policy_parse(json_get_string(policy, "cleanPodPolicy", NULL), &ret->clean_policy);
    ret->ttl_seconds = json_get_int(policy, "ttlSecondsAfterFinished", -1);
    ret->deadline_seconds = json_get_int(policy, "activeDeadlineSeconds", -1);
    ret->backoff_limit = json_get_int(policy, "backoffLimit", -1);
    ret->suspend = json_get_bool(policy, "suspend", false);
}

void tfjob_read(const struct json *object, struct tfjob *ret)
{
    const struct json *metadata = json_get(object, "metadata");
    const struct json *annotations = json_get(metadata, "annotations");
    const struct json *spec = json_get(object, "spec");

    *ret = (struct tfjob){
        .json = object,
        .namespace_ = json_get_string(metadata, "namespace", "default"),
        .name = json_get_string(metadata, "name", ""),
        .uid = json_get_string(metadata, "uid", ""),
        .all_workers = str_eq(json_get_string(spec, "successPolicy", ""), "AllWorkers"),
        .dynamic_worker = json_get_bool(spec, "enableDynamicWorker", false),
        .evaluator_in_cluster =
            !str_eq(json_get_string(annotations, TFJOB_EVALUATOR_ANNOTATION, ""), "false"),
        .restart_together =
            str_eq(json_get_string(annotations, TFJOB_RESTART_SCOPE_ANNOTATION, ""), "job"),
    };
    read_run_policy(json_get(spec, "runPolicy"), ret);

    JSON_EACH (replica, json_get(spec, "tfReplicaSpecs")) {
        enum tfjob_replica_type type;

        if (tfjob_replica_type_parse(replica->name, &type) && replica->type == JSON_OBJECT)
            read_replica_spec(replica, &ret->replicas[type]);
    }
}

bool tfjob_is_managed_elsewhere(const struct json *object)
{
    const struct json *managed_by = json_at(object, "spec", "runPolicy", "managedBy", NULL);

    return managed_by && managed_by->type != JSON_NULL &&
           !str_eq(json_text(managed_by), TFJOB_MANAGER);
}

bool tfjob_has_chief(const struct tfjob *job)
{
    return job->replicas[TFJOB_CHIEF].present || job->replicas[TFJOB_MASTER].present;
}

int tfjob_total_replicas(const struct tfjob *job)
{
    int total = 0;

    for (int type = 0; type < TFJOB_REPLICA_TYPES; type++)
        total += job->replicas[type].replicas;
    return total;
}
