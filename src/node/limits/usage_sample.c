/* Takes samples of usage and computes the difference of two; see limits/usage.h. */
#include "node/limits/usage.h"

#include "node/limits/usage_read.h"
#include "node/process/namespaces.h"
#include "node/process/orphans.h"
#include "node/process/table.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MAX = 256 * 1024 };

static const int64_t SECOND_NS = 1000000000;

void usage_sample_release(struct usage_sample *sample)
{
    for (size_t i = 0; i < sample->rows.count; i++) {
        free(sample->rows.items[i].uid);
        free(sample->rows.items[i].name);
        free(sample->rows.items[i].mark);
    }
    vec_release(&sample->rows);
    *sample = (struct usage_sample){0};
}

void usage_sample_add(struct usage_sample *sample, const struct usage_row *row)
{
    struct usage_row own = *row;
    own.uid = mem_strdup(row->uid);
    own.name = mem_strdup(row->name);
    own.mark = row->mark ? mem_strdup(row->mark) : NULL;
    vec_push(&sample->rows, own);
}

/* ---- Processes ------------------------------------------------------------------------------- */

static bool sample_read_text(struct buf *text, const char *path)
{
    buf_clear(text);
    return file_read(path, text, NULL) == 0;
}

static bool sample_read_process_text(struct buf *text, int64_t pid, const char *file)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%lld/%s", (long long)pid, file);
    return sample_read_text(text, path);
}

static int64_t ticks_to_ns(int64_t ticks)
{
    return ticks * (SECOND_NS / sysconf(_SC_CLK_TCK));
}

/* A container that no control group counts. Its processes are searched among all processes. */
struct uncounted {
    struct usage_row *row;
    ino_t mount_namespace; /* of the container's first process; 0 if not known or not needed */
};

struct search {
    struct process_table table;
    struct uncounted *uncounted;
    /* The supervisor of each item of `uncounted`; -1 if the container's first process is gone. */
    pid_t *supervisors;
    size_t count; /* of `uncounted` */
    char **marks; /* one per process of the table; NULL before the mark is read */
};

static void search_begin(struct search *search, struct usage_sample *sample)
{
    size_t most = sample->rows.count + 1;
    *search = (struct search){.uncounted = mem_calloc(most, sizeof(*search->uncounted)),
                              .supervisors = mem_calloc(most, sizeof(*search->supervisors))};
    for (size_t i = 0; i < sample->rows.count; i++)
        if (!sample->rows.items[i].is_counted)
            search->uncounted[search->count++].row = &sample->rows.items[i];
    if (search->count)
        process_table_read(&search->table);
    for (size_t i = 0; i < search->count; i++) {
        const struct usage_row *row = search->uncounted[i].row;
        const struct process_entry *first = process_table_find(&search->table, (pid_t)row->pid);
        /* If the PID was reused, the process is not a child of the supervisor. */
        bool is_first = first && first->parent == row->supervisor;
        search->supervisors[i] = is_first ? row->supervisor : -1;
        search->uncounted[i].mount_namespace =
            row->mark || !is_first ? 0 : process_mount_namespace((pid_t)row->pid);
    }
    search->marks = mem_calloc(search->table.all.count + 1, sizeof(*search->marks));
}

static void search_end(struct search *search)
{
    for (size_t i = 0; i < search->table.all.count; i++)
        free(search->marks[i]);
    free(search->marks);
    process_table_release(&search->table);
    free(search->uncounted);
    free(search->supervisors);
}

/* Returns the mark of process `top` (process/orphans.h), which is a variable in its environment.
 * The mark is read once, because an environment may be large and each descendant of `top` needs the
 * mark. */
static const char *mark_of(const struct search *search, const struct process_entry *top)
{
    char **mark = &search->marks[top - search->table.all.items];
    if (!*mark) {
        char text[PATH_MAX];
        orphans_mark_of(top->pid, text, sizeof(text));
        *mark = mem_strdup(text);
    }
    return *mark;
}

/* Returns the container of `process`, which an exec command has started. `top` is the process of
 * that command whose parent is the supervisor. The container is found by its mount namespace or its
 * mark. If neither can be read, and only one container of the pod is in the search, returns that
 * one. */
static struct usage_row *row_of_command(const struct search *search,
                                        const struct process_entry *process,
                                        const struct process_entry *top)
{
    const char *mark = NULL; /* read only if a container has marks */
    ino_t mount_namespace = process_mount_namespace(process->pid);
    struct usage_row *last = NULL;
    size_t candidates = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct uncounted *uncounted = &search->uncounted[i];
        if (search->supervisors[i] != top->parent)
            continue;
        if (uncounted->row->mark)
            mark = mark_of(search, top);
        if (uncounted->row->mark ? str_eq(mark, uncounted->row->mark)
                                 : mount_namespace && mount_namespace == uncounted->mount_namespace)
            return uncounted->row;
        last = uncounted->row;
        candidates++;
    }
    bool is_identified = mark ? mark[0] != '\0' : mount_namespace != 0;
    return candidates == 1 && !is_identified ? last : NULL;
}

