/* What pods and the machine use, for metrics.k8s.io. A rate needs two samples: who asks first waits
 * a second for the other one, and whoever asks within a minute after that is answered at once.
 * While nobody asks nothing is measured. */
#ifndef TRAINYARD_NODE_LIMITS_USAGE_H
#define TRAINYARD_NODE_LIMITS_USAGE_H

#include "base/vec.h"
#include "engine/engine.h"
#include "loop/loop.h"
#include "node/limits/cgroup.h"

/* One container that runs, at one moment. */
struct usage_row {
    char *uid; /* of its pod */
    char *name;
    char *mark;  /* of its processes where no namespace tells them (strays.h), or NULL */
    int64_t run; /* counted by restarts */
    int64_t pid; /* of its first process, a child of … */
    pid_t supervisor;
    bool is_counted; /* by control groups; otherwise its processes are looked up */
    struct cgroup_usage usage;
};

struct usage_sample {
    int64_t taken_ns; /* on a clock that is never set */
    int64_t wall_ms;
    struct cgroup_usage machine;
    VEC(struct usage_row) rows; /* those of a pod one after the other */
};

void usage_sample_release(struct usage_sample *sample); /* safe on zeroed memory */
/* The row is copied. Where no group counts, its usage is what processes have used that are gone. */
void usage_sample_add(struct usage_sample *sample, const struct usage_row *row);
/* When all are added: the machine, and the processes of those that no group counts. */
void usage_sample_finish(struct usage_sample *sample);

/* Pure: from two samples to a report in the arena. */
void usage_compare(struct arena *arena, const struct usage_sample *before,
                   const struct usage_sample *after, struct engine_usage_report *ret);

struct usage_meter;
/* `collect` adds what runs to a sample. */
typedef void usage_collect(void *context, struct usage_sample *sample);
struct usage_meter *usage_meter_new(struct loop *loop, usage_collect *collect, void *context);
struct usage_meter *usage_meter_free(struct usage_meter *meter);
/* As struct engine_pod_backend wants it. */
void *usage_meter_ask(struct usage_meter *meter, engine_usage_done *done, void *done_context);
void usage_meter_cancel(void *asked);

#endif
