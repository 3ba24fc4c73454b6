/* Simulates the agreement on the members of a group, with random losses, stops, network partitions,
 * restarts and message orders. All members of a generation have the same list. Two generations
 * never train at the same time. When nothing fails any more, all tasks end up in one generation. */
#include "base/mem.h"
#include "base/rand.h"
#include "base/vec.h"
#include "comm/group/membership.h"
#include "comm/group/membership_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TASKS_MAX = 5 };

enum place { DEAD, DISCOVERING, LINKING, AT_WORK };

struct letter {
    struct membership_message message;
    uint8_t tasks[TASKS_MAX];
};

/* One direction of a connection between two tasks in discovery. */
struct pipe {
    bool open; /* the receiving end is open */
    VEC(struct letter) letters;
};

struct task {
    enum place place;
    bool frozen;
    struct membership *membership;
    uint64_t generation, live, highest;
    bool list[TASKS_MAX], previous_members[TASKS_MAX], accepted_members[TASKS_MAX];
    bool silent[TASKS_MAX]; /* given up until it connects again */
    bool lives[TASKS_MAX];  /* it left alive: never given up, because it may be training */
    bool left_behind;
    bool over; /* its group must form again */
    uint64_t machines[TASKS_MAX];
};

struct world {
    uint64_t seed;
    struct rand rand;
    int tasks, start; /* how many tasks are enough to start */
    bool one_machine;
    struct task task[TASKS_MAX];
    struct pipe pipe[TASKS_MAX][TASKS_MAX]; /* from, to */
    bool cut[TASKS_MAX][TASKS_MAX];
    VEC(struct letter) lists; /* generation and members of every generation that started to train */
};

struct self {
    struct world *world;
    int task;
} selves[TASKS_MAX];

static int draw(struct world *world, int below)
{
    return (int)(rand_next(&world->rand) % (uint64_t)below);
}

static void post(void *context, int to, const struct membership_message *message)
{
    const struct self *self = context;
    struct letter letter = {.message = *message};
    if (message->tasks)
        memcpy(letter.tasks, message->tasks, (size_t)self->world->tasks);
    if (self->world->pipe[self->task][to].open)
        vec_push(&self->world->pipe[self->task][to].letters, letter);
}

static void enter(struct world *world, int i)
{
    struct task *task = &world->task[i];
    selves[i] = (struct self){world, i};
    const struct membership_options options = {
        .tasks = world->tasks,
        .self = i,
        .min = 1,
        .start = world->start,
        .live = task->live,
        .left_behind = task->left_behind,
        .highest = task->highest,
        .salt = (uint32_t)rand_next(&world->rand),
        .previous_members = task->live ? task->previous_members : NULL,
        .accepted_members = task->accepted_members,
        .machine = world->one_machine ? 1 : (uint64_t)i + 1,
        .machines = task->machines,
        .send = post,
        .context = &selves[i],
    };
    task->place = DISCOVERING;
    task->over = false;
    task->membership = membership_new(&options);
}

/* Messages that were sent before still arrive. Messages to this task that it has not read are
 * lost. */
static void leave(struct world *world, int i)
{
    struct task *task = &world->task[i];
    task->highest = membership_highest(task->membership);
    task->left_behind = membership_left_behind(task->membership);
    task->membership = membership_free(task->membership);
    for (int j = 0; j < world->tasks; j++) {
        world->pipe[j][i].open = false;
        world->pipe[j][i].letters.count = 0;
    }
}

static void die(struct world *world, int i)
{
    struct task *task = &world->task[i];
    if (task->place == DISCOVERING)
        leave(world, i);
    *task = (struct task){.place = DEAD};
}

static bool can_talk(const struct world *world, int i, int j)
{
    return !world->cut[i][j];
}

static bool linked(const struct world *world, int i, int j)
{
    return world->pipe[j][i].open; /* as task i knows */
}

