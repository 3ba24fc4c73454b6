/* Implements the client that keeps the variables on servers; see client_private.h. The range of
 * server s in the dense vector begins at total·s/servers. ps_batch_server() assigns the rows to
 * servers. A pull, ps_save() and ps_client_finish() send requests to all servers before they wait
 * for the first answer. */
#include "comm/ps/client_private.h"

#include "base/mem.h"
#include "base/rand.h"
#include "comm/ps/link.h"

#include <string.h>

enum { TIMEOUT_MS = 5 * 60 * 1000, REPORT_MS = 5000 };

struct remote {
    struct ps_member member;
    struct ps_link *links; /* by server */
    uint64_t incarnation;  /* random number of this process, see struct ps_tally */
    /* The dense values of the previous pull, or the initial values before the first pull. They are
     * sent to a server that has no values. */
    float *last_pulled;
    uint8_t *scanned; /* a buffer of PS_FRAME_MAX bytes, allocated by the first scan */
};

static struct ps_link *remote_link(const struct ps_client *client, size_t server)
{
    return &((struct remote *)client->backend)->links[server];
}

/* Returns the position in the dense vector at which the range of the server begins. For `server` =
 * number of servers, returns the size of the vector. */
static uint64_t dense_first(const struct ps_client *client, size_t server)
{
    return (uint64_t)client->dense_count * server / client->servers;
}

static size_t remote_smaller_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Opening variables. The parameter `exchange` is ps_link_request() when the caller opens a
 * variable, and ps_link_exchange() when a server has come back. Opening a variable again on the
 * same server changes nothing. */

typedef int remote_exchange(struct ps_link *link, const struct ps_frame *frame, const void *body,
                            struct ps_frame *ret, struct err *err);

static int remote_attach(struct remote *remote, struct ps_link *link, remote_exchange *exchange,
                         struct ps_frame *ret, struct err *err)
{
    const struct ps_frame frame = {
        .type = PS_FRAME_ATTACH, .count = PS_WIRE_VERSION, .first = remote->incarnation};
    return exchange(link, &frame, NULL, ret, err);
}

static int remote_open_table(struct ps_client *client, struct ps_link *link,
                             remote_exchange *exchange, size_t number, struct err *err)
{
    uint8_t body[PS_WIRE_TABLE_SIZE];
    ps_wire_table_encode(&client->tables[number], body);
    const struct ps_frame frame = {
        .type = PS_FRAME_TABLE_OPEN, .table = (uint32_t)number, .size = sizeof(body)};
    struct ps_frame answer;
    return exchange(link, &frame, body, &answer, err);
}

/* Opens the dense range of the server of `link`. If the range has no values yet, sends the values
 * in `last_pulled`. Sets *ret_seeded to whether values were sent. */
static int remote_open_dense(struct ps_client *client, struct ps_link *link,
                             remote_exchange *exchange, bool *ret_seeded, struct err *err)
{
    struct remote *remote = client->backend;
    size_t server = (size_t)(link - remote->links);
    uint64_t first = dense_first(client, server);
    const struct ps_dense_shape shape = {.total = client->dense_count,
                                         .first = first,
                                         .count = dense_first(client, server + 1) - first,
                                         .update = client->dense_update};
    uint8_t body[PS_WIRE_DENSE_SIZE];
    ps_wire_dense_encode(&shape, body);
    struct ps_frame frame = {.type = PS_FRAME_DENSE_OPEN, .size = sizeof(body)}, answer;
    int result = exchange(link, &frame, body, &answer, err);
    if (result < 0)
        return result;
    *ret_seeded = !answer.count;
    for (uint64_t at = 0; !answer.count && at < shape.count; at += frame.count) {
        size_t count = remote_smaller_size(shape.count - at, PS_FRAME_VALUES_MAX);
        frame = (struct ps_frame){.type = PS_FRAME_DENSE_SEED,
                                  .first = at,
                                  .count = (uint32_t)count,
                                  .size = (uint32_t)(count * sizeof(float))};
        struct ps_frame seed_answer;
        if ((result = exchange(link, &frame, remote->last_pulled + first + at, &seed_answer, err)) <
            0)
            return result;
    }
    return 0;
}

