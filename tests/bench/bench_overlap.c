/* Training steps of the classifier in two processes over TCP. The gradients are summed either at
 * the end of a step, or in pieces while the rest is still computed. The gain depends on the link.
 * Run it in a network namespace with a slower loopback to measure other links:
 *
 *   ip netns add slow && ip netns exec slow ip link set lo up
 *   ip netns exec slow tc qdisc add dev lo root tbf rate 2gbit burst 1mb latency 50ms
 *   ip netns exec slow bench_overlap [shared] [BATCH]
 */
#include "free_port.h"

#include "base/mem.h"
#include "comm/cluster/tf_config.h"
#include "models/classifier/classifier.h"
#include "train/team/reducer_comm.h"
#include "train/team/team.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 2, SIDE = 28, CLASSES = 10, ROUNDS = 7, STEPS = 3, PART = 25 };

static const size_t BUCKETS[] = {0, TEAM_BUCKET}; /* no overlap, and overlap */

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void must(int result, const struct err *err)
{
    if (result == 0)
        return;
    fprintf(stderr, "bench_overlap: %s\n", err->message);
    exit(1);
}

static double steps_ms(struct team *team, const float *inputs, const float *d_outputs,
                       float *outputs)
{
    struct err err = ERR_INIT;
    double start = now_ms();
    for (int i = 0; i < STEPS; i++) {
        must(team_forward(team, inputs, &(struct layer_draw){.step = 1}, outputs, &err), &err);
        must(team_backward(team, d_outputs, &err), &err);
        must(team_reduce(team, &err), &err);
        team_learn(team);
    }
    return (now_ms() - start) / STEPS;
}

int main(int argc, char **argv)
{
    int ports[RANKS] = {free_port("bench_overlap"), free_port("bench_overlap")}, rank = 0, share;
    bool shared = argc > 1 && strcmp(argv[1], "shared") == 0;
    share = (argc > 1 + shared ? atoi(argv[1 + shared]) : 100) / RANKS;
    pid_t child = fork();
    if (child == 0)
        rank = 1;
    char text[256];
    snprintf(text, sizeof(text),
             "{\"cluster\":{\"worker\":[\"127.0.0.1:%d\",\"127.0.0.1:%d\"]},"
             "\"task\":{\"type\":\"worker\",\"index\":%d}}",
             ports[0], ports[1], rank);
    struct err err = ERR_INIT;
    struct ty_tf_config *cluster = NULL;
    struct reducer_comm reducer = {0};
    must(tf_config_parse(text, strlen(text), &cluster, &err), &err);
    struct comm_options options = {.config = cluster,
                                   .secret = "bench",
                                   .transport = shared ? COMM_TRANSPORT_AUTO : COMM_TRANSPORT_TCP};
    must(reducer_comm_open(&reducer, &options, NULL, &err), &err);
    reducer.reducer.far = true; /* also in shared memory, to measure it */
    struct params *params = params_new();
    struct network *network = NULL;
    struct classifier_config config = {
        .kind = CLASSIFIER_CNN, .side = SIDE, .channels = 1, .classes = CLASSES};
    must(classifier_network_new(&config, params, &network, &err), &err);
    params_initialise(params, 1);
    network_pack(network);
    if (shared)
        must(reducer.reducer.share(&reducer.reducer, params->gradients_memory, &err), &err);
    size_t sample = (size_t)SIDE * SIDE;
    float *inputs = mem_calloc((size_t)share * sample, sizeof(float)),
          *outputs = mem_calloc((size_t)share * CLASSES, sizeof(float)),
          *d_outputs = mem_calloc((size_t)share * CLASSES, sizeof(float));
    for (size_t i = 0; i < (size_t)share * sample; i++)
        inputs[i] = (float)(i % 11) / 10 - 0.5f;
    for (size_t i = 0; i < (size_t)share * CLASSES; i++)
        d_outputs[i] = (float)(i % 7) / 1000;
    double best[ARRAY_SIZE(BUCKETS)];
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < ARRAY_SIZE(BUCKETS); i++) {
            struct team_options of = {.network = network,
                                      .params = params,
                                      .samples = share,
                                      .share_max = share,
                                      .part = PART,
                                      .threads = 1,
                                      .reducer = &reducer.reducer,
                                      .bucket = BUCKETS[i]};
            struct team *team = NULL;
            must(team_new(&of, &team, &err), &err);
            (void)steps_ms(team, inputs, d_outputs, outputs); /* warm up */
            double ms = steps_ms(team, inputs, d_outputs, outputs);
            best[i] = round == 0 || ms < best[i] ? ms : best[i];
            team_free(team);
        }
    for (size_t i = 0; rank == 0 && i < ARRAY_SIZE(BUCKETS); i++)
        printf("{\"name\":\"classifier step, 2 workers, gradients sent %s\",\"value\":%.1f,"
               "\"unit\":\"ms\"}\n",
               BUCKETS[i] ? "on the way" : "at the end", best[i]);
    free(inputs), free(outputs), free(d_outputs);
    network_free(network);
    reducer_comm_close(&reducer);
    params_free(params);
    ty_tf_config_free(cluster);
    if (rank == 1)
        return 0;
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
