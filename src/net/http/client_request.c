/* Translates a request into options of libcurl; see client_internal.h. */
#include "net/http/client_internal.h"

#include "base/str.h"

#include <string.h>

/* A buffer has room for one TLS record. A larger buffer would only use more memory per call. */
enum { BUFFER_SIZE = 16 * 1024 };

static void add_line(struct client_call *call, const char *name, const char *value)
{
    /* Control characters become spaces, because a line break in a value would start another
     * header. */
    char *text = *value ? arena_printf(call->arena, "%s: %s", name, value)
                        : arena_printf(call->arena, "%s;", name);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\t')
            *c = ' ';
    call->lines = curl_slist_append(call->lines, text);
}

static void set_headers(struct client_call *call, const struct http_request *request)
{
    struct http_header *headers = http_headers_copy(call->arena, request->headers);
    http_add_bearer(call->arena, &headers,
                    http_bearer_get(&call->client->bearer, loop_now_ms(call->client->loop)));
    for (const struct http_header *each = call->client->headers; each; each = each->next)
        http_header_add(call->arena, &headers, each->name, each->value);
    if (call->client->host)
        http_header_add(call->arena, &headers, "Host", call->client->host);
    for (const struct http_header *each = headers; each; each = each->next)
        add_line(call, each->name, each->value);
    /* Suppress two headers that libcurl would add: a wrong Content-Type, and "Expect", which costs
     * a round trip. */
    if (!http_header_get(headers, "Content-Type"))
        call->lines = curl_slist_append(call->lines, "Content-Type:");
    if (!http_header_get(headers, "Expect"))
        call->lines = curl_slist_append(call->lines, "Expect:");
    curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->lines);
}

static void set_method(struct client_call *call, const struct http_request *request)
{
    CURL *easy = call->easy;
    bool may_lack_body = str_eq(call->method, "GET") || str_eq(call->method, "DELETE");
    if (str_eq(call->method, "HEAD")) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (request->body_size || !may_lack_body) {
        const char *body =
            arena_strndup(call->arena, request->body ? request->body : "", request->body_size);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
    }
}

static void set_blob(CURL *easy, CURLoption option, const char *text)
{
    struct curl_blob blob = {.data = (void *)text, .len = strlen(text), .flags = CURL_BLOB_COPY};
    curl_easy_setopt(easy, option, &blob);
}

static void set_trust(struct client_call *call)
{
    struct client *client = call->client;
    const struct tls_pair *pair =
        http_certificate_get(&client->certificate, loop_now_ms(client->loop));
    CURL *easy = call->easy;
    if (client->ca_pem) {
        /* Otherwise libcurl would also trust the authorities of the machine, whose paths are
         * compiled into libcurl. */
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
        set_blob(easy, CURLOPT_CAINFO_BLOB, client->ca_pem);
    }
    if (pair->cert_pem) { /* libcurl reuses a connection only for the same certificate */
        curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
        set_blob(easy, CURLOPT_SSLCERT_BLOB, pair->cert_pem);
        curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
        set_blob(easy, CURLOPT_SSLKEY_BLOB, pair->key_pem);
    }
    if (client->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_transfer_options(struct client_call *call)
{
    CURL *easy = call->easy;
    /* CURLOPT_NOSIGNAL must stay off. libcurl resolves names on a thread and so needs no SIGALRM.
     * With the option, libcurl would not block SIGPIPE while OpenSSL writes to a closed
     * connection. */
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    /* Use HTTP/1.1, so that each watch has its own connection and does not wait for the data of
     * other watches. */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CLIENT_CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)call->timeout_ms);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)BUFFER_SIZE);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)BUFFER_SIZE);
    curl_easy_setopt(easy, CURLOPT_HTTP_TRANSFER_DECODING, 1L);
    /* Otherwise the response of a proxy to CONNECT would be taken for the server's response. */
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (call->client->proxy)
        curl_easy_setopt(easy, CURLOPT_PROXY, call->client->proxy);
    else if (call->client->is_loopback) /* the environment's proxy is for other machines */
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    if (call->client->connect_to)
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, call->client->connect_to);
    if (call->client->username) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(easy, CURLOPT_USERNAME, call->client->username);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, call->client->password);
    }
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->reason);
}

void http_client_set_request(struct client_call *call, const struct http_request *request)
{
    bool has_query = !str_is_empty(request->query);
    call->method = arena_strdup(call->arena, request->method);
    call->url = arena_printf(call->arena, "%s%s%s%s", call->client->base_url,
                             http_path_encode(call->arena, request->path), has_query ? "?" : "",
                             has_query ? request->query : "");
    curl_easy_setopt(call->easy, CURLOPT_URL, call->url);
    set_method(call, request);
    set_headers(call, request);
    set_trust(call);
    set_transfer_options(call);
}