/* Opens all variables on a server that has come back, and reports what the server has lost. */
static int remote_reopen_server(void *context, struct ps_link *link, struct err *err)
{
    struct ps_client *client = context;
    struct remote *remote = client->backend;
    struct ps_frame answer;
    int result = remote_attach(remote, link, ps_link_exchange, &answer, err);
    bool seeded = false, empty = result == 0 && answer.count == 0;
    for (size_t i = 0; i < client->table_count && result == 0; i++)
        result = remote_open_table(client, link, ps_link_exchange, i, err);
    if (result == 0 && client->dense_count)
        result = remote_open_dense(client, link, ps_link_exchange, &seeded, err);
    if (result < 0)
        return result;
    char name[TF_CONFIG_TASK_TEXT_MAX];
    ps_member_describe(&remote->member, link->rank, name);
    if (seeded)
        ps_member_report(
            &remote->member,
            "%s is back and has no snapshot: its part of the dense values is set to what "
            "this worker saw last%s",
            name, client->table_count ? ", its rows start from their initial values" : "");
    else if (empty && client->table_count)
        ps_member_report(&remote->member,
                         "%s is back and has no snapshot: its rows start from their initial values",
                         name);
    else
        ps_member_report(&remote->member, "%s is back", name);
    return 0;
}

/* Sends the same request without a body to all servers, then waits for all answers. */
static int remote_request_all(struct ps_client *client, const struct ps_frame *frame,
                              struct err *err)
{
    int result = 0;
    for (size_t server = 0; server < client->servers && result == 0; server++)
        result = ps_link_ask(remote_link(client, server), frame, NULL, err);
    for (size_t server = 0; server < client->servers && result == 0; server++) {
        struct ps_frame answer;
        result = ps_link_answer(remote_link(client, server), &answer, NULL, 0, err);
    }
    return result;
}

/* ---- The operations */

static void remote_free(struct ps_client *client)
{
    struct remote *remote = client->backend;
    for (size_t i = 0; remote->links && i < client->servers; i++)
        ps_link_release(&remote->links[i]);
    free(remote->links);
    free(remote->last_pulled);
    free(remote->scanned);
    ps_member_release(&remote->member);
    free(remote);
}

static int remote_dense_open(struct ps_client *client, const float *initial, struct err *err)
{
    struct remote *remote = client->backend;
    free(remote->last_pulled);
    remote->last_pulled = mem_calloc(client->dense_count, sizeof(float));
    memcpy(remote->last_pulled, initial, client->dense_count * sizeof(float));
    int result = 0;
    for (size_t server = 0; server < client->servers && result == 0; server++) {
        bool seeded;
        result =
            remote_open_dense(client, remote_link(client, server), ps_link_request, &seeded, err);
    }
    return result;
}

static int remote_table_open(struct ps_client *client, size_t number, struct err *err)
{
    int result = 0;
    for (size_t server = 0; server < client->servers && result == 0; server++)
        result =
            remote_open_table(client, remote_link(client, server), ps_link_request, number, err);
    return result;
}

static int remote_dense_pull(struct ps_client *client, float *ret_values, struct err *err)
{
    struct remote *remote = client->backend;
    int result = 0;
    bool more = true;
    for (uint64_t at = 0; more && result == 0; at += PS_FRAME_VALUES_MAX) {
        more = false;
        for (int answering = 0; answering < 2 && result == 0; answering++)
            for (size_t server = 0; server < client->servers && result == 0; server++) {
                uint64_t first = dense_first(client, server);
                uint64_t range = dense_first(client, server + 1) - first;
                if (at >= range)
                    continue;
                size_t count = remote_smaller_size(range - at, PS_FRAME_VALUES_MAX);
                struct ps_frame frame = {
                    .type = PS_FRAME_DENSE_PULL, .first = at, .count = (uint32_t)count};
                struct ps_link *link = remote_link(client, server);
                result = answering ? ps_link_answer(link, &frame, ret_values + first + at,
                                                    (int64_t)(count * sizeof(float)), err)
                                   : ps_link_ask(link, &frame, NULL, err);
                more |= at + count < range;
            }
    }
    if (result == 0)
        memcpy(remote->last_pulled, ret_values, client->dense_count * sizeof(float));
    return result;
}