static void hang_up(struct world *world, int i, int j)
{
    world->pipe[j][i].open = false;
    world->pipe[j][i].letters.count = 0;
}

/* Task i updates its view of task j's presence, as peer_discovery would. */
static void update_presence(struct world *world, int i, int j)
{
    struct task *self = &world->task[i], *other = &world->task[j];
    if (linked(world, i, j)) {
        bool both = world->pipe[i][j].open && other->place == DISCOVERING;
        if (!both && can_talk(world, i, j)) {
            if (world->pipe[j][i].letters.count)
                return;
            hang_up(world, i, j); /* task j closed its end, even if it is stopped now */
            self->lives[j] = true;
            membership_set_presence(self->membership, j, MEMBERSHIP_UNKNOWN);
        } else if ((other->frozen || !can_talk(world, i, j)) && draw(world, 3) == 0) {
            hang_up(world, i, j);
            self->silent[j] = true;
            membership_set_presence(self->membership, j, MEMBERSHIP_SILENT);
        }
        return;
    }
    bool reaches = can_talk(world, i, j);
    if (reaches && other->place == DISCOVERING && !other->frozen && !world->pipe[i][j].open) {
        world->pipe[i][j].open = world->pipe[j][i].open = true;
        world->pipe[i][j].letters.count = world->pipe[j][i].letters.count = 0;
        self->silent[j] = other->silent[i] = false;
        membership_set_presence(other->membership, i, MEMBERSHIP_UNKNOWN);
        membership_set_presence(self->membership, j, MEMBERSHIP_UNKNOWN);
        membership_set_presence(self->membership, j, MEMBERSHIP_PRESENT);
        membership_set_presence(other->membership, i, MEMBERSHIP_PRESENT);
    } else if (reaches && other->place == DEAD) {
        self->lives[j] = self->silent[j] = false;
        membership_set_presence(self->membership, j, MEMBERSHIP_GONE);
    } else if (self->silent[j] || !reaches ||
               (other->frozen && self->live && !self->lives[j] && draw(world, 5) == 0)) {
        self->silent[j] = true;
        membership_set_presence(self->membership, j, MEMBERSHIP_SILENT);
    } else {
        membership_set_presence(self->membership, j, MEMBERSHIP_UNKNOWN);
    }
}

static void read_one(struct world *world, int i, int j)
{
    struct pipe *pipe = &world->pipe[j][i];
    if (!pipe->letters.count || !can_talk(world, i, j))
        return;
    struct letter letter = pipe->letters.items[0];
    vec_remove(&pipe->letters, 0);
    letter.message.tasks = letter.tasks;
    membership_receive(world->task[i].membership, j, &letter.message);
}

static void in_discovery(struct world *world, int i)
{
    struct task *task = &world->task[i];
    const bool *list;
    int j = draw(world, world->tasks);
    if (j != i && draw(world, 2))
        update_presence(world, i, j);
    else if (j != i)
        read_one(world, i, j);
    else if (draw(world, 4) == 0)
        membership_announce(task->membership);
    uint64_t decided = membership_decided(task->membership, &list);
    if (!decided)
        return;
    assert_true(list[i]);
    task->generation = decided;
    memcpy(task->list, list, sizeof(task->list[0]) * (size_t)world->tasks);
    leave(world, i);
    task->place = LINKING;
}

static bool member_is_there(const struct world *world, int i, int j, enum place at_least)
{
    const struct task *self = &world->task[i], *other = &world->task[j];
    return !self->list[j] || (other->generation == self->generation && other->place >= at_least &&
                              can_talk(world, i, j));
}

static void check_list(struct world *world, const struct task *task)
{
    struct letter entry = {.message.generation = task->generation};
    for (int j = 0; j < world->tasks; j++)
        entry.tasks[j] = task->list[j];
    for (size_t k = 0; k < world->lists.count; k++)
        if (world->lists.items[k].message.generation == task->generation) {
            assert_memory_equal(world->lists.items[k].tasks, entry.tasks, TASKS_MAX);
            return;
        }
    vec_push(&world->lists, entry);
}

