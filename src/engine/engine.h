/* The API server without a socket: it takes a request and streams the response. The HTTPS server
 * and the in-process transport call engine_handle(). All functions must run on the loop thread and
 * must not block. */
#ifndef TRAINYARD_ENGINE_ENGINE_H
#define TRAINYARD_ENGINE_ENGINE_H

#include "base/json/json.h"
#include "loop/loop.h"
#include "net/http/http.h"
#include "store/store.h"

struct budget_group;
struct engine;

/* ---- The interface to the nodes, which run the pods. node/ implements it. Without a backend,
 * requests for metrics, for the subresources log, exec, attach, portforward and proxy of pods, and
 * for the proxy of services get the error that no node runs pods. */

/* The options of a request for a log. */
struct engine_pod_logs {
    const char *container;
    bool follow;         /* continue with new lines until the container ends */
    bool previous;       /* the log of the container before its last restart */
    bool timestamps;     /* begin each line with its time */
    int64_t tail_lines;  /* show only this many lines at the end; -1: all */
    int64_t since_ms;    /* show only lines written since this wall time; 0: all */
    int64_t limit_bytes; /* end the response after this many bytes; 0 or -1: no limit */
};

struct stream;
/* The callback of connect(). The caller of connect() owns `stream`, and must start and close it.
 * `stream` is NULL if the connection failed; `err` has the reason. */
typedef void engine_connect_done(void *context, struct stream *stream, const struct err *err);

/* The usage of a container or of the machine, measured over the window_ms before taken_ms; see
 * struct engine_usage_report. */
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
    const struct engine_container_usage *containers; /* the running containers; at least one */
    size_t count;
};
struct engine_usage_report {
    int64_t taken_ms, window_ms;
    struct engine_usage machine; /* also the usage of each node: all nodes share the machine */
    const struct engine_pod_usage *pods;
    size_t count;
};
/* `report` is NULL if the nodes stop before they have measured. It is valid only during the
 * call. */
typedef void engine_usage_done(void *context, const struct engine_usage_report *report);

/* A command to run in a container, or an attachment to the main process of the container. */
struct engine_pod_command {
    const char *container;
    const char *const *arguments; /* NULL-terminated; NULL: attach */
    bool in, out, err;            /* the standard streams that the client requests */
    bool terminal;                /* the streams are one terminal */
};
/* The standard streams of a running command. The caller of run() owns the streams, and must start
 * and close them. A stream that the client did not request is NULL. For exec with a terminal, only
 * `in` is set, and it carries both directions. */
struct engine_pod_streams {
    struct stream *in, *out, *err;
};
/* Callbacks of run(). They run on the loop thread, but never during a call of run(). */
struct engine_pod_command_handler {
    /* Called at most once, when the command runs or the container is attached. */
    void (*started)(void *context, const struct engine_pod_streams *streams);
    /* Called once, as the last callback, with the exit code of the command. `message` is the reason
     * why the command never ran, or "". If `err` is not NULL, no command was started or its exit
     * code is unknown. */
    void (*ended)(void *context, int exit_code, const char *message, const struct err *err);
};

struct engine_pod_backend {
    /* Streams the log as text/plain into the exchange and ends the exchange. Responds to an error
     * with a Status. */
    void (*logs)(void *context, struct http_exchange *exchange, const struct json *pod,
                 const struct engine_pod_logs *options);
    /* Connects to a port of the pod: first on localhost in the pod's network, and if this fails, at
     * the pod's address. For a pod in the machine's network, tries only localhost. Returns at once.
     * `done` is called once, on the loop thread, but never during this call. The returned handle is
     * invalid after `done`. */
    void *(*connect)(void *context, const struct json *pod, int port, engine_connect_done *done,
                     void *done_context);
    void (*connect_cancel)(void *connect); /* frees the handle; `done` is not called after this */
    /* Measures the usage of all pods. `done` is called once, on the loop thread, but never during
     * this call. The returned handle is invalid after `done`. */
    void *(*usage)(void *context, engine_usage_done *done, void *done_context);
    void (*usage_cancel)(void *usage); /* frees the handle; `done` is not called after this */
    /* Runs the command or attaches. The returned handle is invalid after `ended`. */
    void *(*run)(void *context, const struct json *pod, const struct engine_pod_command *command,
                 const struct engine_pod_command_handler *handler, void *handler_context);
    void (*run_resize)(void *run, int columns, int rows); /* resizes the terminal */
    /* Called when the client is gone or the server stops, unless `ended` was called. Frees the
     * handle and ends the command of an exec. An attached container continues to run. No callback
     * runs after this. */
    void (*run_close)(void *run);
    /* Called for each output stream when the command has ended. The stream delivers the output that
     * is left and then ends, even if another process keeps its pipe open. */
    void (*run_drain)(struct stream *stream);
    void *context;
};