static int remote_dense_push(struct ps_client *client, const float *gradient, float rate,
                             struct err *err)
{
    for (size_t server = 0; server < client->servers; server++) {
        uint64_t first = dense_first(client, server);
        uint64_t range = dense_first(client, server + 1) - first;
        for (uint64_t at = 0; at < range;) {
            size_t count = remote_smaller_size(range - at, PS_FRAME_VALUES_MAX);
            const struct ps_frame frame = {.type = PS_FRAME_DENSE_PUSH,
                                           .first = at,
                                           .count = (uint32_t)count,
                                           .rate = rate,
                                           .size = (uint32_t)(count * sizeof(float))};
            uint8_t *body;
            struct ps_link *link = remote_link(client, server);
            int result = ps_link_push_room(link, &frame, &body, err);
            if (result < 0)
                return result;
            memcpy(body, gradient + first + at, frame.size);
            if ((result = ps_link_push_send(link, err)) < 0)
                return result;
            at += count;
        }
    }
    return 0;
}

static int remote_rows_pull(struct ps_client *client, size_t table, const struct ps_batch *batch,
                            float *ret_rows, struct err *err)
{
    size_t dimensions = (size_t)client->tables[table].dimensions;
    size_t most = ps_frame_rows_max(dimensions);
    int result = 0;
    bool more = true;
    for (size_t at = 0; more && result == 0; at += most) {
        more = false;
        for (int answering = 0; answering < 2 && result == 0; answering++)
            for (size_t server = 0; server < client->servers && result == 0; server++) {
                size_t first = batch->starts[server] + at, end = batch->starts[server + 1];
                if (first >= end)
                    continue;
                size_t count = remote_smaller_size(end - first, most);
                struct ps_frame frame = {.type = PS_FRAME_ROWS_PULL,
                                         .table = (uint32_t)table,
                                         .count = (uint32_t)count,
                                         .size = (uint32_t)(count * sizeof(int64_t))};
                struct ps_link *link = remote_link(client, server);
                result = answering
                             ? ps_link_answer(link, &frame, ret_rows + first * dimensions,
                                              (int64_t)(count * dimensions * sizeof(float)), err)
                             : ps_link_ask(link, &frame, batch->ids + first, err);
                more |= first + count < end;
            }
    }
    return result;
}

static int remote_rows_push(struct ps_client *client, size_t table, const struct ps_batch *batch,
                            const float *gradients, float rate, struct err *err)
{
    size_t dimensions = (size_t)client->tables[table].dimensions;
    size_t most = ps_frame_rows_max(dimensions), row_size = dimensions * sizeof(float);
    for (size_t server = 0; server < client->servers; server++) {
        for (size_t at = batch->starts[server]; at < batch->starts[server + 1];) {
            size_t count = remote_smaller_size(batch->starts[server + 1] - at, most);
            const struct ps_frame frame = {.type = PS_FRAME_ROWS_PUSH,
                                           .table = (uint32_t)table,
                                           .count = (uint32_t)count,
                                           .rate = rate,
                                           .size =
                                               (uint32_t)(count * (sizeof(int64_t) + row_size))};
            uint8_t *body;
            struct ps_link *link = remote_link(client, server);
            int result = ps_link_push_room(link, &frame, &body, err);
            if (result < 0)
                return result;
            body = mempcpy(body, batch->ids + at, count * sizeof(int64_t));
            memcpy(body, gradients + at * dimensions, count * row_size);
            if ((result = ps_link_push_send(link, err)) < 0)
                return result;
            at += count;
        }
    }
    return 0;
}

static int remote_scan_server(struct ps_client *client, struct ps_link *link, size_t table,
                              ps_visit *visit, void *context, struct err *err)
{
    struct remote *remote = client->backend;
    size_t dimensions = (size_t)client->tables[table].dimensions;
    struct ps_frame answer = {0};
    do {
        const struct ps_frame frame = {
            .type = PS_FRAME_ROWS_SCAN, .table = (uint32_t)table, .first = answer.first};
        int result = ps_link_ask(link, &frame, NULL, err);
        if (result < 0 ||
            (result = ps_link_answer(link, &answer, remote->scanned, PS_LINK_ANY, err)) < 0)
            return result;
        if (answer.size != answer.count * (sizeof(int64_t) + dimensions * sizeof(float)))
            return err_set(
                err, ERR_INTERNAL,
                "a server sent %u rows of %zu values in %u bytes, which is not a valid size",
                answer.count, dimensions, answer.size);
        const int64_t *ids = (const int64_t *)remote->scanned;
        const float *rows = (const void *)(ids + answer.count);
        for (size_t i = 0; i < answer.count; i++)
            visit(context, ids[i], rows + i * dimensions);
    } while (answer.count);
    return 0;
}

