/* Implements the forming of groups; see formation.h. The agreement on members is in
 * peer_discovery.c, and the connections are made in rendezvous.c. */
#include "comm/group/formation.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/boot.h"
#include "comm/cluster/tf_config.h"
#include "comm/group/membership.h"
#include "comm/group/peer_discovery.h"
#include "comm/transport/secret.h"

#include <stdio.h>
#include <string.h>

enum {
    TIMEOUT_MS = 5 * 60 * 1000,
    JOIN_MIN_MS = 10000, /* minimum time limit of the first call after a rendezvous */
    REPORT_MS = 5000,
    PEER_TIMEOUT_MS = 5000,
};

struct formation {
    struct rendezvous_options rendezvous;  /* options for the chief and all workers */
    struct tls_stream_context *encryption; /* NULL: connections are not encrypted */
    struct buf secret;
    int64_t timeout_ms;
    void (*waited)(void *context, const char *task, int64_t ns); /* see struct comm_options */
    /* The following fields are set only in an elastic group. */
    int min, start; /* see struct membership_options */
    int64_t start_after_ms, peer_timeout_ms;
    struct peer_listener listener;
    /* The latest generation on which the tasks agreed; 0: none. */
    uint64_t generation;
    int *numbers;           /* by rank: the task of each member of generation `generation` */
    int size;               /* number of members of generation `generation` */
    uint64_t live;          /* latest generation in which this task had training state; 0: none */
    bool *previous_members; /* by task: whether it was a member of generation `live` */
    /* By task: whether it is a member of the latest proposal that this task accepted since
     * `live`. */
    bool *accepted_members;
    enum peer_outcome *outcomes; /* by task: the outcome of each member of the previous group */
    int64_t ended_ms;            /* when `outcomes` was recorded; 0: `outcomes` is empty */
    bool *dismissed;             /* by task: whether the member has announced that it ends */
    bool expelled; /* the other tasks continued without this task, or may have done so */
    uint64_t machine, *machines; /* see struct membership_options */
};

/* Checks that this task can be in a group. Sets *ret_size to how many tasks are chief or worker;
 * these are the first tasks of the description. */
static int formation_check_config(const struct ty_tf_config *config, int *ret_size, struct err *err)
{
    const struct ty_task *self = &config->tasks[config->self];
    if (self->role != TY_ROLE_CHIEF && self->role != TY_ROLE_WORKER)
        return err_set(
            err, ERR_UNSUPPORTED,
            "%s %d does not take part in synchronous training: only a chief and workers do",
            ty_role_name(self->role), self->index);
    if (config->sparse)
        return err_set(err, ERR_UNSUPPORTED,
                       "this TF_CONFIG has the sparse form of dynamic workers, which does not name "
                       "the other workers: synchronous training needs all of them; set "
                       "enableDynamicWorker to false or train with parameter servers");
    *ret_size = (int)tf_config_workers(config);
    return 0;
}

/* Returns a hash of the boot id of this machine, or 0 if it is not known. */
static uint64_t formation_machine(void)
{
    char id[BOOT_ID_MAX];
    return boot_id(id, NULL) == 0 ? hash_fnv1a(HASH_FNV_START, id, strlen(id)) : 0;
}

/* Fills the fields of an elastic group and opens the listener. */
static int formation_init_elastic(struct formation *formation, const struct comm_options *options,
                                  struct err *err)
{
    struct rendezvous_options *rendezvous = &formation->rendezvous;
    size_t size = (size_t)rendezvous->size;
    rendezvous->elastic = true;
    rendezvous->listener = &formation->listener;
    formation->min = options->min_members;
    formation->start = options->start_members ? options->start_members : rendezvous->size;
    formation->start_after_ms = options->start_after_ms;
    formation->peer_timeout_ms =
        options->peer_timeout_ms ? options->peer_timeout_ms : PEER_TIMEOUT_MS;
    formation->numbers = mem_calloc(size, sizeof(*formation->numbers));
    formation->previous_members = mem_calloc(size, sizeof(*formation->previous_members));
    formation->accepted_members = mem_calloc(size, sizeof(*formation->accepted_members));
    formation->outcomes = mem_calloc(size, sizeof(*formation->outcomes));
    formation->dismissed = mem_calloc(size, sizeof(*formation->dismissed));
    formation->machines = mem_calloc(size, sizeof(*formation->machines));
    formation->machine = formation_machine();
    rendezvous_identify(rendezvous, &formation->listener.identity);
    return peer_listener_open(&formation->listener, &rendezvous->tasks[rendezvous->rank],
                              rendezvous->size, err);
}

