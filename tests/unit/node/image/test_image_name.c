/* Tests names of images as Docker compares them. */
#include "node_test.h"

#include "node/image/name.h"

#define ZERO "sha256:00000000000000000000000000000000"
#define AA   "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define BB   "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void names_are_split_into_parts(void **state)
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
        {"a/b@" ZERO, "a/b", "", ZERO},
        {"a/b:1@" ZERO, "a/b", "1", ZERO},
        {"localhost/x", "localhost/x", "", ""},
        {"localhost:5000/x", "localhost:5000/x", "", ""},
        {"registry:5000/x/y:1", "registry:5000/x/y", "1", ""},
        {"quay.io/library/x", "quay.io/library/x", "", ""},
        {"127.0.0.1/x", "127.0.0.1/x", "", ""},
        {"Registry/x", "Registry/x", "", ""},
        {"YOUR_IMAGE", "YOUR_IMAGE", "", ""}, /* the name in Monolith's tutorial */
        {"a/B:1", "a/B", "1", ""},
        {"q/a-b.c__d---e/f_g:V1.2-rc_3", "q/a-b.c__d---e/f_g", "V1.2-rc_3", ""},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct image_name name;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        assert_int_equal(image_name_parse(arena, CASES[i].text, &name, NULL), 0);
        assert_string_equal(name.name, CASES[i].name);
        assert_string_equal(name.tag, CASES[i].tag);
        assert_string_equal(name.digest, CASES[i].digest);
    }
    static const char *const WRONG[] = {
        "",        "a b",         "a:",      "@" ZERO,   "a@",          "docker.io/",  ":1",
        "a\nb",    "../../x:1",   "../x",    "./x",      "/x",          "x/",          "a//b",
        "a/../b",  "a.",          ".a",      "a..b",     "a___b",       "-a",          "a-",
        "a:-1",    "a:.1",        "a:1:2",   "a:b/c:1",  "a@sha256:00", "a@" ZERO "g", "-x.io/a",
        "x..io/a", "x.io:port/a", "x.io:/a", "\xc3\xa9", "a:1/../../x",
    };
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

static void names_match_like_docker_names(void **state)
{
    assert_int_equal(match("x", "y", ""), 0);
    assert_int_equal(match("x:1", "x:2", ""), 0);
    assert_int_equal(match("x", "x:2", ""), 0); /* x means x:latest */
    assert_true(match("x", "x:latest", "") > 0);
    assert_true(match("x:latest", "docker.io/library/x", "") > 0);
    assert_true(match("x:1", "x", "") > 0);
    assert_true(match("x:1", "x:1", "") > match("x:1", "x", ""));
    assert_true(match("x", "x:latest", "") > match("x", "x", ""));
    assert_true(match("x:1@" AA, "x:2", AA) > match("x:1@" AA, "x:1", ""));
    assert_true(match("x@" AA, "x", "") > 0);
    assert_int_equal(match("x@" AA, "x:latest", BB), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_split_into_parts),
        cmocka_unit_test(names_match_like_docker_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
