/* Finds and reads the log files of a run; see log/files.h. */
#include "node/log/files.h"

#include "node/log/container_log.h"
#include "node/log/read.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES_MAX = 100 };

typedef VEC(int64_t) number_list; /* the numbers of the numbered files, in ascending order */

static int log_files_compare(const void *a, const void *b)
{
    const int64_t *first = a, *second = b;
    return *first < *second ? -1 : *first > *second;
}

static number_list list_numbers(const char *path)
{
    number_list numbers = {0};
    _cleanup_free_ char *directory = mem_strdup(path);
    char *name = strrchr(directory, '/');
    *name++ = '\0';
    DIR *entries = opendir(directory);
    size_t size = strlen(name);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        int64_t number;
        if (strncmp(entry->d_name, name, size) == 0 && entry->d_name[size] == '.' &&
            str_to_int64(entry->d_name + size + 1, 1, INT64_MAX, &number, NULL) == 0)
            vec_push(&numbers, number);
    }
    if (entries)
        closedir(entries);
    if (numbers.count)
        qsort(numbers.items, numbers.count, sizeof(*numbers.items), log_files_compare);
    return numbers;
}

static int open_numbered(const char *path, int64_t number)
{
    _cleanup_free_ char *file = mem_printf("%s.%lld", path, (long long)number);
    return open(file, O_RDONLY | O_CLOEXEC);
}

bool node_log_files_same(int a, int b)
{
    struct stat first, second;
    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_ino == second.st_ino &&
           first.st_dev == second.st_dev;
}

/* Returns the index of the open file in the list, or the length of the list if it is not one of the
 * numbered files. */
static size_t find_index_of(const char *path, const number_list *numbers, int fd)
{
    for (size_t i = 0; i < numbers->count; i++) {
        _cleanup_fd_ int file = open_numbered(path, numbers->items[i]);
        if (file >= 0 && node_log_files_same(file, fd))
            return i;
    }
    return numbers->count;
}

/* Makes one attempt to find the next file. Returns false if the attempt must be repeated. Sets *ret
 * to a descriptor of the next file, or to -1 if there is none. The current file is opened before
 * the numbered files are listed. If it gets a number in between, its number is in the list. */
static bool log_files_try_next(const char *path, int fd, int *ret)
{
    _cleanup_fd_ int newest = open(path, O_RDONLY | O_CLOEXEC);
    number_list numbers = list_numbers(path);
    size_t index = find_index_of(path, &numbers, fd);
    bool done = true;
    *ret = -1;
    if (index + 1 < numbers.count) {
        *ret = open_numbered(path, numbers.items[index + 1]);
        done = *ret >= 0;
    } else if (newest >= 0 && index < numbers.count) {
        done = !node_log_files_same(newest, fd);
        *ret = done ? TAKE_FD(newest) : -1;
    } else if (newest >= 0 && !node_log_files_same(newest, fd)) {
        /* The open file was removed. Continues with the oldest remaining file. */
        *ret = numbers.count ? open_numbered(path, numbers.items[0]) : TAKE_FD(newest);
        done = *ret >= 0;
    }
    vec_release(&numbers);
    return done;
}

static int64_t log_files_size_of(int fd)
{
    struct stat info;
    return fstat(fd, &info) < 0 ? 0 : info.st_size;
}

ssize_t node_log_files_read(struct node_log_place *place, void *data, size_t size)
{
    place->size = log_files_size_of(place->fd);
    return pread(place->fd, data, size, place->offset);
}

bool node_log_files_go_on(const char *path, struct node_log_place *place)
{
    int next = -1;
    for (int i = 0; i < TRIES_MAX && !log_files_try_next(path, place->fd, &next); i++)
        ;
    if (next < 0)
        return false;
    /* If there is a next file, the open file does not grow any more. But it may have grown since
     * the previous read. */
    if (log_files_size_of(place->fd) > place->size) {
        close(next);
        return true;
    }
    close(place->fd);
    *place = (struct node_log_place){.fd = next};
    return true;
}

/* Goes back from the newest file until `lines` lines are found. Replaces `*fd`, and sets *offset to
 * the start of these lines. */
static void find_tail(const char *path, const number_list *numbers, int64_t lines, int *fd,
                      int64_t *offset)
{
    struct stat info;
    bool is_newest = true;
    size_t left = find_index_of(path, numbers, *fd); /* the file may have been renamed just now */
    for (;;) {
        int64_t wanted = lines;
        *offset =
            fstat(*fd, &info) < 0 ? 0 : node_log_tail_offset(*fd, info.st_size, is_newest, &lines);
        if (lines <= 0 || wanted == 0 || left == 0)
            return;
        int older = open_numbered(path, numbers->items[--left]);
        if (older < 0)
            return; /* the older file, and all files before it, were removed meanwhile */
        close(*fd);
        *fd = older;
        is_newest = false;
    }
}

int node_log_files_open(const char *path, int64_t tail_lines, struct node_log_place *ret,
                        struct err *err)
{
    int64_t offset = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open '%s'", path);
    number_list numbers = list_numbers(path);
    if (tail_lines >= 0) {
        find_tail(path, &numbers, tail_lines, &fd, &offset);
    } else {
        int oldest = numbers.count ? open_numbered(path, numbers.items[0]) : -1;
        if (oldest >= 0) {
            close(fd);
            fd = oldest;
        }
    }
    vec_release(&numbers);
    *ret = (struct node_log_place){.fd = fd, .offset = offset};
    return 0;
}
