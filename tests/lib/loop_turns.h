/* For tests of code that waits for descriptors: turn(loop) runs the loop until nothing is left to
 * do now. One turn of the loop checks every descriptor, and may defer work to the next turn. */
#ifndef TRAINYARD_TESTS_LIB_LOOP_TURNS_H
#define TRAINYARD_TESTS_LIB_LOOP_TURNS_H

#include "base/mem.h"
#include "loop/loop.h"

struct loop_turns {
    struct loop *loop;
    struct loop_task task;
    int left;
};

static void on_turn(struct loop_task *task)
{
    struct loop_turns *turns = CONTAINER_OF(task, struct loop_turns, task);
    if (--turns->left == 0)
        loop_stop(turns->loop);
    else
        loop_defer(turns->loop, task);
}

static void turn(struct loop *loop)
{
    struct loop_turns turns = {.loop = loop, .task.callback = on_turn, .left = 5};
    loop_defer(loop, &turns.task);
    loop_run(loop);
}

#endif
