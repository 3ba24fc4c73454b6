/* Implements the upload page; see upload_page.h. */
#include "serve/upload_page.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "serve/face_gallery.h"
#include "serve/multipart.h"
#include "serve/page.h"
#include "serve/report_page.h"
#include "train/data/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { THUMBNAIL_SIDE = 96 };

/* If the standard deviation of every channel (0 to 1) is smaller than this, the picture counts as a
 * single colour without a person. */
#define BLANK 0.02

/* An upload that waits or is being processed on the pool. */
struct upload {
    struct loop_work work;
    struct upload_page *page;
    struct http_exchange *exchange; /* NULL after the client has disconnected */
    struct upload *next;
    void *file; /* a copy of the uploaded file */
    size_t size;
    struct face_match matches[UPLOAD_NEAREST];
    size_t match_count;
    size_t faces;  /* number of faces found in the picture */
    bool searched; /* the picture was decoded and searched for faces, so `faces` is valid */
    struct err err;
};

struct upload_page {
    struct loop *loop;
    struct upload_page_options options;
    struct face_gallery *gallery;
    double accuracy; /* face_gallery_accuracy() */
    struct face_threshold threshold;
    struct upload *first, *last; /* queue of uploads; the first is in progress */
    size_t waiting;
};

int upload_page_new(struct loop *loop, const struct upload_page_options *options,
                    struct upload_page **ret, struct err *err)
{
    struct face_gallery *gallery = NULL;
    int result = face_gallery_new(options->model, options->people, &gallery, err);
    if (result < 0)
        return err_wrap(err, "cannot make the gallery");
    struct upload_page *page = mem_zalloc(sizeof(*page));
    page->loop = loop;
    page->options = *options;
    page->gallery = gallery;
    page->accuracy = face_gallery_accuracy(gallery);
    page->threshold = face_gallery_threshold(gallery, options->model, options->accept_rate);
    *ret = page;
    return 0;
}

const struct face_threshold *upload_page_threshold(const struct upload_page *page)
{
    return &page->threshold;
}

struct upload_page *upload_page_free(struct upload_page *page)
{
    if (page) {
        face_gallery_free(page->gallery);
        free(page);
    }
    return NULL;
}

/* ---- Recognising a picture */

static bool is_blank_picture(const float *pixels, size_t count, size_t channels)
{
    size_t values = count / channels;
    for (size_t channel = 0; channel < channels; channel++) {
        double sum = 0, squares = 0;
        for (size_t i = channel; i < count; i += channels) {
            sum += (double)pixels[i];
            squares += (double)pixels[i] * (double)pixels[i];
        }
        double mean = sum / (double)values;
        if (squares / (double)values - mean * mean >= BLANK * BLANK)
            return false;
    }
    return true;
}

/* Selects the part of the picture that the model gets as input. If `photographs` is set or `crop`
 * is FACE_CROP_CASCADE, a picture in which the cascade (face_finder) finds no face is refused.
 * Otherwise every picture counts as one face unless it has a single colour, because the cascade
 * rarely finds drawn faces. */
static int cut_face(struct upload *upload, const struct picture *picture, float *ret_pixels)
{
    const struct upload_page_options *options = &upload->page->options;
    struct face_model *model = options->model;
    struct picture_square square;
    enum face_crop crop = options->photographs ? FACE_CROP_CASCADE : options->crop;
    upload->searched = true;
    int result =
        face_crop_choose(crop, options->finder, picture, &square, &upload->faces, &upload->err);
    if (result == 0 && crop != options->crop && options->crop != FACE_CROP_AUTO)
        result =
            face_crop_choose(options->crop, options->finder, picture, &square, NULL, &upload->err);
    if (result < 0)
        return result;
    picture_cut(picture, &square, face_model_side(model), face_model_channels(model), ret_pixels);
    if (crop == FACE_CROP_CASCADE)
        return 0;
    upload->faces = !is_blank_picture(ret_pixels, face_config_sample(face_model_config(model)),
                                      face_model_channels(model));
    return upload->faces ? 0 : face_crop_no_face(&upload->err);
}

/* Runs on a pool thread. The first upload of the queue is the only user of the model. */
static void recognise_upload(struct loop_work *work)
{
    struct upload *upload = CONTAINER_OF(work, struct upload, work);
    struct face_model *model = upload->page->options.model;
    _cleanup_free_ float *pixels =
        mem_calloc(face_config_sample(face_model_config(model)), sizeof(float));
    _cleanup_free_ float *embedding = mem_calloc(face_model_dimensions(model), sizeof(float));
    _cleanup_(picture_release) struct picture picture = {0};
    int result = picture_decode(upload->file, upload->size, &picture, &upload->err);
    if (result == 0)
        result = cut_face(upload, &picture, pixels);
    if (result == 0)
        result = face_model_embed(model, pixels, 1, embedding, &upload->err);
    if (result == 0)
        upload->match_count =
            face_gallery_nearest(upload->page->gallery, embedding, upload->matches, UPLOAD_NEAREST);
}