static int remote_rows_scan(struct ps_client *client, size_t table, ps_visit *visit, void *context,
                            struct err *err)
{
    struct remote *remote = client->backend;
    if (!remote->scanned)
        remote->scanned = mem_alloc(PS_FRAME_MAX);
    int result = 0;
    for (size_t server = 0; server < client->servers && result == 0; server++)
        result =
            remote_scan_server(client, remote_link(client, server), table, visit, context, err);
    return result;
}

static int remote_flush(struct ps_client *client, struct err *err)
{
    for (size_t server = 0; server < client->servers; server++) {
        int result = ps_link_flush(remote_link(client, server), err);
        if (result < 0)
            return result;
    }
    return 0;
}

static int remote_save(struct ps_client *client, struct err *err)
{
    const struct ps_frame frame = {.type = PS_FRAME_SAVE};
    return remote_request_all(client, &frame, err);
}

static int remote_count(struct ps_client *client, enum ps_counter counter, uint64_t total,
                        uint64_t *ret, struct err *err)
{
    const struct ps_frame frame = {.type = PS_FRAME_COUNT, .table = counter, .first = total};
    struct ps_frame answer;
    int result = ps_link_request(remote_link(client, 0), &frame, NULL, &answer, err);
    if (result == 0)
        *ret = answer.first;
    return result;
}

static int remote_finish(struct ps_client *client, struct err *err)
{
    const struct ps_frame frame = {.type = PS_FRAME_FINISH};
    int result = remote_flush(client, err);
    return result < 0 ? result : remote_request_all(client, &frame, err);
}

static int remote_connect_all(struct ps_client *client, int64_t timeout_ms, struct err *err)
{
    struct remote *remote = client->backend;
    size_t servers = client->servers;
    _cleanup_free_ int *ranks = mem_calloc(servers, sizeof(int)),
                       *fds = mem_calloc(servers, sizeof(int));
    for (size_t i = 0; i < servers; i++)
        ranks[i] = remote->member.workers + (int)i;
    int result = rendezvous_connect_some(&remote->member.rendezvous, ranks, (int)servers, fds, err);
    if (result < 0)
        return result;
    remote->links = mem_calloc(servers, sizeof(*remote->links));
    for (size_t i = 0; i < servers; i++)
        ps_link_init(&remote->links[i], &remote->member, ranks[i], fds[i], timeout_ms,
                     remote_reopen_server, client);
    for (size_t i = 0; i < servers && result == 0; i++) {
        struct ps_frame answer;
        result = remote_attach(remote, &remote->links[i], ps_link_request, &answer, err);
    }
    return result;
}

int ps_client_remote_init(struct ps_client *client, const struct ps_options *options,
                          struct err *err)
{
    static const struct ps_client_ops OPS = {
        .free = remote_free,
        .dense_open = remote_dense_open,
        .dense_pull = remote_dense_pull,
        .dense_push = remote_dense_push,
        .table_open = remote_table_open,
        .rows_pull = remote_rows_pull,
        .rows_push = remote_rows_push,
        .rows_scan = remote_rows_scan,
        .flush = remote_flush,
        .save = remote_save,
        .count = remote_count,
        .finish = remote_finish,
    };
    struct remote *remote = mem_zalloc(sizeof(*remote));
    client->ops = &OPS;
    client->backend = remote;
    rand_secure(&remote->incarnation, sizeof(remote->incarnation));
    int result =
        ps_member_init(&remote->member, options->config, options->shape, options->secret, err);
    if (result < 0)
        return result;
    struct rendezvous_options *rendezvous = &remote->member.rendezvous;
    rendezvous->timeout_ms = options->join_timeout_ms ? options->join_timeout_ms : TIMEOUT_MS;
    rendezvous->report_ms = options->report_ms ? options->report_ms : REPORT_MS;
    rendezvous->stop = options->stop;
    rendezvous->report = options->report;
    rendezvous->waiting = options->waiting;
    rendezvous->context = options->context;
    return remote_connect_all(client, options->timeout_ms ? options->timeout_ms : TIMEOUT_MS, err);
}
