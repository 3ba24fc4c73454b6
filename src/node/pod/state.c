/* The states of a pod's containers, written and read; see pod/state.h. */
#include "node/pod/state.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/pod/record.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum { STOP_MAX = 256 + 6 * POD_MESSAGE_MAX };

static const char *const PHASES[] = {
    [CONTAINER_WAITING] = "waiting",
    [CONTAINER_RUNNING] = "running",
    [CONTAINER_TERMINATED] = "terminated",
};

void pod_state_release(struct pod_state *state)
{
    for (size_t i = 0; i < ARRAY_SIZE(state->news); i++)
        free(state->news[i]);
    free(state->containers);
    *state = (struct pod_state){0};
}

struct container_state *pod_state_add(struct pod_state *state, const char *name)
{
    state->containers =
        mem_realloc(state->containers, (state->count + 1) * sizeof(*state->containers));
    struct container_state *container = &state->containers[state->count++];
    memset(container, 0, sizeof(*container));
    str_copy(container->name, sizeof(container->name), name);
    return container;
}

void pod_state_inherit(struct pod_state *state, struct pod_state *earlier)
{
    state->finished = earlier->finished;
    state->told = earlier->told;
    memcpy(state->reason, earlier->reason, sizeof(state->reason));
    memcpy(state->message, earlier->message, sizeof(state->message));
    for (size_t i = 0; i < ARRAY_SIZE(state->news); i++)
        state->news[i] = TAKE(earlier->news[i]);
}

struct container_state *pod_state_find(const struct pod_state *state, const char *name)
{
    for (size_t i = 0; i < state->count; i++)
        if (str_eq(state->containers[i].name, name))
            return &state->containers[i];
    return NULL;
}

static struct pod_news *make_news(struct pod_state *state, int64_t number)
{
    struct pod_news **slot = &state->news[number % POD_NEWS_MAX];
    free(*slot);
    *slot = mem_zalloc(sizeof(**slot));
    (*slot)->number = state->told = number;
    return *slot;
}

void pod_state_tell(struct pod_state *state, const char *container, bool is_warning,
                    const char *reason, const char *format, ...)
{
    struct pod_news *news = make_news(state, state->told + 1);
    news->is_warning = is_warning;
    str_copy(news->container, sizeof(news->container), container ? container : "");
    str_copy(news->reason, sizeof(news->reason), reason);
    va_list args;
    va_start(args, format);
    vsnprintf(news->message, sizeof(news->message), format, args);
    va_end(args);
}

const struct pod_news *pod_state_news(const struct pod_state *state, int64_t number)
{
    const struct pod_news *news = number > 0 ? state->news[number % POD_NEWS_MAX] : NULL;
    return news && news->number == number ? news : NULL;
}

static void write_news(const struct pod_state *state, struct buf *buf)
{
    for (int64_t number = state->told - POD_NEWS_MAX + 1; number <= state->told; number++) {
        const struct pod_news *news = pod_state_news(state, number);
        if (!news)
            continue;
        record_write_int(buf, "news", number);
        record_write_int(buf, "news-warning", news->is_warning);
        record_write(buf, "news-container", news->container);
        record_write(buf, "news-reason", news->reason);
        record_write(buf, "news-message", news->message);
    }
}

static void write_end(struct buf *buf, const char *which, const struct container_end *end)
{
    if (!end->known)
        return;
    record_write(buf, "end", which);
    record_write_int(buf, "exit", end->exit_code);
    record_write_int(buf, "signal", end->signal);
    record_write_int(buf, "started", end->started_ms);
    record_write_int(buf, "finished", end->finished_ms);
    record_write(buf, "reason", end->reason);
    record_write(buf, "message", end->message);
}

void pod_state_write(const struct pod_state *state, struct buf *buf)
{
    record_write_int(buf, "pod-finished", state->finished);
    if (state->reason[0]) {
        record_write(buf, "pod-reason", state->reason);
        record_write(buf, "pod-message", state->message);
    }
    write_news(state, buf);
    for (size_t i = 0; i < state->count; i++) {
        const struct container_state *container = &state->containers[i];
        record_write(buf, "container", container->name);
        record_write(buf, "image", container->image);
        record_write(buf, "image-id", container->image_id);
        record_write(buf, "phase", PHASES[container->phase]);
        record_write(buf, "reason", container->reason);
        record_write(buf, "message", container->message);
        record_write_int(buf, "started", container->started_ms);
        record_write_int(buf, "next-start", container->next_start_ms);
        record_write_int(buf, "pid", container->pid);
        record_write_int(buf, "restarts", container->restarts);
        record_write_int(buf, "level", container->level);
        record_write_int(buf, "is-started", container->started);
        record_write_int(buf, "is-ready", container->ready);
        write_end(buf, "now", &container->end);
        write_end(buf, "last", &container->last);
    }
}

struct parser {
    struct pod_state *state;
    struct container_state *container;
    struct container_end *end;
    struct pod_news *news;
    struct err *err;
};

static int parse_int(struct parser *p, const char *value, int64_t max, int64_t *ret)
{
    return str_to_int64(value, 0, max, ret, p->err);
}

