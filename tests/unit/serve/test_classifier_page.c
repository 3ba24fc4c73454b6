/* Tests the page of a classifier over the in-process transport. Model versions appear in its
 * directory while it is served: none yet, the first, a newer one while the older still answers, a
 * damaged one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "base/mem.h"
#include "base/system/file.h"
#include "loop/sim/sim_loop.h"
#include "page_call.h"
#include "serve/classifier_page.h"
#include "train/run/model_versions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIDE = 28, PICTURES = 3, CLASSES = 10 };

struct site {
    char directory[64];
    struct loop *loop;
    struct idx *test;
    struct classifier_source *source;
    struct classifier_page *page;
    struct http_transport *transport;
    int64_t told;   /* the last version that `changed` named */
    int complaints; /* calls of `changed` with an error */
    char complaint[ERR_MESSAGE_MAX];
};

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static struct idx *pictures(void)
{
    static uint8_t images[16 + PICTURES * SIDE * SIDE], labels[8 + PICTURES];
    const uint32_t head[] = {0x803, PICTURES, SIDE, SIDE};
    for (size_t i = 0; i < 4; i++)
        put_u32(images + 4 * i, head[i]);
    put_u32(labels, 0x801);
    put_u32(labels + 4, PICTURES);
    for (size_t i = 0; i < (size_t)PICTURES * SIDE * SIDE; i++)
        images[16 + i] = (uint8_t)(i * 7);
    labels[8] = 9;
    struct idx *idx = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(idx_parse("test", images, sizeof(images), labels, sizeof(labels), &idx, &err),
                     0);
    return idx;
}

static int write_model(void *context, const char *path, struct err *err)
{
    return classifier_model_save(context, path, 1, 1, err);
}

/* Publishes a model whose answers depend on `seed`. */
static int64_t publish(struct site *site, uint64_t seed)
{
    struct classifier_config config = {
        .kind = CLASSIFIER_LINEAR, .side = SIDE, .channels = 1, .classes = CLASSES};
    struct classifier_model *model = NULL;
    struct err err = ERR_INIT;
    int64_t version = 0;
    assert_int_equal(classifier_model_new(&config, &model, &err), 0);
    params_initialise(classifier_model_params(model), seed);
    classifier_model_changed(model);
    assert_int_equal(model_versions_publish(site->directory, CLASSIFIER_MODEL_FILE, 100,
                                            write_model, model, &version, &err),
                     0);
    classifier_model_free(model);
    return version;
}

static void on_changed(void *context, int64_t version, const struct err *err)
{
    struct site *site = context;
    site->told = version;
    site->complaints += err != NULL;
    snprintf(site->complaint, sizeof(site->complaint), "%s", err ? err->message : "");
}

static int set_up(void **state)
{
    struct site *site = mem_zalloc(sizeof(*site));
    struct err err = ERR_INIT;
    snprintf(site->directory, sizeof(site->directory), "/tmp/test_classifier_page.XXXXXX");
    assert_non_null(mkdtemp(site->directory));
    site->loop = sim_loop_new(1, 0);
    site->test = pictures();
    assert_int_equal(
        classifier_source_new(site->loop, site->directory, on_changed, site, &site->source, &err),
        0);
    struct classifier_page_options options = {.loop = site->loop,
                                              .source = site->source,
                                              .test = site->test,
                                              .directory = "/data/fashion",
                                              .model_name = "mnist",
                                              .seed = 3};
    site->page = classifier_page_new(&options);
    site->transport = http_local_new(site->loop, classifier_page_handle, site->page, "");
    *state = site;
    return 0;
}

static int tear_down(void **state)
{
    struct site *site = *state;
    classifier_source_stop(site->source);
    loop_run(site->loop);
    http_transport_free(site->transport);
    classifier_page_free(site->page);
    classifier_source_free(site->source);
    idx_free(site->test);
    loop_free(site->loop);
    file_remove_tree(site->directory, NULL);
    free(site);
    return 0;
}

/* Waits until the server has polled the directory. */
static void run_until_polled(struct site *site)
{
    sim_loop_run_for(site->loop, 2 * CLASSIFIER_SOURCE_POLL_MS);
}

static void expect(struct site *site, const char *method, const char *path, const char *body,
                   int status, const char *words)
{
    struct reply reply;
    page_call(site->transport, method, path, NULL, body, strlen(body), &reply);
    run_until_polled(site);
    assert_true(reply.ended);
    if (reply.status != status || !memmem(reply.body.data, reply.body.size, words, strlen(words)))
        fail_msg("%s %s: %d, no '%s' in '%.*s'", method, path, reply.status, words,
                 (int)reply.body.size, reply.body.data);
    buf_release(&reply.body);
}