/* Signs the tokens of service accounts by HMAC-SHA256 with the key of this cluster. If `sign` is
 * NULL, the engine issues and accepts no tokens of service accounts. */
enum { ENGINE_SIGNATURE_SIZE = 32 };
struct engine_signer {
    int (*sign)(void *context, const void *data, size_t size,
                unsigned char ret[ENGINE_SIGNATURE_SIZE], struct err *err);
    void *context;
};

struct engine_options {
    const char *token;   /* the bearer token of the administrator */
    const char *version; /* the version of the program, for /version */
    /* The kinds that are served in addition to the kinds of kube/kinds/. NULL-terminated; NULL:
     * none. The list must outlive the engine. */
    const struct kube_kind *const *kinds;
    const char *ca_pem; /* the CA certificate that pods trust; NULL: none */
    struct engine_signer signer;
    /* The most bytes of events that slow watches may keep; 0: WATCH_EVENTS_MAX. */
    size_t watch_events_max;
    /* The memory of the HTTP servers that call the engine, for /metrics; NULL: none. Must outlive
     * the engine. */
    const struct budget_group *http_memory;
};

/* Queues the writes of the objects that every cluster has (bootstrap.h), and serves the custom
 * resources in the store. Copies the strings in `options`. `loop` must outlive the engine. `store`
 * must be open while the engine handles requests. Returns -ERR_USAGE if `options` has no token, or
 * another error if the store refuses a write. */
int engine_new(struct loop *loop, struct store *store, const struct engine_options *options,
               struct engine **ret, struct err *err);
/* Ends the requests in the list of open calls, such as watches (api/open_calls.h). No write may be
 * pending in the store. The store may be closed already. NULL-safe. Returns NULL. */
struct engine *engine_free(struct engine *engine);

/* Copies `backend`. NULL: no backend. */
void engine_set_pod_backend(struct engine *engine, const struct engine_pod_backend *backend);

/* Handles a request to the API. An http_handler with the engine as context. */
void engine_handle(struct http_exchange *exchange, void *engine);
/* The admission callback of an http_server. It runs before the body is read. It rejects a request
 * with an invalid token, and a request without a token unless auth_is_open() returns true for the
 * path. It also rejects an impersonation that the roles do not allow. It checks whether the roles
 * allow the request itself only if the path needs a token and is not a resource, or if the request
 * has a body. The in-process transport does not call it, so engine_handle() identifies the user of
 * such a request. */
void engine_admit(struct http_exchange *exchange, void *engine);

/* An http_write_refusal that writes a Status, because kubectl shows an error body only if it is a
 * Status. */
void engine_write_refusal(int status, const char *sentence, struct buf *body);

/* Responds to an exchange with the metav1.Status of an error. */
void engine_respond_error(struct http_exchange *exchange, const struct err *err);

/* The built-in controllers, listed in engine/controllers/controllers.c: they schedule pods, run
 * Jobs and Deployments, bind claims, collect garbage and so on. */
struct engine_controllers;
/* Starts the controllers. They use the API through `transport`, which must outlive them. `kinds`:
 * see struct engine_options. */
struct engine_controllers *engine_controllers_new(struct loop *loop,
                                                  struct http_transport *transport,
                                                  const struct kube_kind *const *kinds);
/* Stops the controllers and cancels their requests. Returns NULL. */
struct engine_controllers *engine_controllers_free(struct engine_controllers *controllers);

#endif
