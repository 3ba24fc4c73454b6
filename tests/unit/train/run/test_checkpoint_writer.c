/* Tests checkpoints in the background: the last one is on disk at any speed of the disk, a
 * checkpoint has the state of the moment at which it was put, and a failed write is reported,
 * leaves nothing behind and stops nothing. */
#include "base/mem.h"
#include "base/system/file.h"
#include "train/run/checkpoint_writer.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { WIDTH = 1 << 16 };

static char directory[64];

struct fixture {
    struct params *params;
    struct optimizer *optimizer;
    struct arena *arena;
    struct checkpoint_writer *writer;
};

static int set_up(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof(*fixture));
    snprintf(directory, sizeof(directory), "/tmp/test_checkpoint_writer.XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    fixture->params = params_new();
    params_declare(fixture->params, "weights", (int[]){WIDTH, 1, 1, 1}, PARAM_ZERO, 0);
    params_allocate(fixture->params, NULL);
    fixture->optimizer = optimizer_new(OPTIMIZER_ADAM, 0, fixture->params);
    fixture->arena = arena_new();
    *state = fixture;
    return checkpoint_writer_new(directory, 2, &fixture->writer, NULL);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    checkpoint_writer_free(fixture->writer);
    optimizer_free(fixture->optimizer);
    params_free(fixture->params);
    arena_free(fixture->arena);
    free(fixture);
    return file_remove_tree(directory, NULL);
}

/* Sets all values to the step and all slots to minus the step, and puts a checkpoint. */
static void put(struct fixture *fixture, uint64_t step)
{
    for (size_t i = 0; i < fixture->params->floats; i++)
        fixture->params->values[i] = (float)step;
    for (size_t i = 0; i < 2 * fixture->params->floats; i++)
        fixture->optimizer->slots[i] = -(float)step;
    struct checkpoint_info info = {
        .model = "face", .config = json_object(fixture->arena), .step = step, .seed = 3};
    checkpoint_writer_put(fixture->writer, fixture->params, fixture->optimizer, &info);
}

static void assert_checkpoint(uint64_t step)
{
    char path[CHECKPOINT_PATH_MAX];
    struct err err = ERR_INIT;
    _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
    checkpoint_path(directory, step, path);
    if (checkpoint_read(path, &checkpoint, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(checkpoint->info.step, step);
    assert_string_equal(checkpoint->info.model, "face");
    for (size_t i = 0; i < 3 * checkpoint->floats; i++)
        if (checkpoint->values[i] != (i < checkpoint->floats ? (float)step : -(float)step))
            fail_msg("float %zu of step %llu is %g", i, (unsigned long long)step,
                     (double)checkpoint->values[i]);
}

static size_t files_in(const char *path)
{
    size_t count = 0;
    DIR *listing = opendir(path);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    if (listing)
        closedir(listing);
    return count;
}

static void last_checkpoint_is_on_disk(void **state)
{
    enum { PUTS = 40 };
    struct fixture *fixture = *state;
    struct checkpoint_writer_report news;
    for (uint64_t step = 1; step <= PUTS; step++)
        put(fixture, step);
    assert_int_equal(checkpoint_writer_drain(fixture->writer, NULL), 0);
    checkpoint_writer_poll(fixture->writer, &news);
    assert_int_equal(news.written + news.replaced, PUTS);
    assert_int_equal(news.failed, 0);
    assert_int_equal(news.last_step, PUTS);
    assert_checkpoint(PUTS);
    assert_int_equal(files_in(directory), news.written < 2 ? 1 : 2); /* no other files */
    checkpoint_writer_poll(fixture->writer, &news);
    assert_int_equal(news.written + news.replaced, 0);
    assert_int_equal(news.last_step, PUTS);
}

/* The checkpoint has the state from when it was put, even if the next step changes it. */
static void free_finishes_the_pending_checkpoint(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, 5);
    memset(fixture->params->values, 0, fixture->params->floats * sizeof(float));
    memset(fixture->optimizer->slots, 0, 2 * fixture->params->floats * sizeof(float));
    fixture->writer = checkpoint_writer_free(fixture->writer);
    assert_checkpoint(5);
}

static void set_limit(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void assert_failure(struct fixture *fixture, uint64_t step, const char *reason)
{
    struct checkpoint_writer_report news;
    struct err err = ERR_INIT;
    char path[CHECKPOINT_PATH_MAX];
    checkpoint_path(directory, step, path);
    _cleanup_free_ char *expected = mem_printf("cannot write '%s': %s", path, reason);
    put(fixture, step);
    assert_true(checkpoint_writer_drain(fixture->writer, &err) < 0);
    assert_string_equal(err.message, expected);
    checkpoint_writer_poll(fixture->writer, &news);
    assert_int_equal(news.failed, 1);
    assert_int_equal(news.last_step, 1);
    assert_string_equal(news.error.message, expected);
}

/* A limited file size plays a full disk: a part can be written, the rest cannot. */
static void full_disk_is_reported_and_recovered(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, 1);
    assert_int_equal(checkpoint_writer_drain(fixture->writer, NULL), 0);
    signal(SIGXFSZ, SIG_IGN);
    set_limit(100000);
    assert_failure(fixture, 2, "File too large");
    assert_int_equal(files_in(directory), 1);
    assert_failure(fixture, 3, "File too large");
    set_limit(RLIM_INFINITY);
    assert_checkpoint(1);
    put(fixture, 4);
    assert_int_equal(checkpoint_writer_drain(fixture->writer, NULL), 0);
    assert_checkpoint(4);
    assert_int_equal(files_in(directory), 2);
}

static void missing_directory_is_reported_and_recovered(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, 1);
    assert_int_equal(checkpoint_writer_drain(fixture->writer, NULL), 0);
    assert_int_equal(file_remove_tree(directory, NULL), 0);
    assert_failure(fixture, 2, "No such file or directory");
    assert_int_equal(mkdir(directory, 0755), 0);
    put(fixture, 3);
    assert_int_equal(checkpoint_writer_drain(fixture->writer, NULL), 0);
    assert_checkpoint(3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(last_checkpoint_is_on_disk),
        TEST(free_finishes_the_pending_checkpoint),
        TEST(full_disk_is_reported_and_recovered),
        TEST(missing_directory_is_reported_and_recovered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
