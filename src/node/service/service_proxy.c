/* Updates the tables of the two proxies; see service/service_proxy.h. */
#include "node/service/service_proxy.h"

#include "node/network/namespaces.h"
#include "node/network/pod_network.h"
#include "node/network/port_event.h"
#include "node/process/helper_keeper.h"
#include "node/service/proxy.h"
#include "node/service/service_table.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#define COMPONENT "trainyard-node"

enum { INTERVAL_MS = 50 }; /* minimum time between two computations of the tables */

struct service_proxy {
    struct service_proxy_options options;
    struct loop *loop;
    struct loop_timer changed; /* runs until the tables are computed again */
    int64_t made_ms;           /* the time of the last computation */
    char *table;               /* the text that was written for the helper process last, or NULL */

    struct helper_keeper *keeper; /* restarts the helper process when it ends */

    /* The proxy for ports of the machine, which runs in this process. */
    struct proxy *outside;
    uv_poll_t outside_watch;        /* watches proxy_fd(outside) */
    struct loop_timer outside_wake; /* runs until proxy_run(outside) must be called again */
};

static void on_service_proxy_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* ---- ports of the machine -------------------------------------------------------------------- */

static void run_outside(struct service_proxy *self)
{
    int again_ms = proxy_run(self->outside, 0, NULL);
    if (again_ms >= 0)
        loop_timer_start(&self->outside_wake, again_ms);
    else
        loop_timer_stop(&self->outside_wake);
}

static void on_outside_ready(uv_poll_t *poll, int status, int events)
{
    run_outside(poll->data);
}

static void on_outside_wake(struct loop_timer *timer)
{
    run_outside(CONTAINER_OF(timer, struct service_proxy, outside_wake));
}

/* Creates a socket in the pod network if `to` is an address of the pod network. Otherwise creates
 * it in the machine's network, for example if `to` is a pod with hostNetwork. */
static int service_proxy_make_socket(void *context, const struct proxy_place *to, int type,
                                     int *ret_fd, struct err *err)
{
    const struct service_proxy *self = context;
    if (pod_network_has(to->address))
        return node_namespaces_socket(self->options.host->space, AF_INET, type, 0, ret_fd, err);
    int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot make a socket");
    *ret_fd = fd;
    return 0;
}

/* Returns the object that a route belongs to (service/service_table.h), or NULL if it is gone. */
static const struct json *find_owner(const struct service_proxy *self, const char *owner)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    size_t count;
    char **parts = str_split(arena, owner, '/', &count);
    if (count != 3)
        return NULL;
    struct kube_informer *informer =
        str_eq(parts[0], "Pod") ? self->options.pods : self->options.services;
    struct kube_object *object = kube_informer_get(informer, parts[1], parts[2]);
    return object ? object->json : NULL;
}

static void on_service_proxy_report(void *context, const char *owner,
                                    const struct proxy_place *listen, int type,
                                    const struct err *err)
{
    struct service_proxy *self = context;
    const struct json *about = find_owner(self, owner);
    char address[INET_ADDRSTRLEN];
    if (!about)
        return;
    if (err) {
        const struct port_wanted wanted = {type, listen->address, listen->port};
        port_event_refused(self->options.host->client, about, &wanted, err->sys,
                           err->sys == EADDRINUSE ? "waiting until it is free" : "trying again");
        return;
    }
    inet_ntop(AF_INET, &listen->address, address, sizeof(address));
    kube_event(self->options.host->client, about, COMPONENT, "Normal", "PortReady",
               "port %u of %s is open now", listen->port, address);
}

void service_proxy_report_unsupported(struct service_proxy *self, const struct json *service)
{
    const struct json *spec = json_get(service, "spec");
    if (str_eq(json_get_string(spec, "clusterIP", "None"), "None"))
        return; /* clients reach the pods of a headless service directly, with any protocol */
    JSON_EACH (port, json_get(spec, "ports")) {
        const char *protocol = json_get_string(port, "protocol", "TCP");
        if (!str_eq(protocol, "TCP") && !str_eq(protocol, "UDP"))
            kube_event(
                self->options.host->client, service, COMPONENT, "Warning", "Unsupported",
                "port %lld/%s is not forwarded: this server forwards only TCP and UDP for "
                "services; "
                "with 'clusterIP: None' the name of the service resolves to its pods, and clients "
                "connect to them directly",
                (long long)json_get_int(port, "port", 0), protocol);
    }
}

