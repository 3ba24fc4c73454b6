/* Implements the page of a classifier and the REST interface; see classifier_page.h. */
#include "serve/classifier_page.h"

#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "serve/page.h"
#include "serve/report_page.h"
#include "serve/tf_serving.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct classifier_page {
    struct classifier_page_options options;
    struct rand rand;
};

/* A request that waits for a prediction. */
struct request {
    struct classifier_question question;
    struct classifier_page *page;
    struct http_exchange *exchange; /* NULL after the client has disconnected */
    size_t classes;                 /* number of probabilities per picture */
    size_t shown;                   /* index of the test picture that the page shows */
    void (*respond)(struct request *request, int64_t version); /* sends the predictions */
    float *pixels, *probabilities;
};

struct classifier_page *classifier_page_new(const struct classifier_page_options *options)
{
    struct classifier_page *page = mem_zalloc(sizeof(*page));
    page->options = *options;
    rand_init(&page->rand, options->seed);
    return page;
}

struct classifier_page *classifier_page_free(struct classifier_page *page)
{
    free(page);
    return NULL;
}

/* ---- Predictions ----------------------------------------------------------------------------- */

static void request_free(struct request *request)
{
    free(request->pixels);
    free(request->probabilities);
    free(request);
}

static void on_page_client_left(struct http_exchange *exchange)
{
    ((struct request *)exchange->context)->exchange = NULL;
}

static void on_question_answered(struct classifier_question *question, int64_t version,
                                 const struct err *err)
{
    struct request *request = CONTAINER_OF(question, struct request, question);
    if (request->exchange) {
        request->exchange->on_cancel = NULL;
        if (err)
            page_respond_error(request->exchange, err);
        else
            request->respond(request, version);
    }
    request_free(request);
}

/* Starts the prediction of `count` pictures and responds with `respond` when it is done, or at once
 * with an error if no version is served or too many requests wait. Takes ownership of the
 * pixels. */
static void start_prediction(struct classifier_page *page, struct http_exchange *exchange,
                             float *pixels, size_t count, size_t shown,
                             void (*respond)(struct request *request, int64_t version))
{
    const struct classifier_config *config = classifier_source_config(page->options.source);
    struct request *request = mem_zalloc(sizeof(*request));
    struct err err = ERR_INIT;
    request->page = page;
    request->exchange = exchange;
    request->classes = config ? (size_t)config->classes : 0;
    request->shown = shown;
    request->respond = respond;
    request->pixels = pixels;
    request->probabilities = mem_calloc(count * request->classes + 1, sizeof(float));
    request->question = (struct classifier_question){.pixels = pixels,
                                                     .count = count,
                                                     .probabilities = request->probabilities,
                                                     .done = on_question_answered};
    if (classifier_source_ask(page->options.source, &request->question, &err) < 0) {
        page_respond_error(exchange, &err);
        request_free(request);
        return;
    }
    exchange->context = request;
    exchange->on_cancel = on_page_client_left;
}

/* Checks that the served version, if there is one, takes pictures of the size of the test
 * pictures. */
static int check_picture_size(const struct classifier_page *page, struct err *err)
{
    const struct classifier_config *config = classifier_source_config(page->options.source);
    const struct idx *test = page->options.test;
    if (config &&
        (config->side != test->height || config->side != test->width || config->channels != 1))
        return err_set(err, ERR_UNAVAILABLE,
                       "the model takes pictures of %d × %d pixels, but those of '%s' have %d × %d",
                       config->side, config->side, page->options.directory, test->width,
                       test->height);
    return 0;
}

/* ---- The page -------------------------------------------------------------------------------- */

static struct json *class_name(struct classifier_page *page, struct arena *arena, size_t class)
{
    char text[CLASSIFIER_LABEL_MAX];
    return json_string(arena,
                       idx_label_name(page->options.directory, (int)class, text, sizeof(text)));
}

static void respond_shown(struct request *request, int64_t version)
{
    struct classifier_page *page = request->page;
    struct arena *arena = request->exchange->arena;
    struct json *answer = json_object(arena), *bars = json_array(arena);
    size_t best = 0;
    for (size_t class = 0; class < request->classes; class ++) {
        struct json *bar = json_object(arena);
        json_set(arena, bar, "name", class_name(page, arena, class));
        json_set(arena, bar, "probability", json_real(arena, request->probabilities[class]));
        json_append(bars, bar);
        if (request->probabilities[class] > request->probabilities[best])
            best = class;
    }
    json_set(arena, answer, "picture", json_stringf(arena, "/pictures/%zu.png", request->shown));
    json_set(arena, answer, "truth",
             class_name(page, arena, page->options.test->labels[request->shown]));
    json_set(arena, answer, "prediction", class_name(page, arena, best));
    json_set(arena, answer, "right",
             json_bool(arena, best == page->options.test->labels[request->shown]));
    json_set(arena, answer, "probabilities", bars);
    json_set(arena, answer, "version", json_stringf(arena, "%" PRId64, version));
    page_respond_json(request->exchange, 200, answer);
}

static void handle_random(struct classifier_page *page, struct http_exchange *exchange)
{
    const struct idx *test = page->options.test;
    size_t pixels = (size_t)test->height * (size_t)test->width;
    size_t shown = rand_below(&page->rand, test->count);
    struct err err = ERR_INIT;
    if (check_picture_size(page, &err) < 0) {
        page_respond_error(exchange, &err);
        return;
    }
    float *input = mem_calloc(pixels, sizeof(float));
    for (size_t i = 0; i < pixels; i++)
        input[i] = (float)test->pixels[shown * pixels + i] / 255;
    start_prediction(page, exchange, input, 1, shown, respond_shown);
}

