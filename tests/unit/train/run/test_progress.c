/* Tests progress in its three forms, with times given by the test. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "train/run/progress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *show_progress_with_accuracy(enum progress_style style, double accuracy)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    const int64_t second = 1000000000;
    struct progress progress;
    progress_init(&progress, stream, style, 0, 100, 0);
    for (uint64_t step = 1; step <= 10; step++) {
        struct progress_step s = {
            .step = step, .loss = 0.5, .pictures = 96, .rate = 0.25, .accuracy = accuracy};
        progress_show(&progress, &s, (int64_t)step * second / 4);
    }
    progress_note(&progress, "saved", "saved '%s'", "x");
    progress_finish(&progress);
    fclose(stream);
    return text;
}

static char *show_progress(enum progress_style style)
{
    return show_progress_with_accuracy(style, (double)NAN);
}

static void accuracy_is_shown_if_known(void **state)
{
    static const struct {
        enum progress_style style;
        const char *says;
    } ROWS[] = {
        {PROGRESS_LINES, "step 5/100 loss 0.5000 accuracy 0.875 images/s 384 left 24s\n"},
        {PROGRESS_JSON, "\"loss\":0.5,\"accuracy\":0.875,"},
        {PROGRESS_BAR, "\r\033[K█░░░░░░░░░ 10/100  loss 0.5000  accuracy 0.875  384 images/s  "},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        _cleanup_free_ char *known = show_progress_with_accuracy(ROWS[i].style, 0.875);
        assert_non_null(strstr(known, ROWS[i].says));
        _cleanup_free_ char *unknown = show_progress(ROWS[i].style);
        assert_null(strstr(unknown, "accuracy"));
    }
}

static void lines_are_printed_once_per_second(void **state)
{
    char *text = show_progress(PROGRESS_LINES);
    assert_string_equal(text, "step 1/100 loss 0.5000 images/s 384 left 25s\n"
                              "step 5/100 loss 0.5000 images/s 384 left 24s\n"
                              "step 9/100 loss 0.5000 images/s 384 left 23s\n"
                              "saved 'x'\n");
    free(text);
}

static void plain_style_prints_a_line_per_step(void **state)
{
    char *text = show_progress(PROGRESS_PLAIN);
    int lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 11);
    assert_non_null(strstr(text, "step 6/100 loss 0.5000 images/s 384 left 24s\n"));
    free(text);
}

static void unit_is_shown_in_the_rate(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct progress progress;
    struct progress_step step = {.step = 1, .loss = 0.5, .pictures = 512, .accuracy = (double)NAN};
    progress_init(&progress, stream, PROGRESS_PLAIN, 0, 2, 0);
    progress.unit = "ratings";
    progress_show(&progress, &step, 1000000000);
    fclose(stream);
    assert_string_equal(text, "step 1/2 loss 0.5000 ratings/s 512 left 1s\n");
    free(text);
}

static void json_lines_parse(void **state)
{
    char *text = show_progress(PROGRESS_JSON);
    assert_non_null(strstr(text, "{\"event\":\"step\",\"step\":5,\"steps\":100,\"loss\":0.5,"));
    assert_non_null(strstr(text, "{\"event\":\"saved\",\"message\":\"saved 'x'\"}\n"));
    free(text);
}

static void bar_is_redrawn_in_place(void **state)
{
    char *text = show_progress(PROGRESS_BAR);
    assert_non_null(
        strstr(text, "\r\033[K██░░░░░░░░░░░░░░░░░░░░░░ 10/100  loss 0.5000  384 images/s  "));
    assert_non_null(strstr(text, "\r\033[Ksaved 'x'\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracy_is_shown_if_known),
        cmocka_unit_test(lines_are_printed_once_per_second),
        cmocka_unit_test(plain_style_prints_a_line_per_step),
        cmocka_unit_test(unit_is_shown_in_the_rate),
        cmocka_unit_test(json_lines_parse),
        cmocka_unit_test(bar_is_redrawn_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