static int parse_small(struct parser *p, const char *value, int *ret)
{
    int64_t number;
    int result = parse_int(p, value, INT_MAX, &number);
    if (result == 0)
        *ret = (int)number;
    return result;
}

static int parse_phase(struct parser *p, const char *value)
{
    for (size_t i = 0; i < ARRAY_SIZE(PHASES); i++) {
        if (str_eq(value, PHASES[i])) {
            p->container->phase = (enum container_phase)i;
            /* Unless it says otherwise below: a supervisor that knows no probes does not. */
            p->container->started = p->container->ready = i == CONTAINER_RUNNING;
            return 0;
        }
    }
    return err_set(p->err, ERR_BAD_REQUEST, "unknown phase '%s'", value);
}

static int parse_end(struct parser *p, const char *key, const char *value)
{
    struct container_end *end = p->end;
    if (str_eq(key, "exit"))
        return parse_small(p, value, &end->exit_code);
    if (str_eq(key, "signal"))
        return parse_small(p, value, &end->signal);
    if (str_eq(key, "started"))
        return parse_int(p, value, INT64_MAX, &end->started_ms);
    if (str_eq(key, "finished"))
        return parse_int(p, value, INT64_MAX, &end->finished_ms);
    if (str_eq(key, "reason"))
        str_copy(end->reason, sizeof(end->reason), value);
    else if (str_eq(key, "message"))
        str_copy(end->message, sizeof(end->message), value);
    else
        return err_set(p->err, ERR_BAD_REQUEST, "unknown key '%s'", key);
    return 0;
}

static int parse_container(struct parser *p, const char *key, const char *value)
{
    struct container_state *container = p->container;
    if (str_eq(key, "phase"))
        return parse_phase(p, value);
    if (str_eq(key, "started"))
        return parse_int(p, value, INT64_MAX, &container->started_ms);
    if (str_eq(key, "next-start"))
        return parse_int(p, value, INT64_MAX, &container->next_start_ms);
    if (str_eq(key, "pid"))
        return parse_int(p, value, INT_MAX, &container->pid);
    if (str_eq(key, "restarts"))
        return parse_int(p, value, INT_MAX, &container->restarts);
    if (str_eq(key, "level"))
        return parse_small(p, value, &container->level);
    if (str_eq(key, "is-started") || str_eq(key, "is-ready")) {
        *(str_eq(key, "is-ready") ? &container->ready : &container->started) = str_eq(value, "1");
        return 0;
    }
    if (str_eq(key, "reason"))
        str_copy(container->reason, sizeof(container->reason), value);
    else if (str_eq(key, "image"))
        str_copy(container->image, sizeof(container->image), value);
    else if (str_eq(key, "image-id"))
        str_copy(container->image_id, sizeof(container->image_id), value);
    else if (str_eq(key, "message"))
        str_copy(container->message, sizeof(container->message), value);
    else
        return err_set(p->err, ERR_BAD_REQUEST, "unknown key '%s'", key);
    return 0;
}

/* 1: the key is none of these. */
static int parse_news(struct parser *p, const char *key, const char *value)
{
    if (str_eq(key, "news")) {
        int64_t number;
        int result = str_to_int64(value, 1, INT64_MAX / 2, &number, p->err);
        p->news = result < 0 ? NULL : make_news(p->state, number);
        return result;
    }
    if (!p->news)
        return 1;
    if (str_eq(key, "news-warning"))
        p->news->is_warning = str_eq(value, "1");
    else if (str_eq(key, "news-container"))
        str_copy(p->news->container, sizeof(p->news->container), value);
    else if (str_eq(key, "news-reason"))
        str_copy(p->news->reason, sizeof(p->news->reason), value);
    else if (str_eq(key, "news-message"))
        str_copy(p->news->message, sizeof(p->news->message), value);
    else
        return 1;
    return 0;
}

/* 1: the key is none of these. */
static int parse_pod(struct parser *p, const char *key, const char *value)
{
    struct pod_state *state = p->state;
    if (str_eq(key, "pod-finished"))
        state->finished = str_eq(value, "1");
    else if (str_eq(key, "pod-reason"))
        str_copy(state->reason, sizeof(state->reason), value);
    else if (str_eq(key, "pod-message"))
        str_copy(state->message, sizeof(state->message), value);
    else
        return parse_news(p, key, value);
    return 0;
}

static int parse_record(struct parser *p, const char *key, const char *value)
{
    int result = parse_pod(p, key, value);
    if (result <= 0)
        return result;
    if (str_eq(key, "container")) {
        if (p->state->count == POD_CONTAINERS_MAX)
            return err_set(p->err, ERR_TOO_MANY, "more than %d containers", POD_CONTAINERS_MAX);
        p->container = pod_state_add(p->state, value);
        p->end = NULL;
        return 0;
    }
    if (!p->container)
        return err_set(p->err, ERR_BAD_REQUEST, "'%s' before any container", key);
    if (str_eq(key, "end")) {
        p->end = str_eq(value, "last") ? &p->container->last : &p->container->end;
        p->end->known = true;
        return 0;
    }
    return p->end ? parse_end(p, key, value) : parse_container(p, key, value);
}

