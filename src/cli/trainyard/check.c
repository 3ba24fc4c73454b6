/* trainyard check: finds, shows and repairs damage in the database of a stopped cluster. */
#include "cli/trainyard/commands.h"
#include "cli/trainyard/state_dir.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "loop/loop.h"
#include "store/store_check.h"
#include "store/store_quarantine.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ROWS_MAX = 1000,   /* limit of damaged rows that one check_pass() lists and removes */
    FAULTS_MAX = 20,   /* limit of reported lines about damaged pages */
    PASSES_MAX = 1000, /* ends the command if repairs find damage again and again */
};

struct check_values {
    const char *state;
    int64_t show;
    struct option_list accept;
    bool repair;
};

struct check {
    const struct state_dir *state;
    const struct check_values *wanted;
    const char *directory; /* directory for the data that --repair removes from the database */
    struct loop *loop;
};

static const char *check_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static int open_store(const struct check *check, struct store **ret, struct err *err)
{
    const struct store_options options = {.path = check->state->database, .damage_max = ROWS_MAX};
    return store_open(check->loop, &options, ret, err);
}

static void close_store(const struct check *check, struct store *store)
{
    store_close(store, NULL, NULL);
    loop_run(check->loop);
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void print_line(void *context, const char *text)
{
    (void)context;
    printf("%s\n", text);
}

/* Handles a database that cannot be opened because pages are damaged. Returns 0 if the database was
 * rebuilt, 1 if no repair was requested, or a negative code. */
static int check_pages(const struct check *check, const struct err *why, struct err *err)
{
    const char *path = check->state->database;
    printf("%s\n", why->message);
    int result = store_check_pages(path, FAULTS_MAX, print_line, NULL, err);
    if (!check->wanted->repair)
        return result < 0 ? result : 1;
    struct store_rebuilt rebuilt;
    result = store_rebuild(path, &rebuilt, err);
    if (result < 0)
        return result;
    printf("rebuilt '%s' from the %zu row%s that could be read, with %zu gap%s between them; the "
           "damaged file is kept as '%s'\n",
           path, rebuilt.rows, check_plural(rebuilt.rows), rebuilt.holes,
           check_plural(rebuilt.holes), rebuilt.kept);
    if (rebuilt.holes)
        printf("objects in the gaps are missing, older than they were, or present although they "
               "were deleted\n");
    free(rebuilt.kept);
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Lists the damaged files that the store or an earlier repair has kept. These files do not affect
 * the database. Only the user can decide whether to delete them. */
static void print_kept(const struct check *check, const char *suffix)
{
    _cleanup_free_ char *path = mem_printf("%s%s", check->state->database, suffix);
    for (int n = 1; n <= STORE_QUARANTINE_MAX; n++) {
        _cleanup_free_ char *name = store_quarantine_name(path, n);
        if (name)
            printf("note: '%s' is a damaged file that was kept: delete it when you no longer need "
                   "it\n",
                   name);
    }
}

static const struct store_damaged_row *find_row(const struct store_damage *damage, int64_t revision)
{
    for (size_t i = 0; i < damage->rows_count; i++)
        if (damage->rows[i].revision == revision)
            return &damage->rows[i];
    return NULL;
}

/* Marks the damaged rows that --accept names as intact. The store must be closed; `damage` is a
 * copy of its report. */
static int accept_rows(const struct check *check, const struct store_damage *damage,
                       struct err *err)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < check->wanted->accept.count; i++) {
        const char *text = check->wanted->accept.items[i];
        int64_t revision;
        if (str_to_int64(text, 1, INT64_MAX, &revision, NULL) < 0)
            return err_set(err, ERR_USAGE,
                           "--accept %s: a revision is a whole number, 1 or greater", text);
        const struct store_damaged_row *row = find_row(damage, revision);
        if (!row)
            return err_set(err, ERR_NOT_FOUND, "--accept %s: revision %s is not damaged", text,
                           text);
        result = store_check_accept(check->state->database, row, err);
        if (result == 0)
            printf("accepted revision %s of '%s' as it is\n", text, row->key);
    }
    return result;
}

static int remove_rows(const struct check *check, const struct store_damage *damage,
                       struct err *err)
{
    int result = store_check_remove(check->state->database, damage, check->directory, err);
    if (result == 0 && damage->rows_count)
        printf("removed %zu damaged row%s; the text of each is in '%s', in a file named by its "
               "revision\n",
               damage->rows_count, check_plural(damage->rows_count), check->directory);
    return result;
}

/* Returns a copy of the store's report, because the store must be closed during the repair. */
static struct store_damage take_damage(const struct store *store)
{
    struct store_damage damage = *store_damage(store);
    damage.rows = mem_calloc(damage.rows_count, sizeof(damage.rows[0]));
    for (size_t i = 0; i < damage.rows_count; i++) {
        damage.rows[i] = store_damage(store)->rows[i];
        damage.rows[i].key = mem_strdup(damage.rows[i].key);
    }
    return damage;
}

static void release_damage(struct store_damage *damage)
{
    for (size_t i = 0; i < damage->rows_count; i++)
        free(damage->rows[i].key);
    free(damage->rows);
}

/* Runs one pass: reports the damage, then repairs or accepts it if requested. Sets *ret_again if a
 * change needs another pass. Returns 0 if the database was healthy before the change, 1 if not, or
 * a negative code. */
