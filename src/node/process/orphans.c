/* Finds processes by their parents or marks, and kills them; see process/orphans.h. */
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
    /* How long searches are repeated, because a process that waits for a broken disk cannot be
     * killed. One more search follows after this time, because the caller itself may have been
     * stopped for that long. */
    DEADLINE_MS = 5 * 1000,
    AWAITED_MAX = 256, /* the number of killed processes per search whose end is awaited */
    ENVIRONMENT_MAX = 4 * 1024 * 1024,
    MARK_MAX = 4096,
    DEPTH_MAX = 2, /* levels of a mark below the directory of all pods */
};

/* One search for processes to kill. */
struct kill_search {
    size_t found; /* the number of processes that were killed or may have left children */
    int killed[AWAITED_MAX]; /* pidfds of killed processes */
    size_t count;            /* of `killed` */
};

static bool is_alive(pid_t pid, struct process_entry *ret)
{
    return process_entry_read(pid, ret) && !ret->is_dead;
}

/* Kills a process and takes over its pidfd. A process that cannot be killed is not counted. */
static void kill_process(struct kill_search *search, int pidfd)
{
    bool is_killed = pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0;
    search->found += is_killed;
    if (is_killed && search->count < AWAITED_MAX)
        search->killed[search->count++] = pidfd;
    else
        close(pidfd);
}

/* Waits for the end of the killed processes. A killed process loses its environment and its
 * children before it has ended, so a search in that time would not find it. */
static void await_deaths(struct kill_search *search)
{
    const int64_t deadline = moment_monotonic_ms() + DEADLINE_MS;
    for (size_t i = 0; i < search->count; i++) {
        int64_t left = deadline - moment_monotonic_ms();
        (void)process_wait_end(search->killed[i], left > 0 ? (int)left : 0);
        close(search->killed[i]);
    }
}

static void pause_search(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Searches once for descendants of the caller and kills them. Returns the number of processes
 * found. After it has opened the pidfd of a process, it reads the start time again, so that it does
 * not kill a later process with the same pid. It does not compare the parent, which changes when
 * the parent is killed. */
static size_t kill_below(orphans_choose *choose, void *context)
{
    const pid_t self = getpid();
    struct process_table processes;
    struct kill_search search = {0};
    process_table_read(&processes);
    for (size_t i = 0; i < processes.all.count; i++) {
        const struct process_entry *one = &processes.all.items[i], *top;
        struct process_entry now;
        if (one->is_dead || !(top = process_table_climb(&processes, one, &self, 1)) ||
            (choose && !choose(context, top->pid)))
            continue;
        int pidfd = pidfd_open(one->pid, 0);
        if (pidfd >= 0 && is_alive(one->pid, &now) && now.born == one->born) {
            kill_process(&search, pidfd);
        } else {
            /* The process has ended. Its children have another parent now: search again. */
            search.found++;
            if (pidfd >= 0)
                close(pidfd);
        }
    }
    process_table_release(&processes);
    await_deaths(&search);
    return search.found;
}

bool orphans_end_below(orphans_choose *choose, void *context)
{
    const int64_t deadline = moment_monotonic_ms() + DEADLINE_MS;
    /* Searches until two searches in a row find nothing, because a search may miss a process whose
     * parent ends during the search. */
    for (int empty = 0; empty < 2;) {
        bool is_late = moment_monotonic_ms() > deadline;
        empty = kill_below(choose, context) ? 0 : empty + 1;
        if (empty == 0 && is_late)
            return false;
        if (empty == 0)
            pause_search();
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

/* If the first thread of the process has ended, /proc shows no environment for it. The function
 * then reads the environment of another thread. */
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

/* Returns whether the mark is a path one or two levels below `path`. Any user can start a process
 * with any mark, so a mark with ".." must not lead out of the directory. */
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

/* Returns whether the process has a mark below `path` and must not be kept. */
static bool must_kill_marked(pid_t pid, const char *path, orphans_spare *spare, void *context)
{
    char mark[MARK_MAX];
    orphans_mark_of(pid, mark, sizeof(mark));
    return is_below(mark, path) && !(spare && spare(context, mark));
}

static size_t kill_marked(const char *path, orphans_spare *spare, void *context)
{
    struct process_table processes;
    struct kill_search search = {0};
    process_table_read(&processes);
    for (size_t i = 0; i < processes.all.count; i++) {
        pid_t pid = processes.all.items[i].pid;
        if (processes.all.items[i].is_dead || !must_kill_marked(pid, path, spare, context))
            continue;
        int pidfd = pidfd_open(pid, 0);
        if (pidfd >= 0 && must_kill_marked(pid, path, spare, context))
            kill_process(&search, pidfd);
        else if (pidfd >= 0)
            close(pidfd);
    }
    process_table_release(&processes);
    await_deaths(&search);
    return search.found;
}

size_t orphans_end_marked(const char *path, orphans_spare *spare, void *context)
{
    const int64_t deadline = moment_monotonic_ms() + DEADLINE_MS;
    size_t first_count = kill_marked(path, spare, context), left = first_count;
    for (bool is_late = false; left && !is_late;) {
        is_late = moment_monotonic_ms() > deadline;
        pause_search();
        left = kill_marked(path, spare, context);
    }
    return first_count;
}
