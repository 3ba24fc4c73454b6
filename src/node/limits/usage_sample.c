/* Samples of what is used, and what lies between two; see limits/usage.h. */
#include "node/limits/usage.h"

#include "node/limits/usage_read.h"
#include "node/process/namespaces.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
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
    }
    vec_release(&sample->rows);
    *sample = (struct usage_sample){0};
}

void usage_sample_add(struct usage_sample *sample, const char *uid, const char *name, int64_t run,
                      int64_t pid, const struct cgroup_trees *pod)
{
    struct usage_row row = {
        .uid = mem_strdup(uid), .name = mem_strdup(name), .run = run, .pid = pid};
    row.is_counted = cgroup_usage(pod, name, &row.usage);
    vec_push(&sample->rows, row);
}

/* ---- Processes ------------------------------------------------------------------------------- */

static bool read_text(struct buf *text, const char *path)
{
    buf_clear(text);
    return file_read(path, text, NULL) == 0;
}

static bool read_of_process(struct buf *text, int64_t pid, const char *file)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%lld/%s", (long long)pid, file);
    return read_text(text, path);
}

static int64_t ticks_to_ns(int64_t ticks)
{
    return ticks * (SECOND_NS / sysconf(_SC_CLK_TCK));
}

static void add_process(struct cgroup_usage *usage, struct buf *text, int64_t pid)
{
    int64_t ticks, bytes;
    if (read_of_process(text, pid, "stat") && usage_read_process_time(text->data, &ticks))
        usage->cpu_ns += ticks_to_ns(ticks);
    if (read_of_process(text, pid, "status") && usage_read_process_memory(text->data, &bytes))
        usage->memory_bytes += bytes;
}

/* All processes of the machine once, whichever containers they belong to. */
static void count_processes(struct usage_sample *sample, struct buf *text)
{
    size_t count = sample->rows.count;
    ino_t *spaces = mem_calloc(count + 1, sizeof(*spaces));
    bool wanted = false;
    for (size_t i = 0; i < count; i++) {
        const struct usage_row *row = &sample->rows.items[i];
        spaces[i] = row->is_counted ? 0 : process_mount_namespace((pid_t)row->pid);
        wanted = wanted || spaces[i];
    }
    DIR *all = wanted ? opendir("/proc") : NULL;
    for (struct dirent *entry; all && (entry = readdir(all));) {
        int64_t pid;
        if (str_to_int64(entry->d_name, 1, INT32_MAX, &pid, NULL) < 0)
            continue;
        ino_t space = process_mount_namespace((pid_t)pid);
        for (size_t i = 0; space && i < count; i++)
            if (spaces[i] == space)
                add_process(&sample->rows.items[i].usage, text, pid);
    }
    if (all)
        closedir(all);
    free(spaces);
}

void usage_sample_finish(struct usage_sample *sample)
{
    struct timespec now, wall;
    _cleanup_buf_ struct buf text;
    int64_t ticks;
    struct machine_memory memory;
    buf_init(&text, TEXT_MAX);
    count_processes(sample, &text);
    if (read_text(&text, "/proc/stat") && usage_read_machine_time(text.data, &ticks))
        sample->machine.cpu_ns = ticks_to_ns(ticks);
    if (read_text(&text, "/proc/meminfo") && usage_read_machine_memory(text.data, &memory))
        sample->machine.memory_bytes = memory.working_set_bytes;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_REALTIME, &wall);
    sample->taken_ns = now.tv_sec * SECOND_NS + now.tv_nsec;
    sample->wall_ms = (int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000;
}

/* ---- Two samples ----------------------------------------------------------------------------- */

/* A container that was not there before has used all it ever used since. */
static int64_t time_before(const struct usage_sample *before, const struct usage_row *row)
{
    for (size_t i = 0; i < before->rows.count; i++) {
        const struct usage_row *old = &before->rows.items[i];
        if (old->run == row->run && str_eq(old->uid, row->uid) && str_eq(old->name, row->name))
            return old->usage.cpu_ns;
    }
    return 0;
}

static struct engine_usage rate(int64_t before_ns, const struct cgroup_usage *now,
                                int64_t window_ns)
{
    /* Processes that end between two looks may take their time with them. */
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
            row->name, rate(time_before(before, row), &row->usage, window)};
        if (!pod_count || !str_eq(pods[pod_count - 1].uid, row->uid))
            pods[pod_count++] =
                (struct engine_pod_usage){.uid = row->uid, .containers = &containers[i]};
        pods[pod_count - 1].count++;
    }
    *ret = (struct engine_usage_report){
        .taken_ms = after->wall_ms,
        .window_ms = window / 1000000,
        .machine = rate(before->machine.cpu_ns, &after->machine, window),
        .pods = pods,
        .count = pod_count,
    };
}
