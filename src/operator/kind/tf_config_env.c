/* Builds TF_CONFIG; see tf_config_env.h. The JSON members are in the same order as in Kubeflow's
 * operator, because some programs compare the text. */
#include "operator/kind/tf_config_env.h"

#include "base/str.h"

#include <string.h>

enum {
    /* MAX_ARG_STRLEN of Linux: 32 pages, which usually have 4 KiB. */
    VARIABLE_MAX = 32 * 4096,
    /* With fewer replicas TF_CONFIG is never longer than VARIABLE_MAX, even with the longest names.
     */
    REPLICAS_SAFE = 256,
};

/* The replica types in the order in which they appear in "cluster": sorted by name, as Go writes
 * maps. */
static const enum training_replica_type sorted_types[] = {
    TRAINING_CHIEF, TRAINING_EVALUATOR, TRAINING_MASTER, TRAINING_PS, TRAINING_WORKER,
};

static struct json *replica_address(struct arena *arena, const struct training_job *job,
                                    enum training_replica_type type, int index,
                                    const char *cluster_domain)
{
    bool domain = !str_is_empty(cluster_domain);

    if (job->shared_address)
        return json_stringf(arena, "%s:%d", job->shared_address,
                            training_replica_port(job, type, index));
    return json_stringf(arena, "%s.%s.svc%s%s:%d", training_replica_name(arena, job, type, index),
                        job->namespace_, domain ? "." : "", domain ? cluster_domain : "",
                        training_replica_port(job, type, index));
}

static struct json *all_addresses(struct arena *arena, const struct training_job *job,
                                  enum training_replica_type type, const char *cluster_domain)
{
    struct json *list = json_array(arena);

    for (int i = 0; i < job->replicas[type].replicas; i++)
        json_append(list, replica_address(arena, job, type, i, cluster_domain));
    return list;
}

static struct json *dense_cluster(struct arena *arena, const struct training_job *job,
                                  const char *cluster_domain)
{
    struct json *cluster = json_object(arena);

    for (size_t i = 0; i < sizeof(sorted_types) / sizeof(sorted_types[0]); i++) {
        enum training_replica_type type = sorted_types[i];

        if (!job->replicas[type].present)
            continue;
        if (type == TRAINING_EVALUATOR && !job->evaluator_in_cluster)
            continue;
        json_set(arena, cluster, training_replica_type_lower(type),
                 all_addresses(arena, job, type, cluster_domain));
    }
    return cluster;
}

/* Returns the cluster for enableDynamicWorker. Each replica gets only the addresses that it needs,
 * so that workers may join and leave. A worker gets itself and all parameter servers, a parameter
 * server only itself, and any other replica gets an empty cluster. */
static struct json *sparse_cluster(struct arena *arena, const struct training_job *job,
                                   enum training_replica_type type, int index,
                                   const char *cluster_domain)
{
    struct json *cluster = json_object(arena);
    struct json *worker = json_object(arena);
    struct json *ps = json_array(arena);

    if (type == TRAINING_WORKER) {
        json_set(arena, worker, arena_printf(arena, "%d", index),
                 replica_address(arena, job, type, index, cluster_domain));
        ps = job->replicas[TRAINING_PS].present
                 ? all_addresses(arena, job, TRAINING_PS, cluster_domain)
                 : json_null(arena);
    } else if (type == TRAINING_PS) {
        json_append(ps, replica_address(arena, job, type, index, cluster_domain));
    }
    json_set(arena, cluster, "worker", worker);
    json_set(arena, cluster, "ps", ps);
    return cluster;
}

void training_tf_config_prepare(struct arena *arena, struct training_job *job,
                                const char *cluster_domain)
{
    if (!job->dynamic_worker && training_job_total_replicas(job) > 1)
        job->tf_cluster = json_to_string(arena, dense_cluster(arena, job, cluster_domain));
}

char *training_tf_config(struct arena *arena, const struct training_job *job,
                         enum training_replica_type type, int index, const char *cluster_domain)
{
    const char *cluster = job->tf_cluster;

    if (training_job_total_replicas(job) == 1)
        return NULL;
    if (!cluster)
        cluster = json_to_string(
            arena, job->dynamic_worker ? sparse_cluster(arena, job, type, index, cluster_domain)
                                       : dense_cluster(arena, job, cluster_domain));
    return arena_printf(arena, "{\"cluster\":%s,\"task\":{\"type\":\"%s\",\"index\":%d}%s}",
                        cluster, training_replica_type_lower(type), index,
                        job->dynamic_worker ? "" : ",\"environment\":\"cloud\"");
}

int training_tf_config_check(struct arena *arena, const struct training_job *job,
                             const char *cluster_domain, struct err *err)
{
    struct training_job prepared = *job;
    size_t longest = 0;

    if (training_job_total_replicas(job) < REPLICAS_SAFE)
        return 0;
    training_tf_config_prepare(arena, &prepared, cluster_domain);
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        int replicas = job->replicas[type].present ? job->replicas[type].replicas : 0;

        if (replicas == 0)
            continue;
        size_t size = strlen("TF_CONFIG=") +
                      strlen(training_tf_config(arena, &prepared, (enum training_replica_type)type,
                                                replicas - 1, cluster_domain)) +
                      1;
        if (size > longest)
            longest = size;
    }
    if (longest > VARIABLE_MAX)
        return err_set(
            err, ERR_INVALID,
            "spec.%s: %d replicas are too many: TF_CONFIG would have %zu bytes, and Linux "
            "allows %d bytes per environment variable; use fewer replicas, shorter "
            "names of the job and its namespace, or enableDynamicWorker",
            job->kind->specs, training_job_total_replicas(job), longest, VARIABLE_MAX);
    return 0;
}
