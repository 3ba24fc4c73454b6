/* Inspects and maps namespaces of processes; see process/namespaces.h. */
#include "node/process/namespaces.h"

#include "base/system/file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static ino_t namespaces_read_number(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_ino : 0;
}

/* If the first thread of the process has ended, /proc/PID/ns is empty. The function then reads the
 * namespace of another thread. */
ino_t process_mount_namespace(pid_t pid)
{
    char path[64 + NAME_MAX];
    snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
    ino_t number = namespaces_read_number(path);
    if (number || errno != ENOENT)
        return number;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads && !number && (entry = readdir(threads));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%s/ns/mnt", (int)pid, entry->d_name);
        number = namespaces_read_number(path);
    }
    if (threads)
        closedir(threads);
    return number;
}

static int write_map(const char *path, struct id_map map, struct err *err)
{
    char text[64];
    snprintf(text, sizeof(text), "%lld %lld 1\n", (long long)map.inside, (long long)map.outside);
    return file_write_into(path, text, err);
}

int process_map_ids(struct id_map user, struct id_map group, struct err *err)
{
    int result = file_write_into("/proc/self/setgroups", "deny", err);
    if (result == 0)
        result = write_map("/proc/self/uid_map", user, err);
    if (result == 0)
        result = write_map("/proc/self/gid_map", group, err);
    return result;
}
