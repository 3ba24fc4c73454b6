/* Tests the log of a run: its lines reach all outputs, and only from the worker that logs for the
 * run. A file that cannot be written costs one warning. */
#include "scratch_directory.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "train/run/run_log.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct heard {
    char *text;
    size_t size;
    struct run_state *state;
    struct run_log *log;
    FILE *stream;
};

static void begin_log(struct heard *heard, const char *events_dir, bool speaks, bool keeps)
{
    *heard = (struct heard){.state = run_state_new()};
    heard->stream = open_memstream(&heard->text, &heard->size);
    struct run_log_options options = {.style = PROGRESS_PLAIN,
                                      .stream = heard->stream,
                                      .state = heard->state,
                                      .events_dir = events_dir};
    heard->log =
        run_log_new(&options, &(struct run_log_subject){.unit = "images", .steps_per_epoch = 2});
    run_log_set_role(heard->log, speaks, keeps);
    run_log_begin(heard->log, 0, 4);
}

static void log_step(struct heard *heard, uint64_t step, double loss)
{
    run_log_step(heard->log,
                 &(struct progress_step){
                     .step = step, .loss = loss, .pictures = 8, .rate = 0.25, .accuracy = 0.5});
}

static void end_log(struct heard *heard)
{
    run_log_free(heard->log);
    fclose(heard->stream);
    run_state_free(heard->state);
    free(heard->text);
}

static size_t count_event_bytes(const char *path)
{
    size_t bytes = 0;
    DIR *listing = opendir(path);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        if (entry->d_name[0] == '.')
            continue;
        _cleanup_free_ char *name = mem_printf("%s/%s", path, entry->d_name);
        struct file_stamp stamp;
        assert_true(file_stamp_get(name, &stamp));
        bytes += stamp.size;
    }
    if (listing)
        closedir(listing);
    return bytes;
}

static void step_reaches_all_outputs(void **state)
{
    _cleanup_free_ char *events = mem_printf("%s/events", directory);
    struct heard heard;
    begin_log(&heard, events, true, true);
    log_step(&heard, 1, 0.75);
    fflush(heard.stream);
    assert_non_null(strstr(heard.text, "step 1/4 loss 0.7500"));
    struct run_state_view view;
    run_state_read(heard.state, 0, &view);
    assert_int_equal(view.step, 1);
    assert_true(view.loss == 0.75 && view.accuracy == 0.5 && view.epoch == 0.5);
    size_t size = count_event_bytes(events);
    assert_true(size > 0);
    run_log_metric(heard.log, 1, "auc", 0.9);
    assert_true(count_event_bytes(events) > size);
    run_log_worker_lost(heard.log, "lost worker %d", 2);
    run_log_note(heard.log, "reformed", "all are there");
    fflush(heard.stream);
    assert_non_null(strstr(heard.text, "\nlost worker 2\nall are there\n"));
    run_state_read(heard.state, 0, &view);
    assert_int_equal(view.losses, 1);
    end_log(&heard);
}

static void straggler_is_reported_at_the_end(void **state)
{
    struct heard heard;
    begin_log(&heard, NULL, true, false);
    log_step(&heard, 1, 0.5);
    run_state_waited(heard.state, "worker 2", 3600 * (int64_t)1000000000);
    log_step(&heard, 2, 0.5);
    fflush(heard.stream);
    assert_null(strstr(heard.text, "waited "));
    run_log_free(heard.log);
    heard.log = NULL;
    fflush(heard.stream);
    assert_non_null(strstr(heard.text, "waited 3600.0 s of "));
    end_log(&heard);
}

static void worker_without_a_role_only_updates_its_state(void **state)
{
    struct heard heard;
    begin_log(&heard, directory, false, false);
    log_step(&heard, 1, 0.75);
    run_log_worker_lost(heard.log, "lost worker %d", 2);
    run_log_saved(heard.log, 1);
    fflush(heard.stream);
    assert_int_equal(heard.size, 0);
    run_log_note_process(heard.log, "member", "worker %d is here", 1);
    log_step(&heard, 2, 0.5);
    fflush(heard.stream);
    assert_string_equal(heard.text, "worker 1 is here\n");
    assert_int_equal(count_event_bytes(directory), 0);
    struct run_state_view view;
    run_state_read(heard.state, 0, &view);
    assert_int_equal(view.step, 2);
    assert_int_equal(view.losses, 1);
    assert_int_equal(view.saved, 1);
    end_log(&heard);
}

/* The events of the former worker for steps 3 and 4 are kept. */
static void new_writer_begins_at_its_first_step(void **state)
{
    struct run_log_options options = {.events_dir = directory};
    struct run_log *log = run_log_new(&options, &(struct run_log_subject){.unit = "images"});
    struct progress_step step = {.step = 3, .loss = 1, .pictures = 8, .rate = 1};
    run_log_begin(log, 2, 6);
    for (; step.step <= 4; step.step++)
        run_log_step(log, &step);
    run_log_set_role(log, true, true);
    run_log_step(log, &step);
    run_log_free(log);
    _cleanup_buf_ struct buf events;
    buf_init(&events, 4096);
    DIR *listing = opendir(directory);
    for (struct dirent *entry; (entry = readdir(listing));) {
        _cleanup_free_ char *name = mem_printf("%s/%s", directory, entry->d_name);
        if (entry->d_name[0] != '.')
            assert_int_equal(file_read(name, &events, NULL), 0);
    }
    closedir(listing);
    const char from_5[] = {0x10, 5, 0x3a, 2, 0x08, 1}; /* Event.step, Event.session_log: start */
    assert_non_null(memmem(events.data, events.size, from_5, sizeof(from_5)));
}

static void unwritable_files_are_reported_once(void **state)
{
    struct heard heard;
    begin_log(&heard, "/proc/nowhere", true, true);
    for (uint64_t i = 1; i <= 3; i++)
        log_step(&heard, i, 0.75);
    fflush(heard.stream);
    const char *said = strstr(heard.text, "/proc/nowhere");
    assert_non_null(said);
    assert_non_null(strstr(said, "; training continues without it\n"));
    assert_null(strstr(said + 1, "/proc/nowhere"));
    assert_non_null(strstr(heard.text, "step 3/4"));
    end_log(&heard);
}

static void null_log_is_accepted(void **state)
{
    run_log_set_role(NULL, true, true);
    run_log_begin(NULL, 0, 1);
    run_log_step(NULL, &(struct progress_step){.step = 1});
    run_log_note(NULL, "start", "%s", "x");
    run_log_worker_lost(NULL, "%s", "x");
    run_log_saved(NULL, 1);
    run_log_save_failed(NULL);
    run_log_metric(NULL, 1, "accuracy", 1);
    assert_null(run_log_free(NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(step_reaches_all_outputs),
        TEST(straggler_is_reported_at_the_end),
        TEST(worker_without_a_role_only_updates_its_state),
        TEST(new_writer_begins_at_its_first_step),
        TEST(unwritable_files_are_reported_once),
        TEST(null_log_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
