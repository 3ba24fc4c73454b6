/* Counts free descriptors; see process/descriptors.h. */
#include "node/process/descriptors.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { RESERVED = 32 }; /* descriptors for clients of the API */

/* Since Linux 6.2 the size of /proc/self/fd is the number of open descriptors. On older kernels the
 * entries are counted. */
static rlim_t count_open(void)
{
    static const char PATH[] = "/proc/self/fd";
    struct stat info;
    if (stat(PATH, &info) == 0 && info.st_size > 0)
        return (rlim_t)info.st_size;
    rlim_t count = 0;
    DIR *entries = opendir(PATH);
    while (entries && readdir(entries))
        count++;
    if (entries)
        closedir(entries);
    return count;
}

int node_descriptors_check(size_t starting, struct err *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
        count_open() + starting + RESERVED < limit.rlim_cur)
        return 0;
    return err_set(err, ERR_UNAVAILABLE,
                   "no file descriptors are left for another pod: the limit of the server is %llu "
                   "(delete some pods, or raise 'ulimit -n' before 'trainyard up')",
                   (unsigned long long)limit.rlim_cur);
}
