/* Tests the root of a container that sees the machine's files: each run has its own layer on
 * disk. */
#include "sandbox_pod.h"

#include "base/moment.h"
#include "base/system/file.h"

#include <poll.h>
#include <sys/mount.h>
#include <unistd.h>

static void run_and_expect(struct pod *pod, const char *log)
{
    pod_start(pod);
    const struct container_end *end = pod_finish(pod);
    if (end->exit_code)
        fail_msg("%s %s", end->reason, end->message);
    pod_expect_log(pod, log);
}

void working_directory_is_writable(void **state)
{
    static const char SCRIPT[] =
        "pwd; echo words >out; mkdir -p deep/er; echo more >deep/er/file; cat out /deep/er/file\n"
        "printf '#!/bin/sh\\necho ran\\n' >run.sh; chmod 755 run.sh; ./run.sh; stat -c %a /\n";
    struct pod pod = pod_make("workdir", "10.244.1.1", SCRIPT);
    run_and_expect(&pod, "/\nwords\nmore\nran\n755\n");
    assert_true(file_exists(arena_printf(pod.arena, "%s/upper/deep/er/file", pod.main->layer)));
    pod_drop(&pod);

    /* A working directory that the machine does not have is created in the container's layer. */
    pod = pod_make("workdir", "10.244.1.1", "pwd; echo words >out; cat /nowhere/on/it/out");
    pod.main->directory = "/nowhere/on/it";
    run_and_expect(&pod, "/nowhere/on/it\nwords\n");
    pod_drop(&pod);

    pod = pod_make("workdir", "10.244.1.1", "echo words >out; cat out; id -u");
    pod.main->user = 1234;
    run_and_expect(&pod, "words\n1234\n");
    pod_drop(&pod);
}

void each_run_has_its_own_files(void **state)
{
    struct pod pod =
        pod_make("again", "10.244.1.1", "test -e been && echo BAD; touch been; exit 1");
    pod_expect_silent_restarts(&pod);
}

/* If the layer cannot be created, as on a full disk, a program that writes nothing still runs. */
void program_runs_if_the_layer_cannot_be_created(void **state)
{
    struct pod pod = pod_make("roomless", "10.244.1.1",
                              "touch x 2>/dev/null && echo BAD; touch /tmp/x && echo runs");
    char *taken = arena_printf(pod.arena, "%s/taken", pod.directory);
    assert_int_equal(file_write_atomic(taken, "", 0, 0600, NULL), 0);
    pod.main->layer = arena_printf(pod.arena, "%s/main", taken);
    run_and_expect(&pod, "runs\n");
    pod_drop(&pod);
}

/* An overlay cannot be the upper layer of another overlay, as when the cluster runs in a container.
 * Only root can make such a layer here. */
void root_on_an_overlay_is_writable(void **state)
{
    if (node_namespaces_are_nested(space))
        skip();
    struct pod pod = pod_make("stacked", "10.244.1.1", "echo words >/out; cat out");
    char *top = arena_printf(pod.arena, "%s/layers", pod.directory);
    char *options = arena_printf(pod.arena, "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
                                 scratch, scratch, scratch);
    static const char *const NAMES[] = {"lower", "upper", "work"};
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
        file_make_dirs(arena_printf(pod.arena, "%s/%s", scratch, NAMES[i]), 0755, NULL);
    file_make_dirs(top, 0700, NULL);
    assert_int_equal(mount("overlay", top, "overlay", 0, options), 0);
    pod_start(&pod);
    const struct container_end *end = pod_finish(&pod);
    bool on_disk = file_exists(arena_printf(pod.arena, "%s/out", pod.main->layer));
    assert_int_equal(umount2(top, MNT_DETACH), 0);
    assert_int_equal(end->exit_code, 0);
    assert_true(on_disk);
    pod_expect_log(&pod, "words\n");
    pod_drop(&pod);
}