/* Checks that at most one generation trains. A generation trains when all its members do. */
static void check_one_generation_trains(const struct world *world)
{
    uint64_t found = 0;
    for (int i = 0; i < world->tasks; i++) {
        const struct task *task = &world->task[i];
        bool works = task->place == AT_WORK && !task->frozen && !task->over;
        for (int j = 0; works && j < world->tasks; j++)
            works =
                member_is_there(world, i, j, AT_WORK) && (!task->list[j] || !world->task[j].frozen);
        if (!works)
            continue;
        if (found && found != task->generation)
            fail_msg("seed %llu: generations %llx and %llx are at work",
                     (unsigned long long)world->seed, (unsigned long long)found,
                     (unsigned long long)task->generation);
        found = task->generation;
    }
}

/* Whether a task that accepted the generation is back in discovery, unless the commit of the
 * leader is in flight. */
static bool is_back_in_discovery(const struct world *world, int i, uint64_t generation)
{
    const struct pipe *pipe = &world->pipe[generation & 0xffff][i];
    return world->task[i].place == DISCOVERING && !(pipe->open && pipe->letters.count);
}

static void is_connecting(struct world *world, int i)
{
    struct task *task = &world->task[i];
    bool all = true, lost = false;
    for (int j = 0; j < world->tasks; j++) {
        all &= member_is_there(world, i, j, LINKING);
        lost |= task->list[j] &&
                (world->task[j].place == DEAD || is_back_in_discovery(world, j, task->generation) ||
                 world->task[j].frozen || !can_talk(world, i, j) ||
                 world->task[j].generation > task->generation);
    }
    if (all && draw(world, 2)) {
        task->place = AT_WORK;
        task->live = task->generation;
        task->left_behind = false;
        memcpy(task->previous_members, task->list, sizeof(task->previous_members));
        memset(task->accepted_members, 0, sizeof(task->accepted_members));
        memset(task->silent, 0, sizeof(task->silent));
        memset(task->lives, 0, sizeof(task->lives));
        check_list(world, task);
    } else if (lost && draw(world, 2)) {
        enter(world, i);
    }
}

static void is_training(struct world *world, int i)
{
    struct task *task = &world->task[i];
    bool wanted = false, lost = false;
    for (int j = 0; j < world->tasks; j++) {
        const struct task *other = &world->task[j];
        wanted |= !task->list[j] && other->place == DISCOVERING && !other->frozen &&
                  can_talk(world, i, j);
        if (!task->list[j] || i == j)
            continue;
        /* A task that left has sent that, even if it is stopped now. */
        bool gone = can_talk(world, i, j) &&
                    (other->generation != task->generation || other->place < LINKING);
        bool silent = !gone && (other->frozen || !can_talk(world, i, j));
        if (silent && draw(world, 10) == 0)
            task->silent[j] = lost = true;
        task->lives[j] = gone && other->place != DEAD;
        lost |= gone;
    }
    wanted = wanted && draw(world, 20) == 0;
    for (int j = 0; wanted && j < world->tasks; j++)
        if (task->list[j] && world->task[j].generation == task->generation)
            world->task[j].over = true;
    if (lost || task->over)
        enter(world, i);
}

static void do_random_step(struct world *world)
{
    static void (*const LIVES[])(struct world *, int) = {
        [DISCOVERING] = in_discovery, [LINKING] = is_connecting, [AT_WORK] = is_training};
    int i = draw(world, world->tasks);
    if (world->task[i].place != DEAD && !world->task[i].frozen)
        LIVES[world->task[i].place](world, i);
    check_one_generation_trains(world);
}

