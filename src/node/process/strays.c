/* Processes by parents and marks; see process/strays.h. */
#include "node/process/strays.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOKS_MAX = 5000, /* a millisecond each: what waits for a broken disk cannot be killed */
    STAT_MAX = 4096,
    ENVIRONMENT_MAX = 4 * 1024 * 1024,
    MARK_MAX = 4096,
};

struct process {
    pid_t pid, parent;
    pid_t top; /* the child of ours that it descends from, or 0 */
};

struct processes {
    VEC(struct process) all;
};

/* "42 (a name) S 41 …": a name may have anything in it. False for the dead, who only wait to be
 * reaped. */
static bool read_parent(pid_t pid, pid_t *ret)
{
    char path[64], state;
    int parent;
    _cleanup_buf_ struct buf text;
    buf_init(&text, STAT_MAX);
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (file_read(path, &text, NULL) < 0)
        return false;
    const char *after = strrchr(text.data, ')');
    if (!after || sscanf(after, ") %c %d", &state, &parent) != 2 || state == 'Z' || state == 'X')
        return false;
    *ret = (pid_t)parent;
    return true;
}

static void list(struct processes *ret)
{
    DIR *directory = opendir("/proc");
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        struct process process = {0};
        int64_t pid;
        if (str_to_int64(entry->d_name, 1, INT32_MAX, &pid, NULL) < 0)
            continue;
        process.pid = (pid_t)pid;
        if (read_parent(process.pid, &process.parent))
            vec_push(&ret->all, process);
    }
    if (directory)
        closedir(directory);
}

static int compare(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Up from each one, until it is known whether we are above it. */
static void find_tops(struct processes *processes)
{
    const pid_t self = getpid();
    struct process *all = processes->all.items;
    size_t count = processes->all.count;
    if (count)
        qsort(all, count, sizeof(*all), compare);
    for (size_t i = 0; i < count; i++) {
        const struct process *at = &all[i];
        while (at && at->parent != self)
            at = bsearch(&(struct process){.pid = at->parent}, all, count, sizeof(*all), compare);
        all[i].top = at ? at->pid : 0;
    }
}

static void wait_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static size_t kill_below(strays_choose *choose, void *context)
{
    struct processes processes = {0};
    size_t count = 0;
    list(&processes);
    find_tops(&processes);
    for (size_t i = 0; i < processes.all.count; i++) {
        const struct process *one = &processes.all.items[i];
        if (one->top && (!choose || choose(context, one->top)) && kill(one->pid, SIGKILL) == 0)
            count++;
    }
    vec_release(&processes.all);
    return count;
}

bool strays_end_below(strays_choose *choose, void *context)
{
    for (int look = 0; look < LOOKS_MAX; look++) {
        if (kill_below(choose, context) == 0)
            return true;
        wait_a_moment();
    }
    return false;
}

void strays_mark_of(pid_t pid, char *ret, size_t size)
{
    char path[64];
    _cleanup_buf_ struct buf text;
    buf_init(&text, ENVIRONMENT_MAX);
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    ret[0] = '\0';
    if (file_read(path, &text, NULL) < 0)
        return;
    for (size_t at = 0; at < text.size; at += strlen(text.data + at) + 1)
        if (str_has_prefix(text.data + at, STRAYS_MARK "="))
            str_copy(ret, size, text.data + at + strlen(STRAYS_MARK "="));
}

static bool is_below(const char *mark, const char *path)
{
    return str_has_prefix(mark, path) && mark[strlen(path)] == '/';
}

static size_t kill_marked(const char *path, strays_spare *spare, void *context)
{
    struct processes processes = {0};
    size_t count = 0;
    list(&processes);
    for (size_t i = 0; i < processes.all.count; i++) {
        char mark[MARK_MAX];
        strays_mark_of(processes.all.items[i].pid, mark, sizeof(mark));
        if (is_below(mark, path) && !(spare && spare(context, mark)) &&
            kill(processes.all.items[i].pid, SIGKILL) == 0)
            count++;
    }
    vec_release(&processes.all);
    return count;
}

size_t strays_end_marked(const char *path, strays_spare *spare, void *context)
{
    size_t first = kill_marked(path, spare, context), left = first;
    for (int look = 0; left && look < LOOKS_MAX; look++) {
        wait_a_moment();
        left = kill_marked(path, spare, context);
    }
    return first;
}
