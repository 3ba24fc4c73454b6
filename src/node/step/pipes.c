/* Gives the pipes of a command that is about to run in a sandbox to the container's user; see
 * step/step.h. Called in the first process of a sandbox and in the process of an exec command. */
#include "node/step/step.h"

#include <sys/stat.h>
#include <unistd.h>

void step_pipes_give(const struct pod_spec *spec, const struct pod_container *container)
{
    struct stat info;
    /* With `nested` the container's user is the user of the supervisor and owns the pipes. */
    if (container->user <= 0 || spec->nested)
        return;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) &&
            fchown(fd, (uid_t)container->user, -1) < 0)
            return; /* best effort */
}
