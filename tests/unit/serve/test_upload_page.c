/* Tests the upload page over the in-process transport: every path, uploads one after another and at
 * the same time, rejected uploads, and a client that disconnects while its picture is processed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "base/mem.h"
#include "base/system/file.h"
#include "loop/loop.h"
#include "loop/sim/sim_loop.h"
#include "page_call.h"
#include "page_fixture.h"
#include "serve/page.h"
#include "serve/upload_page.h"
#include "train/data/picture.h"

#include <string.h>

struct site {
    struct loop *loop;
    struct face_model *model;
    struct dataset *people;
    struct upload_page *page;
    struct http_transport *transport;
};

static struct http_call *upload(struct site *site, const void *file, size_t size,
                                struct reply *reply)
{
    static const char HEAD[] =
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n";
    struct http_header type = {.name = "Content-Type", .value = "multipart/form-data; boundary=b"};
    _cleanup_buf_ struct buf body;
    buf_init(&body, 1 << 20);
    buf_append_str(&body, HEAD);
    buf_append(&body, file, size);
    buf_append_str(&body, "\r\n--b--\r\n");
    return page_call(site->transport, "POST", "/upload", &type, body.data, body.size, reply);
}

static int set_up_on(struct loop *loop, int channels, void **state)
{
    struct site *site = mem_zalloc(sizeof(*site));
    struct err err = ERR_INIT;
    site->loop = loop;
    site->model = untrained_model(channels);
    site->people = drawn_people(4, 1);
    struct upload_page_options options = {
        .model = site->model, .people = site->people, .samples = site->people, .accept_rate = 0.05};
    assert_int_equal(upload_page_new(site->loop, &options, &site->page, &err), 0);
    site->transport = http_local_new(site->loop, upload_page_handle, site->page, "");
    *state = site;
    return 0;
}

static struct loop *real_loop(void)
{
    struct loop *loop = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(loop_new(&loop, &err), 0);
    return loop;
}

static int set_up(void **state)
{
    return set_up_on(real_loop(), 1, state);
}

static int set_up_in_colour(void **state)
{
    return set_up_on(real_loop(), 3, state);
}

/* In virtual time the pool takes time: all requests arrive before the first is done. */
static int set_up_simulated(void **state)
{
    return set_up_on(sim_loop_new(1, 0), 1, state);
}

static int tear_down(void **state)
{
    struct site *site = *state;
    http_transport_free(site->transport);
    upload_page_free(site->page);
    dataset_free(site->people);
    face_model_free(site->model);
    loop_free(site->loop);
    free(site);
    return 0;
}

static void expect(struct site *site, const char *method, const char *path, int status,
                   const char *words)
{
    struct reply reply;
    page_call(site->transport, method, path, NULL, "", 0, &reply);
    loop_run(site->loop);
    assert_true(reply.ended);
    assert_int_equal(reply.status, status);
    if (!memmem(reply.body.data, reply.body.size, words, strlen(words)))
        fail_msg("%s %s: no '%s' in '%s'", method, path, words, reply.body.data);
    buf_release(&reply.body);
}

static void every_path_is_answered(void **state)
{
    struct site *site = *state;
    expect(site, "GET", "/upload", 200, "<title>Who is it?");
    expect(site, "GET", "/", 302, "");
    expect(site, "GET", "/healthz", 200, "ok");
    expect(site, "GET", "/style.css", 200, "--accent");
    expect(site, "GET", "/page.js", 200, "function ask(");
    expect(site, "GET", "/icon.svg", 200, "<svg");
    expect(site, "GET", "/favicon.ico", 200, "<svg");
    expect(site, "GET", "/help", 200, "<title>Help");
    expect(site, "GET", "/report", 404, "no report of this model");
    expect(site, "GET", "/about", 200, "\"report\":false");
    expect(site, "GET", "/about", 200, "The gallery holds 4 pictures of 4 people");
    expect(site, "GET", "/gallery/0/0.png", 200, "PNG");
    expect(site, "GET", "/samples/3/0.png", 200, "PNG");
    expect(site, "GET", "/gallery/4/0.png", 404, "no such picture");
    expect(site, "GET", "/gallery/0/1.png", 404, "no such picture");
    expect(site, "GET", "/gallery/0/0.pngx", 404, "no such picture");
    expect(site, "GET", "/gallery/../0.png", 404, "no such picture");
    expect(site, "GET", "/gallery/99999999999999999999/0.png", 404, "no such picture");
    expect(site, "GET", "/gallery/-1/0.png", 404, "no such picture");
    expect(site, "GET", "/nowhere", 404, "/upload");
    expect(site, "DELETE", "/upload", 405, "POST /upload");
    expect(site, "POST", "/upload", 415, "as a form");
}