/* Sends the test picture "N.png". */
static void handle_picture(struct classifier_page *page, const char *path,
                           struct http_exchange *exchange)
{
    const struct idx *test = page->options.test;
    size_t number = 0;
    int used = 0;
    if (sscanf(path, "%9zu.png%n", &number, &used) != 1 || used == 0 || path[used] ||
        number >= test->count) {
        page_respond_refusal(exchange, ERR_NOT_FOUND, "there is no such picture");
        return;
    }
    size_t pixels = (size_t)test->height * (size_t)test->width;
    page_respond_png(exchange, test->pixels + number * pixels, (size_t)test->width,
                     (size_t)test->height, 1);
}

static void handle_model(struct classifier_page *page, struct http_exchange *exchange)
{
    struct arena *arena = exchange->arena;
    struct json *answer = json_object(arena);
    int64_t version = classifier_source_version(page->options.source);
    double accuracy = classifier_source_accuracy(page->options.source);
    json_set_string(arena, answer, "name", page->options.model_name);
    json_set_string(arena, answer, "directory", classifier_source_directory(page->options.source));
    if (version)
        json_set(arena, answer, "version", json_stringf(arena, "%" PRId64, version));
    if (accuracy >= 0)
        json_set(arena, answer, "accuracy", json_real(arena, accuracy));
    json_set_int(arena, answer, "pictures", (int64_t)page->options.test->count);
    json_set(arena, answer, "report", json_bool(arena, report_page_exists(page->options.report)));
    page_respond_json(exchange, 200, answer);
}

/* ---- TensorFlow Serving's interface ---------------------------------------------------------- */

static void respond_predictions(struct request *request, int64_t version)
{
    (void)version; /* this response of the REST interface has no field for the version */
    page_respond_json(request->exchange, 200,
                      tf_serving_predictions(request->exchange->arena, request->probabilities,
                                             request->question.count, request->classes));
}

static void handle_predict(struct classifier_page *page, struct http_exchange *exchange)
{
    const struct classifier_config *config = classifier_source_config(page->options.source);
    const struct http_request *request = exchange->request;
    size_t sample = config ? (size_t)(config->side * config->side * config->channels) : 1;
    float *pixels = NULL;
    size_t count = 0;
    struct err err = ERR_INIT;
    if (!config)
        /* responds with an error */
        start_prediction(page, exchange, NULL, 0, 0, respond_predictions);
    else if (tf_serving_read(exchange->arena, request->body, request->body_size, sample,
                             CLASSIFIER_PAGE_INSTANCES_MAX, &pixels, &count, &err) < 0)
        page_respond_error(exchange, &err);
    else
        start_prediction(page, exchange, pixels, count, 0, respond_predictions);
}

/* Handles the path after "/v1/models/": NAME, or NAME:predict for a POST. NAME may be followed by
 * /versions/N, where N must be the served version. */
static void handle_models(struct classifier_page *page, const char *path, bool posts,
                          struct http_exchange *exchange)
{
    int64_t version = classifier_source_version(page->options.source);
    size_t size = strlen(page->options.model_name);
    const char *rest = path + size;
    if (strncmp(path, page->options.model_name, size) != 0)
        rest = "?";
    char version_path[48];
    snprintf(version_path, sizeof(version_path), "/versions/%" PRId64, version);
    if (str_has_prefix(rest, version_path) && strchr(":", rest[strlen(version_path)]))
        rest += strlen(version_path);
    if (posts && str_eq(rest, ":predict"))
        handle_predict(page, exchange);
    else if (!posts && rest[0] == '\0' && version)
        page_respond_json(exchange, 200, tf_serving_status(exchange->arena, version));
    else if (!version)
        page_respond_refusal(
            exchange, ERR_NOT_FOUND,
            arena_printf(
                exchange->arena,
                "no model is served here yet: '%s' will be served as soon as a version is exported",
                page->options.model_name));
    else if (rest[0] == '\0' || rest[0] == ':')
        page_respond_refusal(exchange, ERR_NOT_FOUND,
                             arena_printf(exchange->arena,
                                          "this operation is not supported here: use GET "
                                          "/v1/models/%s or POST /v1/models/%s:predict",
                                          page->options.model_name, page->options.model_name));
    else
        page_respond_refusal(
            exchange, ERR_NOT_FOUND,
            arena_printf(exchange->arena,
                         "this model or version is not served here: use '%s', version %" PRId64,
                         page->options.model_name, version));
}

void classifier_page_handle(struct http_exchange *exchange, void *context)
{
    static const char MODELS[] = "/v1/models/", PICTURES[] = "/pictures/";
    struct classifier_page *page = context;
    const char *path = exchange->request->path, *method = exchange->request->method;
    bool reads = str_eq(method, "GET") || str_eq(method, "HEAD"), posts = str_eq(method, "POST");
    if (str_has_prefix(path, MODELS) && (reads || posts))
        handle_models(page, path + strlen(MODELS), posts, exchange);
    else if (!reads)
        page_respond_refusal(
            exchange, ERR_METHOD,
            "use GET for this address; send predictions as POST /v1/models/NAME:predict");
    else if (str_eq(path, "/"))
        page_respond_html(exchange, asset_classifier_html());
    else if (str_eq(path, "/random"))
        handle_random(page, exchange);
    else if (str_eq(path, "/report"))
        report_page_respond(page->options.loop, page->options.report, exchange);
    else if (str_eq(path, "/model"))
        handle_model(page, exchange);
    else if (str_eq(path, "/healthz"))
        http_respond(exchange, 200, "text/plain", "ok\n", 3);
    else if (str_has_prefix(path, PICTURES))
        handle_picture(page, path + strlen(PICTURES), exchange);
    else if (!page_respond_asset(exchange, path))
        page_respond_refusal(exchange, ERR_NOT_FOUND, "there is nothing here: the page is at /");
}
