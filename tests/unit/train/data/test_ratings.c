/* Tests ratings: what is read, what is rejected and with which line, ids, and which ratings are
 * held out of training. */
#include "base/mem.h"
#include "base/system/file.h"
#include "train/data/ratings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ratings *parse(const char *text)
{
    struct ratings *ratings = NULL;
    struct err err = ERR_INIT;
    if (ratings_parse("r.csv", text, strlen(text), &ratings, &err) < 0)
        fail_msg("%s", err.message);
    return ratings;
}

static void movielens_file_is_parsed(void **state)
{
    struct ratings *ratings = parse("userId,movieId,rating,timestamp\n"
                                    "1,31,2.5,1260759144\n"
                                    "1,1029,3.0,1260759179\r\n"
                                    "\n"
                                    "7,31,5,851868750");
    assert_int_equal(ratings->count, 3);
    assert_int_equal(ratings->items[0].user, 1);
    assert_int_equal(ratings->items[1].item, 1029);
    assert_true(ratings->items[1].value == 3);
    assert_true(ratings->items[2].value == 5);
    assert_int_equal(ratings_users(ratings), 2);
    assert_int_equal(ratings_items(ratings), 2);
    ratings_free(ratings);
}

static void header_and_timestamps_are_optional(void **state)
{
    struct ratings *ratings = parse("12,34,-1e0\n12,35,4.5\n");
    assert_int_equal(ratings->count, 2);
    assert_true(ratings->items[0].value == -1);
    ratings_free(ratings);
}

static void header_sets_the_order_of_columns(void **state)
{
    static const char *const texts[] = {
        "movieId,userId,rating\n31,7,2.5\n",
        "\xef\xbb\xbftimestamp,rating,\"movieId\",\"userId\"\r\n0,2.5,31,7\r\n",
        "rating,User,Item\n2.5,7,31\n",
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct ratings *ratings = parse(texts[i]);
        assert_int_equal(ratings->count, 1);
        assert_int_equal(ratings->items[0].user, 7);
        assert_int_equal(ratings->items[0].item, 31);
        assert_true(ratings->items[0].value == 2.5F);
        ratings_free(ratings);
    }
}

static void an_id_may_be_any_text(void **state)
{
    struct ratings *ratings = parse("ada,Alien (1979),5\nben,Alien (1979),4\n9223372036854775807,"
                                    "-5,1\n9223372036854775808,x,2\n");
    const struct rating *items = ratings->items;
    assert_true(items[0].user >= 0 && items[0].user != items[1].user);
    assert_true(items[0].item == items[1].item);
    assert_true(items[2].user == INT64_MAX && items[2].item == -5);
    assert_true(items[3].user >= 0 && items[3].user != INT64_MAX);
    /* Must be the same in every process, or workers would train different rows. */
    assert_true(items[0].user == ratings_id("ada", 3));
    ratings_free(ratings);
}

static void invalid_line_is_named(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "'r.csv' has no ratings"},
        {"userId,movieId,rating,timestamp\n", "'r.csv' has no ratings"},
        {"1,2,3,4\n1,2\n", "'r.csv' line 2 has 2 fields; expected userId,movieId,rating,timestamp"},
        {"1,2,3,4,5\n", "'r.csv' line 1 has 5 fields; expected userId,movieId,rating,timestamp"},
        {"userId,movieId,rating,stars\n1,2,3,4\n",
         "'r.csv' line 1: unknown column 'stars': expected userId, movieId, rating or timestamp"},
        {"userId,movieId,timestamp\n1,2,3\n", "'r.csv' line 1 has no column rating"},
        {"userId,movieId,user,rating\n1,2,3,4\n", "'r.csv' line 1 has two columns userId"},
        {"timestamp,userId,movieId,rating\n1,2,3\n", "'r.csv' line 2 has fewer fields than line 1"},
        {"1,2,good,4\n", "'r.csv' line 1: 'good' is not a rating"},
        {"userId,movieId,rating,timestamp\n1,2,3,4\n\n1,2,good,4\n",
         "'r.csv' line 4: 'good' is not a rating"},
        {"1,2,3\n1,2,1e7\n", "'r.csv' line 2: '1e7' is not a rating"},
        {"1,2,3\n1,2,nan\n", "'r.csv' line 2: 'nan' is not a rating"},
        {"1,2,3\n,2,3\n", "'r.csv' line 2 has no user"},
        {"1,2,3\n1,,3\n", "'r.csv' line 2 has no movie"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct ratings *ratings = NULL;
        struct err err = ERR_INIT;
        assert_true(ratings_parse("r.csv", cases[i].text, strlen(cases[i].text), &ratings, &err) <
                    0);
        assert_string_equal(err.message, cases[i].says);
        assert_null(ratings);
    }
}

/* NUL bytes come from a file in UTF-16, whose ids would be misread. */
static void nul_byte_is_rejected(void **state)
{
    static const char text[] = "1,2,3\n1,2\0,3\n";
    struct ratings *ratings = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(ratings_parse("r.csv", text, sizeof(text) - 1, &ratings, &err),
                     -ERR_BAD_REQUEST);
    assert_string_equal(err.message,
                        "'r.csv' line 2 has a NUL byte: the file must be text in UTF-8 or ASCII");
}

