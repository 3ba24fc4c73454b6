/* All-reduce between two processes on this machine through the public interface: over TCP, in
 * shared memory (a buffer that the group has allocated), or in shared memory with a buffer of the
 * caller. mpi_allreduce.c measures the same in Open MPI. Prints one JSON line per size. The value
 * is the bus bandwidth of the median call: the bytes that each process sends per second, whatever
 * the algorithm (size / time × 2 (n-1)/n). The size that tests/bench/run compares comes first.
 *
 *   bench_allreduce tcp|shared|copied [CHANNELS]
 */
#include "free_port.h"

#include <trainyard/comm.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 2, CALLS_MAX = 2000 };

static const struct {
    const char *name;
    size_t bytes;
    int calls;
} SIZES[] = {
    {"25 MiB", (size_t)25 << 20, 40},      {"100 MiB", (size_t)100 << 20, 8},
    {"1 MiB", (size_t)1 << 20, 300},       {"64 KiB", (size_t)64 << 10, CALLS_MAX},
    {"4 KiB", (size_t)4 << 10, CALLS_MAX},
};

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void must(int result, const struct ty_error *error)
{
    if (result == 0)
        return;
    fprintf(stderr, "bench_allreduce: %s\n", error->message);
    exit(1);
}

/* Page-aligned, and in huge pages if the machine has them, like the gradients of the trainer. */
static float *allocate(size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        perror("bench_allreduce: memory");
        exit(1);
    }
    (void)madvise(data, bytes, MADV_HUGEPAGE);
    memset(data, 0, bytes);
    return data;
}

static void measure(struct ty_comm *comm, const char *way, float *data, size_t which, int channels)
{
    struct ty_error error;
    static double times[CALLS_MAX];
    size_t bytes = SIZES[which].bytes;
    for (int call = -3; call < SIZES[which].calls; call++) { /* the first three warm up */
        must(ty_comm_barrier(comm, &error), &error);
        double start = now_s();
        must(ty_comm_allreduce_sum_f32(comm, data, bytes / sizeof(float), &error), &error);
        if (call >= 0)
            times[call] = now_s() - start;
    }
    qsort(times, (size_t)SIZES[which].calls, sizeof(times[0]), compare);
    double median = times[SIZES[which].calls / 2];
    if (ty_comm_rank(comm) == 0) {
        char more[32] = "";
        if (channels > 1)
            snprintf(more, sizeof(more), ", %d channels", channels);
        printf("{\"name\":\"allreduce %s %s %d ranks%s\",\"value\":%.4g,\"unit\":\"GB/s\","
               "\"us\":%.1f,\"best_us\":%.1f}\n",
               SIZES[which].name, way, RANKS, more,
               (double)bytes / median / 1e9 * 2 * (RANKS - 1) / RANKS, median * 1e6,
               times[0] * 1e6);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    int ports[RANKS] = {free_port("bench_allreduce"), free_port("bench_allreduce")};
    const char *way = argc > 1 ? argv[1] : "tcp";
    int channels = argc > 2 ? atoi(argv[2]) : 1, rank = 0;
    pid_t child = fork();
    if (child == 0)
        rank = 1;
    char text[256];
    snprintf(text, sizeof(text),
             "{\"cluster\":{\"worker\":[\"127.0.0.1:%d\",\"127.0.0.1:%d\"]},"
             "\"task\":{\"type\":\"worker\",\"index\":%d}}",
             ports[0], ports[1], rank);
    struct ty_error error;
    struct ty_tf_config *config;
    struct ty_comm *comm;
    must(ty_tf_config_parse(text, &config, &error), &error);
    const struct ty_comm_options options = {
        .channels = channels,
        .secret = "bench",
        .transport = strcmp(way, "tcp") == 0 ? TY_COMM_TCP : TY_COMM_AUTO,
    };
    must(ty_comm_open(config, &options, &comm, &error), &error);
    size_t most = (size_t)100 << 20;
    void *data = NULL;
    if (strcmp(way, "shared") == 0)
        must(ty_comm_allocate(comm, most, &data, &error), &error);
    else
        data = allocate(most);
    for (size_t which = 0; which < sizeof(SIZES) / sizeof(SIZES[0]); which++)
        measure(comm, way, data, which, channels);
    ty_comm_close(comm);
    ty_tf_config_free(config);
    int status = 0;
    if (rank == 0)
        waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
