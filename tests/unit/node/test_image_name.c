/* Names of images as Docker compares them. */
#include "node_test.h"

#include "node/image/name.h"

static void parts(void **state)
{
    static const struct {
        const char *text, *name, *tag, *digest;
    } CASES[] = {
        {"x", "x", "", ""},
        {"x:1", "x", "1", ""},
        {"library/x", "x", "", ""},
        {"docker.io/x", "x", "", ""},
        {"docker.io/library/x:2", "x", "2", ""},
        {"index.docker.io/library/x", "x", "", ""},
        {"docker.io/a/b", "a/b", "", ""},
        {"library/a/b", "library/a/b", "", ""},
        {"a/b@sha256:00", "a/b", "", "sha256:00"},
        {"a/b:1@sha256:00", "a/b", "1", "sha256:00"},
        {"localhost/x", "localhost/x", "", ""},
        {"localhost:5000/x", "localhost:5000/x", "", ""},
        {"registry:5000/x/y:1", "registry:5000/x/y", "1", ""},
        {"quay.io/library/x", "quay.io/library/x", "", ""},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct image_name name;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        assert_int_equal(image_name_parse(arena, CASES[i].text, &name, NULL), 0);
        assert_string_equal(name.name, CASES[i].name);
        assert_string_equal(name.tag, CASES[i].tag);
        assert_string_equal(name.digest, CASES[i].digest);
    }
    static const char *const WRONG[] = {"",   "a b",        "a:", "@sha256:1",
                                        "a@", "docker.io/", ":1", "a\nb"};
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++)
        if (image_name_parse(arena, WRONG[i], &name, NULL) != -ERR_INVALID)
            fail_msg("'%s' is taken", WRONG[i]);
}

static int match(const char *wanted, const char *have, const char *digest)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct image_name one, other;
    assert_int_equal(image_name_parse(arena, wanted, &one, NULL), 0);
    assert_int_equal(image_name_parse(arena, have, &other, NULL), 0);
    return image_name_match(&one, &other, digest);
}

static void matches(void **state)
{
    assert_int_equal(match("x", "y", ""), 0);
    assert_int_equal(match("x:1", "x:2", ""), 0);
    assert_int_equal(match("x", "x:2", ""), 0); /* it means x:latest */
    assert_true(match("x", "x:latest", "") > 0);
    assert_true(match("x:latest", "docker.io/library/x", "") > 0);
    assert_true(match("x:1", "x", "") > 0);
    assert_true(match("x:1", "x:1", "") > match("x:1", "x", ""));
    assert_true(match("x", "x:latest", "") > match("x", "x", ""));
    assert_true(match("x:1@sha256:aa", "x:2", "sha256:aa") > match("x:1@sha256:aa", "x:1", ""));
    assert_true(match("x@sha256:aa", "x", "") > 0);
    assert_int_equal(match("x@sha256:aa", "x:latest", "sha256:bb"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
