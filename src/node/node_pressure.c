/* Detects pressure on the machine's resources; see node_pressure.h. */
#include "node/node_pressure.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/limits/usage_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

enum {
    TEXT_MAX = 64 * 1024,
    /* A resource is under pressure if less than this is left. */
    MEMORY_LEAST = 100 * 1024 * 1024, /* bytes; the kubelet's default */
    DISK_LEAST = 256 * 1024 * 1024,   /* bytes */
    FILES_LEAST = 1000,
    TASKS_LEAST = 200,
};

/* Returns 0 if the file cannot be read. */
static int64_t node_pressure_read_number(const char *path)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    return file_read(path, &text, NULL) == 0 ? strtoll(text.data, NULL, 10) : 0;
}

/* Returns how many more tasks can be started, or INT64_MAX if that is not known. The text "0.20
 * 0.18 0.12 1/80 11206" in /proc/loadavg means that 80 tasks exist. */
static int64_t tasks_left(void)
{
    _cleanup_buf_ struct buf text;
    int tasks;
    int64_t threads = node_pressure_read_number("/proc/sys/kernel/threads-max");
    int64_t pids = node_pressure_read_number("/proc/sys/kernel/pid_max");
    buf_init(&text, TEXT_MAX);
    if (!threads || !pids || file_read("/proc/loadavg", &text, NULL) < 0 ||
        sscanf(text.data, "%*f %*f %*f %*d/%d", &tasks) != 1)
        return INT64_MAX;
    return (threads < pids ? threads : pids) - tasks;
}

void node_room_read(const char *state_dir, struct node_room *ret)
{
    *ret = (struct node_room){INT64_MAX, INT64_MAX, INT64_MAX, tasks_left()};
    _cleanup_buf_ struct buf text;
    struct machine_memory memory;
    struct statvfs disk;
    buf_init(&text, TEXT_MAX);
    if (file_read("/proc/meminfo", &text, NULL) == 0 &&
        usage_read_machine_memory(text.data, &memory))
        ret->memory_bytes = memory.total_bytes - memory.working_set_bytes;
    if (statvfs(state_dir, &disk) == 0) {
        ret->disk_bytes = (int64_t)(disk.f_bavail * disk.f_frsize);
        if (disk.f_files) /* some file systems do not report a number of files */
            ret->disk_files = (int64_t)disk.f_favail;
    }
}

void node_pressure_init(struct node_pressure *pressure, int64_t now_ms)
{
    *pressure = (struct node_pressure){0};
    for (int kind = 0; kind < PRESSURE_KINDS; kind++)
        pressure->since_ms[kind] = now_ms;
}

void node_pressure_update(struct node_pressure *pressure, const struct node_room *room,
                          int64_t now_ms)
{
    const bool is_high[] = {
        [PRESSURE_MEMORY] = room->memory_bytes < MEMORY_LEAST,
        [PRESSURE_DISK] = room->disk_bytes < DISK_LEAST || room->disk_files < FILES_LEAST,
        [PRESSURE_PIDS] = room->tasks < TASKS_LEAST,
    };
    for (int kind = 0; kind < PRESSURE_KINDS; kind++) {
        if (pressure->is_high[kind] == is_high[kind])
            continue;
        pressure->is_high[kind] = is_high[kind];
        pressure->since_ms[kind] = now_ms;
    }
}

struct node_pressure_words node_pressure_words(const struct node_pressure *pressure,
                                               enum node_pressure_kind kind)
{
    static const struct node_pressure_words WORDS[PRESSURE_KINDS][2] = {
        [PRESSURE_MEMORY] = {{"MemoryPressure", "False", "KubeletHasSufficientMemory",
                              "kubelet has sufficient memory available"},
                             {"MemoryPressure", "True", "KubeletHasInsufficientMemory",
                              "less than 100 MiB of the machine's memory is left"}},
        [PRESSURE_DISK] = {{"DiskPressure", "False", "KubeletHasNoDiskPressure",
                            "kubelet has no disk pressure"},
                           {"DiskPressure", "True", "KubeletHasDiskPressure",
                            "less than 256 MiB or fewer than 1000 inodes are free on the disk of "
                            "the state directory"}},
        [PRESSURE_PIDS] = {{"PIDPressure", "False", "KubeletHasSufficientPID",
                            "kubelet has sufficient PID available"},
                           {"PIDPressure", "True", "KubeletHasInsufficientPID",
                            "fewer than 200 processes can still be started on the machine"}},
    };
    return WORDS[kind][pressure->is_high[kind]];
}
