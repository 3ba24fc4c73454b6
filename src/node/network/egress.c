/* Chooses, sets up and records egress; see network/egress.h. */
#include "node/network/egress_internal.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/pod/record/record.h"
#include "node/pod/record/record_rows.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 16 * 1024 };

static const char *const KINDS[] = {
    [EGRESS_NONE] = "none", [EGRESS_KERNEL] = "kernel", [EGRESS_PROGRAM] = "program"};

void egress_release(struct egress *way)
{
    free(way->program);
    free(way->complaint);
    *way = (struct egress){0};
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The fields of struct egress that are stored in the file. */
struct egress_record {
    enum egress_kind kind;
    char address[INET_ADDRSTRLEN];
    const char *program, *complaint;
};

static const struct record_row EGRESS_ROWS[] = {
    RECORD_ROW_WORD(struct egress_record, kind, "kind", KINDS, ARRAY_SIZE(KINDS)),
    {.key = "address",
     .type = RECORD_CHARS,
     .offset = offsetof(struct egress_record, address),
     .size = INET_ADDRSTRLEN,
     .skips_empty = true},
    RECORD_ROW_TEXT(struct egress_record, program, "program"),
    RECORD_ROW_TEXT(struct egress_record, complaint, "complaint"),
};
static const struct record_table EGRESS_TABLE = RECORD_TABLE(EGRESS_ROWS);

int egress_load(const char *state_dir, struct egress *ret, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/run/way-out", state_dir);
    _cleanup_buf_ struct buf text;
    struct egress_record record = {.kind = EGRESS_NONE};
    struct record_reader reader;
    const char *key;
    char *value;
    *ret = (struct egress){0};
    buf_init(&text, TEXT_MAX);
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    record_reader_init(&reader, text.data, text.size);
    while ((result = record_next(&reader, &key, &value, err)) > 0)
        (void)record_rows_read(&EGRESS_TABLE, NULL, &record, key, value, NULL);
    if (result < 0)
        return result;
    ret->kind = record.kind;
    (void)inet_pton(AF_INET, record.address, &ret->address);
    ret->program = record.program ? mem_strdup(record.program) : NULL;
    ret->complaint = record.complaint ? mem_strdup(record.complaint) : NULL;
    return 0;
}

static void egress_store(const char *state_dir, const struct egress *way)
{
    _cleanup_free_ char *path = mem_printf("%s/run/way-out", state_dir);
    _cleanup_buf_ struct buf text;
    struct egress_record record = {
        .kind = way->kind, .program = way->program, .complaint = way->complaint};
    if (way->kind == EGRESS_KERNEL)
        inet_ntop(AF_INET, &way->address, record.address, sizeof(record.address));
    buf_init(&text, TEXT_MAX);
    record_rows_write(&EGRESS_TABLE, &record, &text);
    /* If the record is lost, the next run replaces the link and the tables, because their names are
     * derived from the state directory. */
    (void)file_write_atomic(path, text.data, text.size, 0600, NULL);
}

/* ---- deciding -------------------------------------------------------------------------------- */

static char *find_program(void)
{
    static const char *const names[] = {"pasta", "slirp4netns"};
    const char *places = getenv("PATH");
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    size_t count;
    char **list = str_split(arena, places ? places : "/usr/bin:/bin", ':', &count);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        for (size_t k = 0; k < count; k++) {
            const char *path = arena_printf(arena, "%s/%s", list[k], names[i]);
            if (list[k][0] == '/' && access(path, X_OK) == 0)
                return mem_strdup(path);
        }
    }
    return NULL;
}

/* An ordinary user's egress is a program, which the helper runs. */
static int start_program(const struct helper_options *options, struct egress *way, struct err *err)
{
    _cleanup_fd_ int pidfd = -1;
    free(way->program);
    way->program = find_program();
    if (!way->program)
        return err_set(err, ERR_NOT_FOUND,
                       "install 'passt' (or 'slirp4netns'), or start it as root");
    way->kind = EGRESS_PROGRAM; /* if the program does not start now, the keeper tries again */
    if (helper_process_find(&HELPER_EGRESS, options->state_dir, &pidfd, NULL) == 0)
        return 0;
    struct helper_options helper = *options;
    helper.argument = way->program;
    return helper_process_start(&HELPER_EGRESS, &helper, err);
}

void egress_open(const struct helper_options *options, int network_fd, bool nested)
{
    struct egress way = {0};
    struct err err = ERR_INIT;
    (void)egress_load(options->state_dir, &way, NULL);
    free(way.complaint);
    way.complaint = NULL;
    int result = egress_forbid_machine(network_fd, &err);
    if (result == 0)
        result = egress_masquerade_inside(network_fd, &err);
    if (result == 0)
        result = nested ? start_program(options, &way, &err)
                        : egress_make_kernel(options->state_dir, network_fd, &way, &err);
    if (result < 0) {
        free(way.complaint);
        way.complaint = mem_printf("pods do not reach beyond the cluster: %s", err.message);
        if (way.kind == EGRESS_KERNEL || !way.program)
            way.kind = EGRESS_NONE;
    }
    egress_store(options->state_dir, &way);
    egress_release(&way);
}

char *egress_complaint(struct arena *arena, const char *state_dir)
{
    _cleanup_fd_ int pidfd = -1;
    struct egress way;
    char *text = NULL;
    if (egress_load(state_dir, &way, NULL) < 0)
        return NULL;
    /* The program may have been started again, or have ended. */
    bool is_program = way.kind == EGRESS_PROGRAM,
         lives = is_program && helper_process_find(&HELPER_EGRESS, state_dir, &pidfd, NULL) == 0;
    if (is_program && !lives && !way.complaint)
        text = arena_printf(arena, "pods do not reach beyond the cluster: '%s' has ended",
                            way.program);
    else if (way.complaint && !lives)
        text = arena_strdup(arena, way.complaint);
    egress_release(&way);
    return text;
}

int egress_close(const char *state_dir, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/run/way-out", state_dir);
    struct egress way;
    /* The names of root's link and tables are derived from the state directory, so they are removed
     * even if the record says EGRESS_NONE. Without a record nothing is removed. */
    bool known = egress_load(state_dir, &way, NULL) == 0;
    int result = 0;
    if (known && geteuid() == 0 && way.kind != EGRESS_PROGRAM)
        result = egress_remove_kernel(state_dir, err);
    egress_release(&way);
    (void)unlink(path);
    return result < 0 ? err_wrap(err, "cannot remove the egress of the pod network") : 0;
}
