/* Stores and loads the CPU time of exited processes; see pod/cpu_time.h. */
#include "node/pod/cpu_time.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 64 };

/* The file is in a subdirectory, because the control process watches the pod's directory: the write
 * after each probe would wake the control process. */
static char *cpu_time_path_of(const char *directory, const char *container)
{
    return mem_printf("%s/spent/%s", directory, container);
}

/* Each write overwrites the file with a line of the same length, so that a reader always finds one
 * whole line. */
void pod_cpu_time_store(const char *directory, const char *container, int64_t run, int64_t cpu_ns)
{
    char line[TEXT_MAX];
    int size = snprintf(line, sizeof(line), "%020" PRId64 " %020" PRId64 "\n", run, cpu_ns);
    _cleanup_free_ char *folder = cpu_time_path_of(directory, "");
    _cleanup_free_ char *path = cpu_time_path_of(directory, container);
    (void)mkdir(folder, 0700);
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        (void)file_write_all(fd, line, (size_t)size, NULL);
}

int64_t pod_cpu_time_load(const char *directory, const char *container, int64_t run)
{
    int64_t of_run, cpu_ns;
    _cleanup_free_ char *path = cpu_time_path_of(directory, container);
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    if (file_read(path, &text, NULL) < 0 ||
        sscanf(text.data, "%" SCNd64 " %" SCNd64, &of_run, &cpu_ns) != 2 || of_run != run)
        return 0;
    return cpu_ns;
}