/* ---- the tables ------------------------------------------------------------------------------ */

static const struct json *service_proxy_next_service(void *context, size_t *position)
{
    const struct service_proxy *self = context;
    struct kube_object *object = kube_informer_next(self->options.services, NULL, position);
    return object ? object->json : NULL;
}

static const struct json *next_pod(void *context, size_t *position)
{
    const struct service_proxy *self = context;
    struct kube_object *object = kube_informer_next(self->options.pods, NULL, position);
    return object ? object->json : NULL;
}

static const struct json *get_endpoints(void *context, const char *namespace_, const char *name)
{
    const struct service_proxy *self = context;
    struct kube_object *object = kube_informer_get(self->options.endpoints, namespace_, name);
    return object ? object->json : NULL;
}

/* Writes the table for the helper process if it has changed. */
static void service_proxy_write_table(struct service_proxy *self, const struct proxy_table *table)
{
    _cleanup_buf_ struct buf text;
    struct err err = ERR_INIT;
    buf_init(&text, PROXY_TABLE_MAX);
    proxy_table_write(table, &text);
    if (str_eq(self->table, text.data))
        return;
    if (helper_process_set_table(&HELPER_PROXY, self->options.host->state_dir, &text, &err) < 0) {
        log_warning("services", "%s", err.message);
        return;
    }
    free(self->table);
    self->table = buf_take(&text);
}

static void on_service_proxy_changed(struct loop_timer *timer)
{
    struct service_proxy *self = CONTAINER_OF(timer, struct service_proxy, changed);
    self->made_ms = loop_now_ms(self->loop);
    const struct service_table_source source = {service_proxy_next_service, next_pod, get_endpoints,
                                                self};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct proxy_table table;
    service_table_inside(arena, &source, &table);
    service_proxy_write_table(self, &table);
    service_table_outside(arena, &source, self->options.node_names, &table);
    proxy_set(self->outside, &table);
    run_outside(self);
}

void service_proxy_changed(struct service_proxy *self)
{
    /* Limits the rate, because each computation goes through all services and pods, and a thousand
     * pods may change one after the other. */
    int64_t wait_ms = self->made_ms + INTERVAL_MS - loop_now_ms(self->loop);
    if (!self->changed.running)
        loop_timer_start(&self->changed, wait_ms);
}

int service_proxy_new(const struct service_proxy_options *options, struct service_proxy **ret,
                      struct err *err)
{
    struct service_proxy *self = mem_zalloc(sizeof(*self));
    const struct proxy_options outside = {service_proxy_make_socket, on_service_proxy_report, self};
    const struct helper_options helper = {.state_dir = options->host->state_dir,
                                          .step_path = options->host->step_path,
                                          .holder = options->host->network};
    self->options = *options;
    self->loop = options->host->loop;
    self->made_ms = loop_now_ms(self->loop) - INTERVAL_MS;
    loop_timer_init(self->loop, &self->changed, on_service_proxy_changed);
    loop_timer_init(self->loop, &self->outside_wake, on_outside_wake);
    int result = proxy_new(&outside, &self->outside, err);
    if (result == 0 &&
        uv_poll_init(loop_uv(self->loop), &self->outside_watch, proxy_fd(self->outside)) < 0)
        result = err_set(err, ERR_UNAVAILABLE, "cannot watch the ports of the machine");
    if (result < 0) {
        proxy_free(self->outside);
        free(self);
        return result;
    }
    self->outside_watch.data = self;
    uv_poll_start(&self->outside_watch, UV_READABLE, on_outside_ready);
    self->keeper = helper_keeper_new(self->loop, &HELPER_PROXY, &helper);
    *ret = self;
    return 0;
}

struct service_proxy *service_proxy_free(struct service_proxy *self)
{
    if (!self)
        return NULL;
    loop_timer_stop(&self->changed);
    loop_timer_stop(&self->outside_wake);
    helper_keeper_free(self->keeper);
    free(self->table);
    /* The callback frees `self`. */
    uv_close((uv_handle_t *)&self->outside_watch, on_service_proxy_closed);
    proxy_free(self->outside);
    return NULL;
}
