/* How fast JSON is read and written: a pod, which is the object that kubectl and our API server
 * exchange most, compared with jansson in the same run. Prints one line of JSON per figure. */
#include "base/json/json.h"

#include "base/mem.h"
#include "base/moment.h"
#include "jansson_peer.h"

#include <stdio.h>
#include <string.h>

static const char POD[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"mnist-worker-0\","
    "\"namespace\":"
    "\"default\",\"uid\":\"6b1e0c0e-8a55-4f0e-9d86-0d6f4b7a2c11\",\"resourceVersion\":\"184467\","
    "\"generation\":1,\"creationTimestamp\":\"2026-11-15T02:00:00Z\",\"labels\":{\"training."
    "kubeflow."
    "org/job-name\":\"mnist\",\"training.kubeflow.org/"
    "replica-type\":\"worker\",\"training.kubeflow."
    "org/replica-index\":\"0\",\"training.kubeflow.org/operator-name\":\"tfjob-controller\"},"
    "\"ownerReferences\":[{\"apiVersion\":\"kubeflow.org/"
    "v1\",\"kind\":\"TFJob\",\"name\":\"mnist\","
    "\"uid\":\"0f6c5b2e-31c5-4c5e-8f05-6a7c5c0d0e55\",\"controller\":true,\"blockOwnerDeletion\":"
    "true"
    "}]},\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":\"trainyard/"
    "trainer\",\"command"
    "\":[\"trainer\",\"fit\"],\"args\":[\"--steps\",\"1000\",\"--batch\",\"64\"],\"env\":[{"
    "\"name\":"
    "\"TF_CONFIG\",\"value\":\"{\\\"cluster\\\":{\\\"worker\\\":[\\\"mnist-worker-0.default.svc:"
    "2222"
    "\\\",\\\"mnist-worker-1.default.svc:2222\\\"]},\\\"task\\\":{\\\"type\\\":\\\"worker\\\","
    "\\\"in"
    "dex\\\":0}}\"}],\"ports\":[{\"name\":\"tfjob-port\",\"containerPort\":2222,\"protocol\":"
    "\"TCP\"}"
    "],\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"256Mi\"}},\"volumeMounts\":[{"
    "\"name"
    "\":\"data\",\"mountPath\":\"/data\",\"readOnly\":true}],\"terminationMessagePath\":\"/dev/"
    "termin"
    "ation-log\",\"imagePullPolicy\":\"IfNotPresent\"}],\"volumes\":[{\"name\":\"data\","
    "\"persistentV"
    "olumeClaim\":{\"claimName\":\"data\"}}],\"restartPolicy\":\"Never\","
    "\"terminationGracePeriodSeco"
    "nds\":30,\"dnsPolicy\":\"ClusterFirst\",\"schedulerName\":\"default-scheduler\",\"priority\":"
    "0},"
    "\"status\":{\"phase\":\"Running\",\"podIP\":\"10.64.0.17\",\"startTime\":\"2026-11-15T02:00:"
    "01Z"
    "\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"lastTransitionTime\":\"2026-11-"
    "15T0"
    "2:00:02Z\"},{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"2026-11-"
    "15T0"
    "2:00:00Z\"}],\"containerStatuses\":[{\"name\":\"tensorflow\",\"ready\":true,\"restartCount\":"
    "0,"
    "\"state\":{\"running\":{\"startedAt\":\"2026-11-15T02:00:02Z\"}}}]}}";

enum { RUN_MS = 500 };

static void read_ours(void)
{
    static struct arena *arena;
    struct json *json;
    if (!arena)
        arena = arena_new();
    arena_reset(arena);
    if (json_parse(arena, POD, sizeof(POD) - 1, NULL, &json, NULL) < 0)
        mem_panic("the pod cannot be parsed");
}

static void read_peer(void)
{
    peer_free(peer_read(POD, sizeof(POD) - 1));
}

static void write_ours(void)
{
    static struct arena *arena;
    static struct json *json;
    static struct buf buf;
    if (!arena) {
        arena = arena_new();
        json_parse(arena, POD, sizeof(POD) - 1, NULL, &json, NULL);
        buf_init(&buf, 1 << 20);
    }
    buf_clear(&buf);
    json_write(json, &buf);
}

static void write_peer(void)
{
    static void *tree;
    if (!tree)
        tree = peer_read(POD, sizeof(POD) - 1);
    free(peer_write(tree));
}

/* Returns megabytes per second. */
static double rate(void (*function)(void))
{
    int64_t start = moment_monotonic_ns(), now;
    size_t rounds = 0;
    do {
        for (int i = 0; i < 100; i++)
            function();
        rounds += 100;
        now = moment_monotonic_ns();
    } while (now - start < RUN_MS * INT64_C(1000000));
    return (double)(rounds * (sizeof(POD) - 1)) * 1e3 / (double)(now - start);
}

static void report(const char *name, void (*ours)(void), void (*peer)(void))
{
    printf("{\"name\":\"%s\",\"value\":%.0f,\"unit\":\"MB/s\",\"peer\":\"jansson\",\"peer_value\":"
           "%.0f}\n",
           name, rate(ours), rate(peer));
}

int main(void)
{
    if (!peer_load())
        mem_panic("jansson is not installed: apt-get install libjansson4");
    report("json_read", read_ours, read_peer);
    report("json_write", write_ours, write_peer);
    return 0;
}
