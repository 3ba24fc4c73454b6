/* Tests the bytes of probes over HTTP and gRPC: requests, responses, redirects. */
#include "node_test.h"

#include "node/step/probe/grpc.h"
#include "node/step/probe/http.h"

static struct step_url url_of(const char *host, int port, const char *path)
{
    const struct pod_handler handler = {.host = host, .port = port, .path = path};
    struct step_url url;
    assert_int_equal(step_url_of(&handler, &url, NULL), 0);
    return url;
}

static void requests_are_written(void **state)
{
    static const char *headers[] = {"X-Word: said", "Host: own.example", "accept: ", NULL};
    struct pod_strings none = {0}, own = {.items = headers, .count = 3};
    struct step_url url = url_of("10.244.1.2", 8080, "healthz?full");
    _cleanup_buf_ struct buf text;
    buf_init(&text, STEP_ANSWER_MAX);
    step_http_request(&url, &none, "kube-probe/1.36", &text);
    assert_string_equal(text.data, "GET /healthz?full HTTP/1.1\r\nHost: 10.244.1.2:8080\r\n"
                                   "User-Agent: kube-probe/1.36\r\nAccept: */*\r\n"
                                   "Connection: close\r\n\r\n");
    buf_clear(&text);
    step_http_request(&url, &own, "kube-probe/1.36", &text);
    assert_string_equal(text.data, "GET /healthz?full HTTP/1.1\r\nHost: own.example\r\n"
                                   "User-Agent: kube-probe/1.36\r\nX-Word: said\r\n"
                                   "Connection: close\r\n\r\n");
    struct pod_handler handler = {.host = "a", .port = 1, .path = "/a b"};
    assert_true(step_url_of(&handler, &url, NULL) < 0); /* a blank would end the path */
}

static void responses_are_parsed(void **state)
{
    static const struct {
        const char *text;
        int result, status;
        const char *location;
    } ROWS[] = {
        {"HTTP/1.1 200 OK\r\nX: y\r\n\r\nbody", 1, 200, ""},
        {"HTTP/1.0 503\r\n\r\n", 1, 503, ""},
        {"HTTP/1.1 302 Found\nlocation:  /there \r\n\n", 1, 302, "/there"},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n", 1, 404, ""},
        {"HTTP/1.1 200 OK\r\nX: y\r\n", 0, 0, ""},
        {"HTT", 0, 0, ""},
        {"SSH-2.0-OpenSSH_9\r\n", -1, 0, ""},
        {"220 mail.example ESMTP, and so on", -1, 0, ""},
        {"HTTP/1.1 20x OK\r\n\r\n", -1, 0, ""},
        {"HTTP/1.1 2000 OK\r\n\r\n", -1, 0, ""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct step_answer answer = {0};
        int result = step_http_parse(ROWS[i].text, strlen(ROWS[i].text), &answer, NULL);
        if ((result < 0 ? -1 : result) != ROWS[i].result || answer.status != ROWS[i].status ||
            !str_eq(answer.location, ROWS[i].location))
            fail_msg("row %zu: %d %d '%s'", i, result, answer.status, answer.location);
    }
}

static void redirects_are_resolved(void **state)
{
    static const struct {
        const char *location, *leads_to;
    } ROWS[] = {
        {"/other", "http://10.0.0.1:8080/other"},
        {"next?x#y", "http://10.0.0.1:8080/a/next?x"},
        {"https://10.0.0.1/z", "https://10.0.0.1:443/z"},
        {"HTTP://10.0.0.1:81", "http://10.0.0.1:81/"},
        {"//else.example/p", "http://else.example:80/p"},
        {"http://[::1]:90/p", "http://[::1]:90/p"},
        {"http://h:0/p", NULL},
        {"http://:80/p", NULL},
        {"http://[::1/p", NULL},
        {"http://h:123456789/p", NULL},
    };
    const struct step_url from = url_of("10.0.0.1", 8080, "/a/b?q");
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct step_url url;
        _cleanup_buf_ struct buf text;
        buf_init(&text, STEP_ANSWER_MAX);
        int result = step_url_follow(&from, ROWS[i].location, &url, NULL);
        if (result == 0)
            step_url_write(&url, &text);
        if ((result == 0) != (ROWS[i].leads_to != NULL) ||
            (result == 0 && !str_eq(text.data, ROWS[i].leads_to)))
            fail_msg("row %zu: %d %s", i, result, text.data);
    }
}

