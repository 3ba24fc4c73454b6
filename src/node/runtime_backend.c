/* Serves requests of the API server for running pods: logs, ports, usage, and commands in
 * containers. */
#include "node/runtime_internal.h"

#include "kube/object.h"
#include "net/stream/pipe_stream.h"
#include "node/log/read.h"
#include "node/network/connect.h"
#include "node/pod/exec.h"
#include "node/volume/volumes.h"

static void send_logs(void *context, struct http_exchange *exchange, const struct json *pod,
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

static void *connect_port(void *context, const struct json *pod, int port,
                          engine_connect_done *done, void *done_context)
{
    struct node_runtime *runtime = context;
    const struct json *spec = json_get(pod, "spec"), *status = json_get(pod, "status");
    const struct pod_runner *runner = map_get(&runtime->runners, kube_meta_uid(pod));
    bool host_network = runtime->host.plain || json_get_bool(spec, "hostNetwork", false);
    /* NULL means the machine's network. For a pod that is gone the directory is "", and the error
     * message says that the pod is not running. */
    return node_connect_inside(runtime->loop,
                               host_network ? NULL
                               : runner     ? pod_runner_directory(runner)
                                            : "",
                               json_get_string(status, "podIP", NULL), port, done, done_context);
}

static void cancel_connect(void *connect)
{
    node_connect_cancel(connect);
}

static void *measure_usage(void *context, engine_usage_done *done, void *done_context)
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

static void resize_command(void *run, int columns, int rows)
{
    pod_exec_resize(run, columns, rows);
}

static void close_command(void *run)
{
    pod_exec_close(run);
}

struct engine_pod_backend node_runtime_backend(struct node_runtime *runtime)
{
    return (struct engine_pod_backend){
        .logs = send_logs,
        .connect = connect_port,
        .connect_cancel = cancel_connect,
        .usage = measure_usage,
        .usage_cancel = usage_meter_cancel,
        .run = backend_run_command,
        .run_resize = resize_command,
        .run_close = close_command,
        .run_last_words = pipe_stream_end_here,
        .context = runtime,
    };
}

const char *node_runtime_claim_directory(struct node_runtime *runtime, struct arena *arena,
                                         const char *namespace_, const char *claim)
{
    const char *directory = NULL;
    bool made_here;
    struct err err = ERR_INIT;
    return volume_claim_find(arena, &runtime->host.objects, runtime->host.state_dir, namespace_,
                             claim, &directory, &made_here, &err) == 0
               ? directory
               : NULL;
}
