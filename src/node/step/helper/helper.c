/* Implements the functions of step/step.h by which the modes that outlive the control process
 * detach from the starting process, report that they are ready, and handle SIGHUP. The mode pod
 * uses only step_detach(). */
#include "node/step/step.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t hung_up;

static void on_hangup(int signal)
{
    (void)signal;
    hung_up = 1;
}

int step_detach(struct err *err)
{
    if (close_range(STDERR_FILENO + 1, ~0U, 0) < 0 || (setsid() < 0 && errno != EPERM))
        return err_set_errno(err, errno, "cannot detach from the starting process");
    struct sigaction hangup;
    /* SIGHUP must not kill a helper that has no handler for it. */
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_DFL)
        signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    if (chdir("/") < 0)
        return err_set_errno(err, errno, "cannot change to '/'");
    return 0;
}

void step_sighup_block(sigset_t *ret_mask)
{
    const struct sigaction action = {.sa_handler = on_hangup};
    sigset_t hangup;
    sigemptyset(&hangup);
    sigaddset(&hangup, SIGHUP);
    sigprocmask(SIG_BLOCK, &hangup, ret_mask);
    sigdelset(ret_mask, SIGHUP);
    sigaction(SIGHUP, &action, NULL);
}

bool step_sighup_take(void)
{
    bool came = hung_up;
    hung_up = 0;
    return came;
}

void step_report_ready(void)
{
    printf("ready\n");
    fflush(stdout);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
}