int pod_state_parse(char *text, size_t size, struct pod_state *ret, struct err *err)
{
    _cleanup_pod_state_ struct pod_state state = {0};
    struct parser parser = {.state = &state, .err = err};
    struct record_reader reader;
    record_reader_init(&reader, text, size);
    const char *key;
    char *value;
    int got;
    while ((got = record_next(&reader, &key, &value, err)) > 0)
        if (parse_record(&parser, key, value) < 0)
            return err_wrap(err, "line %u", reader.line);
    if (got == 0)
        *ret = TAKE(state);
    return got;
}

int pod_state_load(const char *directory, struct pod_state *ret, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/state", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_STATE_MAX);
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    if (pod_state_parse(text.data, text.size, ret, err) < 0)
        return err_wrap(err, "'%s'", path);
    return 0;
}

static int write_file(const char *directory, const struct pod_state *state,
                      int (*write)(const char *path, const void *data, size_t size, mode_t mode,
                                   struct err *err),
                      struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/state", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_STATE_MAX);
    pod_state_write(state, &text);
    if (text.overflowed)
        return err_set(err, ERR_TOO_LARGE, "'%s' would be too large", path);
    return write(path, text.data, text.size, 0600, err);
}

int pod_state_store(const char *directory, const struct pod_state *state, struct err *err)
{
    return write_file(directory, state, file_write_atomic, err);
}

int pod_state_show(const char *directory, const struct pod_state *state, struct err *err)
{
    return write_file(directory, state, file_replace, err);
}

static const char PAUSED[] = "paused", EVICTED[] = "evicted", DELETED[] = "deleted";

static void mark(const char *directory, const char *name)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

static bool is_marked(const char *directory, const char *name)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    return file_exists(path);
}

void pod_pause_clear(const char *directory)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, PAUSED);
    unlink(path);
}

int pod_stop_store(const char *directory, const struct pod_stop *stop, struct err *err)
{
    if (stop->pause)
        mark(directory, PAUSED);
    if (str_eq(stop->reason, "Evicted"))
        mark(directory, EVICTED);
    if (stop->deleted)
        mark(directory, DELETED);
    _cleanup_free_ char *path = mem_printf("%s/stop", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, STOP_MAX);
    record_write_int(&text, "grace", stop->grace_ms);
    record_write(&text, "reason", stop->reason);
    record_write(&text, "message", stop->message);
    return file_replace(path, text.data, text.size, 0600, err);
}

static int load_order(const char *directory, struct pod_stop *ret, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/stop", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, STOP_MAX);
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    struct pod_stop stop = {0};
    struct record_reader reader;
    record_reader_init(&reader, text.data, text.size);
    const char *key;
    char *value;
    while ((result = record_next(&reader, &key, &value, err)) > 0) {
        int64_t number;
        if (str_eq(key, "reason"))
            str_copy(stop.reason, sizeof(stop.reason), value);
        else if (str_eq(key, "message"))
            str_copy(stop.message, sizeof(stop.message), value);
        else if (str_to_int64(value, 0, INT_MAX, &number, err) < 0)
            return err_wrap(err, "'%s'", path);
        else if (str_eq(key, "grace"))
            stop.grace_ms = number;
    }
    if (result == 0)
        *ret = stop;
    return result;
}

void pod_stop_load(const char *directory, struct pod_stop *ret)
{
    (void)load_order(directory, ret, NULL);
    ret->pause = is_marked(directory, PAUSED);
    ret->deleted = is_marked(directory, DELETED);
    if (!ret->reason[0] && is_marked(directory, EVICTED)) {
        str_copy(ret->reason, sizeof(ret->reason), "Evicted");
        str_copy(ret->message, sizeof(ret->message),
                 "The pod used more of the disk than it may. What it was could not be written "
                 "down: there was no room for it. ");
    }
}

void pod_stop_tell(int supervisor_pidfd)
{
    siginfo_t info = {.si_signo = SIGTERM, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    (void)pidfd_send_signal(supervisor_pidfd, SIGTERM, &info, 0);
}

bool pod_stop_is_told(int signal_code)
{
    return signal_code == SI_QUEUE;
}

int pod_deadline_store(const char *directory, int64_t wall_ms, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/deadline", directory);
    _cleanup_free_ char *text = mem_printf("%lld", (long long)wall_ms);
    return file_replace(path, text, strlen(text), 0600, err);
}

int pod_deadline_load(const char *directory, int64_t *ret_wall_ms, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/deadline", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, STOP_MAX);
    int result = file_read(path, &text, err);
    return result < 0 ? result : str_to_int64(text.data, 1, INT64_MAX, ret_wall_ms, err);
}

char *pod_log_path(const char *directory, const char *container, int64_t run)
{
    return mem_printf("%s/logs/%s.%lld.log", directory, container, (long long)run);
}

char *pod_message_path(const char *directory, const char *container)
{
    return mem_printf("%s/messages/%s", directory, container);
}
