/* The embedded cluster's API server as a function: a request comes in, an answer streams out. It
 * knows no socket; https and in-process transports both end here. */
#ifndef TRAINYARD_ENGINE_ENGINE_H
#define TRAINYARD_ENGINE_ENGINE_H

#include "base/json/json.h"
#include "loop/loop.h"
#include "net/http/http.h"
#include "store/store.h"

struct budget_group;
struct engine;

/* What runs the pods, as far as the API needs it. The node layer provides it; without it the
 * subresources answer that there is nobody to ask. */
struct engine_pod_logs {
    const char *container;
    bool follow, previous, timestamps;
    int64_t tail_lines;  /* -1: all */
    int64_t since_ms;    /* wall time; 0: all */
    int64_t limit_bytes; /* -1: all */
};
/* `stream` is the asker's, to be started and closed; NULL where the connection failed, and `err`
 * says why. */
struct stream;
typedef void engine_connect_done(void *context, struct stream *stream, const struct err *err);

/* What pods and the machine use, measured over the time window before `taken_ms`. */
struct engine_usage {
    int64_t cpu_nano; /* billionths of a processor, in the mean */
    int64_t memory_bytes;
};
struct engine_container_usage {
    const char *name;
    struct engine_usage usage;
};
struct engine_pod_usage {
    const char *uid;
    const struct engine_container_usage *containers; /* those that run; at least one */
    size_t count;
};
struct engine_usage_report {
    int64_t taken_ms, window_ms;
    struct engine_usage machine; /* of which every node is the whole */
    const struct engine_pod_usage *pods;
    size_t count;
};
/* `report` is NULL when nobody can tell any more. */
typedef void engine_usage_done(void *context, const struct engine_usage_report *report);

/* A command to run in a container, or the container's own to attach to. */
struct engine_pod_command {
    const char *container;
    const char *const *arguments; /* the last is NULL; NULL: attach */
    bool in, out, err;            /* which lines are wanted */
    bool terminal;                /* all of them are one */
};
/* The lines to a command that runs: the asker's, to be started and closed; NULL where not wanted. A
 * new command's terminal is `in` alone, which goes both ways. */
struct engine_pod_lines {
    struct stream *in, *out, *err;
};
/* What the asker hears, from the loop, never from within a call. */
struct engine_pod_command_handler {
    void (*started)(void *context, const struct engine_pod_lines *lines);
    /* Last of all: its exit code, with a sentence where it never ran; or `err`: nothing was
     * started, or what became of it is not known. */
    void (*ended)(void *context, int exit_code, const char *message, const struct err *err);
};

struct engine_pod_backend {
    /* Stream the log as text/plain into the exchange and end it; an error is answered as a Status.
     */
    void (*logs)(void *context, struct http_exchange *exchange, const struct json *pod,
                 const struct engine_pod_logs *options);
    /* Connect to a port of the pod as its own programs do, at localhost. `done` is called once,
     * from the loop, never from within this call; then what was returned is no more. */
    void *(*connect)(void *context, const struct json *pod, int port, engine_connect_done *done,
                     void *done_context);
    void (*connect_cancel)(void *connect); /* `done` is not called */
    /* Measure, which may take a moment; `done` and what is returned as for connect. */
    void *(*usage)(void *context, engine_usage_done *done, void *done_context);
    void (*usage_cancel)(void *usage);
    /* Run or attach; what is returned is no more once `ended` was called. */
    void *(*run)(void *context, const struct json *pod, const struct engine_pod_command *command,
                 const struct engine_pod_command_handler *handler, void *handler_context);
    void (*run_resize)(void *run, int columns, int rows); /* its terminal */
    /* Nobody waits any more: nothing is called, and a command that was started ends. */
    void (*run_close)(void *run);
    /* The command has ended: what it has said is still given on this line of its output, then its
     * end comes, whoever else may hold it open. */
    void (*run_last_words)(struct stream *line);
    void *context;
};

/* What seals the tokens of service accounts (HMAC-SHA256 with a key only this cluster has). Without
 * it there are none. */
enum { ENGINE_SEAL_SIZE = 32 };
struct engine_seal {
    int (*make)(void *context, const void *data, size_t size, unsigned char ret[ENGINE_SEAL_SIZE],
                struct err *err);
    void *context;
};

struct engine_options {
    const char *token;   /* bearer token that may do everything */
    const char *version; /* of this program, for /version */
    /* The kinds that are served besides those of kube/kinds/, which the engine cannot do without.
     * Ends with NULL; NULL: none. The list must outlive the engine. */
    const struct kube_kind *const *kinds;
    const char *ca_pem; /* certificate authority of the API, for pods to trust; NULL: none */
    struct engine_seal seal;
    size_t watch_events_max; /* bytes kept for watches that do not read; 0: WATCH_EVENTS_MAX */
    /* Of the servers in front, for /metrics; NULL: none. It must outlive the engine. */
    const struct budget_group *http_memory;
};

int engine_new(struct loop *loop, struct store *store, const struct engine_options *options,
               struct engine **ret, struct err *err);
/* Ends watches; nothing may be under way in the store. */
struct engine *engine_free(struct engine *engine);

void engine_set_pod_backend(struct engine *engine, const struct engine_pod_backend *backend);

/* The API: an http_handler with the engine as context. */
void engine_handle(struct http_exchange *exchange, void *engine);
/* The admission of an http_server in front of it: an unknown token, and a request with a body that
 * its sender has no right to, are refused by the header alone. engine_handle() identifies the
 * sender itself where none took place, as in-process. */
void engine_admit(struct http_exchange *exchange, void *engine);

/* An http_write_refusal: kubectl shows the sentences of a Status only. */
void engine_write_refusal(int status, const char *sentence, struct buf *body);

/* Answer an exchange with the metav1.Status of an error. */
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