/* Sets the fields "found", "known" and "confidence" of a response. In a picture with several faces
 * no person is recognised. */
static void set_recognition(struct upload *upload, struct json *answer)
{
    struct arena *arena = upload->exchange->arena;
    const struct face_threshold *threshold = &upload->page->threshold;
    bool one = upload->faces == 1 && upload->match_count > 0;
    double distance = one ? upload->matches[0].distance : (double)INFINITY;
    json_set_int(arena, answer, "found", (int64_t)upload->faces);
    json_set(arena, answer, "known", json_bool(arena, distance < threshold->known));
    json_set_string(arena, answer, "confidence",
                    upload->faces == 0  ? "no face found"
                    : upload->faces > 1 ? "several faces: crop the picture to one"
                                        : face_threshold_words(threshold, distance));
}

/* Responds to a picture without a face with the reason in "error", no nearest people, and the
 * fields of set_recognition(). */
static void respond_no_face(struct upload *upload)
{
    struct arena *arena = upload->exchange->arena;
    struct json *answer = json_object(arena);
    json_set_string(arena, answer, "error", upload->err.message);
    json_set(arena, answer, "nearest", json_array(arena));
    set_recognition(upload, answer);
    page_respond_json(upload->exchange, err_info(upload->err.code)->http_status, answer);
}

static void respond_matches(struct upload *upload)
{
    struct arena *arena = upload->exchange->arena;
    struct json *answer = json_object(arena), *nearest = json_array(arena);
    const struct face_threshold *threshold = &upload->page->threshold;
    for (size_t i = 0; i < upload->match_count; i++) {
        const struct face_match *match = &upload->matches[i];
        struct json *person = json_object(arena);
        json_set_string(arena, person, "name",
                        dataset_person_name(upload->page->options.people, match->person));
        json_set(arena, person, "distance", json_real(arena, match->distance));
        json_set_string(arena, person, "confidence",
                        face_threshold_words(threshold, match->distance));
        json_set(arena, person, "picture",
                 json_stringf(arena, "/gallery/%zu/%zu.png", match->person, match->picture));
        json_append(nearest, person);
    }
    json_set(arena, answer, "nearest", nearest);
    set_recognition(upload, answer);
    json_set(arena, answer, "threshold", json_real(arena, threshold->known));
    if (upload->page->accuracy >= 0)
        json_set(arena, answer, "accuracy", json_real(arena, upload->page->accuracy));
    page_respond_json(upload->exchange, 200, answer);
}

static void on_upload_recognised(struct loop_work *work)
{
    struct upload *upload = CONTAINER_OF(work, struct upload, work);
    struct upload_page *page = upload->page;
    if (upload->exchange && upload->err.code && upload->searched && upload->faces == 0)
        respond_no_face(upload);
    else if (upload->exchange && upload->err.code)
        page_respond_error(upload->exchange, &upload->err);
    else if (upload->exchange)
        respond_matches(upload);
    page->first = upload->next;
    page->waiting--;
    if (page->first)
        loop_work_start(page->loop, &page->first->work);
    else
        page->last = NULL;
    free(upload->file);
    free(upload);
}

static void on_upload_client_left(struct http_exchange *exchange)
{
    struct upload *upload = exchange->context;
    upload->exchange = NULL;
}

static void start_upload(struct upload_page *page, struct http_exchange *exchange,
                         const struct multipart_part *file)
{
    struct upload *upload = mem_zalloc(sizeof(*upload));
    upload->work = (struct loop_work){.work = recognise_upload, .done = on_upload_recognised};
    upload->page = page;
    upload->exchange = exchange;
    upload->file = mem_alloc(file->size); /* a copy, because the exchange may end before the work */
    upload->size = file->size;
    memcpy(upload->file, file->data, file->size);
    exchange->context = upload;
    exchange->on_cancel = on_upload_client_left;
    page->waiting++;
    if (page->last) {
        page->last->next = upload;
        page->last = upload;
        return;
    }
    page->first = page->last = upload;
    loop_work_start(page->loop, &upload->work);
}