static void page_answers_503_until_the_first_version(void **state)
{
    struct site *site = *state;
    char words[64];
    expect(site, "GET", "/", "", 200, "<title>What is it?");
    expect(site, "GET", "/healthz", "", 200, "ok");
    expect(site, "GET", "/style.css", "", 200, "--accent");
    expect(site, "GET", "/report", "", 404, "no report");
    expect(site, "GET", "/model", "", 200, "\"pictures\":3");
    expect(site, "GET", "/random", "", 503, "there is no model yet in");
    expect(site, "POST", "/v1/models/mnist:predict", "{}", 503, "there is no model yet in");
    expect(site, "GET", "/v1/models/mnist", "", 404, "'mnist' will be served as soon");
    int64_t version = publish(site, 1);
    run_until_polled(site);
    assert_int_equal(site->told, version);
    snprintf(words, sizeof(words), "\"version\":\"%" PRId64 "\"", version);
    expect(site, "GET", "/random", "", 200, words);
    expect(site, "GET", "/model", "", 200, words);
    expect(site, "GET", "/v1/models/mnist", "", 200, "AVAILABLE");
}

static void random_picture_has_label_and_probabilities(void **state)
{
    struct site *site = *state;
    publish(site, 1);
    run_until_polled(site);
    for (int round = 0; round < 20; round++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct reply reply;
        struct json *answer = NULL;
        page_call(site->transport, "GET", "/random", NULL, "", 0, &reply);
        run_until_polled(site);
        assert_int_equal(json_parse(arena, reply.body.data, reply.body.size, NULL, &answer, NULL),
                         0);
        buf_release(&reply.body);
        double sum = 0, best = -1;
        const char *name = "";
        JSON_EACH (bar, json_get(answer, "probabilities")) {
            double probability = json_number(json_get(bar, "probability"), -1);
            sum += probability;
            if (probability > best)
                name = json_get_string(bar, "name", "");
            best = probability > best ? probability : best;
        }
        assert_int_equal(json_count(json_get(answer, "probabilities")), CLASSES);
        assert_true(sum > 0.999 && sum < 1.001);
        assert_string_equal(json_get_string(answer, "prediction", ""), name);
        const char *truth = json_get_string(answer, "truth", "");
        bool first = strcmp(json_get_string(answer, "picture", ""), "/pictures/0.png") == 0;
        assert_string_equal(truth, first ? "Ankle boot" : "T-shirt/top");
        assert_int_equal(json_get_bool(answer, "right", false), strcmp(truth, name) == 0);
    }
    expect(site, "GET", "/pictures/2.png", "", 200, "PNG");
    expect(site, "GET", "/pictures/3.png", "", 404, "no such picture");
    expect(site, "GET", "/pictures/0.pngx", "", 404, "no such picture");
    expect(site, "GET", "/pictures/-1.png", "", 404, "no such picture");
}

static void newer_version_replaces_the_older(void **state)
{
    struct site *site = *state;
    char old_words[64], new_words[64];
    struct reply before;
    int64_t older = publish(site, 1);
    run_until_polled(site);
    page_call(site->transport, "GET", "/random", NULL, "", 0, &before);
    int64_t newer = publish(site, 2);
    assert_true(newer > older);
    run_until_polled(site);
    assert_true(before.ended);
    snprintf(old_words, sizeof(old_words), "\"version\":\"%" PRId64 "\"", older);
    snprintf(new_words, sizeof(new_words), "\"version\":\"%" PRId64 "\"", newer);
    assert_non_null(memmem(before.body.data, before.body.size, old_words, strlen(old_words)));
    buf_release(&before.body);
    expect(site, "GET", "/random", "", 200, new_words);
    assert_int_equal(site->told, newer);
}

static int write_invalid_model(void *context, const char *path, struct err *err)
{
    (void)context;
    return file_write_atomic(path, "rubbish", 7, 0600, err);
}

static void damaged_version_is_reported_and_the_older_stays(void **state)
{
    struct site *site = *state;
    char words[64];
    struct err err = ERR_INIT;
    int64_t good = publish(site, 1), bad = 0;
    run_until_polled(site);
    assert_int_equal(model_versions_publish(site->directory, CLASSIFIER_MODEL_FILE, 0,
                                            write_invalid_model, NULL, &bad, &err),
                     0);
    run_until_polled(site);
    assert_int_equal(site->told, bad);
    assert_true(site->complaint[0] != '\0');
    snprintf(words, sizeof(words), "\"version\":\"%" PRId64 "\"", good);
    expect(site, "GET", "/random", "", 200, words);
    int64_t next = publish(site, 2);
    run_until_polled(site);
    assert_int_equal(site->told, next);
    assert_string_equal(site->complaint, "");
}

