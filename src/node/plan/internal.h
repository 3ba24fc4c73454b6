/* Shared by the files of the planner: plan/plan.c goes through the pod, and each other file plans
 * one aspect of the pod. */
#ifndef TRAINYARD_NODE_PLAN_INTERNAL_H
#define TRAINYARD_NODE_PLAN_INTERNAL_H

#include "node/image/table.h"
#include "node/plan/plan.h"

enum { PLANNER_VOLUMES_MAX = 256 };

struct planner {
    struct arena *arena;
    const struct plan_input *input;
    struct pod_spec *spec; /* the spec that the planner fills */
    struct pod_facts facts;
    struct volume volumes[PLANNER_VOLUMES_MAX];
    size_t volume_count;
    struct image image; /* the image of the current container; empty if it is unknown */
    /* The home directory of the current container's user in its image. NULL if the container uses
     * the machine's root. */
    const char *home;
    struct plan_refusal *refusal;
    struct err *err;
};

/* Records the reason of a refusal and returns `result`. plan_prepare_volumes(), plan_check_plain()
 * and plan_command() call it when they fail. If another function below fails, plan/plan.c calls it.
 */
int plan_refuse(struct planner *p, const char *reason, const char *container, int result);

/* ---- plan/names.c: host name, /etc/hosts and /etc/resolv.conf */
int plan_hostname(struct planner *p);
const char *plan_hosts(struct planner *p);
const char *plan_resolv_conf(struct planner *p);

/* ---- plan/mounts.c */
int plan_prepare_volumes(struct planner *p);
int plan_mounts(struct planner *p, const struct json *container, struct pod_container *ret);

/* ---- plan/image.c: what the image provides. Runs before the rest of the container is planned. */
int plan_check_image_name(struct planner *p, const struct json *container);
int plan_image(struct planner *p, const struct json *container, struct pod_container *ret);
int plan_signal_named(const char *text); /* returns 0 if the text names no signal */

/* ---- plan/security.c */
int plan_pod_security(struct planner *p);
int plan_security(struct planner *p, const struct json *container, struct pod_container *ret);

/* ---- plan/gpus.c */
int plan_gpus(struct planner *p, const struct json *container, struct pod_container *ret);

/* ---- plan/command.c: the command, and the default environment */
void plan_default_environment(struct planner *p, const struct json *container,
                              struct pod_strings *environment);
int plan_command(struct planner *p, const struct json *container, struct pod_container *ret);

/* ---- plan/tmp_programs.c: programs below the machine's /tmp. Runs after the command and the
 * mounts were planned. */
/* Returns whether a mount of the container already provides `path`. */
bool plan_is_covered(const struct pod_container *container, const char *path);
/* Returns the path without symbolic links, as the source of a mount must be. Returns `path` itself
 * if the file does not exist. */
const char *plan_real_path(struct planner *p, const char *path);
void plan_tmp_programs(struct planner *p, struct pod_container *ret);

/* ---- plan/plain.c: pods without Linux namespaces, and so without mounts */
/* Refuses a container that cannot run without namespaces. */
int plan_check_plain(struct planner *p, const struct json *container,
                     const struct pod_container *planned);
int plan_plain_environment(struct planner *p, const struct json *container,
                           struct pod_container *ret);
/* Sets the environment variable ORPHANS_MARK, by which leftover processes of the pod are found.
 * Must be called after the manifest's variables were added, so that they cannot replace it. */
void plan_plain_mark(struct planner *p, const struct json *container,
                     struct pod_strings *environment);
void plan_plain_command(struct planner *p, const struct json *container, struct pod_container *ret);

/* ---- plan/life.c: probes, hooks, sidecars, deadlines */
void plan_pod_life(struct planner *p);
int plan_life(struct planner *p, const struct json *container, struct pod_container *ret);

#endif
