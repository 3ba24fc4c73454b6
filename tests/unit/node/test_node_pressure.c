/* Tests when the machine is short of a resource, and the conditions that its nodes report then. */
#include "node_test.h"

#include "node/node_pressure.h"

static const char *status(const struct node_pressure *pressure, enum node_pressure_kind kind)
{
    return node_pressure_words(pressure, kind).status;
}

static void test_pressure_follows_free_resources(void **state)
{
    struct node_room room = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    struct node_pressure pressure;
    node_pressure_init(&pressure, 5);
    node_pressure_update(&pressure, &room, 6);
    assert_string_equal(status(&pressure, PRESSURE_MEMORY), "False");
    assert_int_equal(pressure.since_ms[PRESSURE_MEMORY], 5);

    room.memory_bytes = 99 << 20;
    node_pressure_update(&pressure, &room, 7);
    node_pressure_update(&pressure, &room, 8);
    assert_string_equal(status(&pressure, PRESSURE_MEMORY), "True");
    assert_int_equal(pressure.since_ms[PRESSURE_MEMORY], 7); /* the time of the change */
    assert_string_equal(status(&pressure, PRESSURE_DISK), "False");
    assert_string_equal(status(&pressure, PRESSURE_PIDS), "False");

    room = (struct node_room){100 << 20, 255 << 20, 1000, 199};
    node_pressure_update(&pressure, &room, 9);
    assert_string_equal(status(&pressure, PRESSURE_MEMORY), "False");
    assert_int_equal(pressure.since_ms[PRESSURE_MEMORY], 9);
    assert_string_equal(status(&pressure, PRESSURE_DISK), "True");
    assert_string_equal(status(&pressure, PRESSURE_PIDS), "True");
    room.disk_bytes = 256 << 20;
    node_pressure_update(&pressure, &room, 10);
    assert_string_equal(status(&pressure, PRESSURE_DISK), "False");
    room.disk_files = 999;
    node_pressure_update(&pressure, &room, 11);
    assert_string_equal(status(&pressure, PRESSURE_DISK), "True");
}

static void test_resources_of_this_machine_are_read(void **state)
{
    struct node_room room;
    node_room_read("/", &room);
    assert_true(room.memory_bytes > 0 && room.memory_bytes < INT64_MAX);
    assert_true(room.disk_bytes >= 0 && room.disk_bytes < INT64_MAX);
    assert_true(room.tasks > 0 && room.tasks < INT64_MAX);
    node_room_read("/no/such/place", &room);
    assert_true(room.disk_bytes == INT64_MAX && room.disk_files == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pressure_follows_free_resources),
        cmocka_unit_test(test_resources_of_this_machine_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
