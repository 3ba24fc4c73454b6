/* For tests of functions that must end the process with mem_panic(). Include node_test.h or
 * cmocka.h first. */
#ifndef TRAINYARD_TESTS_LIB_PANIC_H
#define TRAINYARD_TESTS_LIB_PANIC_H

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs the function in a child process, which must abort with "panic: MESSAGE". */
static inline void expect_panic(void (*function)(void), const char *message)
{
    int ends[2];
    char text[512] = "";
    size_t size = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        function();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], text + size, sizeof(text) - 1 - size)) > 0;)
        size += (size_t)got;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    text[strcspn(text, "\n")] = '\0';
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || strncmp(text, "panic: ", 7) != 0 ||
        strcmp(text + 7, message) != 0)
        fail_msg("expected 'panic: %s', got '%s' and status %d", message, text, status);
}

#endif
