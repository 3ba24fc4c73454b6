/* Reads all processes and finds ancestors; see process/table.h. */
#include "node/process/table.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/system/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAT_MAX = 4096 };

/* The text is "42 (a name) S 41 …". The name may contain any character, so the last parenthesis
 * ends it. If the first thread of a process has ended, its state is that of a zombie, but the
 * process is not dead if it has other threads. */
bool process_entry_parse(const char *stat, struct process_entry *ret)
{
    const char *behind = strrchr(stat, ')');
    int pid, parent, threads;
    char state;
    unsigned long long user, system, children_user, children_system, born;
    if (!behind || sscanf(stat, "%d", &pid) != 1 ||
        sscanf(behind,
               ") %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu %*s %*s %d %*s "
               "%llu",
               &state, &parent, &user, &system, &children_user, &children_system, &threads,
               &born) != 8)
        return false;
    *ret = (struct process_entry){
        .pid = (pid_t)pid,
        .parent = (pid_t)parent,
        .is_dead = state == 'X' || (state == 'Z' && threads <= 1),
        .born = born,
        .ticks = (int64_t)(user + system + children_user + children_system),
    };
    return true;
}

bool process_entry_read(pid_t pid, struct process_entry *ret)
{
    char path[64];
    _cleanup_buf_ struct buf text;
    buf_init(&text, STAT_MAX);
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    return file_read(path, &text, NULL) == 0 && process_entry_parse(text.data, ret);
}

static int process_table_compare(const void *a, const void *b)
{
    const struct process_entry *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

void process_table_read(struct process_table *ret)
{
    *ret = (struct process_table){0};
    DIR *directory = opendir("/proc");
    for (struct dirent *name; directory && (name = readdir(directory));) {
        struct process_entry entry;
        int64_t pid;
        if (str_to_int64(name->d_name, 1, INT32_MAX, &pid, NULL) == 0 &&
            process_entry_read((pid_t)pid, &entry))
            vec_push(&ret->all, entry);
    }
    if (directory)
        closedir(directory);
    if (ret->all.count)
        qsort(ret->all.items, ret->all.count, sizeof(*ret->all.items), process_table_compare);
}

void process_table_release(struct process_table *table)
{
    vec_release(&table->all);
}

const struct process_entry *process_table_find(const struct process_table *table, pid_t pid)
{
    return table->all.count
               ? bsearch(&(struct process_entry){.pid = pid}, table->all.items, table->all.count,
                         sizeof(*table->all.items), process_table_compare)
               : NULL;
}

static bool process_table_has_pid(const pid_t *pids, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

/* Limits the number of steps, because parents form a cycle if a pid was reused during the read. */
const struct process_entry *process_table_climb(const struct process_table *table,
                                                const struct process_entry *from,
                                                const pid_t *parents, size_t count)
{
    size_t steps = 0;
    while (from && !process_table_has_pid(parents, count, from->parent))
        from = ++steps > table->all.count ? NULL : process_table_find(table, from->parent);
    return from;
}