static int check_pass(const struct check *check, bool accepts, bool *ret_again, struct err *err)
{
    struct store *store;
    struct err why = ERR_INIT;
    *ret_again = false;
    int result = open_store(check, &store, &why);
    if (result == -ERR_INVALID) { /* pages are damaged; a database of another program gives
                                   * ERR_UNSUPPORTED */
        result = check_pages(check, &why, err);
        *ret_again = result == 0;
        return result;
    }
    if (result < 0) {
        *err = why;
        return result;
    }
    store_damage_describe(store_damage(store), print_line, NULL);
    bool is_damaged = store_is_damaged(store);
    struct store_damage damage = take_damage(store);
    close_store(check, store);
    if (accepts && check->wanted->accept.count) {
        result = accept_rows(check, &damage, err);
        *ret_again = true;
    } else if (check->wanted->repair && is_damaged) {
        result = remove_rows(check, &damage, err);
        *ret_again = true;
    }
    release_damage(&damage);
    return result < 0 ? result : is_damaged;
}

static int check_all(const struct check *check, struct err *err)
{
    bool again = true;
    int result = 0;
    for (int i = 0; result >= 0 && again && i < PASSES_MAX; i++)
        result = check_pass(check, i == 0, &again, err);
    if (result < 0)
        return result;
    print_kept(check, "");
    print_kept(check, "-wal");
    if (result == 0)
        printf("'%s' is healthy\n", check->state->database);
    else if (!check->wanted->repair)
        printf(
            "look at a row's text with --show REVISION; keep it unchanged with --accept REVISION, "
            "or remove all damaged rows with --repair\n");
    return result;
}

static int check_show(const struct check *check, struct err *err)
{
    _cleanup_buf_ struct buf text;
    struct store *store;
    buf_init(&text, STORE_VALUE_MAX);
    /* Opening the store saves a copy of a damaged write-ahead log, before another program opens the
     * database. */
    int result = open_store(check, &store, err);
    if (result < 0)
        return result;
    close_store(check, store);
    result = store_check_show(check->state->database, check->wanted->show, &text, err);
    if (result == 0) {
        fwrite(text.data, 1, text.size, stdout);
        putchar('\n');
    }
    return result;
}

/* Locks the state directory, so that `trainyard up` cannot start a server. */
static int lock_state(const struct state_dir *state, int *ret_fd, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_server server = {0};
    if (!file_exists(state->database))
        return err_set(err, ERR_NOT_FOUND, "there is no database in '%s': nothing to check",
                       state->path);
    int result = state_dir_make(state, err);
    if (result == 0)
        result = state_dir_server(arena, state, &server, err);
    if (result == 0 && server.running)
        result = err_set(err, ERR_UNAVAILABLE,
                         "a cluster runs in '%s' (pid %d): run 'trainyard down --state %s' first",
                         state->path, (int)server.pid, str_shell_word(arena, state->path));
    return result < 0 ? result : state_dir_lock(state, ret_fd, err);
}

static int check_run(const void *values, size_t count, const char *const *arguments,
                     struct err *err)
{
    (void)count, (void)arguments;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state;
    struct check check = {.state = &state, .wanted = values};
    _cleanup_fd_ int lock = -1;
    int result = state_dir_resolve(arena, check.wanted->state, &state, err);
    if (result == 0)
        result = lock_state(&state, &lock, err);
    if (result == 0)
        result = loop_new(&check.loop, err);
    if (result < 0)
        return result;
    check.directory = arena_printf(arena, "%s/damaged", state.path);
    result = check.wanted->show ? check_show(&check, err) : check_all(&check, err);
    loop_free(check.loop);
    return result;
}

static const struct option OPTIONS[] = {
    OPTION_STATE(struct check_values),
    {.name = "show",
     .type = OPTION_INT,
     .offset = offsetof(struct check_values, show),
     .min = 1,
     .max = INT64_MAX,
     .value = "REVISION",
     .help = "print the text of this row as it is on disk, and do nothing else"},
    {.name = "accept",
     .type = OPTION_LIST,
     .offset = offsetof(struct check_values, accept),
     .value = "REVISION",
     .help = "declare this damaged row valid as it is, after you checked it with --show"},
    {.name = "repair",
     .type = OPTION_FLAG,
     .offset = offsetof(struct check_values, repair),
     .help = "remove damaged rows, so that each object falls back to its older intact version, and "
             "rebuild a file with damaged pages; the text of each row and the damaged file are "
             "kept in the state directory"},
    {0},
};

const struct command COMMAND_CHECK = {
    .name = "check",
    .summary = "find and repair damage in the database of a cluster that is down",
    .description =
        "Verifies the checksum of every row in the database, the pages of the file and the "
        "write-ahead log, and reports what each damaged row means for its object. 'trainyard up' "
        "starts even if rows are damaged: it logs these rows and does not serve them. The cluster "
        "must be down.\n\n"
        "The exit code is 0 if the database is healthy, also if --accept or --repair made it so, "
        "and "
        "1 if it is damaged.",
    .examples = "trainyard down\n"
                "trainyard check\n"
                "trainyard check --show 1234\n"
                "trainyard check --accept 1234\n"
                "trainyard check --repair\n",
    .options = OPTIONS,
    .values_size = sizeof(struct check_values),
    .run = check_run,
};
