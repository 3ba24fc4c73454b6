/* Finds processes by parents and marks; see process/orphans.h. */
#include "node/process/orphans.h"

#include "node/process/lock.h"
#include "node/process/table.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

enum {
    /* A process that waits for a broken disk cannot be killed. The search is repeated until this
     * deadline and once more after the deadline, because a process may have forked while the caller
     * was stopped. */
    DEADLINE_MS = 5 * 1000,
    AWAITED_MAX = 256,
    ENVIRONMENT_MAX = 4 * 1024 * 1024,
    MARK_MAX = 4096,
    DEPTH_MAX = 2, /* levels of a mark below the directory of all pods */
};

/* The result of one search, and the pidfds of the killed processes. */
struct look {
    size_t found;
    int killed[AWAITED_MAX];
    size_t count;
};

static bool is_alive(pid_t pid, struct process_entry *ret)
{
    return process_entry_read(pid, ret) && !ret->is_dead;
}

/* Takes over the pidfd. A process that the caller may not kill is not counted. */
static void kill_one(struct look *look, int pidfd)
{
    bool is_killed = pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0;
    look->found += is_killed;
    if (is_killed && look->count < AWAITED_MAX)
        look->killed[look->count++] = pidfd;
    else
        close(pidfd);
}

/* Waits for the end of the killed processes. A killed process loses its environment and its
 * children before it ends, so a search in that time would not find it. */
static void await_deaths(struct look *look)
{
    const int64_t deadline = moment_monotonic_ms() + DEADLINE_MS;
    for (size_t i = 0; i < look->count; i++) {
        int64_t left = deadline - moment_monotonic_ms();
        (void)process_wait_end(look->killed[i], left > 0 ? (int)left : 0);
        close(look->killed[i]);
    }
}

static void wait_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Reads the process again after its pidfd is open, so that no later process with the same pid is
 * killed. The PID of its parent is not compared, because it changes when the parent is killed. */
static size_t kill_below(orphans_choose *choose, void *context)
{
    const pid_t self = getpid();
    struct process_table processes;
    struct look look = {0};
    process_table_read(&processes);
    for (size_t i = 0; i < processes.all.count; i++) {
        const struct process_entry *one = &processes.all.items[i], *top;
        struct process_entry now;
        if (one->is_dead || !(top = process_table_climb(&processes, one, &self, 1)) ||
            (choose && !choose(context, top->pid)))
            continue;
        int pidfd = pidfd_open(one->pid, 0);
        if (pidfd >= 0 && is_alive(one->pid, &now) && now.born == one->born) {
            kill_one(&look, pidfd);
        } else {
            look.found++; /* the process has ended and may have left children: search again */
            if (pidfd >= 0)
                close(pidfd);
        }
    }
    process_table_release(&processes);
    await_deaths(&look);
    return look.found;
}

bool orphans_end_below(orphans_choose *choose, void *context)
{
    const int64_t deadline = moment_monotonic_ms() + DEADLINE_MS;
    /* Searches until two searches in a row find nothing: one search may miss a process whose parent
     * ends meanwhile. */
    for (int empty = 0; empty < 2;) {
        bool is_late = moment_monotonic_ms() > deadline;
        empty = kill_below(choose, context) ? 0 : empty + 1;
        if (empty == 0 && is_late)
            return false;
        if (empty == 0)
            wait_a_moment();
    }
    return true;
}

static void read_mark(const char *path, char *ret, size_t size)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, ENVIRONMENT_MAX);
    if (file_read(path, &text, NULL) < 0)
        return;
    for (size_t at = 0; at < text.size; at += strlen(text.data + at) + 1)
        if (str_has_prefix(text.data + at, ORPHANS_MARK "="))
            str_copy(ret, size, text.data + at + strlen(ORPHANS_MARK "="));
}

/* If the first thread has ended, it shows no environment, but the other threads still do. */
void orphans_mark_of(pid_t pid, char *ret, size_t size)
{
    char path[64 + NAME_MAX];
    ret[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    read_mark(path, ret, size);
    if (ret[0])
        return;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads && !ret[0] && (entry = readdir(threads));) {
        int64_t thread;
        if (str_to_int64(entry->d_name, 1, INT32_MAX, &thread, NULL) < 0 || thread == pid)
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%s/environ", (int)pid, entry->d_name);
        read_mark(path, ret, size);
    }
    if (threads)
        closedir(threads);
}

/* Any user can give a process any mark, so a mark that leads out of the directory does not
 * count. */
static bool is_below(const char *mark, const char *path)
{
    if (!str_has_prefix(mark, path))
        return false;
    const char *at = mark + strlen(path);
    int depth = 0;
    for (; *at == '/' && at[1] != '.' && at[1] != '/' && at[1]; depth++)
        at += 1 + strcspn(at + 1, "/");
    return !*at && depth >= 1 && depth <= DEPTH_MAX;
}

static bool is_meant(pid_t pid, const char *path, orphans_spare *spare, void *context)
{
    char mark[MARK_MAX];
    orphans_mark_of(pid, mark, sizeof(mark));
    return is_below(mark, path) && !(spare && spare(context, mark));
}

static size_t kill_marked(const char *path, orphans_spare *spare, void *context)
{
    struct process_table processes;
    struct look look = {0};
    process_table_read(&processes);
    for (size_t i = 0; i < processes.all.count; i++) {
        pid_t pid = processes.all.items[i].pid;
        if (processes.all.items[i].is_dead || !is_meant(pid, path, spare, context))
            continue;
        int pidfd = pidfd_open(pid, 0);
        if (pidfd >= 0 && is_meant(pid, path, spare, context))
            kill_one(&look, pidfd);
        else if (pidfd >= 0)
            close(pidfd);
    }
    process_table_release(&processes);
    await_deaths(&look);
    return look.found;
}

size_t orphans_end_marked(const char *path, orphans_spare *spare, void *context)
{
    const int64_t deadline = moment_monotonic_ms() + DEADLINE_MS;
    size_t first = kill_marked(path, spare, context), left = first;
    for (bool is_late = false; left && !is_late;) {
        is_late = moment_monotonic_ms() > deadline;
        wait_a_moment();
        left = kill_marked(path, spare, context);
    }
    return first;
}
