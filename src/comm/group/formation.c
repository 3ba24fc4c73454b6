/* How a group comes about; see assembly.h. */
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
    JOIN_MIN_MS = 10000, /* for one that was stopped while all met */
    REPORT_MS = 5000,
    PEER_TIMEOUT_MS = 5000,
};

struct assembly {
    struct rendezvous_options meeting; /* of the whole cluster */
    struct tls_keyed *encryption;      /* NULL: links are in the clear */
    struct buf secret;
    int64_t timeout_ms;
    void (*waited)(void *context, const char *task, int64_t ns); /* of a call; may be NULL */
    /* Only where a part of the tasks is enough: */
    int min, start;
    int64_t start_after_ms, peer_timeout_ms;
    struct door door;
    uint64_t generation; /* of the group there is, or was last */
    int *numbers;        /* its members' tasks, by rank */
    int size;
    uint64_t live; /* the last one in which this task had a state to go on from; 0: none */
    bool *mates;   /* its members, by task */
    bool *pledged; /* those of the last one that was agreed on since */
    enum control_outcome *fates;
    int64_t parted_ms; /* when they were true; 0: they are used up */
    bool *dismissed;   /* by task: members that said that they end */
    bool expelled;
    uint64_t machine, *machines;
};

/* The synchronous tasks stand first in the description: the chief, then the workers. */
static int check_config(const struct ty_tf_config *config, int *ret_size, struct err *err)
{
    const struct ty_task *self = &config->tasks[config->self];
    if (self->role != TY_ROLE_CHIEF && self->role != TY_ROLE_WORKER)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s %d takes no part in synchronous training: only a chief and workers do",
                       ty_role_name(self->role), self->index);
    if (config->sparse)
        return err_set(err, ERR_UNSUPPORTED,
                       "this TF_CONFIG has the sparse form of dynamic workers, which does not name "
                       "the other workers: synchronous training needs all of them; set "
                       "enableDynamicWorker to false or train with parameter servers");
    *ret_size = (int)tf_config_workers(config);
    return 0;
}

/* 0: nobody knows. */
static uint64_t machine_of(void)
{
    char id[BOOT_ID_MAX];
    return boot_id(id, NULL) == 0 ? hash_fnv1a(HASH_FNV_START, id, strlen(id)) : 0;
}

static int open_door(struct assembly *assembly, const struct comm_options *options, struct err *err)
{
    struct rendezvous_options *meeting = &assembly->meeting;
    size_t size = (size_t)meeting->size;
    meeting->elastic = true;
    meeting->door = &assembly->door;
    assembly->min = options->min_members;
    assembly->start = options->start_members ? options->start_members : meeting->size;
    assembly->start_after_ms = options->start_after_ms;
    assembly->peer_timeout_ms =
        options->peer_timeout_ms ? options->peer_timeout_ms : PEER_TIMEOUT_MS;
    assembly->numbers = mem_calloc(size, sizeof(*assembly->numbers));
    assembly->mates = mem_calloc(size, sizeof(*assembly->mates));
    assembly->pledged = mem_calloc(size, sizeof(*assembly->pledged));
    assembly->fates = mem_calloc(size, sizeof(*assembly->fates));
    assembly->dismissed = mem_calloc(size, sizeof(*assembly->dismissed));
    assembly->machines = mem_calloc(size, sizeof(*assembly->machines));
    assembly->machine = machine_of();
    rendezvous_identify(meeting, &assembly->door.identity);
    return door_open(&assembly->door, &meeting->tasks[meeting->rank], meeting->size, err);
}

