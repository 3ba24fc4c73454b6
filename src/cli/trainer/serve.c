/* trainer serve: the upload page of a face model. */
#include "cli/trainer/commands.h"

#include "base/log.h"
#include "base/str.h"
#include "loop/loop.h"
#include "loop/signals.h"
#include "models/face_model.h"
#include "net/http_server.h"
#include "serve/upload_page.h"
#include "train/dataset.h"

#include <errno.h>
#include <stdio.h>

struct serve_values {
    const char *model;
    const char *gallery;
    const char *samples;
    const char *address;
    int64_t port;
};

struct page_server {
    struct face_model *model;
    struct dataset *people, *samples;
    struct loop *loop;
    struct loop_signals *signals;
    struct upload_page *page;
    struct http_server *server;
};

static void on_signal(void *context, int signal)
{
    struct page_server *server = context;
    (void)signal;
    loop_stop(server->loop);
}

static void on_closed(void *context)
{
    struct page_server *server = context;
    loop_stop(server->loop);
}

static int open_server(struct page_server *server, const struct serve_values *wanted, int *ret_port,
                       struct err *err)
{
    struct http_server_options options = {.body_max = UPLOAD_BODY_MAX};
    int result = face_model_load(wanted->model, &server->model, err);
    if (result == 0)
        result = dataset_open_folder(wanted->gallery, &server->people, err);
    if (result == 0 && !str_is_empty(wanted->samples))
        result = dataset_open_folder(wanted->samples, &server->samples, err);
    if (result == 0)
        result = loop_new(&server->loop, err);
    if (result == 0)
        result = loop_signals_new(server->loop, on_signal, server, &server->signals, err);
    if (result < 0)
        return result;
    struct upload_page_options page = {
        .model = server->model, .people = server->people, .samples = server->samples};
    result = upload_page_new(server->loop, &page, &server->page, err);
    if (result == 0)
        result = http_listen(wanted->address, (int)wanted->port, &options.listen_fd, ret_port, err);
    if (result == 0)
        result = http_server_new(server->loop, &options, upload_page_handle, server->page,
                                 &server->server, err);
    return result;
}

static void close_server(struct page_server *server)
{
    if (server->server) {
        http_server_close(server->server, on_closed, server);
        loop_run(server->loop);
    }
    loop_signals_free(server->signals);
    /* What the pool is still looking at ends before its page goes. */
    if (server->loop)
        loop_run(server->loop);
    upload_page_free(server->page);
    loop_free(server->loop);
    dataset_free(server->samples);
    dataset_free(server->people);
    face_model_free(server->model);
}

static int run(const void *values, size_t count, const char *const *arguments, struct err *err)
{
    (void)count, (void)arguments;
    const struct serve_values *wanted = values;
    struct page_server server = {0};
    int port = 0, result;
    if (str_is_empty(wanted->model) || str_is_empty(wanted->gallery))
        result = err_set(err, ERR_USAGE,
                         "say which model (--model FILE) and which people "
                         "(--gallery DIR, one folder a person)");
    else
        result = open_server(&server, wanted, &port, err);
    if (result == 0) {
        printf("the page is at http://%s:%d/upload\n", wanted->address, port);
        fflush(stdout);
        loop_run(server.loop);
    }
    close_server(&server);
    return result;
}

static const struct option OPTIONS[] = {
    {.name = "model",
     .type = OPTION_STRING,
     .offset = offsetof(struct serve_values, model),
     .value = "FILE",
     .help = "the model, as 'trainer fit face' wrote it"},
    {.name = "gallery",
     .type = OPTION_STRING,
     .offset = offsetof(struct serve_values, gallery),
     .value = "DIR",
     .help = "the people to recognise: one folder a person"},
    {.name = "samples",
     .type = OPTION_STRING,
     .offset = offsetof(struct serve_values, samples),
     .value = "DIR",
     .help = "pictures the page offers for a try: one folder a person"},
    {.name = "address",
     .type = OPTION_STRING,
     .offset = offsetof(struct serve_values, address),
     .fallback = "127.0.0.1",
     .value = "IP",
     .help = "the address to listen on"},
    {.name = "port",
     .type = OPTION_INT,
     .offset = offsetof(struct serve_values, port),
     .fallback = "8987",
     .max = 65535,
     .value = "N",
     .help = "the TCP port; 0 takes any free one"},
    {0},
};

const struct command COMMAND_SERVE = {
    .name = "serve",
    .summary = "serve a face model with an upload page",
    .description = "Opens a page on which a picture can be uploaded; it shows the three people of "
                   "the gallery the "
                   "face is nearest to. The gallery is embedded once, at the start.",
    .examples = "trainer serve --model model/face.model --gallery people",
    .options = OPTIONS,
    .values_size = sizeof(struct serve_values),
    .run = run,
};
