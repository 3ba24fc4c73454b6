/* Computes the names of services for pods with hostNetwork, and updates the hosts files of these
 * pods; see names/host_names.h. */
#include "node/names/host_names.h"

#include "node/node_object.h"
#include "node/plan/plan.h"
#include "node/pod/status.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "base/vec.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HOSTS_MAX = 4 * 1024 * 1024, /* bytes of a hosts file */
    SOON_MS = 20,                /* after a change; further changes in this time are included */
};

/* The line of a hosts file after which the lines about services begin. */
#define MARK "# services\n"

struct host_names {
    struct host_names_options options;
    struct loop_timer timer;
};

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Returns true for a headless service with a selector. */
static bool is_headless(const struct json *service)
{
    const struct json *spec = json_get(service, "spec");

    return str_eq(json_get_string(spec, "clusterIP", ""), "None") &&
           json_count(json_get(spec, "selector")) > 0;
}

static bool host_names_is_shown(const struct json *service, const struct json *pod)
{
    return json_get_bool(json_get(service, "spec"), "publishNotReadyAddresses", false) ||
           kube_condition_is_true(pod, "Ready");
}

/* Returns the line for an address. Pods in the service's own namespace get its short name too. */
static const char *make_line(struct arena *arena, const char *namespace_,
                             const struct json *service, const char *address)
{
    const char *name = kube_meta_name(service), *home = kube_meta_namespace(service);
    const char *full = arena_printf(arena, "%s.%s.svc", name, home);

    return arena_printf(arena, "%s\t%s.cluster.local %s %s.%s%s%s\n", address, full, full, name,
                        home, str_eq(home, namespace_) ? " " : "",
                        str_eq(home, namespace_) ? name : "");
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *host_names_lines(struct arena *arena, const char *namespace_,
                       const struct json *const *services, size_t service_count,
                       const struct host_names_pods *pods)
{
    VEC(const char *) lines = {0};
    _cleanup_buf_ struct buf text;

    for (size_t i = 0; i < service_count; i++) {
        const struct json *service = services[i];
        struct kube_selector selector;

        if (!is_headless(service) ||
            kube_selector_from_map(arena, json_at(service, "spec", "selector", NULL), &selector,
                                   NULL) < 0)
            continue;
        for (size_t k = 0; k < pods->count; k++) {
            const struct json *pod = pods->pods[k];

            if (str_eq(kube_meta_namespace(pod), kube_meta_namespace(service)) &&
                kube_selector_matches(&selector, kube_meta_labels(pod)) &&
                host_names_is_shown(service, pod))
                vec_push(&lines, make_line(arena, namespace_, service, pods->addresses[k]));
        }
    }
    if (lines.count > 1) /* an informer returns objects in no particular order */
        qsort(lines.items, lines.count, sizeof(lines.items[0]), compare_lines);
    buf_init(&text, HOSTS_MAX);
    for (size_t i = 0; i < lines.count; i++)
        buf_append_str(&text, lines.items[i]);
    vec_release(&lines);
    return arena_strndup(arena, text.data ? text.data : "", text.size);
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* Returns the index of the pod's node in node_names, or -1. */
static int node_number(const struct host_names *names, const struct json *pod)
{
    const char *node = json_get_string(json_get(pod, "spec"), "nodeName", "");

    for (int i = 0; names->options.node_names[i]; i++) {
        if (str_eq(names->options.node_names[i], node))
            return i;
    }
    return -1;
}

static size_t count_all(struct kube_informer *informer)
{
    size_t count = 0, position = 0;

    while (kube_informer_next(informer, NULL, &position))
        count++;
    return count;
}

/* Lists the pods with hostNetwork on this machine. Such a pod has its node's address, which is
 * known as soon as the pod is bound. */
static struct host_names_pods list_pods(const struct host_names *names, struct arena *arena)
{
    struct kube_informer *informer = *names->options.pods;
    size_t room = count_all(informer) + 1, position = 0;
    struct host_names_pods list = {.pods = ARENA_ARRAY(arena, const struct json *, room),
                                   .addresses = ARENA_ARRAY(arena, const char *, room)};

    for (struct kube_object *pod; (pod = kube_informer_next(informer, NULL, &position));) {
        int node = plan_uses_host_network(pod->json) ? node_number(names, pod->json) : -1;

        if (node < 0 || pod_phase_is_final(pod->json))
            continue;
        list.pods[list.count] = pod->json;
        list.addresses[list.count++] = node_object_address(arena, node);
    }
    return list;
}

static char *lines_for(const struct host_names *names, struct arena *arena, const char *namespace_,
                       const struct host_names_pods *pods)
{
    struct kube_informer *informer = *names->options.services;
    const struct json **services = ARENA_ARRAY(arena, const struct json *, count_all(informer) + 1);
    size_t count = 0, position = 0;

    for (struct kube_object *service; (service = kube_informer_next(informer, NULL, &position));)
        services[count++] = service->json;
    return host_names_lines(arena, namespace_, services, count, pods);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Overwrites the file in place, because the container has this file mounted. */
static int write_in_place(const char *path, const char *text, size_t size, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return err_set_errno(err, errno, "cannot write '%s'", path);
    int result = file_write_all(fd, text, size, err);
    if (result == 0 && ftruncate(fd, (off_t)size) < 0)
        result = err_set_errno(err, errno, "cannot write '%s'", path);
    return result;
}

/* Replaces the lines after the mark. The text before the mark belongs to the pod. */
static int refresh_file(const char *path, const char *lines, struct err *err)
{
    _cleanup_buf_ struct buf old, text;

    buf_init(&old, HOSTS_MAX);
    buf_init(&text, 2 * HOSTS_MAX);
    int result = file_read(path, &old, err);
    if (result < 0)
        return result;
    const char *mark = strstr(old.data, MARK);
    if (!mark)
        return 0;
    buf_append(&text, old.data, (size_t)(mark - old.data));
    buf_printf(&text, MARK "%s", lines);
    if (text.size == old.size && memcmp(text.data, old.data, old.size) == 0)
        return 0;
    return write_in_place(path, text.data, text.size, err);
}

static void host_names_refresh(struct loop_timer *timer)
{
    struct host_names *names = CONTAINER_OF(timer, struct host_names, timer);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct host_names_pods pods = list_pods(names, arena);
    const char *namespace_ = NULL; /* the namespace that `lines` is for */
    const char *lines = NULL;

    for (size_t i = 0; i < pods.count; i++) {
        const char *uid = kube_meta_uid(pods.pods[i]);
        const char *path = arena_printf(arena, "%s/pods/%s/hosts", names->options.state_dir, uid);
        struct err err = ERR_INIT;

        if (!str_is_dns_subdomain(uid) || !file_exists(path))
            continue; /* the planner has not written the pod's file yet */
        if (!lines || !str_eq(namespace_, kube_meta_namespace(pods.pods[i]))) {
            namespace_ = kube_meta_namespace(pods.pods[i]);
            lines = lines_for(names, arena, namespace_, &pods);
        }
        if (refresh_file(path, lines, &err) < 0)
            log_warning(uid, "%s", err.message);
    }
}

const char *host_names_text(const struct host_names *names, struct arena *arena,
                            const struct json *pod)
{
    struct host_names_pods pods = list_pods(names, arena);

    return arena_printf(arena, MARK "%s", lines_for(names, arena, kube_meta_namespace(pod), &pods));
}

void host_names_changed(struct host_names *names)
{
    if (!names->timer.running)
        loop_timer_start(&names->timer, SOON_MS);
}

struct host_names *host_names_new(const struct host_names_options *options)
{
    struct host_names *names = mem_zalloc(sizeof(*names));

    names->options = *options;
    loop_timer_init(options->loop, &names->timer, host_names_refresh);
    return names;
}

struct host_names *host_names_free(struct host_names *names)
{
    if (!names)
        return NULL;
    loop_timer_stop(&names->timer);
    free(names);
    return NULL;
}