int assembly_new(const struct comm_options *options, struct assembly **ret, struct err *err)
{
    int size = 0, channels = options->channels ? options->channels : 1;
    int result = check_config(options->config, &size, err);
    if (result < 0)
        return result;
    if (channels < 1 || channels > COMM_CHANNELS_MAX)
        return err_set(err, ERR_INVALID, "%d channels: between 1 and %d are possible", channels,
                       COMM_CHANNELS_MAX);
    _cleanup_(cleanup_assembly) struct assembly *assembly = mem_zalloc(sizeof(*assembly));
    assembly->door.listener = -1;
    buf_init(&assembly->secret, SECRET_MAX);
    if (options->secret)
        buf_append_str(&assembly->secret, options->secret);
    else
        result = secret_from_environment(&assembly->secret, err);
    if (result < 0)
        return result;
    if (assembly->secret.overflowed)
        return err_set(err, ERR_TOO_LARGE, "the job secret is longer than %d bytes", SECRET_MAX);
    if (options->encrypt && !assembly->secret.size)
        return err_set(err, ERR_INVALID,
                       "links cannot be encrypted without a job secret: set TRAINYARD_JOB_SECRET, "
                       "or TRAINYARD_JOB_SECRET_FILE, to the same for all tasks");
    if (options->encrypt && (result = connection_encryption_new(&assembly->encryption, err)) < 0)
        return result;
    struct ty_task *tasks = mem_calloc((size_t)size, sizeof(*tasks));
    memcpy(tasks, options->config->tasks, (size_t)size * sizeof(*tasks));
    assembly->waited = options->waited;
    assembly->timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS;
    assembly->meeting = (struct rendezvous_options){
        .tasks = tasks,
        .rank = (int)options->config->self,
        .size = size,
        .channels = channels,
        .master_form = options->config->master_form,
        .shape = options->shape,
        .terms = options->terms,
        .secret = assembly->secret.data,
        .secret_size = assembly->secret.size,
        .encryption = assembly->encryption,
        .timeout_ms = options->join_timeout_ms ? options->join_timeout_ms : TIMEOUT_MS,
        .report_ms = options->report_ms ? options->report_ms : REPORT_MS,
        .stop = options->stop,
        .report = options->report,
        .waiting = options->waiting,
        .context = options->context,
    };
    /* Where only rank 0 has an address, all are needed to learn those of the others. */
    if (options->min_members && size > 1 && size <= MEMBERSHIP_TASKS_MAX &&
        !options->config->master_form)
        result = open_door(assembly, options, err);
    else if (options->start_members && options->start_members < size && options->report)
        options->report(options->context, options->config->master_form
                                              ? "--min-workers has no effect where only rank 0 has "
                                                "an address (MASTER_ADDR): all are waited for"
                                              : "--min-workers has no effect among so many tasks: "
                                                "all are waited for");
    if (result == 0)
        *ret = TAKE(assembly);
    return result;
}

struct assembly *assembly_free(struct assembly *assembly)
{
    if (!assembly)
        return NULL;
    door_close(&assembly->door);
    free((void *)assembly->meeting.tasks);
    buf_release(&assembly->secret);
    tls_keyed_free(assembly->encryption);
    free(assembly->numbers);
    free(assembly->mates);
    free(assembly->pledged);
    free(assembly->fates);
    free(assembly->dismissed);
    free(assembly->machines);
    free(assembly);
    return NULL;
}

/* The first call of all: nobody returns from it before everybody is connected with everybody. */
static int join(const struct assembly *assembly, const struct rendezvous_options *meeting,
                struct connection_set *connections, int64_t timeout_ms, struct control **ret,
                struct err *err)
{
    int64_t report = meeting->report_ms;
    /* Who is behind is said before it is given up. */
    if (assembly->peer_timeout_ms && assembly->peer_timeout_ms * 2 / 5 < report)
        report = assembly->peer_timeout_ms * 2 / 5;
    const struct control_options control_options = {
        .tasks = meeting->tasks,
        .rank = meeting->rank,
        .size = meeting->size,
        .timeout_ms = timeout_ms,
        .report_ms = report,
        .peer_timeout_ms = assembly->peer_timeout_ms,
        .stop = meeting->stop,
        .report = meeting->report,
        .waiting = meeting->waiting,
        .waited = assembly->waited,
        .context = meeting->context,
    };
    struct control *control = control_new(&control_options, connections);
    int result = control_begin_call(control, CONTROL_CALL_JOIN, 0, err);
    if (result == 0 && meeting->size > 1)
        result = control_barrier(control, err);
    if (result < 0) {
        control_free(control);
        connection_set_release(connections);
        return result;
    }
    control_set_timeout(control, assembly->timeout_ms);
    /* The one that reads what a run goes on from does not answer meanwhile. */
    if (assembly->peer_timeout_ms && !assembly->live)
        control_set_peer_timeout(control, assembly->timeout_ms);
    *ret = control;
    return 0;
}

