/* For tests of damage: a store on one file, changes written to it, and what is reported and served
 * afterwards. */
#ifndef TRAINYARD_TESTS_UNIT_STORE_DAMAGE_FIXTURE_H
#define TRAINYARD_TESTS_UNIT_STORE_DAMAGE_FIXTURE_H

#include "store_fixture.h"

#include "base/json/json.h"

static struct fixture fixture;

static int setup(void **state)
{
    fixture_init(&fixture, true);
    return 0;
}

static int teardown(void **state)
{
    fixture_release(&fixture);
    return 0;
}

/* Writes one change per row of the list: "/a 1" puts, "/a" deletes. Then closes the store. */
static inline void write_changes(const char *const *changes)
{
    fixture_open(&fixture);
    for (; *changes; changes++) {
        const char *space = strchr(*changes, ' ');
        _cleanup_free_ char *key =
            space ? mem_strndup(*changes, (size_t)(space - *changes)) : mem_strdup(*changes);
        fixture_write(&fixture, key, space ? space + 1 : NULL);
    }
    fixture_close(&fixture);
}
#define WRITE(...) write_changes((const char *const[]){__VA_ARGS__, NULL})

static inline void expect_row(size_t i, int64_t revision, const char *key,
                              enum store_damage_effect effect, int64_t counts)
{
    const struct store_damage *damage = store_damage(fixture.store);
    assert_true(store_is_damaged(fixture.store));
    assert_true(i < damage->rows_count);
    assert_int_equal(damage->rows[i].revision, revision);
    assert_string_equal(damage->rows[i].key, key);
    assert_int_equal(damage->rows[i].effect, effect);
    assert_int_equal(damage->rows[i].valid_revision, counts);
}

/* Returns the revision that is served, or 0 if there is none. */
static inline int64_t served_revision(const char *key)
{
    struct store_object *object = store_get(fixture.store, key);
    int64_t revision = object ? object->revision : 0;
    store_object_unref(object);
    return revision;
}

static inline void count_line(void *context, const char *text)
{
    assert_true(strlen(text) > 0);
    ++*(int *)context;
}

static inline struct json *read_object(const char *key)
{
    struct store_object *object = store_get(fixture.store, key);
    struct json *json = NULL;
    assert_non_null(object);
    assert_int_equal(json_parse(fixture.arena, store_object_data(object, fixture.arena),
                                object->size, NULL, &json, NULL),
                     0);
    store_object_unref(object);
    return json;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

#endif