static void handle_upload(struct upload_page *page, struct http_exchange *exchange)
{
    const struct http_request *request = exchange->request;
    struct multipart_part *parts, *file = NULL;
    size_t count = 0;
    struct err err = ERR_INIT;
    if (multipart_parse(exchange->arena, http_header_get(request->headers, "content-type"),
                        request->body, request->body_size, &parts, &count, &err) < 0) {
        page_respond_error(exchange, &err);
        return;
    }
    for (size_t i = 0; i < count && !file; i++)
        if (str_eq(parts[i].name, "file"))
            file = &parts[i];
    if (!file || file->size == 0)
        page_respond_refusal(exchange, ERR_BAD_REQUEST,
                             "choose a picture first: the form contains no file, or an empty one");
    else if (page->waiting >= UPLOAD_WAITING_MAX)
        page_respond_refusal(exchange, ERR_UNAVAILABLE,
                             "too many pictures are waiting already: try again in a moment");
    else
        start_upload(page, exchange, file);
}

/* ---- The rest of the page */

static void handle_about(struct upload_page *page, struct http_exchange *exchange)
{
    struct arena *arena = exchange->arena;
    const struct dataset *people = page->options.people, *samples = page->options.samples;
    struct json *about = json_object(arena), *list = json_array(arena);
    const char *accuracy = page->accuracy < 0
                               ? ""
                               : arena_printf(arena,
                                              " When each picture is compared with all others, the "
                                              "nearest person is the right one for %.0f %%.",
                                              100 * page->accuracy);
    json_set(arena, about, "text",
             json_stringf(arena, "The gallery holds %zu pictures of %zu people.%s",
                          dataset_total(people), dataset_persons(people), accuracy));
    for (size_t person = 0; samples && person < dataset_persons(samples); person++) {
        struct json *sample = json_object(arena);
        json_set_string(arena, sample, "name", dataset_person_name(samples, person));
        json_set(arena, sample, "picture", json_stringf(arena, "/samples/%zu/0.png", person));
        json_append(list, sample);
    }
    json_set(arena, about, "samples", list);
    json_set_int(arena, about, "limit", PAGE_BODY_MAX);
    json_set(arena, about, "report", json_bool(arena, report_page_exists(page->options.report)));
    page_respond_json(exchange, 200, about);
}

/* Sends "PERSON/PICTURE.png" of a data set as a small square PNG, whatever the format of the
 * file. */
static void handle_picture(const struct dataset *dataset, const char *path,
                           struct http_exchange *exchange)
{
    size_t person = 0, picture = 0;
    int used = 0;
    if (!dataset || sscanf(path, "%7zu/%7zu.png%n", &person, &picture, &used) != 2 || path[used] ||
        used == 0 || person >= dataset_persons(dataset) ||
        picture >= dataset_pictures(dataset, person)) {
        page_respond_refusal(exchange, ERR_NOT_FOUND, "there is no such picture");
        return;
    }
    struct err err = ERR_INIT;
    uint8_t pixels[THUMBNAIL_SIDE * THUMBNAIL_SIDE * 3];
    if (dataset_load_bytes(dataset, person, picture, THUMBNAIL_SIDE, 3, pixels, &err) < 0)
        page_respond_error(exchange, &err);
    else
        page_respond_png(exchange, pixels, THUMBNAIL_SIDE, THUMBNAIL_SIDE, 3);
}

static void redirect_to_page(struct http_exchange *exchange)
{
    struct http_header *headers = NULL;
    http_header_add(exchange->arena, &headers, "Location", "/upload");
    http_begin(exchange, 302, "text/plain", headers, 0);
    http_end(exchange);
}

void upload_page_handle(struct http_exchange *exchange, void *context)
{
    struct upload_page *page = context;
    const char *path = exchange->request->path, *method = exchange->request->method;
    bool reads = str_eq(method, "GET") || str_eq(method, "HEAD");
    if (str_eq(path, "/upload") && str_eq(method, "POST")) {
        handle_upload(page, exchange);
    } else if (!reads) {
        page_respond_refusal(exchange, ERR_METHOD,
                             "use GET for this address; send pictures as POST /upload");
    } else if (str_eq(path, "/upload")) {
        page_respond_html(exchange, asset_upload_html());
    } else if (str_eq(path, "/")) {
        redirect_to_page(exchange);
    } else if (str_eq(path, "/report")) {
        report_page_respond(page->loop, page->options.report, exchange);
    } else if (str_eq(path, "/about")) {
        handle_about(page, exchange);
    } else if (str_eq(path, "/healthz")) {
        http_respond(exchange, 200, "text/plain", "ok\n", 3);
    } else if (str_has_prefix(path, "/gallery/")) {
        handle_picture(page->options.people, path + strlen("/gallery/"), exchange);
    } else if (str_has_prefix(path, "/samples/")) {
        handle_picture(page->options.samples, path + strlen("/samples/"), exchange);
    } else if (!page_respond_asset(exchange, path)) {
        page_respond_refusal(exchange, ERR_NOT_FOUND,
                             "there is nothing here: the page is at /upload");
    }
}
