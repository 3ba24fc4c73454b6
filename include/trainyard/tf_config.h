/* Who takes part in a training run, and who am I: read from TF_CONFIG, from the four classic flags
 * of TensorFlow, or from MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE. All three end in one
 * description of the cluster. What is wrong is refused with a sentence that says what. */
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
    TY_HOST_MAX = 254,      /* a DNS name and its end */
    TY_TASKS_MAX = 16384,   /* of one cluster */
    TY_CONFIG_MAX = 4 << 20 /* bytes of TF_CONFIG */
};

struct ty_task {
    enum ty_role role;
    int index;
    char host[TY_HOST_MAX]; /* "" where only the task itself knows it */
    int port;               /* 0 where the host is "" */
};

struct ty_tf_config {
    struct ty_task *tasks; /* by role as enumerated, then by index */
    size_t count;
    size_t self;      /* which of them this process is */
    bool master_form; /* only rank 0 has an address: peers meet there and tell each other theirs */
    bool sparse;      /* dynamic workers: other workers exist and are not listed */
};

/* The text of TF_CONFIG. `master` is a chief, roles and names may be in any case, `environment` and
 * unknown members are ignored. A text without a cluster, such as "{}", describes a process alone.
 */
int ty_tf_config_parse(const char *text, struct ty_tf_config **ret, struct ty_error *error);

/* --ps_hosts, --worker_hosts (comma-separated host:port), --job_name, --task_index. */
int ty_tf_config_from_flags(const char *ps_hosts, const char *worker_hosts, const char *job_name,
                            int task_index, struct ty_tf_config **ret, struct ty_error *error);

/* The environment: TF_CONFIG if set, else MASTER_ADDR and its companions (PET_* where the plain
 * name is not set), else a process alone. */
int ty_tf_config_from_environment(struct ty_tf_config **ret, struct ty_error *error);

void ty_tf_config_free(struct ty_tf_config *config); /* NULL-safe */

const char *ty_role_name(enum ty_role role); /* "chief", "worker", "ps", "evaluator" */
size_t ty_tf_config_count(const struct ty_tf_config *config, enum ty_role role);

/* Who writes checkpoints and logs: the chief, or worker 0 where there is none. */
bool ty_tf_config_is_chief(const struct ty_tf_config *config);

#ifdef __cplusplus
}
#endif

#endif