int formation_new(const struct comm_options *options, struct formation **ret, struct err *err)
{
    int size = 0, channels = options->channels ? options->channels : 1;
    int result = formation_check_config(options->config, &size, err);
    if (result < 0)
        return result;
    if (channels < 1 || channels > COMM_CHANNELS_MAX)
        return err_set(err, ERR_INVALID,
                       "the number of channels is %d, but it must be between 1 and %d", channels,
                       COMM_CHANNELS_MAX);
    _cleanup_(cleanup_formation) struct formation *formation = mem_zalloc(sizeof(*formation));
    formation->listener.fd = -1;
    buf_init(&formation->secret, SECRET_MAX);
    if (options->secret)
        buf_append_str(&formation->secret, options->secret);
    else
        result = secret_from_environment(&formation->secret, err);
    if (result < 0)
        return result;
    if (formation->secret.overflowed)
        return err_set(err, ERR_TOO_LARGE, "the job secret is longer than %d bytes", SECRET_MAX);
    if (options->encrypt && !formation->secret.size)
        return err_set(
            err, ERR_INVALID,
            "connections cannot be encrypted without a job secret: give all tasks the same "
            "TRAINYARD_JOB_SECRET or TRAINYARD_JOB_SECRET_FILE");
    if (options->encrypt && (result = connection_encryption_new(&formation->encryption, err)) < 0)
        return result;
    struct ty_task *tasks = mem_calloc((size_t)size, sizeof(*tasks));
    memcpy(tasks, options->config->tasks, (size_t)size * sizeof(*tasks));
    formation->waited = options->waited;
    formation->timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS;
    formation->rendezvous = (struct rendezvous_options){
        .tasks = tasks,
        .rank = (int)options->config->self,
        .size = size,
        .channels = channels,
        .master_form = options->config->master_form,
        .shape = options->shape,
        .shape_text = options->shape_text,
        .secret = formation->secret.data,
        .secret_size = formation->secret.size,
        .encryption = formation->encryption,
        .timeout_ms = options->join_timeout_ms ? options->join_timeout_ms : TIMEOUT_MS,
        .report_ms = options->report_ms ? options->report_ms : REPORT_MS,
        .stop = options->stop,
        .report = options->report,
        .waiting = options->waiting,
        .context = options->context,
    };
    /* In the master form, the tasks learn the addresses of each other only when all have connected
     * to rank 0. So a group of only some of the tasks cannot form. */
    if (options->min_members && size > 1 && size <= MEMBERSHIP_TASKS_MAX &&
        !options->config->master_form)
        result = formation_init_elastic(formation, options, err);
    else if (options->start_members && options->start_members < size && options->report)
        options->report(
            options->context,
            options->config->master_form
                ? "--min-workers has no effect where only rank 0 has an address (MASTER_ADDR): all "
                  "tasks are needed"
                : "--min-workers has no effect, because the cluster has too many tasks: all "
                  "tasks are needed");
    if (result == 0)
        *ret = TAKE(formation);
    return result;
}

struct formation *formation_free(struct formation *formation)
{
    if (!formation)
        return NULL;
    peer_listener_close(&formation->listener);
    free((void *)formation->rendezvous.tasks);
    buf_release(&formation->secret);
    tls_stream_context_free(formation->encryption);
    free(formation->numbers);
    free(formation->previous_members);
    free(formation->accepted_members);
    free(formation->outcomes);
    free(formation->dismissed);
    free(formation->machines);
    free(formation);
    return NULL;
}

/* Makes the first call of the group, which returns only when every member is connected to every
 * other member. On failure, releases `connections`. */
