/* The API server as a function: a request comes in, an answer streams out. It knows no socket; both
 * the HTTPS server and the in-process transport call it. */
#ifndef TRAINYARD_ENGINE_ENGINE_H
#define TRAINYARD_ENGINE_ENGINE_H

#include "base/json/json.h"
#include "loop/loop.h"
#include "net/http/http.h"
#include "store/store.h"

struct budget_group;
struct engine;

/* ---- The interface to the nodes, which run the pods. node/ implements it. Without it the
 * subresources log, exec, attach and portforward answer that no node runs pods. */

/* The options of a request for a log. */
struct engine_pod_logs {
    const char *container;
    bool follow, previous, timestamps;
    int64_t tail_lines;  /* -1: all */
    int64_t since_ms;    /* wall time; 0: all */
    int64_t limit_bytes; /* -1: all */
};
/* The caller of connect() owns `stream`: it starts and closes it. `stream` is NULL if the
 * connection failed; `err` says why. */
struct stream;
typedef void engine_connect_done(void *context, struct stream *stream, const struct err *err);

/* The usage of pods and of the machine, measured over the time window before `taken_ms`. */
struct engine_usage {
    int64_t cpu_nano; /* mean usage in billionths of a CPU */
    int64_t memory_bytes;
};
struct engine_container_usage {
    const char *name;
    struct engine_usage usage;
};
struct engine_pod_usage {
    const char *uid;
    const struct engine_container_usage *containers; /* the running ones; at least one */
    size_t count;
};
struct engine_usage_report {
    int64_t taken_ms, window_ms;
    struct engine_usage machine; /* every node is the whole machine */
    const struct engine_pod_usage *pods;
    size_t count;
};
/* `report` is NULL if the nodes stop before they have measured. */
typedef void engine_usage_done(void *context, const struct engine_usage_report *report);

/* A command to run in a container, or the container's own process to attach to. */
struct engine_pod_command {
    const char *container;
    const char *const *arguments; /* the last is NULL; NULL: attach */
    bool in, out, err;            /* the standard streams that the client wants */
    bool terminal;                /* one terminal for all of them */
};
/* The standard streams of a running command. The caller of run() owns them: it starts and closes
 * them. A stream that the client did not ask for is NULL. The terminal of a new command is `in`
 * alone, which carries both directions. */
struct engine_pod_lines {
    struct stream *in, *out, *err;
};
/* Callbacks of run(). They run on the loop thread, never from within a call. */
struct engine_pod_command_handler {
    void (*started)(void *context, const struct engine_pod_lines *lines);
    /* The last callback: the exit code of the command, with a message if it never ran. If `err` is
     * not NULL, nothing was started or the outcome is unknown. */
    void (*ended)(void *context, int exit_code, const char *message, const struct err *err);
};

struct engine_pod_backend {
    /* Streams the log as text/plain into the exchange and ends it. Answers an error with a Status.
     */
    void (*logs)(void *context, struct http_exchange *exchange, const struct json *pod,
                 const struct engine_pod_logs *options);
    /* Connects to a port of the pod at its localhost. `done` is called once, on the loop thread and
     * never from within this call. The returned handle is invalid after that. */
    void *(*connect)(void *context, const struct json *pod, int port, engine_connect_done *done,
                     void *done_context);
    void (*connect_cancel)(void *connect); /* `done` is not called then */
    /* Measures the usage, which may take a moment. `done` and the returned handle: see connect. */
    void *(*usage)(void *context, engine_usage_done *done, void *done_context);
    void (*usage_cancel)(void *usage);
    /* Runs or attaches. The returned handle is invalid after `ended` was called. */
    void *(*run)(void *context, const struct json *pod, const struct engine_pod_command *command,
                 const struct engine_pod_command_handler *handler, void *handler_context);
    void (*run_resize)(void *run, int columns, int rows); /* resizes the terminal */
    /* The client is gone: no callback runs any more, and a started command is ended. */
    void (*run_close)(void *run);
    /* The command has ended: the stream still delivers the output that is left and then ends, also
     * if another process holds it open. */
    void (*run_last_words)(struct stream *line);
    void *context;
};

/* Signs the tokens of service accounts: HMAC-SHA256 with a key that only this cluster has. Without
 * it the engine issues no tokens. */
enum { ENGINE_SEAL_SIZE = 32 };
struct engine_seal {
    int (*make)(void *context, const void *data, size_t size, unsigned char ret[ENGINE_SEAL_SIZE],
                struct err *err);
    void *context;
};

struct engine_options {
    const char *token;   /* the bearer token of the administrator */
    const char *version; /* of the program, for /version */
    /* The kinds that are served besides those of kube/kinds/, which the engine cannot do without.
     * Ends with NULL; NULL: none. The list must outlive the engine. */
    const struct kube_kind *const *kinds;
    const char *ca_pem; /* the CA certificate that pods trust; NULL: none */
    struct engine_seal seal;
    size_t watch_events_max; /* limit of bytes kept for slow watches; 0: WATCH_EVENTS_MAX */
    /* The memory of the HTTP servers in front, for /metrics; NULL: none. Must outlive the engine.
     */
    const struct budget_group *http_memory;
};

int engine_new(struct loop *loop, struct store *store, const struct engine_options *options,
               struct engine **ret, struct err *err);
/* Ends all watches. No write may be pending in the store. Returns NULL. */
struct engine *engine_free(struct engine *engine);

void engine_set_pod_backend(struct engine *engine, const struct engine_pod_backend *backend);

/* The API: an http_handler with the engine as context. */
void engine_handle(struct http_exchange *exchange, void *engine);
/* The admission callback of an http_server in front: refuses an unknown token, and a request with a
 * body that the roles do not allow, before the body is read. Without admission, as in-process,
 * engine_handle() identifies the sender itself. */
void engine_admit(struct http_exchange *exchange, void *engine);

/* An http_write_refusal that writes a Status, because kubectl shows no other error body. */
void engine_write_refusal(int status, const char *sentence, struct buf *body);

/* Answers an exchange with the metav1.Status of an error. */
void engine_respond_error(struct http_exchange *exchange, const struct err *err);

/* The built-in controllers on the API, those of engine/controllers/controllers.c: they schedule,
 * run Jobs and Deployments, bind claims, collect garbage and so on. They speak to `transport` only,
 * which must outlive them. `kinds` as in engine_options. Freeing cancels what is under way. */
struct engine_controllers;
struct engine_controllers *engine_controllers_new(struct loop *loop,
                                                  struct http_transport *transport,
                                                  const struct kube_kind *const *kinds);
struct engine_controllers *engine_controllers_free(struct engine_controllers *controllers);

#endif
