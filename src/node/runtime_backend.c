/* The API server's requests to the node: logs, ports, usage, and commands in containers. Also finds
 * the directory of a volume claim. */
#include "node/runtime_internal.h"

#include "kube/object.h"
#include "net/stream/pipe_stream.h"
#include "node/log/read.h"
#include "node/network/connect.h"
#include "node/pod/exec.h"
#include "node/volume/volumes.h"

static void backend_send_logs(void *context, struct http_exchange *exchange, const struct json *pod,
                              const struct engine_pod_logs *options)
{
    struct node_runtime *runtime = context;
    struct err err = ERR_INIT;
    const struct pod_runner *runner = map_get(&runtime->runners, kube_meta_uid(pod));
    int64_t run;
    if (node_log_choose_run(runner ? pod_runner_container(runner, options->container) : NULL, pod,
                            options->container, options->previous, &run, &err) < 0) {
        engine_respond_error(exchange, &err);
        return;
    }
    node_log_streams_add(&runtime->logs, exchange, pod_runner_directory(runner), run, options);
}

static void *backend_connect_port(void *context, const struct json *pod, int port,
                                  engine_connect_done *done, void *done_context)
{
    struct node_runtime *runtime = context;
    const struct json *spec = json_get(pod, "spec"), *status = json_get(pod, "status");
    const struct pod_runner *runner = map_get(&runtime->runners, kube_meta_uid(pod));
    bool host_network = runtime->host.plain || json_get_bool(spec, "hostNetwork", false);
    /* A directory of NULL selects the machine's network. Without a runner the directory is "", and
     * the error message says that the pod is not running. */
    return node_connect_inside(runtime->loop,
                               host_network ? NULL
                               : runner     ? pod_runner_directory(runner)
                                            : "",
                               json_get_string(status, "podIP", NULL), port, done, done_context);
}

static void backend_cancel_connect(void *connect)
{
    node_connect_cancel(connect);
}

static void *backend_measure_usage(void *context, engine_usage_done *done, void *done_context)
{
    const struct node_runtime *runtime = context;
    return usage_meter_ask(runtime->usage, done, done_context);
}

static void *backend_run_command(void *context, const struct json *pod,
                                 const struct engine_pod_command *command,
                                 const struct engine_pod_command_handler *handler,
                                 void *handler_context)
{
    struct node_runtime *runtime = context;
    const struct pod_runner *runner = map_get(&runtime->runners, kube_meta_uid(pod));
    return pod_exec_new(runtime->loop, runner ? pod_runner_directory(runner) : NULL, command,
                        handler, handler_context);
}

static void backend_resize_command(void *exec, int columns, int rows)
{
    pod_exec_resize(exec, columns, rows);
}

static void backend_close_command(void *exec)
{
    pod_exec_close(exec);
}

struct engine_pod_backend node_runtime_backend(struct node_runtime *runtime)
{
    return (struct engine_pod_backend){
        .logs = backend_send_logs,
        .connect = backend_connect_port,
        .connect_cancel = backend_cancel_connect,
        .usage = backend_measure_usage,
        .usage_cancel = usage_meter_cancel,
        .run = backend_run_command,
        .run_resize = backend_resize_command,
        .run_close = backend_close_command,
        .run_drain = pipe_stream_end_here,
        .context = runtime,
    };
}

const char *node_runtime_claim_directory(struct node_runtime *runtime, struct arena *arena,
                                         const char *namespace_, const char *claim)
{
    const char *directory = NULL;
    bool is_cluster_directory;
    struct err err = ERR_INIT;
    return volume_claim_find(arena, &runtime->host.objects, runtime->host.state_dir, namespace_,
                             claim, &directory, &is_cluster_directory, &err) == 0
               ? directory
               : NULL;
}
