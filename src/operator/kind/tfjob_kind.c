/* Defines the kind TFJob (kubeflow.org/v1) with the names, messages and defaults of Kubeflow's
 * operator. */
#include "operator/kind/tf_config_env.h"
#include "operator/kind/training_job.h"
#include "operator/kind/training_row.h"

#include "base/str.h"
#include "kube/object.h"

#define CONTROLLER "tfjob-controller"

static void tfjob_read_fields(const struct json *spec, struct training_job *job)
{
    const char *evaluator = kube_meta_annotation(job->json, TRAINING_EVALUATOR_ANNOTATION);

    job->success = str_eq(json_get_string(spec, "successPolicy", ""), "AllWorkers")
                       ? TRAINING_SUCCESS_ALL_WORKERS
                       : TRAINING_SUCCESS_WORKER_0;
    job->dynamic_worker = json_get_bool(spec, "enableDynamicWorker", false);
    if (job->dynamic_worker)
        job->workers_to_start = 1; /* the other workers may join later */
    job->evaluator_in_cluster = !str_eq(evaluator, "false");
}

static int tfjob_validate_fields(const struct json *object, struct err *err)
{
    const struct json *success = json_at(object, "spec", "successPolicy", NULL);
    const struct json *dynamic = json_at(object, "spec", "enableDynamicWorker", NULL);
    char description[TRAINING_VALUE_MAX];

    if (success && success->type != JSON_NULL && !str_eq(json_text(success), "") &&
        !str_eq(json_text(success), "AllWorkers"))
        return err_set(err, ERR_INVALID, "spec.successPolicy: must be \"\" or AllWorkers, is %s",
                       training_value_describe(success, description, sizeof(description)));
    if (dynamic && dynamic->type != JSON_NULL && dynamic->type != JSON_BOOL)
        return err_set(err, ERR_INVALID, "spec.enableDynamicWorker: must be true or false, is %s",
                       json_type_name(dynamic->type));
    return 0;
}

static bool has_replicas(const struct training_job *job, enum training_replica_type type)
{
    return job->replicas[type].present && job->replicas[type].replicas > 0;
}

/* Warns about an evaluator in TF_CONFIG's cluster. TensorFlow 2's ParameterServerStrategy waits for
 * every task of the cluster, but an evaluator runs no server that could answer, so the job would
 * hang silently. Other APIs of TensorFlow (Estimator, TF 1) need the evaluator there, so it is not
 * removed. If TRAINING_EVALUATOR_ANNOTATION is set, there is no warning. */
static size_t tfjob_advise(struct arena *arena, const struct training_job *job,
                           struct training_advice *ret)
{
    bool trains = has_replicas(job, TRAINING_CHIEF) || has_replicas(job, TRAINING_MASTER) ||
                  has_replicas(job, TRAINING_WORKER);

    if (!trains || !has_replicas(job, TRAINING_PS) || !has_replicas(job, TRAINING_EVALUATOR) ||
        kube_meta_annotation(job->json, TRAINING_EVALUATOR_ANNOTATION))
        return 0;
    *ret = (struct training_advice){
        .reason = "EvaluatorInTFConfig",
        .message = "TF_CONFIG lists the evaluator beside the parameter servers, as Kubeflow's "
                   "operator does; a program that uses TensorFlow 2's ParameterServerStrategy then "
                   "hangs: set the annotation " TRAINING_EVALUATOR_ANNOTATION
                   ": \"false\" and create the job again, or \"true\" if your program uses "
                   "another strategy"};
    return 1;
}

/* Appends TF_CONFIG, so that it overrides a TF_CONFIG in the template. */
static void tfjob_set_environment(struct arena *arena, const struct training_job *job,
                                  enum training_replica_type type, int index,
                                  const char *cluster_domain, struct json *pod_spec)
{
    const char *text = training_tf_config(arena, job, type, index, cluster_domain);
    struct json *container = training_job_container(job->kind, pod_spec);

    if (!text || !container)
        return;
    struct json *variable = json_object(arena);
    json_set_string(arena, variable, "name", "TF_CONFIG");
    json_set_string(arena, variable, "value", text);
    json_append(json_ensure_array(arena, container, "env"), variable);
}

const struct training_kind TRAINING_TFJOB = {
    .resource = &TFJOB_RESOURCE,
    .row = &TFJOB_KIND,
    .framework = "tensorflow",
    .controller_name = CONTROLLER,
    .selector = TRAINING_OPERATOR_LABEL "=" CONTROLLER,
    .specs = "tfReplicaSpecs",
    .container = "tensorflow",
    .port_name = "tfjob-port",
    .port = 2222,
    .restart_policy = TRAINING_RESTART_NEVER,
    .roles = 1U << TRAINING_CHIEF | 1U << TRAINING_MASTER | 1U << TRAINING_WORKER |
             1U << TRAINING_PS | 1U << TRAINING_EVALUATOR,
    .messages =
        {
            .created = "TFJob {name} is created.",
            .running = "TFJob {namespace}/{name} is running.",
            .restarting = "job {name} is restarting because {type} replica(s) failed.",
            .suspended = "TFJob {name} is suspended.",
            .resumed = "TFJob {name} is resumed.",
            .succeeded = "TFJob {namespace}/{name} successfully completed.",
            .failed = "TFJob {namespace}/{name} has failed because {count} {type} replica(s) "
                      "failed.",
            .failing = "job \"{name}\" is failing because \"{type}\" replica(s) failed.",
        },
    .read = tfjob_read_fields,
    .validate = tfjob_validate_fields,
    .advise = tfjob_advise,
    .check = training_tf_config_check,
    .prepare = training_tf_config_prepare,
    .set_environment = tfjob_set_environment,
};

/* ---- How the API serves the kind ------------------------------------------------------------- */

static void tfjob_validate(struct field_errors *errors, const struct json *job,
                           const struct json *old)
{
    training_row_validate(errors, &TFJOB_TYPE, "tfReplicaSpecs", job, old);
}

static const struct kube_scale_paths TFJOB_SCALE = TRAINING_SCALE("tfReplicaSpecs");

/* clang-format off */

KUBE_KIND(TFJOB_RESOURCE, TFJOB_KIND, "kubeflow.org", "v1", "tfjobs", "TFJob", NAMESPACED,
    .schema = &TFJOB_TYPE,
    .form = SCHEMA_FORM_WRITTEN,
    .singular = "tfjob",
    .categories = CATEGORY_ALL,
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(SCALE_OF(&TFJOB_SCALE), STATUS_OF("TFJob")),
    .generation = true,
    .older = (const struct kube_older_version[]){
        {"v1beta1", "kubeflow.org/v1beta1", &TFJOB_TYPE_V1BETA1, tfjob_convert_v1beta1},
        /* A list of replicas is refused; the message shows the job as it is written in v1. */
        {"v1alpha1", "kubeflow.org/v1alpha1", NULL, tfjob_convert_v1beta1},
        {0},
    },
    .columns = COLUMNS(TRAINING_COLUMNS),
    .hooks = {.refuse = tfjob_refuse_list,
        .create = training_row_create,
        .validate = tfjob_validate});
