/* Parses the kernel's text files; see limits/usage_read.h. */
#include "node/limits/usage_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1024 };
static const int64_t KIB_MAX = INT64_MAX / KIB / 4;

/* Returns the number after "name:" at the start of a line, or -1 if there is no such line. */
static int64_t find_number(const char *text, const char *name)
{
    size_t size = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, size) == 0 && line[size] == ':') {
            int64_t number = strtoll(line + size + 1, NULL, 10);
            return number > KIB_MAX ? KIB_MAX : number;
        }
    }
    return -1;
}

bool usage_read_process_memory(const char *status, int64_t *ret_bytes)
{
    int64_t own = find_number(status, "RssAnon"), shared = find_number(status, "RssShmem");
    if (own < 0 || shared < 0)
        return false; /* a kernel thread, or a process that has just ended */
    *ret_bytes = (own + shared) * KIB;
    return true;
}

bool usage_read_machine_time(const char *stat, int64_t *ret_ticks)
{
    enum { USER, NICE, SYSTEM, IDLE, WAITING, INTERRUPT, SOFT, STOLEN, FIELDS };
    long long ticks[FIELDS];
    if (sscanf(stat, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &ticks[USER], &ticks[NICE],
               &ticks[SYSTEM], &ticks[IDLE], &ticks[WAITING], &ticks[INTERRUPT], &ticks[SOFT],
               &ticks[STOLEN]) != FIELDS)
        return false;
    for (int i = 0; i < FIELDS; i++)
        if (ticks[i] < 0 || ticks[i] > INT64_MAX / FIELDS)
            return false;
    *ret_ticks = ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[INTERRUPT] + ticks[SOFT];
    return true;
}

bool usage_read_machine_memory(const char *meminfo, struct machine_memory *ret)
{
    int64_t total = find_number(meminfo, "MemTotal"), unused = find_number(meminfo, "MemFree"),
            idle = find_number(meminfo, "Inactive(file)");
    if (total < 0 || unused < 0 || idle < 0)
        return false;
    int64_t working = total - unused - idle;
    *ret = (struct machine_memory){total * KIB, working < 0 ? 0 : working * KIB};
    return true;
}