/* Errors of the HTTP server have the same format as those of the pages. */
static void server_errors_are_json(void **state)
{
    (void)state;
    _cleanup_buf_ struct buf body;
    buf_init(&body, 4096);
    page_write_refusal(413, "the request's body is longer than 12582912 bytes", &body);
    assert_string_equal(
        body.data,
        "{\"error\":\"the upload is larger than the limit of 12 MiB: send a smaller one\"}");
    buf_clear(&body);
    page_write_refusal(408, "the request's \"body\" took too long", &body);
    assert_string_equal(body.data, "{\"error\":\"the request's \\\"body\\\" took too long\"}");
}

/* The report of the training run is read again for each request, and not for a client that has
 * disconnected. */
static void report_is_read_for_each_request(void **state)
{
    struct site *site = *state;
    struct err err = ERR_INIT;
    char path[] = "/tmp/trainyard-report.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct upload_page_options options = {
        .model = site->model, .people = site->people, .report = path};
    http_transport_free(site->transport);
    upload_page_free(site->page);
    assert_int_equal(upload_page_new(site->loop, &options, &site->page, &err), 0);
    site->transport = http_local_new(site->loop, upload_page_handle, site->page, "");
    assert_int_equal(file_replace(path, "<p>first", 8, 0600, &err), 0);
    expect(site, "GET", "/about", 200, "\"report\":true");
    expect(site, "GET", "/report", 200, "<p>first");
    assert_int_equal(file_replace(path, "<p>second", 9, 0600, &err), 0);
    expect(site, "GET", "/report", 200, "<p>second");
    struct reply gone;
    struct http_call *call = page_call(site->transport, "GET", "/report", NULL, "", 0, &gone);
    http_cancel(site->transport, call);
    loop_run(site->loop);
    assert_false(gone.ended);
    buf_release(&gone.body);
    unlink(path);
    expect(site, "GET", "/report", 404, "no report of this model");
}

/* Writes a picture of the gallery as a file. */
static void encode_gallery_picture(struct site *site, size_t person, struct buf *file)
{
    enum { SIDE = 32 };
    struct err err = ERR_INIT;
    uint8_t pixels[SIDE * SIDE * 3];
    assert_int_equal(dataset_load_bytes(site->people, person, 0, SIDE, 3, pixels, &err), 0);
    buf_init(file, 1 << 20);
    assert_int_equal(picture_encode_png(pixels, SIDE, SIDE, 3, file, &err), 0);
}

static void expect_person(struct site *site, struct reply *reply, size_t person)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *answer = NULL;
    struct err err = ERR_INIT;
    assert_true(reply->ended);
    assert_int_equal(reply->status, 200);
    assert_int_equal(json_parse(arena, reply->body.data, reply->body.size, NULL, &answer, &err), 0);
    struct json *nearest = json_get(answer, "nearest");
    assert_int_equal(json_count(nearest), UPLOAD_NEAREST);
    assert_string_equal(json_get_string(json_element(nearest, 0), "name", ""),
                        dataset_person_name(site->people, person));
    /* The picture is in the gallery itself, so no other person is nearer. */
    assert_int_equal(json_get_int(answer, "found", -1), 1);
    assert_true(json_get_bool(answer, "known", false));
    assert_string_equal(json_get_string(answer, "confidence", ""), "very likely");
    assert_true(json_number(json_get(answer, "threshold"), 0) > 0);
    buf_release(&reply->body);
}

static void concurrent_uploads_are_all_answered(void **state)
{
    struct site *site = *state;
    struct reply replies[4];
    for (size_t person = 0; person < 4; person++) {
        _cleanup_buf_ struct buf file;
        encode_gallery_picture(site, person, &file);
        upload(site, file.data, file.size, &replies[person]);
    }
    loop_run(site->loop);
    for (size_t person = 0; person < 4; person++)
        expect_person(site, &replies[person], person);
}

static void invalid_file_is_rejected_with_a_message(void **state)
{
    struct site *site = *state;
    struct reply words, nothing;
    upload(site, "no picture", 10, &words);
    upload(site, "", 0, &nothing);
    loop_run(site->loop);
    assert_int_equal(words.status, 415);
    assert_non_null(strstr(words.body.data, "not a picture in a supported format"));
    assert_int_equal(nothing.status, 400);
    assert_non_null(strstr(nothing.body.data, "choose a picture first"));
    buf_release(&words.body);
    buf_release(&nothing.body);
}

static void expect_no_face(struct reply *reply)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *answer = NULL;
    struct err err = ERR_INIT;
    assert_true(reply->ended);
    assert_int_equal(reply->status, 422);
    assert_int_equal(json_parse(arena, reply->body.data, reply->body.size, NULL, &answer, &err), 0);
    assert_non_null(strstr(json_get_string(answer, "error", ""), "no face was found"));
    assert_int_equal(json_get_int(answer, "found", -1), 0);
    assert_false(json_get_bool(answer, "known", true));
    assert_string_equal(json_get_string(answer, "confidence", ""), "no face found");
    assert_int_equal(json_count(json_get(answer, "nearest")), 0);
    buf_release(&reply->body);
}

