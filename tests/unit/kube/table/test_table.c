/* Tests tables: their shape, and the cells of each resource in kubectl's words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/kinds/kinds.h"
#include "kube/kinds/scale.h"
#include "kube/table/table.h"
#include "read_json.h"

#include <string.h>

/* One day and one second after the epoch. The objects below are created at the epoch. */
static const int64_t NOW_MS = 86401000;

static const struct kube_columns *columns_of(const struct kube_resource *resource)
{
    const struct kube_kind *kind;
    if (resource == &KUBE_SCALES)
        return &KUBE_SCALE_COLUMNS;
    for (size_t i = 0; (kind = kube_kind_at(i)); i++)
        if (strcmp(kind->id.group, resource->group) == 0 &&
            strcmp(kind->id.plural, resource->plural) == 0)
            return kube_kind_columns(kind);
    return NULL;
}

/* Returns the cells up to this priority, joined by " | ". */
static char *cells(struct arena *arena, const struct kube_resource *resource, const char *object,
                   int priority)
{
    const struct kube_columns *columns = columns_of(resource);
    struct json *table = kube_table_new(arena, columns, NULL, true);
    kube_table_add(arena, table, columns, read_json(arena, object), KUBE_INCLUDE_NONE, NOW_MS);
    char *text = arena_strdup(arena, "");
    size_t i = 0;
    JSON_EACH (cell, json_get(json_element(json_get(table, "rows"), 0), "cells")) {
        if (columns->columns[i++].priority > priority)
            continue;
        const char *word = json_text(cell) ? json_text(cell) : json_to_string(arena, cell);
        text = arena_printf(arena, "%s%s%s", text, *text ? " | " : "", word);
    }
    assert_int_equal(i, columns->count);
    return text;
}

static void a_table_has_the_shape_that_kubectl_reads(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const struct kube_kind CATS = {.id = {"cats.org", "v1", "cats", "Cat", true}};
    const struct kube_columns *columns = kube_kind_columns(&CATS);
    struct json *table =
        kube_table_new(arena, columns, read_json(arena, "{'resourceVersion': '7'}"), true);
    struct json *object = read_json(arena, "{'kind': 'Cat', 'metadata': {'name': 'l',"
                                           "'creationTimestamp': '1970-01-01T00:00:00Z'},"
                                           "'spec': {}}");
    kube_table_add(arena, table, columns, object, KUBE_INCLUDE_METADATA, NOW_MS);
    kube_table_add(arena, table, columns, object, KUBE_INCLUDE_OBJECT, NOW_MS);
    kube_table_add(arena, table, columns, object, KUBE_INCLUDE_NONE, NOW_MS);
    struct json *expected = read_json(
        arena,
        "{'kind': 'Table', 'apiVersion': 'meta.k8s.io/v1', 'metadata': {'resourceVersion': '7'},"
        "'columnDefinitions': ["
        "{'name': 'Name', 'type': 'string', 'format': 'name', 'description':"
        "'Name of the object, unique within its namespace.', 'priority': 0},"
        "{'name': 'Age', 'type': 'string', 'format': '', 'description':"
        "'Time since the object was created.', 'priority': 0}],"
        "'rows': ["
        "{'cells': ['l', '24h'], 'object': {'kind': 'PartialObjectMetadata',"
        "'apiVersion': 'meta.k8s.io/v1', 'metadata': {'name': 'l',"
        "'creationTimestamp': '1970-01-01T00:00:00Z'}}},"
        "{'cells': ['l', '24h'], 'object': {'kind': 'Cat', 'metadata': {'name': 'l',"
        "'creationTimestamp': '1970-01-01T00:00:00Z'}, 'spec': {}}},"
        "{'cells': ['l', '24h']}]}");
    assert_string_equal(json_to_string(arena, table), json_to_string(arena, expected));
    table = kube_table_new(arena, columns, NULL, false);
    assert_int_equal(json_get(table, "columnDefinitions")->type, JSON_NULL);
}

