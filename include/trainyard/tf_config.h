/* The cluster description: the tasks of a training run, and the task of this process. It is read
 * from TF_CONFIG, from the four classic flags of TensorFlow, or from MASTER_ADDR, MASTER_PORT, RANK
 * and WORLD_SIZE. An invalid description is refused with an error that says what is wrong. */
#ifndef TRAINYARD_TF_CONFIG_H
#define TRAINYARD_TF_CONFIG_H

#include <trainyard/error.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ty_role { TY_ROLE_CHIEF, TY_ROLE_WORKER, TY_ROLE_PS, TY_ROLE_EVALUATOR, TY_ROLES };

enum {
    TY_HOST_MAX = 254,      /* a DNS name and the terminating zero */
    TY_TASKS_MAX = 16384,   /* per cluster */
    TY_CONFIG_MAX = 4 << 20 /* bytes of TF_CONFIG */
};

struct ty_task {
    enum ty_role role;
    int index;
    char host[TY_HOST_MAX]; /* "" if only the task itself knows its host */
    int port;               /* 0 if the host is "" */
};

struct ty_tf_config {
    struct ty_task *tasks; /* in the order of enum ty_role, then by index */
    size_t count;
    size_t self;      /* index in `tasks` of the task of this process */
    bool master_form; /* only tasks[0] has an address; it sends all addresses to the others */
    bool sparse;      /* dynamic workers: `tasks` does not list the other workers */
};

/* Parses the text of TF_CONFIG. `master` means chief. Roles and the names of JSON members may be in
 * upper or lower case. `environment` and unknown JSON members are ignored; a misspelt `cluster` is
 * refused. A text without a cluster, such as "{}", describes a cluster of this process alone. The
 * caller frees *ret with ty_tf_config_free(). */
int ty_tf_config_parse(const char *text, struct ty_tf_config **ret, struct ty_error *error);

/* Builds the description from the values of --ps_hosts, --worker_hosts (comma-separated host:port),
 * --job_name and --task_index. If all three texts are NULL or empty, the cluster is this process
 * alone; otherwise job_name must be set. The caller frees *ret with ty_tf_config_free(). */
int ty_tf_config_from_flags(const char *ps_hosts, const char *worker_hosts, const char *job_name,
                            int task_index, struct ty_tf_config **ret, struct ty_error *error);

/* Reads the environment: TF_CONFIG, or else MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE. Each of
 * the four has a substitute: PET_MASTER_ADDR, PET_MASTER_PORT, PET_NODE_RANK, PET_NNODES. If
 * PET_NPROC_PER_NODE is at least 2 and PET_NNODES is set, PET_NNODES replaces WORLD_SIZE, because
 * one process with several threads runs per node. If neither TF_CONFIG nor an address of the master
 * is set, the cluster is this process alone; a WORLD_SIZE above 1 or a RANK above 0 is then
 * refused. The caller frees *ret with ty_tf_config_free(). */
int ty_tf_config_from_environment(struct ty_tf_config **ret, struct ty_error *error);

void ty_tf_config_free(struct ty_tf_config *config); /* NULL-safe */

const char *ty_role_name(enum ty_role role); /* "chief", "worker", "ps", "evaluator" */
/* Returns the number of tasks with this role. */
size_t ty_tf_config_count(const struct ty_tf_config *config, enum ty_role role);

/* Returns whether this process writes checkpoints and logs: it is the chief, or worker 0 of a
 * cluster without a chief. */
bool ty_tf_config_is_chief(const struct ty_tf_config *config);

#ifdef __cplusplus
}
#endif

#endif