static int formation_join(const struct formation *formation,
                          const struct rendezvous_options *rendezvous,
                          struct connection_set *connections, int64_t timeout_ms,
                          struct control **ret, struct err *err)
{
    int64_t report = rendezvous->report_ms;
    /* Report a late member before its peer timeout expires. */
    if (formation->peer_timeout_ms && formation->peer_timeout_ms * 2 / 5 < report)
        report = formation->peer_timeout_ms * 2 / 5;
    const struct control_options control_options = {
        .tasks = rendezvous->tasks,
        .rank = rendezvous->rank,
        .size = rendezvous->size,
        .timeout_ms = timeout_ms,
        .report_ms = report,
        .peer_timeout_ms = formation->peer_timeout_ms,
        .stop = rendezvous->stop,
        .report = rendezvous->report,
        .waiting = rendezvous->waiting,
        .waited = formation->waited,
        .context = rendezvous->context,
    };
    struct control *control = control_new(&control_options, connections);
    int result = control_begin_call(control, CONTROL_CALL_JOIN, 0, err);
    if (result == 0 && rendezvous->size > 1)
        result = control_barrier(control, err);
    if (result < 0) {
        control_free(control);
        connection_set_release(connections);
        return result;
    }
    control_set_timeout(control, formation->timeout_ms);
    /* While this task has no training state, the group may just be starting. Members may then be
     * reading a checkpoint and not answer, so the longer timeout applies. */
    if (formation->peer_timeout_ms && !formation->live)
        control_set_peer_timeout(control, formation->timeout_ms);
    *ret = control;
    return 0;
}

/* Forms a group of the chief and all workers. Sets *ret_met to whether all members have connected:
 * if so, another attempt makes sense after a failure. */
static int formation_connect_all(struct formation *formation, int64_t deadline,
                                 struct control **ret, struct connection_set *ret_connections,
                                 bool *ret_met, struct err *err)
{
    struct rendezvous_options rendezvous = formation->rendezvous;
    rendezvous.timeout_ms = deadline - moment_monotonic_ms();
    int result = rendezvous_connect_all(&rendezvous, ret_connections, err);
    *ret_met = result == 0;
    /* The last member may have connected just before the deadline, so the first call gets a minimum
     * time. */
    int64_t left = deadline - moment_monotonic_ms();
    left = left > JOIN_MIN_MS ? left : JOIN_MIN_MS;
    return result < 0 ? result
                      : formation_join(formation, &rendezvous, ret_connections, left, ret, err);
}

/* Connects the members that have agreed to be the next group. */
static int formation_connect_members(struct formation *formation, const bool *list,
                                     struct control **ret, struct connection_set *ret_connections,
                                     struct err *err)
{
    struct rendezvous_options rendezvous = formation->rendezvous;
    struct ty_task *tasks = mem_calloc((size_t)rendezvous.size, sizeof(*tasks));
    int size = 0;
    for (int task = 0; task < formation->rendezvous.size; task++) {
        if (!list[task])
            continue;
        if (task == formation->rendezvous.rank)
            rendezvous.rank = size;
        formation->numbers[size] = task;
        tasks[size++] = formation->rendezvous.tasks[task];
    }
    rendezvous.tasks = tasks;
    rendezvous.size = formation->size = size;
    rendezvous.generation = formation->generation;
    rendezvous.numbers = formation->numbers;
    rendezvous.timeout_ms = formation->peer_timeout_ms;
    int result = rendezvous_connect_all(&rendezvous, ret_connections, err);
    /* This limit is longer than the peer timeout, so that a silent member is detected as such. */
    if (result == 0)
        result = formation_join(formation, &rendezvous, ret_connections,
                                2 * formation->peer_timeout_ms, ret, err);
    free(tasks);
    return result;
}

/* Forms an elastic group of the tasks that discovery finds. Sets *ret_met to whether the tasks have
 * agreed on the members: if so, another attempt makes sense after a failure. */
static int formation_connect_some(struct formation *formation, int64_t deadline,
                                  struct control **ret, struct connection_set *ret_connections,
                                  bool *ret_met, struct err *err)
{
    struct peer_discovery_options discovery = {
        .rendezvous = formation->rendezvous,
        .min = formation->min,
        .start = formation->start,
        .start_after_ms = formation->start_after_ms,
        .peer_timeout_ms = formation->peer_timeout_ms,
        .live = formation->live,
        .highest = formation->generation,
        .previous_members = formation->previous_members,
        .accepted_members = formation->accepted_members,
        .outcomes = formation->outcomes,
        .ended_ms = formation->ended_ms,
        .expelled = &formation->expelled,
        .machine = formation->machine,
        .machines = formation->machines,
    };
    discovery.rendezvous.timeout_ms = deadline - moment_monotonic_ms();
    _cleanup_free_ bool *list = mem_calloc((size_t)formation->rendezvous.size, sizeof(*list));
    int result = peer_discovery_agree(&discovery, &formation->generation, list, err);
    *ret_met = result == 0;
    /* The outcomes of the previous group are valid for one discovery only. */
    formation->ended_ms = 0;
    memset(formation->outcomes, 0,
           (size_t)formation->rendezvous.size * sizeof(*formation->outcomes));
    if (result < 0)
        return result;
    return formation_connect_members(formation, list, ret, ret_connections, err);
}