/* The message is the last frame: a prefix of five bytes, the field 1, its length and the name. A
 * length above 127 takes two bytes. */
static void grpc_requests_contain_the_whole_service_name(void **state)
{
    static const struct {
        size_t size;
        const char *frame;
        size_t frame_size;
    } CASES[] = {
        {0, "\0\0\5\0\1\0\0\0\1\0\0\0\0\0", 14},
        {127, "\0\0\x86\0\1\0\0\0\1\0\0\0\0\x81\12\x7f", 16},
        {128, "\0\0\x88\0\1\0\0\0\1\0\0\0\0\x83\12\x80\1", 17},
        {1000, "\0\3\xf0\0\1\0\0\0\1\0\0\0\3\xeb\12\xe8\7", 17},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        char name[1001] = "";
        _cleanup_buf_ struct buf request;
        buf_init(&request, STEP_GRPC_MAX);
        memset(name, 's', CASES[i].size);
        assert_int_equal(step_grpc_request("10.244.1.2:80", name, &request, NULL), 0);
        assert_true(request.size > CASES[i].frame_size + CASES[i].size);
        const char *end = request.data + request.size - CASES[i].size;
        assert_memory_equal(end - CASES[i].frame_size, CASES[i].frame, CASES[i].frame_size);
        assert_memory_equal(end, name, CASES[i].size);
    }
}

static void grpc_requests_with_a_too_long_service_name_fail(void **state)
{
    char name[5001] = "";
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf request;
    buf_init(&request, STEP_GRPC_MAX);
    memset(name, 's', sizeof(name) - 1);
    assert_int_equal(step_grpc_request("a:80", name, &request, &err), -ERR_TOO_LARGE);
    assert_string_equal(err.message,
                        "the service name has 5000 bytes, but the limit for a probe is 4000");
}

static void grpc_responses_are_parsed(void **state)
{
    /* A settings frame, headers, a message, trailers. */
    static const char serving[] = "\0\0\0\4\0\0\0\0\0"
                                  "\0\0\1\1\4\0\0\0\1x"
                                  "\0\0\7\0\0\0\0\0\1\0\0\0\0\2\10\1"
                                  "\0\0\1\1\5\0\0\0\1y";
    static const char refused[] = "\0\0\1\1\5\0\0\0\1y";
    struct step_grpc_answer answer = {0};
    for (size_t size = 0; size < sizeof(serving) - 1; size++) {
        answer = (struct step_grpc_answer){0};
        assert_true(step_grpc_read(serving, size, &answer, NULL) <= (int64_t)size);
        assert_false(answer.over);
    }
    answer = (struct step_grpc_answer){0};
    assert_int_equal(step_grpc_read(serving, sizeof(serving) - 1, &answer, NULL),
                     sizeof(serving) - 1);
    assert_true(answer.over && answer.has_status);
    assert_int_equal(answer.status, 1);
    assert_int_equal(answer.settings, 1);
    answer = (struct step_grpc_answer){0};
    step_grpc_read(refused, sizeof(refused) - 1, &answer, NULL);
    assert_true(answer.over);
    assert_false(answer.has_status);
    assert_true(step_grpc_read("HTTP/1.1 400 Bad Request\r\n", 26, &answer, NULL) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_written),
        cmocka_unit_test(responses_are_parsed),
        cmocka_unit_test(redirects_are_resolved),
        cmocka_unit_test(grpc_requests_contain_the_whole_service_name),
        cmocka_unit_test(grpc_requests_with_a_too_long_service_name_fail),
        cmocka_unit_test(grpc_responses_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
