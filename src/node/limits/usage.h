/* Measures the resource usage of pods and of the machine, for metrics.k8s.io. A rate needs two
 * samples that are at least one second apart. If there is no previous sample, or it is older than a
 * minute, a request takes a new sample and is answered a second later. Otherwise the previous
 * sample is the first of the two, and the request is answered as soon as that sample is a second
 * old. Without requests nothing is measured. */
#ifndef TRAINYARD_NODE_LIMITS_USAGE_H
#define TRAINYARD_NODE_LIMITS_USAGE_H

#include "base/vec.h"
#include "engine/engine.h"
#include "loop/loop.h"
#include "node/limits/cgroup.h"

/* One running container in a sample. */
struct usage_row {
    char *uid; /* the UID of its pod */
    char *name;
    char *mark; /* the mark of its processes if it has no namespaces (process/orphans.h), or NULL */
    int64_t run; /* the number of restarts before this run */
    int64_t pid; /* the PID of its first process, a child of `supervisor` */
    pid_t supervisor;
    bool is_counted; /* control groups count its usage; otherwise its processes are searched */
    struct cgroup_usage usage;
};

struct usage_sample {
    int64_t taken_ns; /* the time of the sample on the monotonic clock */
    int64_t wall_ms;  /* the time of the sample on the wall clock */
    struct cgroup_usage machine;
    VEC(struct usage_row) rows; /* the rows of one pod are adjacent */
};

void usage_sample_release(struct usage_sample *sample); /* safe on zeroed memory */
/* Adds a copy of the row. If no control group counts the container, row->usage has only the CPU
 * time of its exec commands, probes and hooks that have exited (pod/cpu_time.h), and
 * usage_sample_finish() adds the usage of its running processes. */
void usage_sample_add(struct usage_sample *sample, const struct usage_row *row);
/* Must be called after all rows were added. Measures the machine, and the processes of containers
 * that no control group counts. */
void usage_sample_finish(struct usage_sample *sample);

/* Computes a report from two samples. The report is in the arena, but its strings are those of
 * `after`. Pure. */
void usage_compare(struct arena *arena, const struct usage_sample *before,
                   const struct usage_sample *after, struct engine_usage_report *ret);

/* Answers requests for usage. All functions must be called on the loop thread. */
struct usage_meter;
/* Adds the running containers to the sample. */
typedef void usage_collect(void *context, struct usage_sample *sample);
struct usage_meter *usage_meter_new(struct loop *loop, usage_collect *collect, void *context);
/* Calls `done` of all waiting requests with NULL. */
struct usage_meter *usage_meter_free(struct usage_meter *meter);
/* Implements `usage` of struct engine_pod_backend: calls `done` later, on the loop thread, with the
 * report. The returned request is invalid afterwards. */
void *usage_meter_ask(struct usage_meter *meter, engine_usage_done *done, void *done_context);
/* Implements `usage_cancel`: frees a waiting request; `done` is not called. */
void usage_meter_cancel(void *request);

#endif