/* A server that starts with a damaged version serves the one before it; if there is none, it
 * reports that. */
static void server_starts_with_the_version_before_a_damaged_one(void **state)
{
    struct site *site = *state;
    struct classifier_source *source = NULL;
    struct err err = ERR_INIT;
    int64_t bad = 0, older = 0;
    assert_int_equal(model_versions_publish(site->directory, CLASSIFIER_MODEL_FILE, 0,
                                            write_invalid_model, NULL, &bad, &err),
                     0);
    assert_true(
        classifier_source_new(site->loop, site->directory, on_changed, site, &source, &err) < 0);
    assert_non_null(strstr(err.message, "is not a model"));
    assert_null(source);
    err_clear(&err);
    older = publish(site, 1);
    assert_int_equal(model_versions_publish(site->directory, CLASSIFIER_MODEL_FILE, 0,
                                            write_invalid_model, NULL, &bad, &err),
                     0);
    assert_int_equal(
        classifier_source_new(site->loop, site->directory, on_changed, site, &source, &err), 0);
    assert_int_equal(site->told, bad);
    assert_non_null(strstr(site->complaint, "is not a model"));
    assert_int_equal(classifier_source_version(source), older);
    classifier_source_free(source);
}

/* Twice, a file takes the place of the directory for some time. */
static void unreadable_directory_is_reported_once(void **state)
{
    struct site *site = *state;
    int64_t first = publish(site, 1);
    run_until_polled(site);
    for (int round = 1; round <= 2; round++) {
        assert_int_equal(file_remove_tree(site->directory, NULL), 0);
        assert_int_equal(file_write_atomic(site->directory, "x", 1, 0600, NULL), 0);
        sim_loop_run_for(site->loop, 10 * CLASSIFIER_SOURCE_POLL_MS);
        assert_int_equal(site->complaints, round);
        assert_int_equal(site->told, 0);
        assert_non_null(strstr(site->complaint, "cannot read directory"));
        assert_int_equal(classifier_source_version(site->source), first);
        assert_int_equal(unlink(site->directory), 0);
        assert_int_equal(mkdir(site->directory, 0700), 0);
        run_until_polled(site);
        assert_int_equal(site->complaints, round);
    }
    publish(site, 2); /* gets the number of the served version, which is gone */
    int64_t next = publish(site, 3);
    run_until_polled(site);
    assert_int_equal(site->told, next);
}

static void tensorflow_serving_requests_are_answered(void **state)
{
    struct site *site = *state;
    char path[64];
    _cleanup_buf_ struct buf body;
    int64_t version = publish(site, 1);
    run_until_polled(site);
    buf_init(&body, 1 << 20);
    buf_append_str(&body, "{\"instances\":[[");
    for (int i = 0; i < SIDE * SIDE; i++)
        buf_printf(&body, "%s0.5", i ? "," : "");
    buf_append_str(&body, "]]}");
    buf_append_char(&body, '\0');
    expect(site, "POST", "/v1/models/mnist:predict", body.data, 200, "{\"predictions\":[[0.");
    snprintf(path, sizeof(path), "/v1/models/mnist/versions/%" PRId64 ":predict", version);
    expect(site, "POST", path, body.data, 200, "{\"predictions\":[[0.");
    expect(site, "POST", "/v1/models/mnist/versions/1:predict", body.data, 404, "use 'mnist'");
    expect(site, "POST", "/v1/models/other:predict", body.data, 404, "use 'mnist'");
    expect(site, "POST", "/v1/models/mnist:predict", "{\"instances\":[[1]]}", 400,
           "it must have 784 numbers");
    expect(site, "POST", "/random", "", 405, "use GET");
    expect(site, "GET", "/nowhere", "", 404, "the page is at /");
}

static void client_may_cancel_its_request(void **state)
{
    struct site *site = *state;
    struct reply reply;
    publish(site, 1);
    run_until_polled(site);
    struct http_call *call = page_call(site->transport, "GET", "/random", NULL, "", 0, &reply);
    http_cancel(site->transport, call);
    run_until_polled(site);
    assert_false(reply.ended);
    buf_release(&reply.body);
}

int main(void)
{
#define PAGE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        PAGE_TEST(page_answers_503_until_the_first_version),
        PAGE_TEST(random_picture_has_label_and_probabilities),
        PAGE_TEST(newer_version_replaces_the_older),
        PAGE_TEST(damaged_version_is_reported_and_the_older_stays),
        PAGE_TEST(server_starts_with_the_version_before_a_damaged_one),
        PAGE_TEST(tensorflow_serving_requests_are_answered),
        PAGE_TEST(unreadable_directory_is_reported_once),
        PAGE_TEST(client_may_cancel_its_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