static void a_pod_has_the_status_words_of_kubectl(void **state)
{
#define POD(status) "{'spec': {'containers': [{'name': 'a'}, {'name': 'b'}]}, 'status': " status "}"
#define INIT(status)                                                                               \
    "{'spec': {'initContainers': [{'name': 'i'}, {'name': 'j'}], 'containers': [{'name': 'a'}]}, " \
    "'status': " status "}"
    static const struct {
        const char *pod, *ready, *status;
    } CASES[] = {
        {"{}", "0/0", "Unknown"},
        {POD("{'phase': 'Pending'}"), "0/2", "Pending"},
        {POD("{'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'False',"
             "'reason': 'SchedulingGated'}]}"),
         "0/2", "SchedulingGated"},
        {POD("{'phase': 'Pending', 'containerStatuses': ["
             "{'state': {'waiting': {'reason': 'ContainerCreating'}}},"
             "{'state': {'waiting': {'reason': 'ContainerCreating'}}}]}"),
         "0/2", "ContainerCreating"},
        {POD("{'phase': 'Running', 'containerStatuses': [{'ready': true, 'state': {'running': {}}},"
             "{'ready': false, 'state': {'running': {}}}]}"),
         "1/2", "Running"},
        {POD("{'phase': 'Running', 'containerStatuses': ["
             "{'state': {'waiting': {'reason': 'CrashLoopBackOff'}}},"
             "{'ready': true, 'state': {'running': {}}}]}"),
         "1/2", "CrashLoopBackOff"},
        {POD("{'phase': 'Succeeded', 'containerStatuses': ["
             "{'state': {'terminated': {'reason': 'Completed', 'exitCode': 0}}}]}"),
         "0/2", "Completed"},
        {POD("{'phase': 'Failed', 'containerStatuses': ["
             "{'state': {'terminated': {'reason': 'Error', 'exitCode': 1}}}]}"),
         "0/2", "Error"},
        {POD("{'phase': 'Failed', 'containerStatuses': [{'state': {'terminated': {'exitCode': 3}}}]"
             "}"),
         "0/2", "ExitCode:3"},
        {POD("{'phase': 'Failed', 'containerStatuses': [{'state': {'terminated': {'signal': "
             "9}}}]}"),
         "0/2", "Signal:9"},
        {POD("{'phase': 'Failed', 'reason': 'Evicted'}"), "0/2", "Evicted"},
        /* One container has completed, another still runs. */
        {POD("{'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}],"
             "'containerStatuses': [{'state': {'terminated': {'reason': 'Completed'}}},"
             "{'ready': true, 'state': {'running': {}}}]}"),
         "1/2", "Running"},
        {POD("{'phase': 'Running', 'containerStatuses': ["
             "{'state': {'terminated': {'reason': 'Completed'}}},"
             "{'ready': true, 'state': {'running': {}}}]}"),
         "1/2", "NotReady"},
        {INIT("{'phase': 'Pending', 'initContainerStatuses': [{'name': 'i', 'state': {'running': {}"
              "}}]}"),
         "0/1", "Init:0/2"},
        {INIT("{'phase': 'Pending', 'initContainerStatuses': ["
              "{'name': 'i', 'state': {'terminated': {'exitCode': 0}}},"
              "{'name': 'j', 'state': {'waiting': {'reason': 'PodInitializing'}}}]}"),
         "0/1", "Init:1/2"},
        {INIT("{'phase': 'Pending', 'initContainerStatuses': ["
              "{'name': 'i', 'state': {'waiting': {'reason': 'CrashLoopBackOff'}}}]}"),
         "0/1", "Init:CrashLoopBackOff"},
        {INIT("{'phase': 'Failed', 'initContainerStatuses': ["
              "{'name': 'i', 'state': {'terminated': {'exitCode': 2}}}]}"),
         "0/1", "Init:ExitCode:2"},
        {INIT("{'phase': 'Failed', 'initContainerStatuses': ["
              "{'name': 'i', 'state': {'terminated': {'exitCode': 1, 'reason': 'Error'}}}]}"),
         "0/1", "Init:Error"},
        {"{'metadata': {'deletionTimestamp': '1970-01-01T00:00:00Z'}, 'spec': {'containers': [{}]},"
         "'status': {'phase': 'Running', 'containerStatuses': [{'ready': true,"
         "'state': {'running': {}}}]}}",
         "1/1", "Terminating"},
        {"{'metadata': {'deletionTimestamp': '1970-01-01T00:00:00Z'}, 'status': {'phase':"
         "'Succeeded'}}",
         "0/0", "Succeeded"},
        {"{'metadata': {'deletionTimestamp': '1970-01-01T00:00:00Z'}, 'status': {'phase':"
         "'Running', 'reason': 'NodeLost'}}",
         "0/0", "Unknown"},
        /* A sidecar counts as a container. */
        {"{'spec': {'initContainers': [{'name': 's', 'restartPolicy': 'Always'}],"
         "'containers': [{'name': 'a'}]}, 'status': {'phase': 'Running',"
         "'initContainerStatuses': [{'name': 's', 'started': true, 'ready': true,"
         "'state': {'running': {}}}], 'containerStatuses': [{'ready': true,"
         "'state': {'running': {}}}]}}",
         "2/2", "Running"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char *expected = arena_printf(arena, "%s | %s", CASES[i].ready, CASES[i].status);
        char *text = cells(arena, &KUBE_PODS, CASES[i].pod, 0);
        if (!strstr(text, expected))
            fail_msg("%s: %s", CASES[i].pod, text);
    }
}

static void other_kinds_have_the_cells_of_kubectl(void **state)
{
#define AT_EPOCH "'creationTimestamp': '1970-01-01T00:00:00Z'"
    static const struct {
        const struct kube_resource *resource;
        const char *object, *cells;
    } CASES[] = {
        {&KUBE_PODS,
         "{'metadata': {'name': 'p', " AT_EPOCH "}, 'spec': {'nodeName': 'n', 'containers': [{}]},"
         "'status': {'phase': 'Running', 'podIP': '10.0.0.1', 'containerStatuses': ["
         "{'restartCount': 3, 'ready': true, 'state': {'running': {}}, 'lastState':"
         "{'terminated': {'finishedAt': '1970-01-02T00:00:00Z'}}}]}}",
         "p | 1/1 | Running | 3 (1s ago) | 24h | 10.0.0.1 | n | <none> | <none>"},
        {&KUBE_NAMESPACES, "{'metadata': {'name': 'n'}, 'status': {'phase': 'Active'}}",
         "n | Active | <unknown>"},
        {&KUBE_NODES,
         "{'metadata': {'name': 'n', " AT_EPOCH ", 'labels': {'node-role.kubernetes.io/worker': '',"
         "'node-role.kubernetes.io/control-plane': ''}}, 'spec': {'unschedulable': true},"
         "'status': {'conditions': [{'type': 'Ready', 'status': 'True'}], 'addresses': ["
         "{'type': 'InternalIP', 'address': '10.1.0.1'}], 'nodeInfo': {'kubeletVersion': 'v1.30',"
         "'osImage': 'Debian', 'kernelVersion': '6.1', 'containerRuntimeVersion': 'x://1'}}}",
         "n | Ready,SchedulingDisabled | control-plane,worker | 24h | v1.30 | 10.1.0.1 | <none> | "
         "Debian | 6.1 | x://1"},
        {&KUBE_NODES, "{'metadata': {'name': 'n'}}",
         "n | Unknown | <none> | <unknown> |  | <none> | <none> | <unknown> | <unknown> | "
         "<unknown>"},
        {&KUBE_SERVICES,
         "{'metadata': {'name': 's', " AT_EPOCH "}, 'spec': {'clusterIP': 'None', 'ports': ["
         "{'port': 80}, {'port': 53, 'nodePort': 30053, 'protocol': 'UDP'}],"
         "'selector': {'b': '2', 'a': '1'}}}",
         "s | ClusterIP | None | <none> | 80/TCP,53:30053/UDP | 24h | a=1,b=2"},
        {&KUBE_SERVICES, "{'metadata': {'name': 's'}, 'spec': {'type': 'LoadBalancer'}}",
         "s | LoadBalancer | <none> | <pending> | <none> | <unknown> | <none>"},
        {&KUBE_SERVICES,
         "{'metadata': {'name': 's'}, 'spec': {'type': 'ExternalName', 'externalName': 'x.y'}}",
         "s | ExternalName | <none> | x.y | <none> | <unknown> | <none>"},
        {&KUBE_ENDPOINTS,
         "{'metadata': {'name': 'e'}, 'subsets': [{'addresses': [{'ip': '1'}, {'ip': '2'}],"
         "'ports': [{'port': 80}, {'port': 81}]}]}",
         "e | 1:80,2:80,1:81 + 1 more... | <unknown>"},
        {&KUBE_ENDPOINTS, "{'metadata': {'name': 'e'}, 'subsets': [{'addresses': [{'ip': '1'}]}]}",
         "e | 1 | <unknown>"},
        {&KUBE_ENDPOINTS, "{'metadata': {'name': 'e'}}", "e | <none> | <unknown>"},
        {&KUBE_CONFIGMAPS,
         "{'metadata': {'name': 'c'}, 'data': {'a': ''}, 'binaryData': {'b': ''}}",
         "c | 2 | <unknown>"},
        {&KUBE_SECRETS, "{'metadata': {'name': 's'}, 'type': 'Opaque', 'data': {'a': ''}}",
         "s | Opaque | 1 | <unknown>"},
        {&KUBE_PVCS,
         "{'metadata': {'name': 'c', " AT_EPOCH "}, 'spec': {'volumeName': 'v',"
         "'storageClassName': 'local', 'volumeMode': 'Filesystem'}, 'status': {'phase': 'Bound',"
         "'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteMany', 'ReadWriteOnce']}}",
         "c | Bound | v | 1Gi | RWO,RWX | local | 24h | Filesystem"},
        {&KUBE_PVCS, "{'metadata': {'name': 'c'}, 'status': {'phase': 'Pending'}}",
         "c | Pending |  |  |  |  | <unknown> | <unset>"},
        {&KUBE_PVS,
         "{'metadata': {'name': 'v'}, 'spec': {'capacity': {'storage': '1Gi'}, 'accessModes':"
         "['ReadWriteOnce'], 'persistentVolumeReclaimPolicy': 'Delete', 'storageClassName':"
         "'local', 'claimRef': {'namespace': 'n', 'name': 'c'}}, 'status': {'phase': 'Bound'}}",
         "v | 1Gi | RWO | Delete | Bound | n/c | local |  | <unknown> | <unset>"},
        {&KUBE_RESOURCEQUOTAS,
         "{'metadata': {'name': 'q'}, 'status': {'hard': {'pods': '10', 'limits.cpu': '4',"
         "'requests.cpu': 2}, 'used': {'pods': '3', 'requests.cpu': '1500m'}}}",
         "q | pods: 3/10, requests.cpu: 1500m/2 | limits.cpu: 0/4 | <unknown>"},
        {&KUBE_EVENTS,
         "{'metadata': {'name': 'e'}, 'type': 'Normal', 'reason': 'Created', 'count': 4,"
         "'message': ' did it\\n', 'source': {'component': 'c', 'host': 'h'},"
         "'involvedObject': {'kind': 'TFJob', 'name': 'j'},"
         "'firstTimestamp': '1970-01-01T00:00:00Z', 'lastTimestamp': '1970-01-02T00:00:00Z'}",
         "1s | Normal | Created | tfjob/j |  | c, h | did it | 24h | 4 | e"},
        {&KUBE_PODGROUPS,
         "{'metadata': {'name': 'g'}, 'spec': {'minMember': 4}, 'status': {'phase': 'Running',"
         "'running': 3, 'succeeded': 2, 'failed': 1}}",
         "g | Running | 4 | 3 | 2 | 1 | <unknown>"},
        {&KUBE_PODGROUPS, "{'metadata': {'name': 'g'}}", "g |  | 0 | 0 | 0 | 0 | <unknown>"},
        {&KUBE_VOLCANO_PODGROUPS,
         "{'metadata': {'name': 'g'}, 'spec': {'minMember': 4, 'queue': 'q'}, 'status':"
         "{'phase': 'Inqueue', 'running': 3}}",
         "g | Inqueue | 4 | 3 | <unknown> | q"},
        {&KUBE_LEASES, "{'metadata': {'name': 'l'}, 'spec': {'holderIdentity': 'h'}}",
         "l | h | <unknown>"},
        {&KUBE_SCALES,
         "{'metadata': {'name': 's'}, 'spec': {'replicas': 3}, 'status': {'replicas': 2}}",
         "s | 3 | 2 | <unknown>"},
        {&KUBE_LEASES, "{'metadata': {'name': 'l'}}", "l |  | <unknown>"},
        {&KUBE_JOBS,
         "{'metadata': {'name': 'j'}, 'spec': {'completions': 4, 'selector': {'matchLabels':"
         "{'a': 'b'}}, 'template': {'spec': {'containers': [{'name': 'x', 'image': 'i'},"
         "{'name': 'y', 'image': 'k'}]}}}, 'status': {'succeeded': 3,"
         "'startTime': '1970-01-01T00:00:00Z', 'completionTime': '1970-01-01T00:01:30Z'}}",
         "j | 3/4 | 90s | <unknown> | x,y | i,k | a=b"},
        {&KUBE_JOBS, "{'metadata': {'name': 'j'}, 'spec': {'parallelism': 3}}",
         "j | 0/1 of 3 |  | <unknown> |  |  | <none>"},
        {&KUBE_DEPLOYMENTS,
         "{'metadata': {'name': 'd'}, 'spec': {'replicas': 3, 'selector': {'matchLabels':"
         "{'a': 'b'}}, 'template': {'spec': {'containers': [{'name': 'x', 'image': 'i'}]}}},"
         "'status': {'replicas': 4, 'readyReplicas': 2, 'updatedReplicas': 1,"
         "'availableReplicas': 2}}",
         "d | 2/3 | 1 | 2 | <unknown> | x | i | a=b"},
        {&KUBE_REPLICASETS,
         "{'metadata': {'name': 'r'}, 'spec': {'replicas': 3, 'selector': {'matchLabels':"
         "{'a': 'b'}}}, 'status': {'replicas': 2, 'readyReplicas': 1}}",
         "r | 3 | 2 | 1 | <unknown> |  |  | a=b"},
        {&KUBE_ENDPOINTSLICES,
         "{'metadata': {'name': 's'}, 'addressType': 'IPv4', 'ports': [{'name': 'x', 'port': 80},"
         "{'name': 'y'}], 'endpoints': [{'addresses': ['10.0.0.1']}, {'addresses': ['10.0.0.2']},"
         "{'addresses': ['10.0.0.3', '10.0.0.4', '10.0.0.5']}]}",
         "s | IPv4 | 80,y | 10.0.0.1,10.0.0.2,10.0.0.3 + 2 more... | <unknown>"},
        {&KUBE_ENDPOINTSLICES, "{'metadata': {'name': 's'}, 'addressType': 'IPv4'}",
         "s | IPv4 | <unset> | <unset> | <unknown>"},
        {&KUBE_STORAGECLASSES,
         "{'metadata': {'name': 'fast', 'annotations':"
         "{'storageclass.kubernetes.io/is-default-class': 'true'}}, 'provisioner': 'p.example/x',"
         "'reclaimPolicy': 'Retain', 'volumeBindingMode': 'WaitForFirstConsumer',"
         "'allowVolumeExpansion': true}",
         "fast (default) | p.example/x | Retain | WaitForFirstConsumer | true | <unknown>"},
        {&KUBE_PRIORITYCLASSES,
         "{'metadata': {'name': 'high'}, 'value': 1000, 'globalDefault': true}",
         "high | 1000 | true | <unknown>"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_string_equal(cells(arena, CASES[i].resource, CASES[i].object, 1), CASES[i].cells);
}

static void accepts_the_values_of_include_object(void **state)
{
    enum kube_include include;
    assert_int_equal(kube_include_parse(NULL, &include, NULL), 0);
    assert_int_equal(include, KUBE_INCLUDE_METADATA);
    assert_int_equal(kube_include_parse("Object", &include, NULL), 0);
    assert_int_equal(include, KUBE_INCLUDE_OBJECT);
    assert_int_equal(kube_include_parse("None", &include, NULL), 0);
    assert_int_equal(include, KUBE_INCLUDE_NONE);
    assert_int_equal(kube_include_parse("none", &include, NULL), -ERR_BAD_REQUEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_the_shape_that_kubectl_reads),
        cmocka_unit_test(a_pod_has_the_status_words_of_kubectl),
        cmocka_unit_test(other_kinds_have_the_cells_of_kubectl),
        cmocka_unit_test(accepts_the_values_of_include_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
