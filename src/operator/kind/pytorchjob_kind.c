/* Defines the kind PyTorchJob (kubeflow.org/v1) with the names, messages and defaults of Kubeflow's
 * operator. */
#include "operator/kind/pytorchjob.h"
#include "operator/kind/training_row.h"

#include "base/str.h"

#include <inttypes.h>

#define CONTROLLER "pytorchjob-controller"

int64_t training_pytorch_replicas(const struct json *spec, enum training_replica_type type,
                                  int64_t missing)
{
    JSON_EACH (replica, json_get(spec, TRAINING_PYTORCHJOB.specs)) {
        if (str_eq_nocase(replica->name, training_replica_type_name(type)))
            return json_get_int(replica, "replicas", 1);
    }
    return missing;
}

void training_pytorch_bounds(const struct json *elastic, int64_t workers, int64_t *ret_min,
                             int64_t *ret_max)
{
    *ret_min = json_get_int(elastic, "minReplicas", json_get_int(elastic, "maxReplicas", workers));
    *ret_max = json_get_int(elastic, "maxReplicas", *ret_min);
}

/* Limits the number of workers to the bounds, so that a running job that is scaled out of its
 * bounds does not fail. pytorchjob_advise() reports the difference. */
static void keep_within_bounds(struct training_job *job)
{
    struct training_replica_spec *workers = &job->replicas[TRAINING_WORKER];
    int64_t min = 1, max = TRAINING_REPLICAS_MAX;

    if (job->elastic)
        training_pytorch_bounds(job->elastic, workers->replicas, &min, &max);
    if (min < 1)
        min = 1;
    if (max > TRAINING_REPLICAS_MAX)
        max = TRAINING_REPLICAS_MAX;
    job->workers_min = (int)min;
    job->workers_max = (int)max;
    if (!workers->present || min > max)
        return;
    if (workers->replicas < min)
        workers->replicas = (int)min;
    if (workers->replicas > max)
        workers->replicas = (int)max;
}

static void pytorchjob_read_fields(const struct json *spec, struct training_job *job)
{
    const struct json *elastic = json_get(spec, "elasticPolicy");

    job->elastic = elastic && elastic->type == JSON_OBJECT ? elastic : NULL;
    job->success = job->elastic ? TRAINING_SUCCESS_ANY_WORKER : TRAINING_SUCCESS_ALL_WORKERS;
    keep_within_bounds(job);
    if (job->elastic)
        job->workers_to_start = job->workers_min;
}

static size_t pytorchjob_advise(struct arena *arena, const struct training_job *job,
                                struct training_advice *ret)
{
    const struct json *spec = json_get(job->json, "spec");
    int used = job->replicas[TRAINING_WORKER].replicas;
    int64_t wanted = training_pytorch_replicas(spec, TRAINING_WORKER, used);
    size_t count = 0;

    if (wanted != used)
        ret[count++] = (struct training_advice){
            .reason = "ReplicasOutOfBounds",
            .message =
                arena_printf(arena,
                             "spec.%s[Worker].replicas: must be between %d and %d, is %" PRId64
                             "; the job goes on with %d",
                             job->kind->specs, job->workers_min, job->workers_max, wanted, used)};
    if (json_get_int(job->elastic, "nProcPerNode", 0) > 0)
        ret[count++] = (struct training_advice){
            .reason = "DeprecatedField",
            .message = "spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode "
                       "instead"};
    return count;
}

const struct training_kind TRAINING_PYTORCHJOB = {
    .resource = &PYTORCHJOB_RESOURCE,
    .row = &PYTORCHJOB_KIND,
    .framework = "pytorch",
    .controller_name = CONTROLLER,
    .selector = TRAINING_OPERATOR_LABEL "=" CONTROLLER,
    .specs = "pytorchReplicaSpecs",
    .container = "pytorch",
    .port_name = "pytorchjob-port",
    .port = 23456,
    .restart_policy = TRAINING_RESTART_ON_FAILURE,
    .roles = 1U << TRAINING_MASTER | 1U << TRAINING_WORKER,
    .messages =
        {
            .created = "PyTorchJob {name} is created.",
            .running = "PyTorchJob {name} is running.",
            .restarting = "job {name} is restarting because {type} replica(s) failed.",
            .suspended = "PyTorchJob {name} is suspended.",
            .resumed = "PyTorchJob {name} is resumed.",
            .succeeded = "PyTorchJob {name} is successfully completed.",
            .failed = "PyTorchJob {name} is failed because {count} {type} replica(s) failed.",
            .failing = "job \"{name}\" is failing because \"{type}\" replica(s) failed.",
            .workers_running = "PyTorchJob {namespace}/{name} is running.",
            .workers_succeeded = "PyTorchJob {namespace}/{name} successfully completed.",
        },
    .read = pytorchjob_read_fields,
    .validate = training_pytorch_validate,
    .advise = pytorchjob_advise,
    .set_environment = training_pytorch_set_environment,
};

/* ---- How the API serves the kind ------------------------------------------------------------- */

static void pytorchjob_validate(struct field_errors *errors, const struct json *job,
                                const struct json *old)
{
    training_row_validate(errors, &PYTORCHJOB_TYPE, "pytorchReplicaSpecs", job, old);
}

static const struct kube_scale_paths PYTORCHJOB_SCALE = TRAINING_SCALE("pytorchReplicaSpecs");

/* clang-format off */

KUBE_KIND(PYTORCHJOB_RESOURCE, PYTORCHJOB_KIND, "kubeflow.org", "v1", "pytorchjobs", "PyTorchJob",
        NAMESPACED,
    .schema = &PYTORCHJOB_TYPE,
    .form = SCHEMA_FORM_WRITTEN,
    .singular = "pytorchjob",
    .categories = CATEGORY_ALL,
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(SCALE_OF(&PYTORCHJOB_SCALE), STATUS_OF("PyTorchJob")),
    .generation = true,
    .columns = COLUMNS(TRAINING_COLUMNS),
    .hooks = {.create = training_row_create, .validate = pytorchjob_validate});