/* A member may die when some members have connected to it and others have not. A group that loses
 * a member while it forms is formed again, until the deadline. */
int formation_connect(struct formation *formation, struct control **ret,
                      struct connection_set *ret_connections, struct err *err)
{
    const struct rendezvous_options *rendezvous = &formation->rendezvous;
    int64_t deadline = moment_monotonic_ms() + rendezvous->timeout_ms;
    for (;;) {
        struct err failure = ERR_INIT;
        bool met = false;
        int result =
            rendezvous->elastic
                ? formation_connect_some(formation, deadline, ret, ret_connections, &met, &failure)
                : formation_connect_all(formation, deadline, ret, ret_connections, &met, &failure);
        if (result == 0)
            return 0;
        if (!met || failure.code != ERR_UNAVAILABLE || moment_monotonic_ms() >= deadline)
            return err_set(err, failure.code, "%s", failure.message);
        if (rendezvous->report)
            rendezvous->report(rendezvous->context, failure.message);
    }
}

void formation_disband(struct formation *formation, struct control *control)
{
    if (control && formation->rendezvous.elastic) {
        for (int rank = 0; rank < formation->size; rank++) {
            int task = formation->numbers[rank];
            enum peer_outcome outcome = control_peer_outcome(control, rank);
            formation->outcomes[task] = formation->dismissed[task] ? PEER_LOST : outcome;
            formation->dismissed[task] = false;
        }
        formation->expelled |= control_is_expelled(control);
        formation->ended_ms = moment_monotonic_ms();
    }
    control_free(control);
}

void formation_dismiss(struct formation *formation, int rank)
{
    if (formation->rendezvous.elastic)
        formation->dismissed[formation->numbers[rank]] = true;
}

void formation_member_name(const struct formation *formation, int rank, char *text, size_t size)
{
    char name[TF_CONFIG_TASK_TEXT_MAX];
    int task = formation->rendezvous.elastic ? formation->numbers[rank] : rank;
    tf_config_task_describe(&formation->rendezvous.tasks[task], name);
    str_copy(text, size, name);
}

void formation_settle(struct formation *formation, struct control *control)
{
    if (!formation->rendezvous.elastic)
        return;
    control_set_peer_timeout(control, formation->peer_timeout_ms);
    formation->live = formation->generation;
    formation->expelled = false;
    memset(formation->previous_members, 0,
           (size_t)formation->rendezvous.size * sizeof(*formation->previous_members));
    memset(formation->accepted_members, 0,
           (size_t)formation->rendezvous.size * sizeof(*formation->accepted_members));
    for (int rank = 0; rank < formation->size; rank++)
        formation->previous_members[formation->numbers[rank]] = true;
}

bool formation_is_elastic(const struct formation *formation)
{
    return formation->rendezvous.elastic;
}

bool formation_is_wanted(struct formation *formation)
{
    return formation->rendezvous.elastic &&
           peer_listener_is_wanted(&formation->listener, moment_monotonic_ms());
}

void formation_describe(const struct formation *formation, char *text, size_t size)
{
    enum { NAMED_MAX = 4 };
    int all = formation->rendezvous.size, missing = 0;
    if (!formation->rendezvous.elastic || formation->size == all) {
        snprintf(text, size, "all %d workers", all);
        return;
    }
    struct buf line;
    buf_init(&line, 2048);
    buf_printf(&line, "%d of %d workers, without", formation->size, all);
    for (int task = 0, rank = 0; task < all; task++) {
        char name[TF_CONFIG_TASK_TEXT_MAX];
        if (rank < formation->size && formation->numbers[rank] == task) {
            rank++;
            continue;
        }
        tf_config_task_describe(&formation->rendezvous.tasks[task], name);
        if (missing++ < NAMED_MAX)
            buf_printf(&line, "%s %s", missing > 1 ? "," : "", name);
    }
    if (missing > NAMED_MAX)
        buf_printf(&line, " and %d more", missing - NAMED_MAX);
    str_copy(text, size, line.data);
    buf_release(&line);
}
