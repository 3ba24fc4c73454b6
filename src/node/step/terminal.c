/* Makes a new terminal in the sandbox for a command that is about to run there. */
#include "node/step/step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

int step_terminal_take(int *ret_master, struct err *err)
{
    const int unlocked = 0;
    /* Opens /dev/ptmx, because most machines let no user open /dev/pts/ptmx. In sandboxes /dev/ptmx
     * is a link to that file, and users may open it there. */
    int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) < 0)
        return err_set_errno(err, errno, "cannot make a terminal");
    int terminal = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
    if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0)
        return err_set_errno(err, errno, "cannot open the terminal");
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (dup2(terminal, fd) < 0)
            return err_set_errno(err, errno, "cannot attach the terminal");
    close(terminal);
    if (!getenv("TERM"))
        setenv("TERM", "xterm", 1);
    *ret_master = master;
    return 0;
}
