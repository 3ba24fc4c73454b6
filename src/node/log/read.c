/* Chooses runs, finds the last lines and converts records; see log/read.h. */
#include "node/log/read.h"

#include "node/log/container_log.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/pod_container.h"

#include <string.h>
#include <unistd.h>

/* The offset of the tag (F or P) in a record. The time and the stream name before it have a fixed
 * size. */
enum { TAG_OFFSET = sizeof("2026-11-15T02:00:00.123456789Z stdout ") - 1 };

/* Sets the error for a container that has not started. The reason is that of the pod's status, or
 * ContainerCreating if the status has none. */
static int waits_to_start(const struct json *pod, const char *container, struct err *err)
{
    const struct json *waiting =
        json_at(kube_pod_container_status(pod, container), "state", "waiting", NULL);
    const char *reason = json_get_string(waiting, "reason", "ContainerCreating");
    const char *message = json_get_string(waiting, "message", "");
    return err_set(err, ERR_BAD_REQUEST,
                   "container \"%s\" in pod \"%s\" is waiting to start: %.100s%s%.500s", container,
                   kube_meta_name(pod), reason, message[0] ? ": " : "", message);
}

int node_log_choose_run(const struct container_state *state, const struct json *pod,
                        const char *container, bool previous, int64_t *ret_run, struct err *err)
{
    if (!state || (state->phase == CONTAINER_WAITING && !state->last.known))
        return waits_to_start(pod, container, err);
    /* A container that waits for its next run has only logs of its previous runs. */
    int64_t run = state->phase == CONTAINER_WAITING ? state->restarts - 1 : state->restarts;
    if (previous && !state->last.known)
        return err_set(err, ERR_BAD_REQUEST,
                       "previous terminated container \"%s\" in pod \"%s\" not found", container,
                       kube_meta_name(pod));
    *ret_run = previous ? state->restarts - 1 : run;
    return 0;
}

/* Returns true for an F record. `record` is the offset of the record in the file. */
static bool ends_line(int fd, int64_t record)
{
    char tag;
    return pread(fd, &tag, 1, record + TAG_OFFSET) == 1 && tag == 'F';
}

/* Goes back over the records. Each F record ends a line. In the newest file, the last record counts
 * as the end of a line too. */
int64_t node_log_tail_offset(int fd, int64_t size, bool is_newest, int64_t *lines)
{
    const int64_t wanted = *lines;
    char data[4096];
    int64_t later = size, seen = 0; /* `later` is the offset of the record after the current one */
    for (int64_t block_end = size; block_end > 0;) {
        int64_t block = block_end > (int64_t)sizeof(data) ? block_end - (int64_t)sizeof(data) : 0;
        if (pread(fd, data, (size_t)(block_end - block), block) != block_end - block)
            return 0;
        for (int64_t at = block_end - 1; at >= block; at--) {
            bool is_start = at == 0 || (data[at - block] == '\n' && at != size - 1);
            if (!is_start)
                continue;
            int64_t record = at == 0 ? 0 : at + 1;
            if (ends_line(fd, record) || (later == size && is_newest))
                seen++;
            if (seen > wanted) {
                *lines = 0;
                return later;
            }
            later = record;
        }
        block_end = block;
    }
    *lines = wanted - seen;
    return 0;
}

size_t node_log_render(const char *data, size_t size, bool timestamps, int64_t since_ms,
                       struct buf *ret_text)
{
    size_t used = 0;
    for (const char *newline; (newline = memchr(data + used, '\n', size - used));) {
        const char *line = data + used;
        struct node_log_record record;
        used = (size_t)(newline - data) + 1;
        if (!node_log_record_parse(line, (size_t)(newline - line), &record) ||
            record.wall_ms < since_ms)
            continue;
        if (timestamps) {
            buf_append(ret_text, record.time, record.time_size);
            buf_append_char(ret_text, ' ');
        }
        buf_append(ret_text, record.text, record.text_size);
        if (record.is_full)
            buf_append_char(ret_text, '\n');
    }
    return used;
}
