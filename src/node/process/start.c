/* Starts trainyard-step; see process/start.h. */
#include "node/process/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads the output until its end. Returns 0 if its first line is "ready". Otherwise returns -1, and
 * `text` is the first line. */
static int read_verdict(int fd, char *text, size_t size)
{
    size_t used = 0;
    for (;;) {
        ssize_t got = read(fd, text + used, size - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    text[used] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return strcmp(text, "ready") == 0 ? 0 : -1;
}

static void process_start_run(const char *const *arguments, int output)
{
    /* This process is a child of the caller. It forks again and exits, so that init reaps the
     * program. */
    if (fork() == 0) {
        int null = open("/dev/null", O_RDONLY);
        dup2(null, STDIN_FILENO);
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
        execv(arguments[0], (char *const *)arguments);
        dprintf(STDERR_FILENO, "%s\n", strerror(errno));
    }
    _exit(0);
}

int process_start_step(const char *const *arguments, struct err *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_set_errno(err, errno, "cannot make a pipe");
    pid_t pid = fork();
    int errnum = errno;
    if (pid == 0)
        process_start_run(arguments, fds[1]);
    close(fds[1]);
    char verdict[ERR_MESSAGE_MAX] = "";
    int result = -1;
    if (pid > 0) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        result = read_verdict(fds[0], verdict, sizeof(verdict));
    }
    close(fds[0]);
    if (pid < 0)
        return err_set(err, ERR_UNAVAILABLE, "cannot start '%s': %s", arguments[0],
                       strerror(errnum));
    return result < 0 ? err_set(err, ERR_UNAVAILABLE, "'%s' does not start: %s", arguments[0],
                                verdict[0] ? verdict : "it ended without a message")
                      : 0;
}