/* Returns the row of the container that the process belongs to, or NULL. It is usually the
 * container whose first process is this process or an ancestor of it. */
static struct usage_row *row_of(const struct search *search, const struct process_entry *process)
{
    const struct process_entry *top =
        process_table_climb(&search->table, process, search->supervisors, search->count);
    for (size_t i = 0; top && i < search->count; i++)
        if (search->supervisors[i] == top->parent && search->uncounted[i].row->pid == top->pid)
            return search->uncounted[i].row;
    return top ? row_of_command(search, process, top) : NULL;
}

/* Adds the usage of running processes to the rows of their containers. Reads all processes of the
 * machine once, for all containers. */
static void count_processes(struct usage_sample *sample, struct buf *text)
{
    struct search search;
    search_begin(&search, sample);
    for (size_t i = 0; i < search.table.all.count; i++) {
        const struct process_entry *process = &search.table.all.items[i];
        struct usage_row *row = row_of(&search, process);
        int64_t bytes;
        if (!row)
            continue;
        row->usage.cpu_ns += ticks_to_ns(process->ticks);
        if (sample_read_process_text(text, process->pid, "status") &&
            usage_read_process_memory(text->data, &bytes))
            row->usage.memory_bytes += bytes;
    }
    search_end(&search);
}

void usage_sample_finish(struct usage_sample *sample)
{
    struct timespec now, wall;
    _cleanup_buf_ struct buf text;
    int64_t ticks;
    struct machine_memory memory;
    buf_init(&text, TEXT_MAX);
    count_processes(sample, &text);
    if (sample_read_text(&text, "/proc/stat") && usage_read_machine_time(text.data, &ticks))
        sample->machine.cpu_ns = ticks_to_ns(ticks);
    if (sample_read_text(&text, "/proc/meminfo") && usage_read_machine_memory(text.data, &memory))
        sample->machine.memory_bytes = memory.working_set_bytes;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_REALTIME, &wall);
    sample->taken_ns = now.tv_sec * SECOND_NS + now.tv_nsec;
    sample->wall_ms = (int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000;
}

/* ---- The difference of two samples ----------------------------------------------------------- */

/* Returns the container's CPU time in the earlier sample. A container that is not in that sample
 * has started later, so all its CPU time is new. */
static int64_t time_before(const struct usage_sample *before, const struct usage_row *row)
{
    for (size_t i = 0; i < before->rows.count; i++) {
        const struct usage_row *old = &before->rows.items[i];
        if (old->run == row->run && str_eq(old->uid, row->uid) && str_eq(old->name, row->name))
            return old->usage.cpu_ns;
    }
    return 0;
}

static struct engine_usage sample_cpu_rate(int64_t before_ns, const struct cgroup_usage *now,
                                           int64_t window_ns)
{
    /* The CPU time of processes that have ended between the samples may be missing in `now`. */
    int64_t used = now->cpu_ns > before_ns ? now->cpu_ns - before_ns : 0;
    return (struct engine_usage){(int64_t)((double)used / (double)window_ns * (double)SECOND_NS),
                                 now->memory_bytes};
}

void usage_compare(struct arena *arena, const struct usage_sample *before,
                   const struct usage_sample *after, struct engine_usage_report *ret)
{
    size_t count = after->rows.count;
    struct engine_container_usage *containers =
        ARENA_ARRAY(arena, struct engine_container_usage, count + 1);
    struct engine_pod_usage *pods = ARENA_ARRAY(arena, struct engine_pod_usage, count + 1);
    size_t pod_count = 0;
    int64_t window = after->taken_ns - before->taken_ns;
    window = window < 1 ? 1 : window;
    for (size_t i = 0; i < count; i++) {
        const struct usage_row *row = &after->rows.items[i];
        containers[i] = (struct engine_container_usage){
            row->name, sample_cpu_rate(time_before(before, row), &row->usage, window)};
        if (!pod_count || !str_eq(pods[pod_count - 1].uid, row->uid))
            pods[pod_count++] =
                (struct engine_pod_usage){.uid = row->uid, .containers = &containers[i]};
        pods[pod_count - 1].count++;
    }
    *ret = (struct engine_usage_report){
        .taken_ms = after->wall_ms,
        .window_ms = window / 1000000,
        .machine = sample_cpu_rate(before->machine.cpu_ns, &after->machine, window),
        .pods = pods,
        .count = pod_count,
    };
}