/* A task that was stopped forgets what it knew about the others. */
static void resume_task(struct world *world, int i)
{
    struct task *task = &world->task[i];
    if (task->frozen && task->place == DISCOVERING)
        membership_note_absence(task->membership);
    task->left_behind |= task->frozen && task->live;
    task->frozen = false;
    for (int j = 0; j < world->tasks; j++) {
        if (j != i && task->place == DISCOVERING && !linked(world, i, j))
            membership_set_presence(task->membership, j, MEMBERSHIP_UNKNOWN);
        task->silent[j] = false;
        task->lives[j] = true;
    }
}

static void fail_randomly(struct world *world)
{
    int i = draw(world, world->tasks);
    struct task *task = &world->task[i];
    switch (draw(world, world->one_machine ? 6 : 8)) {
    case 0:
    case 1:
        if (task->place != DEAD)
            die(world, i);
        break;
    case 2:
    case 3:
        if (task->place == DEAD)
            enter(world, i);
        break;
    case 4:
        task->frozen = task->place != DEAD && world->one_machine;
        break;
    case 5:
        resume_task(world, i);
        break;
    case 6: { /* a network partition into two parts */
        int side[TASKS_MAX];
        for (int j = 0; j < world->tasks; j++)
            side[j] = draw(world, 2);
        for (int j = 0; j < world->tasks; j++)
            for (int k = 0; k < world->tasks; k++)
                world->cut[j][k] = side[j] != side[k];
        break;
    }
    default:
        memset(world->cut, 0, sizeof(world->cut));
    }
}

static bool all_train_together(const struct world *world)
{
    for (int i = 0; i < world->tasks; i++) {
        if (world->task[i].place != AT_WORK || world->task[i].over)
            return false;
        for (int j = 0; j < world->tasks; j++)
            if (!world->task[i].list[j] || !member_is_there(world, i, j, AT_WORK))
                return false;
    }
    return true;
}

static void describe(const struct world *world)
{
    for (int i = 0; i < world->tasks; i++) {
        const struct task *task = &world->task[i];
        printf("task %d: place %d generation %llx live %llx over %d list", i, task->place,
               (unsigned long long)task->generation, (unsigned long long)task->live, task->over);
        for (int j = 0; j < world->tasks; j++)
            printf(" %d/%d", task->list[j], linked(world, i, j));
        printf(" %s\n",
               task->membership ? membership_obstacle(task->membership) : "not in discovery");
    }
}

static void simulate(uint64_t seed, int tasks, int start, bool one_machine)
{
    struct world world = {.seed = seed, .tasks = tasks, .start = start, .one_machine = one_machine};
    rand_init(&world.rand, seed);
    for (int i = 0; i < tasks; i++)
        enter(&world, i);
    for (int event = 0; event < 6000; event++) {
        do_random_step(&world);
        if (draw(&world, 100) == 0)
            fail_randomly(&world);
    }
    memset(world.cut, 0, sizeof(world.cut));
    for (int i = 0; i < tasks; i++) {
        resume_task(&world, i);
        if (world.task[i].place == DEAD)
            enter(&world, i);
    }
    int patience = 200000;
    while (!all_train_together(&world) && patience-- > 0)
        do_random_step(&world);
    if (patience <= 0)
        describe(&world);
    if (patience <= 0)
        fail_msg("seed %llu, %d tasks: they do not find together", (unsigned long long)seed, tasks);
    for (int i = 0; i < tasks; i++) {
        die(&world, i);
        for (int j = 0; j < tasks; j++)
            vec_release(&world.pipe[i][j].letters);
    }
    vec_release(&world.lists);
}

static uint64_t seeds(void)
{
    const char *asked = getenv("TRAINYARD_SIM_SEEDS");
    return asked ? strtoull(asked, NULL, 10) : 300;
}

static int tasks_of(uint64_t seed)
{
    return 2 + (int)(seed % (TASKS_MAX - 1));
}

static void tasks_on_one_machine_form_one_group(void **state)
{
    for (uint64_t seed = 1; seed <= seeds(); seed++)
        simulate(seed, tasks_of(seed), tasks_of(seed), true);
}