/* Both ways: ret_met tells whether it was only the linking that failed, which is worth another try.
 */
static int form_all(struct assembly *assembly, int64_t deadline, struct control **ret,
                    struct connection_set *ret_connections, bool *ret_met, struct err *err)
{
    struct rendezvous_options meeting = assembly->meeting;
    meeting.timeout_ms = deadline - moment_monotonic_ms();
    int result = rendezvous_meet(&meeting, ret_connections, err);
    *ret_met = result == 0;
    /* All are here: the last of them may have come in the last moment. */
    int64_t left = deadline - moment_monotonic_ms();
    left = left > JOIN_MIN_MS ? left : JOIN_MIN_MS;
    return result < 0 ? result : join(assembly, &meeting, ret_connections, left, ret, err);
}

/* Those who have agreed to be the next group become it. */
static int link_members(struct assembly *assembly, const bool *list, struct control **ret,
                        struct connection_set *ret_connections, struct err *err)
{
    struct rendezvous_options meeting = assembly->meeting;
    struct ty_task *tasks = mem_calloc((size_t)meeting.size, sizeof(*tasks));
    int size = 0;
    for (int task = 0; task < assembly->meeting.size; task++) {
        if (!list[task])
            continue;
        if (task == assembly->meeting.rank)
            meeting.rank = size;
        assembly->numbers[size] = task;
        tasks[size++] = assembly->meeting.tasks[task];
    }
    meeting.tasks = tasks;
    meeting.size = assembly->size = size;
    meeting.generation = assembly->generation;
    meeting.numbers = assembly->numbers;
    meeting.timeout_ms = assembly->peer_timeout_ms;
    int result = rendezvous_meet(&meeting, ret_connections, err);
    if (result == 0) /* who is silent is lost before that is over */
        result = join(assembly, &meeting, ret_connections, 2 * assembly->peer_timeout_ms, ret, err);
    free(tasks);
    return result;
}

static int form_some(struct assembly *assembly, int64_t deadline, struct control **ret,
                     struct connection_set *ret_connections, bool *ret_met, struct err *err)
{
    struct lobby_options lobby = {
        .meeting = assembly->meeting,
        .min = assembly->min,
        .start = assembly->start,
        .start_after_ms = assembly->start_after_ms,
        .peer_timeout_ms = assembly->peer_timeout_ms,
        .live = assembly->live,
        .highest = assembly->generation,
        .mates = assembly->mates,
        .pledged = assembly->pledged,
        .fates = assembly->fates,
        .parted_ms = assembly->parted_ms,
        .expelled = &assembly->expelled,
        .machine = assembly->machine,
        .machines = assembly->machines,
    };
    lobby.meeting.timeout_ms = deadline - moment_monotonic_ms();
    _cleanup_free_ bool *list = mem_calloc((size_t)assembly->meeting.size, sizeof(*list));
    int result = lobby_agree(&lobby, &assembly->generation, list, err);
    *ret_met = result == 0;
    /* What the links of the last group told is used up: the next look is at the door. */
    assembly->parted_ms = 0;
    memset(assembly->fates, 0, (size_t)assembly->meeting.size * sizeof(*assembly->fates));
    if (result < 0)
        return result;
    return link_members(assembly, list, ret, ret_connections, err);
}

/* One may die after some have met it and before others have, and come back: until the deadline, a
 * group that breaks while it forms is formed again. */
