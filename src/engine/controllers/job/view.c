/* Reads jobs and their pods for one pass; see internal.h. Pure. */
#include "engine/controllers/job/internal.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"

/* A pod that was deleted with a grace period of 0 counts as ended after this time. If its node
 * exists, the node has reported the end by then. */
enum { FORCED_MS = 10 * 1000 };

void job_spec_read(const struct json *job, struct job_spec *ret)
{
    const struct json *spec = json_get(job, "spec");
    const struct json *pod_spec = json_at(spec, "template", "spec", NULL);
    *ret = (struct job_spec){
        .name = kube_meta_name(job),
        .namespace_ = kube_meta_namespace(job),
        .uid = kube_meta_uid(job),
        .indexed = str_eq(json_get_string(spec, "completionMode", ""), "Indexed"),
        .suspend = json_get_bool(spec, "suspend", false),
        .deleting = kube_meta_is_deleting(job),
        .restarts_in_place = str_eq(json_get_string(pod_spec, "restartPolicy", ""), "OnFailure"),
        .parallelism = json_get_int(spec, "parallelism", 1),
        .completions = json_get_int(spec, "completions", -1),
        .backoff_limit = json_get_int(spec, "backoffLimit", 6),
        .deadline_s = json_get_int(spec, "activeDeadlineSeconds", -1),
        .ttl_s = json_get_int(spec, "ttlSecondsAfterFinished", -1),
    };
}

static int64_t read_index(const struct json *pod)
{
    const char *text = kube_meta_annotation(pod, JOB_INDEX_KEY);
    int64_t index;
    if (!text || str_to_int64(text, 0, INT32_MAX, &index, NULL) < 0)
        return -1;
    return index;
}

/* Returns when the pod's last container ended. If no container reports an end, returns when the pod
 * was deleted or created. */
static int64_t read_end(const struct json *pod)
{
    int64_t end = -1, at;
    JSON_EACH (container, json_at(pod, "status", "containerStatuses", NULL)) {
        const char *text =
            json_get_string(json_at(container, "state", "terminated", NULL), "finishedAt", "");
        if (text[0] && moment_parse(text, &at, NULL) == 0 && at > end)
            end = at;
    }
    if (end < 0)
        end = kube_meta_is_deleting(pod) ? kube_meta_deleting_ms(pod) : kube_meta_created_ms(pod);
    return end;
}

static int64_t job_read_restarts(const struct json *pod)
{
    static const char *const lists[] = {"initContainerStatuses", "containerStatuses"};
    int64_t sum = 0;
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (container, json_at(pod, "status", lists[i], NULL))
            sum += json_get_int(container, "restartCount", 0);
    }
    return sum;
}

/* Returns the state of the pod, and sets its forced_end_ms. A node reports how a pod ended before
 * it confirms the deletion with a grace period of 0. So a pod with that grace period and without a
 * report has either never started, or a user deleted it with a grace period of 0. In the second
 * case the pod may still run. If its node is gone, its end is never reported. */
static enum job_pod_state read_state(const struct json *pod, int64_t now_ms,
                                     int64_t *ret_forced_end_ms)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
    *ret_forced_end_ms = 0;
    if (str_eq(phase, "Succeeded"))
        return JOB_POD_SUCCEEDED;
    if (str_eq(phase, "Failed"))
        return JOB_POD_FAILED;
    if (!kube_meta_is_deleting(pod))
        return JOB_POD_ACTIVE;
    if (json_get_int(json_get(pod, "metadata"), "deletionGracePeriodSeconds", 0) > 0)
        return JOB_POD_LEAVING;
    if (!str_eq(phase, "Running"))
        return JOB_POD_FAILED;
    *ret_forced_end_ms = kube_meta_deleting_ms(pod) + FORCED_MS;
    return now_ms < *ret_forced_end_ms ? JOB_POD_LEAVING : JOB_POD_FAILED;
}

void job_pod_read(const struct json *pod, int64_t now_ms, struct job_pod *ret)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
    int64_t forced_end_ms;
    enum job_pod_state state = read_state(pod, now_ms, &forced_end_ms);
    *ret = (struct job_pod){
        .json = pod,
        .uid = kube_meta_uid(pod),
        .state = state,
        .tracked = kube_meta_has_finalizer(pod, JOB_FINALIZER),
        .stopped = kube_meta_annotation(pod, JOB_STOPPED_ANNOTATION) != NULL,
        .running = str_eq(phase, "Running"),
        .ready = kube_condition_is_true(pod, "Ready"),
        .index = read_index(pod),
        .created_ms = kube_meta_created_ms(pod),
        .ended_ms = read_end(pod),
        .forced_end_ms = forced_end_ms,
        .restarts = job_read_restarts(pod),
    };
}
