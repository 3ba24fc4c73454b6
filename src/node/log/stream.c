/* Streams a container's log to API clients; see log/stream.h. Files are read on the loop thread, in
 * pieces. They were written recently on this machine, so they are in the page cache. */
#include "node/log/stream.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/log/files.h"
#include "node/log/read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

enum {
    PIECE_MAX = 64 * 1024, /* bytes per read; more than the longest record */
    /* Bytes that the client has not received yet. Above this limit, reading pauses. */
    PENDING_MAX = 1024 * 1024,
};

struct node_log_stream {
    struct node_log_streams *owner;
    struct list_link link; /* in owner->list */
    struct http_exchange *exchange;
    char *directory, *container;
    int64_t run;
    bool follow, timestamps;
    int64_t since_ms, left; /* `left`: bytes that may still be sent; -1 means no limit */
    struct node_log_place place;
    int last_fd; /* the file that was newest when the request came */
    bool run_ended;
    struct loop_task again;
    uv_fs_event_t log_watch, state_watch;
    bool watching;
    int open_handles;
};

void node_log_streams_init(struct node_log_streams *streams, struct loop *loop)
{
    *streams = (struct node_log_streams){.loop = loop};
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct node_log_stream *stream = handle->data;
    if (--stream->open_handles > 0)
        return;
    free(stream->directory);
    free(stream->container);
    free(stream);
}

/* Unlinks the stream. Its memory is freed after its handles are closed. */
static void log_stream_drop(struct node_log_stream *stream)
{
    list_remove(&stream->link);
    loop_defer_cancel(stream->owner->loop, &stream->again);
    if (stream->place.fd >= 0)
        close(stream->place.fd);
    if (stream->last_fd >= 0)
        close(stream->last_fd);
    stream->place.fd = stream->last_fd = -1;
    uv_close((uv_handle_t *)&stream->log_watch, on_handle_closed);
    uv_close((uv_handle_t *)&stream->state_watch, on_handle_closed);
}

static void log_stream_finish(struct node_log_stream *stream)
{
    struct http_exchange *exchange = stream->exchange;
    exchange->on_cancel = NULL;
    exchange->on_drain = NULL;
    log_stream_drop(stream);
    http_end(exchange);
}

void node_log_streams_release(struct node_log_streams *streams)
{
    while (!list_is_empty(&streams->list))
        log_stream_finish(LIST_FIRST(&streams->list, struct node_log_stream, link));
}

static void on_log_change(uv_fs_event_t *handle, const char *filename, int events, int status);

static bool has_run_ended(const struct node_log_stream *stream)
{
    _cleanup_pod_state_ struct pod_state state = {0};
    if (pod_state_load(stream->directory, &state, NULL) < 0)
        return true; /* the pod is gone */
    const struct container_state *container = pod_state_find(&state, stream->container);
    return !container || container->restarts != stream->run ||
           container->phase == CONTAINER_TERMINATED;
}

static void watch_newest(struct node_log_stream *stream)
{
    _cleanup_free_ char *path = pod_log_path(stream->directory, stream->container, stream->run);
    uv_fs_event_stop(&stream->log_watch);
    (void)uv_fs_event_start(&stream->log_watch, on_log_change, path, 0);
}

/* Continues with the next file, if any. Called when a file is read to its end. A client that does
 * not follow stops at the file that was newest when its request came. */
static bool log_stream_go_on(struct node_log_stream *stream)
{
    _cleanup_free_ char *path = pod_log_path(stream->directory, stream->container, stream->run);
    if (!stream->follow && node_log_files_same(stream->place.fd, stream->last_fd))
        return false;
    if (!node_log_files_go_on(path, &stream->place))
        return false;
    if (stream->follow)
        watch_newest(stream);
    return true;
}

/* Sends one piece. Returns false if the file has no more data now. */
static bool send_piece(struct node_log_stream *stream)
{
    char data[PIECE_MAX];
    ssize_t got = node_log_files_read(&stream->place, data, sizeof(data));
    if (got <= 0)
        return false;
    _cleanup_buf_ struct buf text;
    buf_init(&text, PIECE_MAX);
    size_t used = node_log_render(data, (size_t)got, stream->timestamps, stream->since_ms, &text);
    stream->place.offset += (int64_t)used;
    size_t size = text.size;
    if (stream->left >= 0 && (int64_t)size > stream->left)
        size = (size_t)stream->left;
    if (stream->left >= 0)
        stream->left -= (int64_t)size;
    if (size)
        http_write(stream->exchange, text.data, size);
    return used > 0;
}