int assembly_form(struct assembly *assembly, struct control **ret,
                  struct connection_set *ret_connections, struct err *err)
{
    const struct rendezvous_options *meeting = &assembly->meeting;
    int64_t deadline = moment_monotonic_ms() + meeting->timeout_ms;
    for (;;) {
        struct err failure = ERR_INIT;
        bool met = false;
        int result = meeting->elastic
                         ? form_some(assembly, deadline, ret, ret_connections, &met, &failure)
                         : form_all(assembly, deadline, ret, ret_connections, &met, &failure);
        if (result == 0)
            return 0;
        if (!met || failure.code != ERR_UNAVAILABLE || moment_monotonic_ms() >= deadline)
            return err_set(err, failure.code, "%s", failure.message);
        if (meeting->report)
            meeting->report(meeting->context, failure.message);
    }
}

void assembly_part(struct assembly *assembly, struct control *control)
{
    if (control && assembly->meeting.elastic) {
        for (int rank = 0; rank < assembly->size; rank++) {
            int task = assembly->numbers[rank];
            enum control_outcome fate = control_peer_outcome(control, rank);
            assembly->fates[task] = assembly->dismissed[task] ? CONTROL_OUTCOME_LOST : fate;
            assembly->dismissed[task] = false;
        }
        assembly->expelled |= control_is_expelled(control);
        assembly->parted_ms = moment_monotonic_ms();
    }
    control_free(control);
}

void assembly_dismiss(struct assembly *assembly, int rank)
{
    if (assembly->meeting.elastic)
        assembly->dismissed[assembly->numbers[rank]] = true;
}

void assembly_name(const struct assembly *assembly, int rank, char *text, size_t size)
{
    char name[TF_CONFIG_TASK_TEXT_MAX];
    int task = assembly->meeting.elastic ? assembly->numbers[rank] : rank;
    tf_config_task_describe(&assembly->meeting.tasks[task], name);
    str_copy(text, size, name);
}

void assembly_settle(struct assembly *assembly, struct control *control)
{
    if (!assembly->meeting.elastic)
        return;
    control_set_peer_timeout(control, assembly->peer_timeout_ms);
    assembly->live = assembly->generation;
    assembly->expelled = false;
    memset(assembly->mates, 0, (size_t)assembly->meeting.size * sizeof(*assembly->mates));
    memset(assembly->pledged, 0, (size_t)assembly->meeting.size * sizeof(*assembly->pledged));
    for (int rank = 0; rank < assembly->size; rank++)
        assembly->mates[assembly->numbers[rank]] = true;
}

bool assembly_is_elastic(const struct assembly *assembly)
{
    return assembly->meeting.elastic;
}

bool assembly_is_wanted(struct assembly *assembly)
{
    return assembly->meeting.elastic && door_is_wanted(&assembly->door, moment_monotonic_ms());
}

void assembly_describe(const struct assembly *assembly, char *text, size_t size)
{
    enum { NAMED_MAX = 4 };
    int all = assembly->meeting.size, missing = 0;
    if (!assembly->meeting.elastic || assembly->size == all) {
        snprintf(text, size, "all %d workers", all);
        return;
    }
    struct buf line;
    buf_init(&line, 2048);
    buf_printf(&line, "%d of %d workers, without", assembly->size, all);
    for (int task = 0, rank = 0; task < all; task++) {
        char name[TF_CONFIG_TASK_TEXT_MAX];
        if (rank < assembly->size && assembly->numbers[rank] == task) {
            rank++;
            continue;
        }
        tf_config_task_describe(&assembly->meeting.tasks[task], name);
        if (missing++ < NAMED_MAX)
            buf_printf(&line, "%s %s", missing > 1 ? "," : "", name);
    }
    if (missing > NAMED_MAX)
        buf_printf(&line, " and %d more", missing - NAMED_MAX);
    str_copy(text, size, line.data);
    buf_release(&line);
}