static void few_tasks_may_start_on_one_machine(void **state)
{
    for (uint64_t seed = 1; seed <= seeds(); seed++)
        simulate(seed, tasks_of(seed), 1 + (int)(seed / TASKS_MAX) % tasks_of(seed), true);
}

static void tasks_on_many_machines_form_one_group(void **state)
{
    for (uint64_t seed = 1; seed <= seeds(); seed++)
        simulate(seed, tasks_of(seed), tasks_of(seed), false);
}

/* Used to find which tasks may continue when others are silent; sends nothing. */
static void ignore_message(void *context, int task, const struct membership_message *message)
{
}

/* Options of obstacle() that only some cases set. */
static bool left_behind, accepted_members[TASKS_MAX];
static uint64_t met_live = 1; /* `live` of the present tasks */
static int start;             /* not 0: no task has a state, and this many may start */

static const char *obstacle(int self, const char *presences, bool near, int min)
{
    static const bool ALL[TASKS_MAX] = {true, true, true, true, true};
    uint64_t machines[TASKS_MAX] = {0};
    bool agreed[TASKS_MAX];
    memcpy(agreed, accepted_members, sizeof(agreed));
    int tasks = (int)strlen(presences);
    for (int i = 0; i < tasks; i++)
        machines[i] = near ? 7 : (uint64_t)i + 10;
    const struct membership_options options = {.tasks = tasks,
                                               .self = self,
                                               .min = min,
                                               .start = start ? start : tasks,
                                               .live = !start,
                                               .left_behind = left_behind,
                                               .previous_members = ALL,
                                               .accepted_members = agreed,
                                               .machine = near ? 7 : (uint64_t)self + 10,
                                               .machines = machines,
                                               .send = ignore_message};
    struct membership *m = membership_new(&options);
    for (int i = 0; i < tasks; i++)
        membership_set_presence(m, i,
                                presences[i] == 'p'   ? MEMBERSHIP_PRESENT
                                : presences[i] == 'g' ? MEMBERSHIP_GONE
                                : presences[i] == 's' ? MEMBERSHIP_SILENT
                                                      : MEMBERSHIP_UNKNOWN);
    uint8_t view[TASKS_MAX];
    for (int i = 0; i < tasks; i++)
        view[i] =
            presences[i] == 'p' ? MEMBERSHIP_PRESENT | MEMBERSHIP_PREVIOUS_MEMBER : MEMBERSHIP_GONE;
    const struct membership_message here = {
        .kind = MEMBERSHIP_VIEW, .live = start ? 0 : met_live, .machine = 99, .tasks = view};
    for (int i = 0; i < tasks; i++)
        if (i != self && presences[i] == 'p')
            membership_receive(m, i, &here);
    const char *text = membership_obstacle(m);
    membership_free(m);
    return text;
}

static void silent_tasks_elsewhere_may_be_training(void **state)
{
    assert_null(obstacle(0, "pg", false, 1));
    assert_null(obstacle(1, "gp", false, 1));
    assert_null(
        obstacle(0, "ps", false, 1)); /* equal parts: the one with the lowest task continues */
    assert_non_null(obstacle(1, "sp", false, 1));
    assert_null(
        obstacle(1, "sp", true, 1)); /* on one machine no task can be separated by the network */
    assert_non_null(obstacle(0, "pss", false, 1));
    assert_null(obstacle(0, "psg", false, 1));
    assert_null(obstacle(1, "gps", false, 1));
    assert_non_null(obstacle(2, "gsp", false, 1));
    assert_non_null(obstacle(0, "pu", true, 1));
    assert_non_null(obstacle(0, "pgg", true, 2));
    assert_null(obstacle(0, "pss", true, 1));

    assert_null(obstacle(1, "gpps", false, 1)); /* two against one */
    met_live = 0; /* but one of them restarted without a state and does not count */
    assert_null(obstacle(1, "gpps", false, 1));
    assert_non_null(obstacle(2, "gspp", false, 1));
    met_live = 1;
    assert_null(obstacle(2, "gspp", false, 1));

    accepted_members[2] = accepted_members[3] = true; /* a later group, which does not train here */
    assert_null(obstacle(2, "ppps", false, 1));
    accepted_members[0] = accepted_members[1] = accepted_members[2] = false;
    assert_non_null(obstacle(0, "ppps", false, 1));
    accepted_members[3] = false;
    assert_null(obstacle(0, "ppps", false, 1));

    left_behind = true; /* any silent task, previous member or not, may be training with others */
    met_live = 0;
    assert_non_null(obstacle(0, "ps", false, 1));
    assert_null(obstacle(0, "pg", false, 1));
    assert_null(obstacle(0, "ps", true, 1));
    left_behind = false;
    met_live = 1;
}

