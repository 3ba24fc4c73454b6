/* Tests which GPUs the containers of a pod get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/devices.h"
#include "read_json.h"

#define GPUS(count)          "'resources':{'requests':{'nvidia.com/gpu':'" count "'}}"
#define C(name, count)       "{'name':'" name "'," GPUS(count) "}"
#define SIDECAR(name, count) "{'name':'" name "','restartPolicy':'Always'," GPUS(count) "}"

static void containers_that_run_together_share_no_gpu(void **state)
{
    static const struct {
        const char *taken, *init, *main, *assigned;
    } rows[] = {
        {NULL, "", "{'name':'a'}", NULL},
        {NULL, "", C("a", "1") "," C("b", "2"), "{'a':[0],'b':[1,2]}"},
        {"{'x':[0,2]}", "", C("a", "2"), "{'a':[1,3]}"},
        /* An init container ends before the main containers start. */
        {NULL, C("i", "2") "," C("j", "1"), C("a", "1"), "{'i':[0,1],'j':[0],'a':[0]}"},
        {NULL, C("i", "1"), "{'name':'a'}", "{'i':[0]}"},
        /* A sidecar runs together with the later init containers and the main containers. */
        {NULL, SIDECAR("s", "1"), C("a", "1"), "{'s':[0],'a':[1]}"},
        {NULL, C("i", "2") "," SIDECAR("s", "1") "," C("j", "2") "," SIDECAR("t", "1"), C("a", "1"),
         "{'i':[0,1],'s':[0],'j':[1,2],'t':[1],'a':[2]}"},
        {"{'x':[0]}", SIDECAR("s", "1"), C("a", "1"), "{'s':[1],'a':[2]}"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct arena *arena = arena_new();
        struct kube_devices devices = {0};
        if (rows[i].taken)
            kube_devices_take(&devices, quoted(arena, rows[i].taken));
        const struct json *pod = read_json(
            arena, arena_printf(arena, "{'spec':{'initContainers':[%s],'containers':[%s]}}",
                                rows[i].init, rows[i].main));
        const char *assigned = kube_devices_assign(arena, pod, &devices);
        const char *expected = rows[i].assigned ? quoted(arena, rows[i].assigned) : NULL;
        if (!str_eq(assigned, expected))
            fail_msg("row %zu: %s", i, assigned ? assigned : "none");
        arena_free(arena);
    }
}

static void the_gpus_of_a_container_are_read(void **state)
{
    struct arena *arena = arena_new();
    const char *annotation = "{\"a\":[0,3],\"b\":[]}";
    assert_string_equal(kube_devices_of(arena, annotation, "a"), "0,3");
    assert_string_equal(kube_devices_of(arena, annotation, "b"), "");
    assert_string_equal(kube_devices_of(arena, "rubbish", "a"), "");
    assert_string_equal(kube_devices_of(arena, NULL, "a"), "");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_that_run_together_share_no_gpu),
        cmocka_unit_test(the_gpus_of_a_container_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
