/* Tests which mount namespace a process is in. */
#include "node_test.h"

#include "node/process/namespaces.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void *wait_forever(void *context)
{
    pause(); /* until the process is killed */
    return NULL;
}

static void namespace_is_found_without_the_first_thread(void **state)
{
    char path[64];
    struct stat info;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_forever, NULL) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)child);
    while (stat(path, &info) == 0)
        sched_yield();
    assert_int_equal(process_mount_namespace(child), process_mount_namespace(getpid()));
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(process_mount_namespace(child), 0); /* the process is gone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namespace_is_found_without_the_first_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
