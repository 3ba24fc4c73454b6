/* Sets the environment variables of a PyTorchJob's replicas, in the order of Kubeflow's operator.
 * Called when a pod is built. A running replica keeps its environment: when an elastic job is
 * scaled, the replicas learn of it from torchrun's rendezvous. */
#include "operator/kind/pytorchjob.h"

#include "base/str.h"

#include <inttypes.h>

/* The variables of one container. */
struct environment {
    struct arena *arena;
    struct json *list;
};

static __attribute__((format(printf, 3, 4))) void env_add(struct environment *env, const char *name,
                                                          const char *format, ...)
{
    struct json *variable = json_object(env->arena);
    va_list args;

    va_start(args, format);
    json_set_string(env->arena, variable, "name", name);
    json_set_string(env->arena, variable, "value", arena_vprintf(env->arena, format, args));
    va_end(args);
    json_append(env->list, variable);
}

/* Returns the number of processes per node. "auto" and other words count as one, because the number
 * that they stand for is known only on the node. */
static int64_t pytorch_processes_per_node(const char *nproc)
{
    int64_t number;

    return nproc && str_to_int64(nproc, 1, INT32_MAX, &number, NULL) == 0 ? number : 1;
}

/* Returns the address of the first replica of a type. */
static const char *first_replica_host(struct environment *env, const struct training_job *job,
                                      enum training_replica_type type)
{
    return job->shared_address ? job->shared_address
                               : training_replica_name(env->arena, job, type, 0);
}

/* Adds the variables for init_method="env://" and for torchrun's static rendezvous. */
static void env_add_master(struct environment *env, const struct training_job *job,
                           enum training_replica_type type, int index, const char *nproc)
{
    const char *host = first_replica_host(env, job, TRAINING_MASTER);
    int port = training_replica_port(job, TRAINING_MASTER, 0);
    int rank = type == TRAINING_WORKER ? index + 1 : index;

    env_add(env, "MASTER_PORT", "%d", port);
    env_add(env, "PET_MASTER_PORT", "%d", port);
    env_add(env, "MASTER_ADDR", "%s", host);
    env_add(env, "PET_MASTER_ADDR", "%s", host);
    env_add(env, "WORLD_SIZE", "%" PRId64,
            training_job_total_replicas(job) * pytorch_processes_per_node(nproc));
    env_add(env, "RANK", "%d", rank);
    env_add(env, "PET_NODE_RANK", "%d", rank);
}

static bool field_is_set(const struct json *object, const char *name)
{
    const struct json *value = json_get(object, name);

    return value && value->type != JSON_NULL;
}

static const char *rendezvous_conf(struct arena *arena, const struct json *list)
{
    const char *text = "";

    JSON_EACH (item, list)
        text = arena_printf(arena, "%s%s%s=%s", text, str_is_empty(text) ? "" : ",",
                            json_get_string(item, "key", ""), json_get_string(item, "value", ""));
    return text;
}

/* Adds the variables for torchrun's dynamic rendezvous, which the first worker hosts by default. */
static void env_add_elastic(struct environment *env, const struct training_job *job)
{
    const struct json *policy = job->elastic;
    const char *host =
        json_get_string(policy, "rdzvHost", first_replica_host(env, job, TRAINING_WORKER));

    env_add(env, "PET_RDZV_ENDPOINT", "%s:%" PRId64, host,
            json_get_int(policy, "rdzvPort", training_replica_port(job, TRAINING_WORKER, 0)));
    env_add(env, "PET_RDZV_BACKEND", "%s", json_get_string(policy, "rdzvBackend", "c10d"));
    env_add(env, "PET_NNODES", "%d:%d", job->workers_min, job->workers_max);
    if (field_is_set(policy, "maxRestarts"))
        env_add(env, "PET_MAX_RESTARTS", "%" PRId64, json_get_int(policy, "maxRestarts", 0));
    if (field_is_set(policy, "nProcPerNode"))
        env_add(env, "PET_NPROC_PER_NODE", "%" PRId64, json_get_int(policy, "nProcPerNode", 1));
    if (field_is_set(policy, "rdzvId"))
        env_add(env, "PET_RDZV_ID", "%s", json_get_string(policy, "rdzvId", ""));
    if (json_count(json_get(policy, "rdzvConf")) > 0)
        env_add(env, "PET_RDZV_CONF", "%s",
                rendezvous_conf(env->arena, json_get(policy, "rdzvConf")));
    /* Kubeflow's operator writes an empty value, which torchrun cannot parse as a number. */
    if (json_get_bool(policy, "standalone", false))
        env_add(env, "PET_STANDALONE", "1");
}

static void env_add_all(struct environment *env, const struct training_job *job,
                        enum training_replica_type type, int index)
{
    const char *nproc = json_get_string(json_get(job->json, "spec"), "nprocPerNode", NULL);

    env_add(env, "PYTHONUNBUFFERED", "1");
    if (job->replicas[TRAINING_MASTER].present)
        env_add_master(env, job, type, index, nproc);
    if (nproc || !field_is_set(job->elastic, "nProcPerNode"))
        env_add(env, "PET_NPROC_PER_NODE", "%s", nproc ? nproc : "auto");
    if (job->elastic)
        env_add_elastic(env, job);
    else
        env_add(env, "PET_NNODES", "%d", training_job_total_replicas(job));
}

void training_pytorch_set_environment(struct arena *arena, const struct training_job *job,
                                      enum training_replica_type type, int index,
                                      const char *cluster_domain, struct json *pod_spec)
{
    JSON_EACH (container, json_get(pod_spec, "containers")) {
        struct environment env = {arena, json_ensure_array(arena, container, "env")};

        env_add_all(&env, job, type, index);
    }
}
