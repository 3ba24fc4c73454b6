/* Implements the watching of a training run; see fit_watch.h. */
#include "cli/trainer/fit_watch.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"
#include "cli/trainer/fit_cluster.h"
#include "cli/trainer/fit_report.h"
#include "serve/monitor.h"
#include "train/run/monitor_address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Starts the monitor. A failure is only logged, because the training can run without a monitor. */
static void start_monitor(struct fit_watch *watch, const char *address, int port)
{
    struct err err = ERR_INIT;
    bool all_addresses = str_is_empty(address);
    address = all_addresses ? "::" : address;
    int wanted = port;
    int result = monitor_start(address, wanted, watch->state, &watch->monitor, &port, &err);
    if (result < 0 && all_addresses && err.sys != EADDRINUSE) { /* the machine may have no IPv6 */
        address = "0.0.0.0";
        result = monitor_start(address, wanted, watch->state, &watch->monitor, &port, &err);
    }
    bool v6 = strchr(address, ':');
    _cleanup_free_ char *line =
        result < 0
            ? mem_printf("%s; training goes on, but its progress cannot be queried", err.message)
            : mem_printf("progress is at http://%s%s%s:%d/progress, metrics are at /metrics",
                         v6 ? "[" : "", address, v6 ? "]" : "", port);
    fit_print_line(NULL, line);
}

int fit_watch_open(const struct fit_watch_values *values, const struct command *command,
                   const void *all_values, const char *model_dir, struct run_log_options *log,
                   struct fit_watch *ret, struct err *err)
{
    char address[MONITOR_ADDRESS_MAX];
    int port = -1, result = monitor_address_parse(values->monitor, address, &port, err);
    if (result < 0)
        return result;
    *ret =
        (struct fit_watch){.state = run_state_new(), .model_dir = model_dir, .arena = arena_new()};
    if (port >= 0)
        start_monitor(ret, address, port);
    if (str_is_empty(values->events))
        ret->events_dir = model_dir ? mem_printf("%s/events", model_dir) : NULL;
    else if (!str_eq(values->events, "off") && !str_eq(values->events, "false"))
        ret->events_dir = mem_strdup(values->events);
    log->state = ret->state;
    log->events_dir = ret->events_dir;
    log->settings = options_to_json(ret->arena, command, all_values, 0, 0);
    return 0;
}

void fit_watch_wait(void *state, const char *peers)
{
    run_state_wait(state, peers, moment_monotonic_ns());
}

void fit_watch_waited(void *state, const char *task, int64_t ns)
{
    run_state_waited(state, task, ns);
}

void fit_watch_finish(struct fit_watch *watch)
{
    const char *path = getenv("TRAINYARD_TERMINATION_LOG");
    _cleanup_fd_ int fd =
        open(str_is_empty(path) ? "/dev/termination-log" : path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0 || !watch->state)
        return; /* not in a pod */
    struct run_state_view view;
    run_state_read(watch->state, moment_monotonic_ns(), &view);
    struct json *document = run_state_document(watch->arena, &view);
    _cleanup_free_ char *directory = watch->model_dir ? realpath(watch->model_dir, NULL) : NULL;
    fit_report_set(watch->arena, document, directory);
    const char *text = json_to_string(watch->arena, document);
    struct err err = ERR_INIT;
    if (file_write_all(fd, text, strlen(text), &err) < 0) {
        _cleanup_free_ char *line =
            mem_printf("cannot write the termination message: %s", err.message);
        fit_print_line(NULL, line);
    }
}

void fit_watch_close(struct fit_watch *watch)
{
    watch->monitor = monitor_stop(watch->monitor);
    watch->state = run_state_free(watch->state);
    watch->arena = arena_free(watch->arena);
    free(TAKE(watch->events_dir));
}
