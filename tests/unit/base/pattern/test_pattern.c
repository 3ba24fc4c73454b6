/* Tests regular expressions. The expected results are those of Go's regexp. */
#include "base/pattern/pattern.h"

#include "base/mem.h"
#include "base/moment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void test_matches(void **state)
{
    static const struct {
        const char *expression, *text;
        bool found;
    } rows[] = {
        {"", "", true},
        {"a", "xax", true},
        {"^a+$", "aaa", true},
        {"^a+$", "aab", false},
        {"^a+$", "a\n", false},
        {"(?m)^a+$", "b\naa\nb", true},
        {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "my-name", true},
        {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "my-", false},
        {"^(?:ab|cd){2,3}$", "abcd", true},
        {"^(?:ab|cd){2,3}$", "abcdabcd", false},
        {"^(?:ab|cd){2,3}$", "ab", false},
        {"^a{0}b{2,}$", "bbbb", true},
        {"^a{,2}$", "a{,2}", true}, /* not a valid count, so plain characters */
        {"^\\d+\\.\\d+$", "1.25", true},
        {"^\\d+\\.\\d+$", "1x25", false},
        {"^\\w+\\s\\S+$", "ab_1 c", true},
        {"^\\D\\W$", "a-", true},
        {"^[^a-c]$", "\n", true},
        {"^.$", "\n", false},
        {"^(?s:.)$", "\n", true},
        {"(?i)^HeLLo$", "hEllO", true},
        {"^(?i:a)b$", "Ab", true},
        {"^(?i:a)b$", "AB", false},
        {"^[[:alpha:]_]+$", "a_B", true},
        {"^[[:^alpha:]]+$", "12", true},
        {"^[]a]+$", "]a", true},
        {"^[a-]+$", "a-", true},
        {"^[\\d.-]+$", "1.-", true},
        {"^\\x41\\x{e4}\\t$", "A\xc3\xa4\t", true},
        {"^\\101\\60[\\062]$", "A02", true}, /* octal */
        {"^\\1011$", "A1", true},
        {"^\\718$", "98", true},
        {"^.{3}$", "\xc3\xa4\xc3\xb6\xc3\xbc", true}, /* characters, not bytes */
        {"^[\xc3\xa4-\xc3\xbc]$", "\xc3\xb6", true},
        {"\\bfoo\\b", "a foo b", true},
        {"\\bfoo\\b", "afoob", false},
        {"\\Boo", "foo", true},
        {"\\Aa\\z", "a", true},
        {"^(?P<name>a)(?<other>b)$", "ab", true},
        {"^(a|)$", "", true},
        {"^(){1000}()$", "", true},
        {"^(a*)*$", "aaaa", true},
        {"^(a*)+b$", "aaaa", false},
        {"^a+?b??$", "aa", true},
        {"^\\$\\.\\*$", "$.*", true},
        {"^((https?)://)?[^/]+(/.*)?$", "https://a.b/c", true},
        {"^(25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}$", "10.0.255.1",
         true},
        {"^(25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}$", "10.0.256.1",
         false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct arena *arena = arena_new();
        const struct pattern *pattern;
        struct err err = ERR_INIT;
        bool found = false;
        if (pattern_compile(arena, rows[i].expression, &pattern, &err) < 0)
            fail_msg("%s: %s", rows[i].expression, err.message);
        assert_int_equal(pattern_find(pattern, rows[i].text, strlen(rows[i].text), &found, &err),
                         0);
        if (found != rows[i].found)
            fail_msg("'%s' in '%s': %d", rows[i].expression, rows[i].text, found);
        arena_free(arena);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *expression, *message;
    } rows[] = {
        {"(", "error parsing regexp: missing closing ): `(`"},
        {"a)", "error parsing regexp: unexpected ): `a)`"},
        {"a(?=b)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"},
        {"a(?!b)", "error parsing regexp: invalid or unsupported Perl syntax: `(?!`"},
        {"a(?<=b)", "error parsing regexp: invalid or unsupported Perl syntax: `(?<`"},
        {"[[:alpha:]", "error parsing regexp: missing closing ]: `[[:alpha:]`"},
        {"[z-a]", "error parsing regexp: invalid character class range: `z-a`"},
        {"[[:bogus:]]", "error parsing regexp: invalid character class range: `[:bogus:]`"},
        {"*a", "error parsing regexp: missing argument to repetition operator: `*`"},
        {"a**", "error parsing regexp: invalid nested repetition operator: `**`"},
        {"a{2,1}", "error parsing regexp: invalid repeat count: `{2,1}`"},
        {"a{1001}", "error parsing regexp: invalid repeat count: `{1001}`"},
        {"a\\", "error parsing regexp: trailing backslash at end of expression: ``"},
        {"(a)\\1", "error parsing regexp: invalid escape sequence: `\\1`"},
        {"\\18", "error parsing regexp: invalid escape sequence: `\\1`"},
        {"\\81", "error parsing regexp: invalid escape sequence: `\\8`"},
        {"\\y", "error parsing regexp: invalid escape sequence: `\\y`"},
        {"(?P<a b>x)", "error parsing regexp: invalid named capture: `(?P<a b>`"},
        {"(?P<>x)", "error parsing regexp: invalid named capture: `(?P<>`"},
        {"(?<\xc3\xa4>x)", "error parsing regexp: invalid named capture: `(?<\xc3\xa4>`"},
        {"(?P<a", "error parsing regexp: invalid named capture: `(?P<a`"},
        {"\\pL", "\\p is not supported in patterns here: name the characters, as in [a-zA-Z]"},
        {"((a{100}){100}){100}",
         "error parsing regexp: expression too large: `((a{100}){100}){100}`"},
        /* A repetition of nothing costs time, too. */
        {"(((((){1000}){1000}){1000}){1000}){1000}",
         "error parsing regexp: expression too large: `(((((){1000}){1000}){1000}){1000}){1000}`"},
        {"(((((a{0}){1000}){1000}){1000}){1000}){1000}",
         "error parsing regexp: expression too large: "
         "`(((((a{0}){1000}){1000}){1000}){1000}){1000}`"},
        {"(()()()()()()()()()()()){1000}",
         "error parsing regexp: expression too large: `(()()()()()()()()()()()){1000}`"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct arena *arena = arena_new();
        const struct pattern *pattern;
        struct err err = ERR_INIT;
        if (pattern_compile(arena, rows[i].expression, &pattern, &err) == 0)
            fail_msg("%s was taken", rows[i].expression);
        assert_string_equal(err.message, rows[i].message);
        arena_free(arena);
    }
}

/* The allowed depth, and one more. */
static void test_depth(void **state)
{
    struct arena *arena = arena_new();
    const struct pattern *pattern;
    char text[2 * PATTERN_DEPTH_MAX + 8];
    for (size_t depth = PATTERN_DEPTH_MAX; depth <= PATTERN_DEPTH_MAX + 1; depth++) {
        memset(text, '(', depth);
        memset(text + depth, ')', depth);
        text[2 * depth] = '\0';
        assert_int_equal(pattern_compile(arena, text, &pattern, NULL),
                         depth > PATTERN_DEPTH_MAX ? -ERR_BAD_REQUEST : 0);
    }
    arena_free(arena);
}

/* Each limit and one past it: counts of repetition, and steps. A letter takes one step, and so does
 * the end of the expression. */
static void test_limits(void **state)
{
    struct arena *arena = arena_new();
    const struct pattern *pattern;
    assert_int_equal(pattern_compile(arena, "a{1000}", &pattern, NULL), 0);
    assert_int_equal(pattern_compile(arena, "a{1001}", &pattern, NULL), -ERR_BAD_REQUEST);
    for (size_t more = 0; more <= 1; more++) {
        char *text = arena_zalloc(arena, PATTERN_PROGRAM_MAX + 2);
        memset(text, 'a', PATTERN_PROGRAM_MAX - 1 + more);
        assert_int_equal(pattern_compile(arena, text, &pattern, NULL), more ? -ERR_BAD_REQUEST : 0);
    }
    arena_free(arena);
}

/* Expressions that take other engines years, and expressions that exceed the limits of this one. */
static void test_expensive_expressions(void **state)
{
    struct arena *arena = arena_new();
    const struct pattern *pattern;
    struct err err = ERR_INIT;
    bool found = true;
    size_t size = 1000 * 1000;
    char *text = malloc(size);
    memset(text, 'a', size);
    assert_int_equal(pattern_compile(arena, "^(a+)+(a|aa)+(.*a){20}b$", &pattern, &err), 0);
    int64_t start = moment_monotonic_ms();
    assert_int_equal(pattern_find(pattern, text, 10000, &found, &err), 0);
    assert_false(found);
    assert_int_equal(pattern_compile(arena, "(a{50}.{50}){50}b", &pattern, &err), 0);
    assert_int_equal(pattern_find(pattern, text, size, &found, &err), -ERR_TOO_LARGE);
    assert_true(moment_monotonic_ms() - start < 60 * 1000);
    free(text);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_expensive_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
