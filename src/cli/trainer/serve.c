/* trainer serve: serves a model and its page until it is stopped. */
#include "cli/trainer/commands.h"

#include "base/str.h"
#include "cli/trainer/serve_site.h"
#include "loop/signals.h"
#include "models/face/threshold.h"
#include "net/http/server.h"
#include "serve/page.h"
#include "train/data/idx.h"

#include <stdio.h>

/* The server of one run of the command. */
struct page_server {
    struct loop *loop;
    struct loop_signals *signals;
    struct serve_site site;
    struct http_server *server;
};

static void on_serve_signal(void *context, int signal)
{
    struct page_server *server = context;
    (void)signal;
    loop_stop(server->loop);
}

static void on_serve_closed(void *context)
{
    struct page_server *server = context;
    loop_stop(server->loop);
}

static int open_site(struct page_server *server, const struct serve_values *wanted, struct err *err)
{
    bool face = !str_is_empty(wanted->model), versions = !str_is_empty(wanted->model_base_path);
    if (face == versions)
        return err_set(err, ERR_USAGE,
                       face ? "two models given, --model and --model-base-path (or TF_EXPORT_DIR): "
                              "give only one"
                            : "no model given: use --model FILE and --gallery DIR for faces, or "
                              "--model-base-path DIR for the versions of a classifier");
    return face ? serve_face_open(server->loop, wanted, &server->site, err)
                : serve_classifier_open(server->loop, wanted, &server->site, err);
}

static int open_server(struct page_server *server, const struct serve_values *wanted, int *ret_port,
                       struct err *err)
{
    struct http_server_options options = {.body_max = PAGE_BODY_MAX,
                                          .write_refusal = page_write_refusal};
    int result = loop_new(&server->loop, err);
    if (result == 0)
        result = loop_signals_new(server->loop, on_serve_signal, server, &server->signals, err);
    if (result == 0)
        result = open_site(server, wanted, err);
    if (result == 0)
        result = http_listen(wanted->address, (int)wanted->port, &options.listen_fd, ret_port, err);
    if (result == 0)
        result = http_server_new(server->loop, &options, server->site.handle, server->site.page,
                                 &server->server, err);
    return result;
}

static void close_server(struct page_server *server)
{
    if (server->server) {
        http_server_close(server->server, on_serve_closed, server);
        loop_run(server->loop);
    }
    if (server->site.stop)
        server->site.stop(server->site.state);
    loop_signals_free(server->signals);
    /* Runs the loop until all work on the pool has ended. Only then may the page be freed. */
    if (server->loop)
        loop_run(server->loop);
    if (server->site.free)
        server->site.free(server->site.state);
    loop_free(server->loop);
}

static int serve_run(const void *values, size_t count, const char *const *arguments,
                     struct err *err)
{
    (void)count, (void)arguments;
    const struct serve_values *wanted = values;
    struct page_server server = {0};
    int port = 0, result = open_server(&server, wanted, &port, err);
    if (result == 0) {
        printf("the page is at http://%s:%d%s\n", wanted->address, port, server.site.path);
        fflush(stdout);
        loop_run(server.loop);
    }
    close_server(&server);
    return result;
}

#define FIELD(name) .offset = offsetof(struct serve_values, name)

static const struct option OPTIONS[] = {
    {.name = "model",
     .type = OPTION_PATH,
     FIELD(model),
     .value = "FILE",
     .help = "a face model of 'trainer fit face'"},
    {.name = "gallery",
     .type = OPTION_PATH,
     FIELD(gallery),
     .value = "DIR",
     .help = "face model: the people to recognise, one folder per person"},
    {.name = "samples",
     .type = OPTION_PATH,
     FIELD(samples),
     .value = "DIR",
     .help = "face model: pictures that the page offers for a try, one folder per person"},
    {.name = "accept-rate",
     .type = OPTION_REAL,
     FIELD(accept_rate),
     .fallback = FACE_ACCEPT_RATE_DEFAULT,
     .range = {.min = 0, .max = 0.5, .above_min = true},
     .value = "PART",
     .help = "face model: fraction of strangers that may be accepted as a person of the gallery; a "
             "smaller value leaves more people of the gallery unrecognised"},
    {.name = "model-base-path",
     .type = OPTION_PATH,
     FIELD(model_base_path),
     .environment = "TF_EXPORT_DIR",
     .value = "DIR",
     .help = "directory with versions of a classifier, from 'trainer fit classifier --export-dir'; "
             "the newest version is served; a version that is exported while the server runs "
             "replaces it"},
    {.name = "model-name",
     .type = OPTION_STRING,
     FIELD(model_name),
     .fallback = "mnist",
     .value = "NAME",
     .help = "classifier: its name in /v1/models/NAME"},
    {.name = "data",
     .type = OPTION_PATH,
     FIELD(data),
     .environment = "TF_DATA_DIR",
     .fallback = IDX_DIRECTORY_DEFAULT,
     .value = "DIR",
     .help = "classifier: directory of IDX files with the test pictures that the page shows"},
    {.name = "report",
     .type = OPTION_PATH,
     FIELD(report),
     .value = "FILE",
     .help = "report.html of the training run, which the page links to; for a face model the "
             "default is the report next to it"},
    {.name = "address",
     .type = OPTION_STRING,
     FIELD(address),
     .fallback = "127.0.0.1",
     .value = "IP",
     .help = "the address to listen on"},
    {.name = "port",
     .type = OPTION_INT,
     FIELD(port),
     .fallback = "8987",
     .max = 65535,
     .value = "N",
     .help = "the TCP port; 0: any free port"},
    {0},
};

const struct command COMMAND_SERVE = {
    .name = "serve",
    .summary = "serve a model with a web page",
    .description =
        "A face model gets an upload page: it shows the three people of the gallery that are "
        "nearest to a face, and whether the face is one of them or a stranger. The gallery is "
        "embedded once, at the start. The distance beyond which a face counts as a stranger is "
        "measured on the gallery if it is large enough, else it comes from the training of the "
        "model.\n\nA classifier is served in its newest version; a newer one is served as "
        "soon as it is exported, without a restart. Its page shows a random test picture, its "
        "label, the prediction with its probabilities, and the version. Programs send POST "
        "/v1/models/NAME:predict, as to TensorFlow Serving.",
    .examples = "trainer serve --model faces/face.model --gallery people\n"
                "trainer serve --model-base-path export --port 5000",
    .options = OPTIONS,
    .values_size = sizeof(struct serve_values),
    .run = serve_run,
};
