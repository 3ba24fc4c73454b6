/* Parses the other forms of a cluster description: the four classic flags of TensorFlow, and the
 * variables MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE of PyTorchJob and torchrun; see
 * tf_config.h. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "comm/cluster/cluster.h"
#include "comm/cluster/tf_config.h"

#include <stdlib.h>
#include <string.h>

int tf_config_from_flags(const char *ps_hosts, const char *worker_hosts, const char *job_name,
                         int task_index, struct ty_tf_config **ret, struct err *err)
{
    if (str_is_empty(job_name) && str_is_empty(worker_hosts) && str_is_empty(ps_hosts)) {
        *ret = cluster_alone();
        return 0;
    }
    if (str_is_empty(job_name))
        return err_set(err, ERR_INVALID, "--job_name is missing: set it to worker or ps");
    _cleanup_builder_ struct cluster_builder builder = {0};
    enum ty_role role;
    int result = cluster_role_parse(job_name, &role, err);
    if (result < 0)
        return err ? err_wrap(err, "--job_name") : result;
    result = cluster_builder_add_list(&builder, TY_ROLE_PS, ps_hosts, err);
    if (result < 0)
        return err ? err_wrap(err, "--ps_hosts") : result;
    result = cluster_builder_add_list(&builder, TY_ROLE_WORKER, worker_hosts, err);
    if (result < 0)
        return err ? err_wrap(err, "--worker_hosts") : result;
    result = cluster_builder_finish(&builder, role, task_index, ret, err);
    return result < 0 && err ? err_wrap(err, "--job_name and --task_index") : result;
}

struct environment {
    const char *(*get)(void *context, const char *name);
    void *context;
};

/* Returns NULL if the variable is not set or empty. */
static const char *environment_value(const struct environment *environment, const char *name)
{
    const char *value = environment->get(environment->context, name);
    return str_is_empty(value) ? NULL : value;
}

/* Reads a number from the variable `first`, or from `second` if `first` is not set. Fails if
 * neither is set. */
static int environment_number(const struct environment *environment, const char *first,
                              const char *second, int64_t min, int64_t max, int64_t *ret,
                              struct err *err)
{
    const char *name = environment_value(environment, first) ? first : second;
    const char *value = environment_value(environment, name);
    if (!value)
        return err_set(err, ERR_INVALID,
                       "the address of the master is set, but neither %s nor %s is", first, second);
    int result = str_to_int64(value, min, max, ret, err);
    return result < 0 && err ? err_wrap(err, "%s", name) : result;
}

/* Reads the number of processes of the job. PyTorchJob multiplies WORLD_SIZE by the number of
 * processes per node. But the trainer runs one process with many threads per node. So if there are
 * several processes per node, the number of nodes is used. */
static int environment_world_size(const struct environment *environment, int64_t *ret,
                                  struct err *err)
{
    const char *nodes = environment_value(environment, "PET_NNODES");
    if (nodes && strchr(nodes, ':'))
        return err_set(err, ERR_UNSUPPORTED,
                       "PET_NNODES is the range '%s': give a fixed number of nodes", nodes);
    int64_t processes;
    const char *per_node = environment_value(environment, "PET_NPROC_PER_NODE");
    if (nodes && per_node && str_to_int64(per_node, 2, TY_TASKS_MAX, &processes, NULL) == 0)
        return environment_number(environment, "PET_NNODES", "PET_NNODES", 1, TY_TASKS_MAX, ret,
                                  err);
    return environment_number(environment, "WORLD_SIZE", "PET_NNODES", 1, TY_TASKS_MAX, ret, err);
}

/* Reads the form in which only the master has an address: rank 0 is the chief, and the other ranks
 * are worker 0, 1, … as PyTorchJob names them. `name` is the variable that has `host`. */
static int environment_parse_master(const struct environment *environment, const char *name,
                                    const char *host, struct ty_tf_config **ret, struct err *err)
{
    int64_t port = 0, rank = 0, size = 0;
    int result =
        environment_number(environment, "MASTER_PORT", "PET_MASTER_PORT", 1, 65535, &port, err);
    if (result < 0 || (result = environment_world_size(environment, &size, err)) < 0)
        return result;
    if ((result =
             environment_number(environment, "RANK", "PET_NODE_RANK", 0, size - 1, &rank, err)) < 0)
        return result;
    _cleanup_builder_ struct cluster_builder builder = {0};
    _cleanup_free_ char *address =
        mem_printf(strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, (int)port);
    result = cluster_builder_add(&builder, TY_ROLE_CHIEF, 0, address, err);
    if (result < 0)
        return err ? err_wrap(err, "%s", name) : result;
    for (int index = 0; index < size - 1; index++)
        if ((result = cluster_builder_add(&builder, TY_ROLE_WORKER, index, NULL, err)) < 0)
            return result;
    result = cluster_builder_finish(&builder, rank ? TY_ROLE_WORKER : TY_ROLE_CHIEF,
                                    rank ? (int)rank - 1 : 0, ret, err);
    if (result == 0)
        (*ret)->master_form = true;
    return result;
}

/* Called if no address of a master is set: the process then trains alone. Rejects variables that
 * describe several processes, because each of them would train alone. */
static int environment_check_alone(const struct environment *environment, struct err *err)
{
    static const struct {
        const char *name;
        int64_t alone; /* value of the variable in a job of one process */
    } NUMBERS[] = {{"WORLD_SIZE", 1}, {"PET_NNODES", 1}, {"RANK", 0}, {"PET_NODE_RANK", 0}};
    for (size_t i = 0; i < ARRAY_SIZE(NUMBERS); i++) {
        const char *value = environment_value(environment, NUMBERS[i].name);
        int64_t number;
        if (value && str_to_int64(value, 0, INT64_MAX, &number, NULL) == 0 &&
            number > NUMBERS[i].alone)
            return err_set(
                err, ERR_INVALID,
                "%s is %s, but neither MASTER_ADDR nor TF_CONFIG says where the other processes "
                "are: set MASTER_ADDR and MASTER_PORT, or unset %s to train alone",
                NUMBERS[i].name, value, NUMBERS[i].name);
    }
    return 0;
}

int tf_config_from_environment(const char *(*get)(void *context, const char *name), void *context,
                               struct ty_tf_config **ret, struct err *err)
{
    const struct environment environment = {.get = get, .context = context};
    const char *text = environment_value(&environment, "TF_CONFIG");
    if (text)
        return tf_config_parse(text, strlen(text), ret, err);
    static const char *const MASTERS[] = {"MASTER_ADDR", "PET_MASTER_ADDR"};
    for (size_t i = 0; i < ARRAY_SIZE(MASTERS); i++) {
        const char *host = environment_value(&environment, MASTERS[i]);
        if (host)
            return environment_parse_master(&environment, MASTERS[i], host, ret, err);
    }
    int result = environment_check_alone(&environment, err);
    if (result == 0)
        *ret = cluster_alone();
    return result;
}

static const char *environment_get(void *context, const char *name)
{
    return getenv(name);
}

int tf_config_from_process_environment(struct ty_tf_config **ret, struct err *err)
{
    return tf_config_from_environment(environment_get, NULL, ret, err);
}
