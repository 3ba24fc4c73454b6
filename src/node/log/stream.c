/* Streams a container's log to API clients; see log/stream.h. Reads the files on the loop thread,
 * in pieces. The files were written on this machine, so they are usually in the page cache. */
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
    /* Reading pauses while more bytes than this wait to be sent. */
    PENDING_MAX = 1024 * 1024,
};

struct node_log_stream {
    struct node_log_streams *owner;
    struct list_link link; /* in owner->list */
    struct http_exchange *exchange;
    char *directory, *container;
    int64_t run;
    bool follow, timestamps;
    int64_t since_ms;            /* records before this time are left out */
    int64_t bytes_left;          /* bytes that may still be sent; -1 means no limit */
    struct node_log_place place; /* the next byte to read */
    int newest_fd;               /* the file that was newest when the request came */
    bool run_ended;              /* the container has written all of this log */
    struct loop_task next_piece; /* sends the next piece */
    uv_fs_event_t log_watch;     /* watches the newest file, if the client follows */
    uv_fs_event_t state_watch;   /* watches the pod's directory, if the client follows */
    int open_handles;            /* watches that libuv has not closed yet */
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
    loop_defer_cancel(stream->owner->loop, &stream->next_piece);
    if (stream->place.fd >= 0)
        close(stream->place.fd);
    if (stream->newest_fd >= 0)
        close(stream->newest_fd);
    stream->place.fd = stream->newest_fd = -1;
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

/* Reads the pod's state file to find whether the run has ended. */
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

/* Continues with the next file. Called when a file is read to its end. Returns false if there is no
 * next file yet. A client that does not follow gets no file that is newer than its
 * request. */
static bool log_stream_go_on(struct node_log_stream *stream)
{
    _cleanup_free_ char *path = pod_log_path(stream->directory, stream->container, stream->run);
    if (!stream->follow && node_log_files_same(stream->place.fd, stream->newest_fd))
        return false;
    if (!node_log_files_go_on(path, &stream->place))
        return false;
    if (stream->follow)
        watch_newest(stream);
    return true;
}

/* Sends one piece. Returns false if the file has no complete record now. */
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
    if (stream->bytes_left >= 0 && (int64_t)size > stream->bytes_left)
        size = (size_t)stream->bytes_left;
    if (stream->bytes_left >= 0)
        stream->bytes_left -= (int64_t)size;
    if (size)
        http_write(stream->exchange, text.data, size);
    return used > 0;
}

/* Sends one piece, and then waits for the client, for the loop or for a change of the log. Ends the
 * stream if everything was sent. */
static void log_stream_pump(struct node_log_stream *stream)
{
    if (http_pending(stream->exchange) > PENDING_MAX)
        return; /* the drain callback continues */
    /* `run_ended` must be read before the file. If the run has ended, the file has everything that
     * the container has written. */
    bool ended = stream->run_ended || !stream->follow;
    bool more = send_piece(stream) || log_stream_go_on(stream);
    if (stream->bytes_left == 0 || (!more && ended))
        log_stream_finish(stream);
    else if (more)
        loop_defer(stream->owner->loop, &stream->next_piece);
}

static void on_next_piece(struct loop_task *task)
{
    log_stream_pump(CONTAINER_OF(task, struct node_log_stream, next_piece));
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
    stream->newest_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (stream->newest_fd < 0 || node_log_files_open(path, tail_lines, &stream->place, err) < 0)
        return err_set_errno(err, errno, "cannot open the log of container '%s'",
                             stream->container);
    if (!stream->follow)
        return 0;
    /* The log and the state are watched before either is read, so that no change is missed. */
    if (uv_fs_event_start(&stream->log_watch, on_log_change, path, 0) < 0 ||
        uv_fs_event_start(&stream->state_watch, on_state_change, stream->directory, 0) < 0)
        return err_set(err, ERR_UNAVAILABLE,
                       "cannot follow the log: no inotify watch or instance is left (raise sysctl "
                       "fs.inotify.max_user_watches or fs.inotify.max_user_instances)");
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
        .bytes_left = options->limit_bytes > 0 ? options->limit_bytes : -1,
        .place.fd = -1,
        .newest_fd = -1,
        .next_piece.callback = on_next_piece,
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
