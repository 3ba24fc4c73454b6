/* What it costs two workers to train together: two processes with one thread each. The model is the
 * face model. Every worker has its own batch of 96 pictures, so a step of the group has 192
 * pictures and sums the gradients. Three ways take turns every few steps, so that all of them meet
 * the same load of the machine: one worker alone, whose doubled rate is the peer of the bar; two
 * workers without a group, which share the memory bandwidth and the clock of the processor; and two
 * workers in a group, with the usual reducer.
 *
 * The first row compares the best step of each way; for two workers that is the best sum of the two
 * rates. On a machine that other programs use, the group may never get such a step. The second row
 * shows the cost of the group however fast the cores are: the median step in a group, compared with
 * the median step of the slower of two workers without a group.
 *
 *   bench_workers [fp32|bf16] */
#include "free_port.h"

#include "base/mem.h"
#include "base/rand.h"
#include "models/face/trainer.h"
#include "train/team/reducer_comm.h"

#include <trainyard/tf_config.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    WORKERS = 2,
    PERSONS = 24, /* in the batch of one worker */
    PICTURES = 4,
    BATCH = PERSONS * PICTURES,
    SIDE = 64,
    ROUNDS = 40,
    STEPS = 4, /* per turn; the first one does not count */
};

enum way { ONE, BESIDE, TOGETHER, WAYS };

/* Shared by both processes: a barrier, and the seconds of each step. */
struct common {
    pthread_barrier_t barrier;
    double took[WORKERS][WAYS][ROUNDS][STEPS];
};

struct side {
    struct face_model *model;
    struct face_trainer *trainer;
    uint64_t step;
};

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void must(int result, const struct err *err)
{
    if (result == 0)
        return;
    fprintf(stderr, "bench_workers: %s\n", err->message);
    exit(1);
}

static struct side side_new(struct reducer *reducer, enum precision precision)
{
    struct err err = ERR_INIT;
    struct side side = {0};
    struct face_config config = FACE_CONFIG_DEFAULT;
    config.side = SIDE;
    config.precision = precision;
    must(face_model_new(&config, &side.model, &err), &err);
    struct params *params = face_model_params(side.model);
    if (reducer->share)
        must(reducer->share(reducer, params->gradients_memory, &err), &err);
    params_initialise(params, 1);
    face_model_changed(side.model);
    struct face_trainer_options options = {
        .batch = BATCH * reducer->size,
        .threads = 1,
        .triplet = {.mining = TRIPLET_SEMI_HARD, .margin = 0.4f},
        .optimizer = OPTIMIZER_ADAM,
        .schedule = {.rate = 1e-3f},
        .reducer = reducer,
    };
    must(face_trainer_new(&options, side.model, &side.trainer, &err), &err);
    return side;
}

static void side_release(struct side *side)
{
    face_trainer_free(side->trainer);
    face_model_free(side->model);
}

static void run_turn(struct side *side, const float *pictures, const int *labels, double *ret_took)
{
    struct err err = ERR_INIT;
    for (int i = 0; i < STEPS; i++) {
        struct face_trainer_step done;
        double start = now_s();
        must(face_trainer_step(side->trainer, ++side->step, pictures, labels, false, &done, &err),
             &err);
        ret_took[i] = now_s() - start;
    }
}

static void work(struct common *common, const int *ports, int rank, enum precision precision)
{
    struct err err = ERR_INIT;
    struct ty_error error;
    char text[256];
    snprintf(text, sizeof(text),
             "{\"cluster\":{\"worker\":[\"127.0.0.1:%d\",\"127.0.0.1:%d\"]},"
             "\"task\":{\"type\":\"worker\",\"index\":%d}}",
             ports[0], ports[1], rank);
    struct ty_tf_config *config;
    if (ty_tf_config_parse(text, &config, &error) < 0) {
        fprintf(stderr, "bench_workers: %s\n", error.message);
        exit(1);
    }
    struct reducer single = reducer_single();
    struct reducer_comm group = {0};
    struct comm_options options = {.config = config, .secret = "bench"};
    must(reducer_comm_open(&group, &options, NULL, &err), &err);
    struct side alone = side_new(&single, precision),
                together = side_new(&group.reducer, precision);
    struct rand rand;
    rand_init(&rand, 2 + (uint64_t)rank);
    float *pictures = mem_calloc((size_t)BATCH * SIDE * SIDE, sizeof(*pictures));
    for (size_t i = 0; i < (size_t)BATCH * SIDE * SIDE; i++)
        pictures[i] = (float)rand_normal(&rand);
    int labels[WORKERS * BATCH];
    for (int i = 0; i < WORKERS * BATCH; i++)
        labels[i] = i / PICTURES;
    for (int round = 0; round < ROUNDS; round++)
        for (enum way way = ONE; way < WAYS; way++) {
            pthread_barrier_wait(&common->barrier);
            if (way != ONE || rank == 0)
                run_turn(way == TOGETHER ? &together : &alone, pictures, labels,
                         common->took[rank][way][round]);
        }
    side_release(&alone);
    side_release(&together);
    reducer_comm_close(&group);
    ty_tf_config_free(config);
    free(pictures);
}

/* Steps per second of this many workers, in their best step. */
static double best_of(const struct common *common, enum way way, int workers)
{
    double best = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int step = 1; step < STEPS; step++) {
            double rate = 0;
            for (int rank = 0; rank < workers; rank++)
                rate += 1 / common->took[rank][way][round][step];
            best = rate > best ? rate : best;
        }
    return best;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Steps per second of both workers, from the median step. A step takes as long as the slower worker
 * needs. */
static double middle_of(const struct common *common, enum way way)
{
    double took[ROUNDS * (STEPS - 1)];
    int steps = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int step = 1; step < STEPS; step++) {
            double first = common->took[0][way][round][step],
                   second = common->took[1][way][round][step];
            took[steps++] = first > second ? first : second;
        }
    qsort(took, (size_t)steps, sizeof(*took), compare);
    return WORKERS / took[steps / 2];
}

static void print(enum precision precision, const char *more, double together, const char *peer,
                  double steps)
{
    printf("{\"name\":\"face 2 workers × 1 thread %s%s\",\"value\":%.1f,\"unit\":\"images/s\","
           "\"peer\":\"%s\",\"peer_value\":%.1f}\n",
           kernels_precision_name(precision), more, together * BATCH, peer, steps * BATCH);
}

int main(int argc, char **argv)
{
    enum precision precision =
        argc > 1 && strcmp(argv[1], "bf16") == 0 ? PRECISION_BF16 : PRECISION_FP32;
    struct common *common =
        mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED) {
        perror("bench_workers: memory");
        return 1;
    }
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&common->barrier, &attributes, WORKERS);
    int ports[WORKERS] = {free_port("bench_workers"), free_port("bench_workers")};
    pid_t child = fork();
    work(common, ports, child == 0 ? 1 : 0, precision);
    if (child == 0)
        return 0;
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return 1;
    print(precision, "", best_of(common, TOGETHER, WORKERS), "2 × one worker",
          2 * best_of(common, ONE, 1));
    print(precision, ", being together", middle_of(common, TOGETHER),
          "the slower of 2, each for itself", middle_of(common, BESIDE));
    return 0;
}