/* A plain picture has no face, even if the server does not search for faces. */
static void plain_picture_has_no_face(void **state)
{
    struct site *site = *state;
    struct err err = ERR_INIT;
    struct reply reply;
    uint8_t pixels[32 * 32 * 3];
    int channels = (int)face_model_channels(site->model);
    _cleanup_buf_ struct buf file;
    buf_init(&file, 1 << 20);
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = i % (size_t)channels == 0 ? 127 : 0; /* grey or red */
    assert_int_equal(picture_encode_png(pixels, 32, 32, channels, &file, &err), 0);
    upload(site, file.data, file.size, &reply);
    loop_run(site->loop);
    expect_no_face(&reply);
}

/* A model that was trained on faces accepts no other pictures, and neither does a gallery of
 * photographs. */
static void picture_without_a_face_is_rejected_with_a_message(void **state)
{
    static const char NOBODY[] =
        "<opencv_storage><cascade><featureType>HAAR</featureType><height>8</height>"
        "<width>8</width><stages><_><stageThreshold>1</stageThreshold><weakClassifiers><_>"
        "<internalNodes>0 0 0 0</internalNodes><leafValues>0</leafValues></_></weakClassifiers>"
        "</_></stages><features><_><rects><_>0 0 8 8 1</_></rects></_></features></cascade>"
        "</opencv_storage>";
    char path[] = "/tmp/trainyard-upload.XXXXXX";
    struct site *site = *state;
    struct err err = ERR_INIT;
    _cleanup_(cleanup_face_finder) struct face_finder *finder = NULL;
    int fd = mkstemp(path);
    assert_int_equal(file_write_all(fd, NOBODY, sizeof(NOBODY) - 1, &err), 0);
    close(fd);
    assert_int_equal(face_finder_new(path, &finder, &err), 0);
    unlink(path);
    for (enum face_crop crop = FACE_CROP_OFF; crop <= FACE_CROP_WHOLE; crop++) {
        struct upload_page_options options = {.model = site->model,
                                              .crop = crop,
                                              .finder = finder,
                                              .photographs = crop != FACE_CROP_CASCADE,
                                              .people = site->people,
                                              .accept_rate = 0.05};
        http_transport_free(site->transport);
        upload_page_free(site->page);
        assert_int_equal(upload_page_new(site->loop, &options, &site->page, &err), 0);
        site->transport = http_local_new(site->loop, upload_page_handle, site->page, "");
        struct reply reply;
        _cleanup_buf_ struct buf file;
        buf_init(&file, 1 << 20);
        encode_gallery_picture(site, 0, &file);
        upload(site, file.data, file.size, &reply);
        loop_run(site->loop);
        expect_no_face(&reply);
    }
}

static void full_queue_rejects_the_upload(void **state)
{
    struct site *site = *state;
    static struct reply replies[UPLOAD_WAITING_MAX + 1];
    _cleanup_buf_ struct buf file;
    encode_gallery_picture(site, 1, &file);
    for (size_t i = 0; i <= UPLOAD_WAITING_MAX; i++)
        upload(site, file.data, file.size, &replies[i]);
    loop_run(site->loop);
    size_t refused = 0;
    for (size_t i = 0; i <= UPLOAD_WAITING_MAX; i++) {
        assert_true(replies[i].ended);
        refused += replies[i].status == 503;
        buf_release(&replies[i].body);
    }
    assert_int_equal(refused, 1);
}

static void canceled_upload_does_not_affect_others(void **state)
{
    struct site *site = *state;
    struct reply gone, stays;
    _cleanup_buf_ struct buf file;
    encode_gallery_picture(site, 2, &file);
    struct http_call *call = upload(site, file.data, file.size, &gone);
    upload(site, file.data, file.size, &stays);
    http_cancel(site->transport, call);
    loop_run(site->loop);
    assert_false(gone.ended);
    expect_person(site, &stays, 2);
    buf_release(&gone.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_path_is_answered, set_up, tear_down),
        cmocka_unit_test(server_errors_are_json),
        cmocka_unit_test_setup_teardown(report_is_read_for_each_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(concurrent_uploads_are_all_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(invalid_file_is_rejected_with_a_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plain_picture_has_no_face, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plain_picture_has_no_face, set_up_in_colour, tear_down),
        cmocka_unit_test_setup_teardown(picture_without_a_face_is_rejected_with_a_message, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(full_queue_rejects_the_upload, set_up_simulated, tear_down),
        cmocka_unit_test_setup_teardown(canceled_upload_does_not_affect_others, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