static void log_stream_pump(struct node_log_stream *stream)
{
    if (http_pending(stream->exchange) > PENDING_MAX)
        return; /* the drain callback continues */
    /* `run_ended` is checked before the file is read. If the run has ended, the file already has
     * everything that the container wrote. */
    bool ended = stream->run_ended || !stream->follow;
    bool more = send_piece(stream) || log_stream_go_on(stream);
    if (stream->left == 0 || (!more && ended))
        log_stream_finish(stream);
    else if (more)
        loop_defer(stream->owner->loop, &stream->again);
}

static void on_again(struct loop_task *task)
{
    log_stream_pump(CONTAINER_OF(task, struct node_log_stream, again));
}

static void on_log_change(uv_fs_event_t *handle, const char *filename, int events, int status)
{
    log_stream_pump(handle->data);
}

static void on_state_change(uv_fs_event_t *handle, const char *filename, int events, int status)
{
    struct node_log_stream *stream = handle->data;
    if (!str_eq(filename, "state") || stream->run_ended)
        return;
    stream->run_ended = has_run_ended(stream);
    log_stream_pump(stream);
}

static void on_log_stream_cancel(struct http_exchange *exchange)
{
    log_stream_drop(exchange->context);
}

static void on_log_stream_drain(struct http_exchange *exchange)
{
    log_stream_pump(exchange->context);
}

static int open_log(struct node_log_stream *stream, int64_t tail_lines, struct err *err)
{
    _cleanup_free_ char *path = pod_log_path(stream->directory, stream->container, stream->run);
    stream->last_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (stream->last_fd < 0 || node_log_files_open(path, tail_lines, &stream->place, err) < 0)
        return err_set_errno(err, errno, "cannot open the log of container '%s'",
                             stream->container);
    if (!stream->follow)
        return 0;
    /* Both are watched before anything is read, so that no change is missed. */
    if (uv_fs_event_start(&stream->log_watch, on_log_change, path, 0) < 0 ||
        uv_fs_event_start(&stream->state_watch, on_state_change, stream->directory, 0) < 0)
        return err_set(err, ERR_UNAVAILABLE,
                       "cannot follow the log: this machine has no inotify watch left (raise "
                       "sysctl fs.inotify.max_user_watches)");
    stream->run_ended = has_run_ended(stream);
    return 0;
}

void node_log_streams_add(struct node_log_streams *streams, struct http_exchange *exchange,
                          const char *directory, int64_t run, const struct engine_pod_logs *options)
{
    struct node_log_stream *stream = mem_zalloc(sizeof(*stream));
    struct err err = ERR_INIT;
    *stream = (struct node_log_stream){
        .owner = streams,
        .exchange = exchange,
        .directory = mem_strdup(directory),
        .container = mem_strdup(options->container),
        .run = run,
        .follow = options->follow,
        .timestamps = options->timestamps,
        .since_ms = options->since_ms,
        .left = options->limit_bytes > 0 ? options->limit_bytes : -1,
        .place.fd = -1,
        .last_fd = -1,
        .again.callback = on_again,
        .open_handles = 2,
    };
    list_push(&streams->list, &stream->link);
    uv_fs_event_init(loop_uv(streams->loop), &stream->log_watch);
    uv_fs_event_init(loop_uv(streams->loop), &stream->state_watch);
    stream->log_watch.data = stream->state_watch.data = stream;
    if (open_log(stream, options->tail_lines, &err) < 0) {
        log_stream_drop(stream);
        engine_respond_error(exchange, &err);
        return;
    }
    exchange->context = stream;
    exchange->on_cancel = on_log_stream_cancel;
    exchange->on_drain = on_log_stream_drain;
    http_begin(exchange, 200, "text/plain", NULL, -1);
    log_stream_pump(stream);
}