static void few_tasks_may_start_if_the_others_are_gone(void **state)
{
    start = 2;
    assert_null(obstacle(0, "ppggg", false, 1));
    assert_null(obstacle(3, "gggpp", false, 1));
    assert_null(obstacle(0, "ppsss", true, 1));
    assert_null(obstacle(0, "ppgss", false, 1));
    assert_string_equal(
        obstacle(0, "pgggg", false, 1),
        "too few tasks are connected to start, and none of them has a training state");
    assert_string_equal(obstacle(0, "ppggu", false, 1),
                        "it is not known yet which other tasks are running");
    assert_string_equal(obstacle(0, "ppsss", false, 1),
                        "the connected tasks have no quorum: the other tasks may be training on "
                        "machines that cannot be reached");
    start = 0;
}

static void messages_are_read_back(void **state)
{
    for (int tasks = 1; tasks <= TASKS_MAX; tasks++)
        for (int kind = MEMBERSHIP_VIEW; kind < MEMBERSHIP_KINDS; kind++) {
            uint8_t told[TASKS_MAX] = {1, 15, 6, 0, 9}, heard[TASKS_MAX] = {0};
            struct membership_message message = {.kind = (enum membership_kind)kind,
                                                 .generation = 0x123456789abc,
                                                 .live = 77,
                                                 .machine = 88,
                                                 .tasks = told};
            struct membership_message again = {.tasks = heard};
            struct buf bytes;
            buf_init(&bytes, 1024);
            membership_message_encode(&message, tasks, &bytes);
            const uint8_t *at = (const uint8_t *)bytes.data;
            struct wire_frame frame;
            struct err err = ERR_INIT;
            assert_int_equal(wire_frame_decode(at, &frame, &err), 0);
            assert_int_equal(bytes.size, WIRE_FRAME_HEAD_SIZE + frame.size);
            at += WIRE_FRAME_HEAD_SIZE;
            assert_int_equal(membership_message_decode(&frame, at, tasks, &again, &err), 0);
            assert_int_equal(again.kind, kind);
            assert_true(again.generation == message.generation);
            if (kind == MEMBERSHIP_VIEW)
                assert_true(again.live == 77 && again.machine == 88);
            if (kind <= MEMBERSHIP_PROPOSE)
                assert_memory_equal(told, heard, (size_t)tasks);
            if (kind <= MEMBERSHIP_PROPOSE)
                assert_int_equal(membership_message_decode(&frame, at, tasks + 2, &again, &err),
                                 -ERR_BAD_REQUEST);
            buf_release(&bytes);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_on_one_machine_form_one_group),
        cmocka_unit_test(few_tasks_may_start_on_one_machine),
        cmocka_unit_test(tasks_on_many_machines_form_one_group),
        cmocka_unit_test(silent_tasks_elsewhere_may_be_training),
        cmocka_unit_test(few_tasks_may_start_if_the_others_are_gone),
        cmocka_unit_test(messages_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