static void line_length_is_limited(void **state)
{
    static const char rest[] = ",2,3";
    for (size_t over = 0; over < 2; over++) {
        size_t size = RATINGS_LINE_MAX + over;
        _cleanup_free_ char *line = mem_zalloc(size + 1);
        memset(line, 'x', size); /* a long user name */
        memcpy(line + size - strlen(rest), rest, strlen(rest));
        struct ratings *ratings = NULL;
        assert_int_equal(ratings_parse("r.csv", line, size, &ratings, NULL),
                         over ? -ERR_TOO_LARGE : 0);
        ratings_free(ratings);
    }
}

static void rating_values_are_limited(void **state)
{
    static const struct {
        const char *text;
        bool fits;
    } rows[] = {
        {"1,2,1000000\n", true},
        {"1,2,1000001\n", false},
        {"1,2,-1000000\n", true},
        {"1,2,-1000001\n", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        /* The first row has no heading, so line 2 cannot be one. */
        _cleanup_free_ char *text = mem_printf("1,2,3\n%s", rows[i].text);
        struct ratings *ratings = NULL;
        assert_int_equal(ratings_parse("r.csv", text, strlen(text), &ratings, NULL) == 0,
                         rows[i].fits);
        ratings_free(ratings);
    }
}

static void directory_is_opened_by_its_ratings_file(void **state)
{
    char directory[] = "/tmp/test_ratings.XXXXXX";
    assert_non_null(mkdtemp(directory));
    struct ratings *ratings = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(ratings_open(directory, &ratings, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/ratings.csv'"));
    _cleanup_free_ char *path = mem_printf("%s/ratings.csv", directory);
    assert_int_equal(file_write_atomic(path, "1,2,3\n", 6, 0644, NULL), 0);
    assert_int_equal(ratings_open(directory, &ratings, NULL), 0);
    assert_int_equal(ratings->count, 1);
    ratings_free(ratings);
    file_remove_tree(directory, NULL);
}

static void digest_identifies_the_ratings(void **state)
{
    static const char *const texts[] = {"1,2,3\n4,5,6\n", "userId,movieId,rating\n1,2,3.0\n4,5,6\n",
                                        "4,5,6\n1,2,3\n", "1,2,3\n4,5,6.5\n", "1,2,3\n"};
    char told[ARRAY_SIZE(texts)][RATINGS_TEXT_MAX];
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct ratings *ratings = parse(texts[i]);
        ratings_describe(ratings, told[i], sizeof(told[i]));
        ratings_free(ratings);
    }
    assert_int_equal(strncmp(told[0], "2 ratings, digest ", 18), 0);
    assert_string_equal(told[1], told[0]);
    for (size_t i = 2; i < ARRAY_SIZE(texts); i++)
        assert_string_not_equal(told[i], told[0]);
}

static void seed_selects_the_held_out_tenth(void **state)
{
    enum { COUNT = 20000 };
    struct ratings ratings = {.items = mem_calloc(COUNT, sizeof(struct rating)), .count = COUNT};
    struct ratings_split first, again, other;
    ratings_split_draw(&ratings, 3, 10, &first);
    ratings_split_draw(&ratings, 3, 10, &again);
    ratings_split_draw(&ratings, 4, 10, &other);
    assert_int_equal(first.train_count + first.test_count, COUNT);
    assert_in_range(first.test_count, COUNT / 10 - 200, COUNT / 10 + 200);
    assert_int_equal(first.test_count, again.test_count);
    assert_memory_equal(first.test, again.test, first.test_count * sizeof(size_t));
    size_t both = 0;
    for (size_t i = 0, j = 0; i < first.test_count; i++) {
        while (j < other.test_count && other.test[j] < first.test[i])
            j++;
        both += j < other.test_count && other.test[j] == first.test[i];
    }
    assert_in_range(both, 100, 300); /* by chance two draws share a tenth of a tenth */
    ratings_split_release(&first);
    ratings_split_release(&again);
    ratings_split_release(&other);
    ratings_split_draw(&ratings, 3, 0, &first);
    assert_int_equal(first.test_count, 0);
    ratings_split_release(&first);
    free(ratings.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(movielens_file_is_parsed),
        cmocka_unit_test(header_and_timestamps_are_optional),
        cmocka_unit_test(header_sets_the_order_of_columns),
        cmocka_unit_test(an_id_may_be_any_text),
        cmocka_unit_test(invalid_line_is_named),
        cmocka_unit_test(nul_byte_is_rejected),
        cmocka_unit_test(line_length_is_limited),
        cmocka_unit_test(rating_values_are_limited),
        cmocka_unit_test(directory_is_opened_by_its_ratings_file),
        cmocka_unit_test(digest_identifies_the_ratings),
        cmocka_unit_test(seed_selects_the_held_out_tenth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
