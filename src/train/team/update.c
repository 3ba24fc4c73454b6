/* Updates the parameters after a step; see team.h. Each parameter is updated independently, and
 * each weight is packed independently, so the result does not depend on the number of threads. */
#include "base/system/thread.h"
#include "train/team/private.h"

/* A thread with fewer floats than this would cost more time to start than it saves. */
enum { THREAD_FLOATS_MIN = 1 << 15 };

/* An update of all parameters, and the work that its threads do now. */
struct update {
    struct team *team;
    struct optimizer *optimizer;
    uint64_t step;
    float rate;  /* learning rate */
    int threads; /* number of threads, including the calling thread */
    void (*work)(const struct update *update, int index); /* called on each thread with its index */
};

struct update_thread {
    const struct update *update;
    int index;
    bool started;
    pthread_t thread;
};

static void step_slice(const struct update *update, int index)
{
    struct params *params = update->team->options.params;
    optimizer_step_slice(update->optimizer, params, update->step, update->rate,
                         team_slice(params->floats, index, update->threads),
                         team_slice(params->floats, index + 1, update->threads));
}

static void pack_part(const struct update *update, int index)
{
    network_pack_part(update->team->options.network, index, update->threads);
}

static void *update_thread(void *argument)
{
    const struct update_thread *thread = argument;
    thread->update->work(thread->update, thread->index);
    return NULL;
}

/* Runs the work on all threads. The slices of threads that cannot be started run on the calling
 * thread, because the step must be completed. */
static void run_update(const struct update *update)
{
    struct update_thread threads[TEAM_THREADS_MAX];
    for (int i = 1; i < update->threads; i++) {
        threads[i] = (struct update_thread){.update = update, .index = i};
        threads[i].started = thread_start(&threads[i].thread, NULL, "a compute thread of --threads",
                                          update_thread, &threads[i], NULL) == 0;
    }
    update->work(update, 0);
    for (int i = 1; i < update->threads; i++)
        if (threads[i].started)
            pthread_join(threads[i].thread, NULL);
        else
            update->work(update, i);
}

void team_update(struct team *team, struct optimizer *optimizer, float clip, uint64_t step,
                 float rate)
{
    struct params *params = team->options.params;
    struct update update = {
        .team = team, .optimizer = optimizer, .step = step, .rate = rate, .threads = 1};
    while (update.threads < team->options.threads &&
           (size_t)update.threads * THREAD_FLOATS_MIN < params->floats)
        update.threads++;
    optimizer_clip(params, clip);
    update.work = step_slice;
    run_update(&update);
    update.work = pack_part;
    run_update(&update);
}
