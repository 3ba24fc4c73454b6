/* Chooses the kind of egress, sets it up and stores it; see network/egress.h. */
#include "node/network/egress_internal.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/network/namespace_probe.h"
#include "node/pod/record/record.h"
#include "node/pod/record/record_rows.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 16 * 1024 };

static const char *const KINDS[] = {
    [EGRESS_NONE] = "none", [EGRESS_KERNEL] = "kernel", [EGRESS_PROGRAM] = "program"};

void egress_release(struct egress *egress)
{
    free(egress->program);
    free(egress->complaint);
    *egress = (struct egress){0};
}

/* ---- the file -------------------------------------------------------------------------------- */

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

static void egress_store(const char *state_dir, const struct egress *egress)
{
    _cleanup_free_ char *path = mem_printf("%s/run/way-out", state_dir);
    _cleanup_buf_ struct buf text;
    struct egress_record record = {
        .kind = egress->kind, .program = egress->program, .complaint = egress->complaint};
    if (egress->kind == EGRESS_KERNEL)
        inet_ntop(AF_INET, &egress->address, record.address, sizeof(record.address));
    buf_init(&text, TEXT_MAX);
    record_rows_write(&EGRESS_TABLE, &record, &text);
    /* If the file is lost, the next run replaces the link and the tables, because their names are
     * derived from the state directory. */
    (void)file_write_atomic(path, text.data, text.size, 0600, NULL);
}

/* ---- setup ----------------------------------------------------------------------------------- */

/* Returns the path of pasta or slirp4netns, which the caller frees, or NULL. */
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

/* Starts the helper that runs the program, unless it runs already. */
static int start_program(const struct helper_options *options, struct egress *egress,
                         struct err *err)
{
    _cleanup_fd_ int pidfd = -1;
    free(egress->program);
    egress->program = find_program();
    if (!egress->program)
        return err_set(err, ERR_NOT_FOUND,
                       "install 'passt' (or 'slirp4netns'), or start the cluster as root");
    egress->kind = EGRESS_PROGRAM; /* if the program does not start now, the keeper tries again */
    if (helper_process_find(&HELPER_EGRESS, options->state_dir, &pidfd, NULL) == 0)
        return 0;
    struct helper_options helper = *options;
    helper.argument = egress->program;
    return helper_process_start(&HELPER_EGRESS, &helper, err);
}

void egress_open(const struct helper_options *options, int network_fd, bool nested)
{
    struct egress egress = {0};
    struct err err = ERR_INIT;
    (void)egress_load(options->state_dir, &egress, NULL);
    free(egress.complaint);
    egress.complaint = NULL;
    int result = egress_forbid_machine(network_fd, &err);
    if (result == 0)
        result = egress_masquerade_inside(network_fd, &err);
    if (result == 0)
        result = nested ? start_program(options, &egress, &err)
                        : egress_make_kernel(options->state_dir, network_fd, &egress, &err);
    if (result < 0) {
        free(egress.complaint);
        egress.complaint =
            mem_printf("pods cannot connect to addresses outside the cluster: %s", err.message);
        if (egress.kind == EGRESS_KERNEL || !egress.program)
            egress.kind = EGRESS_NONE;
    }
    egress_store(options->state_dir, &egress);
    egress_release(&egress);
}

char *egress_complaint(struct arena *arena, const char *state_dir)
{
    _cleanup_fd_ int pidfd = -1;
    struct egress egress;
    char *text = NULL;
    if (egress_load(state_dir, &egress, NULL) < 0)
        return NULL;
    /* The file may be outdated: the program may have started later, or have ended. */
    bool is_program = egress.kind == EGRESS_PROGRAM,
         lives = is_program && helper_process_find(&HELPER_EGRESS, state_dir, &pidfd, NULL) == 0;
    if (is_program && !lives && !egress.complaint)
        text = arena_printf(arena,
                            "pods cannot connect to addresses outside the cluster: '%s' has ended",
                            egress.program);
    else if (egress.complaint && !lives)
        text = arena_strdup(arena, egress.complaint);
    egress_release(&egress);
    return text;
}

int egress_close(const char *state_dir, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/run/way-out", state_dir);
    struct egress egress;
    /* The names of root's link and table are derived from the state directory, so they are removed
     * even if the file says EGRESS_NONE. Without the file nothing is removed. */
    bool known = egress_load(state_dir, &egress, NULL) == 0;
    int result = 0;
    if (known && egress.kind != EGRESS_PROGRAM && namespace_probe_is_privileged())
        result = egress_remove_kernel(state_dir, err);
    egress_release(&egress);
    if (result < 0)
        return err_wrap(err, "cannot remove the egress of the pod network");
    (void)unlink(path);
    return 0;
}
