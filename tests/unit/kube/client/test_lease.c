/* Tests which candidate leads by a Lease, and what it writes into the Lease. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/client/lease.h"
#include "kube/object.h"
#include "read_json.h"

static void decides_as_client_go_does(void **state)
{
    static const struct {
        const char *lease;
        int64_t seen_ms, now_ms;
        enum kube_lease_step expected;
    } rows[] = {
        {NULL, 0, 0, KUBE_LEASE_TAKE},
        {"{}", 0, 0, KUBE_LEASE_TAKE},
        {"{'spec': {'holderIdentity': '', 'leaseDurationSeconds': 1}}", 0, 0, KUBE_LEASE_TAKE},
        {"{'spec': {'holderIdentity': null}}", 0, 0, KUBE_LEASE_TAKE},
        {"{'spec': {'holderIdentity': 'me', 'leaseDurationSeconds': 15}}", 0, 900000,
         KUBE_LEASE_RENEW},
        {"{'spec': {'holderIdentity': 'you', 'leaseDurationSeconds': 15}}", 1000, 15999,
         KUBE_LEASE_WAIT},
        {"{'spec': {'holderIdentity': 'you', 'leaseDurationSeconds': 15}}", 1000, 16000,
         KUBE_LEASE_TAKE},
        /* The duration that the holder wrote counts, but never its clock. */
        {"{'spec': {'holderIdentity': 'you', 'leaseDurationSeconds': 60,"
         " 'renewTime': '1999-01-01T00:00:00.000000Z'}}",
         1000, 60999, KUBE_LEASE_WAIT},
        {"{'spec': {'holderIdentity': 'you'}}", 0, 14999, KUBE_LEASE_WAIT},
        {"{'spec': 'odd'}", 0, 0, KUBE_LEASE_TAKE},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct kube_lease_view view = {
            .lease = rows[i].lease ? read_json(arena, rows[i].lease) : NULL,
            .seen_ms = rows[i].seen_ms,
            .now_ms = rows[i].now_ms,
            .identity = "me",
        };
        if (kube_lease_decide(&view) != rows[i].expected)
            fail_msg("row %zu", i);
    }
}

static void expect(struct arena *arena, const struct json *object, const char *expected)
{
    if (!json_equal(object, read_json(arena, expected)))
        fail_msg("%s", json_to_string(arena, object));
}

static void writes_what_client_go_reads(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *made = kube_lease_write(arena, NULL, "trainyard", "op", "a", 15000, 1000000000123);
    expect(arena, made,
           "{'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease',"
           " 'metadata': {'name': 'op', 'namespace': 'trainyard'},"
           " 'spec': {'holderIdentity': 'a', 'leaseDurationSeconds': 15,"
           " 'acquireTime': '2001-09-09T01:46:40.123000Z',"
           " 'renewTime': '2001-09-09T01:46:40.123000Z', 'leaseTransitions': 0}}");

    json_set_string(arena, json_get(made, "metadata"), "resourceVersion", "7");
    json_set_string(arena, json_get(made, "spec"), "strategy", "OldestEmulationVersion");
    struct json *renewed =
        kube_lease_write(arena, made, "trainyard", "op", "a", 15000, 1000000002000);
    expect(arena, renewed,
           "{'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease',"
           " 'metadata': {'name': 'op', 'namespace': 'trainyard', 'resourceVersion': '7'},"
           " 'spec': {'holderIdentity': 'a', 'leaseDurationSeconds': 15,"
           " 'acquireTime': '2001-09-09T01:46:40.123000Z', 'strategy': 'OldestEmulationVersion',"
           " 'renewTime': '2001-09-09T01:46:42.000000Z', 'leaseTransitions': 0}}");

    struct json *taken =
        kube_lease_write(arena, renewed, "trainyard", "op", "b", 15000, 1000000003000);
    assert_string_equal(kube_lease_holder(taken), "b");
    assert_int_equal(json_get_int(json_get(taken, "spec"), "leaseTransitions", -1), 1);
    assert_string_equal(json_get_string(json_get(taken, "spec"), "acquireTime", ""),
                        "2001-09-09T01:46:43.000000Z");

    struct json *free_again = kube_lease_release(arena, taken, 1000000004000);
    assert_string_equal(kube_lease_holder(free_again), "");
    assert_string_equal(kube_meta_resource_version(free_again), "7");
    assert_int_equal(json_get_int(json_get(free_again, "spec"), "leaseDurationSeconds", -1), 1);
    assert_int_equal(json_get_int(json_get(free_again, "spec"), "leaseTransitions", -1), 1);
}

static void a_changed_holder_or_time_is_another_record(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *lease = kube_lease_write(arena, NULL, "n", "l", "a", 15000, 1000);
    const char *record = kube_lease_record(arena, lease);
    assert_string_equal(kube_lease_record(arena, json_clone(arena, lease)), record);
    struct json *renewed = kube_lease_write(arena, lease, "n", "l", "a", 15000, 2000);
    assert_string_not_equal(kube_lease_record(arena, renewed), record);
    struct json *taken = kube_lease_write(arena, lease, "n", "l", "b", 15000, 1000);
    assert_string_not_equal(kube_lease_record(arena, taken), record);
    /* A new label does not count as a renewal of the lease. */
    kube_meta_set_label(arena, lease, "x", "y");
    assert_string_equal(kube_lease_record(arena, lease), record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decides_as_client_go_does),
        cmocka_unit_test(writes_what_client_go_reads),
        cmocka_unit_test(a_changed_holder_or_time_is_another_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
