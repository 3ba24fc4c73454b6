/* Tests the bodies of TensorFlow Serving's predict requests: pictures in any nesting, and rejected
 * bodies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "serve/tf_serving.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 4, MAX = 3 };

static int read_body(const char *body, float **ret, size_t *count, struct err *err)
{
    struct arena *arena = arena_new();
    int result = tf_serving_read(arena, body, strlen(body), SAMPLE, MAX, ret, count, err);
    arena_free(arena);
    return result;
}

static void instances_of_any_nesting_are_parsed(void **state)
{
    static const char *const bodies[] = {
        "{\"instances\":[[1,2.5,3,4]]}",
        "{\"instances\":[[[1,2.5],[3,4]]]}",
        "{\"instances\":[[[[1],[2.5]],[[3],[4]]]],\"signature_name\":\"serving_default\"}",
        "{\"instances\":[{\"x\":[1,2.5,3,4]}]}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        float *pixels = NULL;
        size_t count = 0;
        assert_int_equal(read_body(bodies[i], &pixels, &count, NULL), 0);
        assert_int_equal(count, 1);
        assert_true(pixels[0] == 1 && pixels[1] == 2.5f && pixels[2] == 3 && pixels[3] == 4);
        free(pixels);
    }
}

static void malformed_instances_are_rejected(void **state)
{
    static const struct {
        const char *body, *sentence;
    } rows[] = {
        {"", "the body is not JSON"},
        {"[]", "the body has no list 'instances'"},
        {"{\"instances\":[]}", "the body has no list 'instances'"},
        {"{\"instances\":[[1,2,3]]}", "instances[0] is not a picture: it must have 4 numbers"},
        {"{\"instances\":[[1,2,3,4],[1,2,3,4,5]]}", "instances[1] is not a picture"},
        {"{\"instances\":[[1,2,3,\"4\"]]}", "instances[0] is not a picture"},
        {"{\"instances\":[{}]}", "instances[0] is not a picture"},
        {"{\"instances\":[1,2,3,4]}", "4 pictures are too many for one request: send at most 3"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err = ERR_INIT;
        float *pixels = NULL;
        size_t count = 0;
        assert_true(read_body(rows[i].body, &pixels, &count, &err) < 0);
        assert_null(pixels);
        if (!strstr(err.message, rows[i].sentence))
            fail_msg("no '%s' in '%s'", rows[i].sentence, err.message);
    }
}

static void responses_have_the_tensorflow_serving_format(void **state)
{
    struct arena *arena = arena_new();
    static const float probabilities[] = {0.25f, 0.75f, 1, 0};
    assert_string_equal(json_to_string(arena, tf_serving_predictions(arena, probabilities, 2, 2)),
                        "{\"predictions\":[[0.25,0.75],[1.0,0.0]]}");
    assert_string_equal(json_to_string(arena, tf_serving_status(arena, 17)),
                        "{\"model_version_status\":[{\"version\":\"17\",\"state\":\"AVAILABLE\","
                        "\"status\":{\"error_code\":\"OK\",\"error_message\":\"\"}}]}");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_of_any_nesting_are_parsed),
        cmocka_unit_test(malformed_instances_are_rejected),
        cmocka_unit_test(responses_have_the_tensorflow_serving_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
