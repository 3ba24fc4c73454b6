/* Measures the resource usage of pods and of the machine, for metrics.k8s.io. A rate needs two
 * samples that are at least one second apart. If the last sample is older than a minute, a request
 * takes a new one and is answered a second later. Otherwise the last sample is used as the first of
 * the two. Without requests nothing is measured. */
#ifndef TRAINYARD_NODE_LIMITS_USAGE_H
#define TRAINYARD_NODE_LIMITS_USAGE_H

#include "base/vec.h"
#include "engine/engine.h"
#include "loop/loop.h"
#include "node/limits/cgroup.h"

/* One running container at one moment. */
struct usage_row {
    char *uid; /* the UID of its pod */
    char *name;
    char *mark; /* the mark of its processes if it has no namespaces (process/orphans.h), or NULL */
    int64_t run; /* the number of restarts before this run */
    int64_t pid; /* the PID of its first process, a child of `supervisor` */
    pid_t supervisor;
    bool is_counted; /* control groups count its usage; otherwise its processes are looked up */
    struct cgroup_usage usage;
};

struct usage_sample {
    int64_t taken_ns; /* monotonic */
    int64_t wall_ms;
    struct cgroup_usage machine;
    VEC(struct usage_row) rows; /* the rows of one pod are adjacent */
};

void usage_sample_release(struct usage_sample *sample); /* safe on zeroed memory */
/* Copies the row. If no control group counts the container, row->usage is the usage of its
 * processes that have exited. */
void usage_sample_add(struct usage_sample *sample, const struct usage_row *row);
/* Must be called after all rows were added. Samples the machine, and the processes of containers
 * that no control group counts. */
void usage_sample_finish(struct usage_sample *sample);

/* Computes a report in the arena from two samples. Pure. */
void usage_compare(struct arena *arena, const struct usage_sample *before,
                   const struct usage_sample *after, struct engine_usage_report *ret);

struct usage_meter;
/* Adds the running containers to a sample. */
typedef void usage_collect(void *context, struct usage_sample *sample);
struct usage_meter *usage_meter_new(struct loop *loop, usage_collect *collect, void *context);
struct usage_meter *usage_meter_free(struct usage_meter *meter);
/* Implement `usage` and `usage_cancel` of struct engine_pod_backend. */
void *usage_meter_ask(struct usage_meter *meter, engine_usage_done *done, void *done_context);
void usage_meter_cancel(void *asked);

#endif
