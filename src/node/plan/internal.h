/* What the files of the planner share: pod/plan.c goes through the pod, each of the others plans
 * one side of it. */
#ifndef TRAINYARD_NODE_POD_PLAN_INTERNAL_H
#define TRAINYARD_NODE_POD_PLAN_INTERNAL_H

#include "node/image/table.h"
#include "node/plan/plan.h"

enum { PLANNER_VOLUMES_MAX = 256 };

struct planner {
    struct arena *arena;
    const struct plan_input *input;
    struct pod_spec *spec;
    struct pod_facts facts;
    struct volume volumes[PLANNER_VOLUMES_MAX];
    size_t volume_count;
    struct image image; /* of the container at hand */
    bool image_known;
    const char *home; /* of its user, in an image with a root of its own; else NULL */
    struct plan_refusal *refusal;
    struct err *err;
};

/* Note the reason against it; the result is passed through. */
int plan_refuse(struct planner *p, const char *reason, const char *container, int result);

/* ---- pod/plan_names.c: its own name, /etc/hosts and /etc/resolv.conf */
int plan_hostname(struct planner *p);
const char *plan_hosts(struct planner *p);
const char *plan_resolv_conf(struct planner *p);

/* ---- pod/plan_mounts.c */
int plan_prepare_volumes(struct planner *p);
int plan_mounts(struct planner *p, const struct json *container, struct pod_container *ret);

/* ---- pod/plan_image.c: what the image gives, before anything else is known of the container */
int plan_check_image_name(struct planner *p, const struct json *container);
int plan_image(struct planner *p, const struct json *container, struct pod_container *ret);
int plan_signal_named(const char *text); /* 0 for what is none */

/* ---- pod/plan_security.c */
int plan_pod_security(struct planner *p);
int plan_security(struct planner *p, const struct json *container, struct pod_container *ret);

/* ---- pod/plan_gpus.c */
int plan_gpus(struct planner *p, const struct json *container, struct pod_container *ret);

/* ---- pod/plan_command.c: what runs, and the environment it finds before its own is added */
void plan_default_environment(struct planner *p, const struct json *container,
                              struct pod_strings *environment);
int plan_command(struct planner *p, const struct json *container, struct pod_container *ret);

/* ---- pod/plan_handed.c: programs below the machine's /tmp; after the command and the mounts */
bool plan_is_covered(const struct pod_container *container, const char *path);
/* The path without symbolic links, as the source of a mount must be; the path itself if there is
 * nothing. */
const char *plan_real_path(struct planner *p, const char *path);
void plan_tmp_programs(struct planner *p, struct pod_container *ret);

/* ---- pod/plan_plain.c: where there are no namespaces, and so no mounts */
int plan_check_plain(struct planner *p, const struct json *container,
                     const struct pod_container *planned);
int plan_plain_environment(struct planner *p, const struct json *container,
                           struct pod_container *ret);
/* After the manifest's own environment, which must not take its place. */
void plan_plain_mark(struct planner *p, const struct json *container,
                     struct pod_strings *environment);
void plan_plain_command(struct planner *p, const struct json *container, struct pod_container *ret);

/* ---- pod/plan_life.c: probes, hooks, sidecars, deadlines */
void plan_pod_life(struct planner *p);
int plan_life(struct planner *p, const struct json *container, struct pod_container *ret);

#endif
