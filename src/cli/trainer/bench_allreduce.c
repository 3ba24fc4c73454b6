/* trainer bench allreduce: measures the time of an all-reduce over all workers, by size and
 * algorithm. */
#include "cli/trainer/commands.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/rand.h"
#include "base/str.h"
#include "cli/trainer/bench_workers.h"
#include "cli/trainer/fit_cluster.h"
#include "comm/collective/collective.h"
#include "comm/group/group.h"
#include "comm/transport/shared_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_values {
    const char *sizes, *transport, *wire, *algorithm;
    int64_t workers, hosts, join_timeout;
    bool encrypt;
};

enum {
    SIZES_MAX = 32,
    CALLS_MIN = 8, /* the fewest and the most measured calls per cell of the table */
    CALLS_MAX = 1000,
    WARM_UP = 3, /* calls before the measured ones */
    /* Approximate number of bytes that the measured calls of a cell sum. */
    BYTES_PER_CELL = 256 << 20,
    BYTES_MAX = 1 << 30,
    SECRET_SIZE = 16,
    COLUMNS_MAX = 16, /* limit of columns: algorithms in the table */
};

/* Parses one size with its unit: "4KiB". */
static int parse_size(const char *text, size_t length, size_t *ret, struct err *err)
{
    static const struct {
        const char *name;
        unsigned shift;
    } UNITS[] = {{"", 0},   {"B", 0},    {"K", 10}, {"KiB", 10},
                 {"M", 20}, {"MiB", 20}, {"G", 30}, {"GiB", 30}};
    char word[32], *end;
    if (length > 0 && length < sizeof(word)) {
        memcpy(word, text, length);
        word[length] = '\0';
        unsigned long long number = strtoull(word, &end, 10);
        for (size_t i = 0; i < ARRAY_SIZE(UNITS) && end > word; i++)
            if (str_eq(end, UNITS[i].name) && number > 0 &&
                number <= (unsigned)BYTES_MAX >> UNITS[i].shift &&
                ((number << UNITS[i].shift) % sizeof(float)) == 0) {
                *ret = (size_t)number << UNITS[i].shift;
                return 0;
            }
    }
    return err_set(
        err, ERR_USAGE,
        "--sizes: '%.*s' is not a size: write 4KiB, 25MiB …, a multiple of 4 bytes up to 1GiB",
        (int)length, text);
}

static int parse_sizes(const char *text, size_t sizes[SIZES_MAX], size_t *ret_count,
                       struct err *err)
{
    size_t count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (count == SIZES_MAX)
            return err_set(err, ERR_USAGE, "--sizes: more than %d sizes", SIZES_MAX);
        int result = parse_size(at, length, &sizes[count++], err);
        if (result < 0)
            return result;
        at += length;
        if (!*at)
            break;
    }
    *ret_count = count;
    return 0;
}

static int compare_times(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Sets *ret_ns to the median duration of a call in nanoseconds. All workers begin each call
 * together. */
static int measure_algorithm(struct comm_group *group, const struct collective_allreduce *algorithm,
                             float *data, size_t bytes, int64_t *ret_ns, struct err *err)
{
    static int64_t times[CALLS_MAX];
    size_t calls = BYTES_PER_CELL / bytes;
    calls = calls < CALLS_MIN ? CALLS_MIN : calls > CALLS_MAX ? CALLS_MAX : calls;
    for (size_t call = 0; call < calls + WARM_UP; call++) {
        int result = comm_barrier(group, err);
        int64_t start = moment_monotonic_ns();
        if (result == 0)
            result = comm_allreduce_with(group, algorithm, data, bytes / sizeof(float), err);
        if (result < 0)
            return result;
        if (call >= WARM_UP)
            times[call - WARM_UP] = moment_monotonic_ns() - start;
    }
    qsort(times, calls, sizeof(times[0]), compare_times);
    *ret_ns = times[calls / 2];
    return 0;
}

static void print_size(size_t bytes)
{
    if (bytes % (1 << 20) == 0)
        printf("%6zu MiB", bytes >> 20);
    else if (bytes % (1 << 10) == 0)
        printf("%6zu KiB", bytes >> 10);
    else
        printf("%8zu B", bytes);
}

/* Sets `columns` to the algorithms that can be used for at least one of the sizes, or only to the
 * algorithm of --algorithm. Returns their number. */
static size_t list_columns(struct comm_group *group, const struct bench_values *values,
                           const size_t *sizes, size_t count,
                           const struct collective_allreduce **columns)
{
    const struct collective_allreduce *only =
        str_is_empty(values->algorithm) ? NULL : collective_allreduce_by_name(values->algorithm);
    const struct collective_allreduce *algorithm;
    size_t found = 0;
    for (size_t i = 0; found < COLUMNS_MAX && (algorithm = collective_allreduce_at(i)); i++) {
        bool usable = false;
        for (size_t j = 0; j < count; j++)
            usable |= comm_allreduce_can(group, algorithm, sizes[j] / sizeof(float));
        if (usable && (!only || only == algorithm))
            columns[found++] = algorithm;
    }
    return found;
}

/* Measures all algorithms for one size. Rank 0 prints the results. */
static int print_row(struct comm_group *group, const struct collective_allreduce *const *columns,
                     size_t column_count, float *data, size_t bytes, struct err *err)
{
    bool prints = comm_group_rank(group) == 0;
    double members = comm_group_size(group);
    const struct collective_allreduce *chosen = comm_allreduce_choice(group, bytes / sizeof(float));
    if (prints)
        print_size(bytes);
    for (size_t i = 0; i < column_count; i++) {
        int64_t ns = 0;
        bool usable = comm_allreduce_can(group, columns[i], bytes / sizeof(float));
        int result = usable ? measure_algorithm(group, columns[i], data, bytes, &ns, err) : 0;
        if (result < 0)
            return result;
        if (prints && usable)
            printf("  %9.1f %7.2f%c", (double)ns / 1e3,
                   (double)bytes / (double)(ns ? ns : 1) * 2 * (members - 1) / members,
                   columns[i] == chosen ? '*' : ' ');
        else if (prints)
            printf("  %9s %7s ", "-", "-");
    }
    if (prints) {
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

static int print_times(struct comm_group *group, const struct bench_values *values,
                       const size_t *sizes, size_t count, float *data, struct err *err)
{
    const struct collective_allreduce *columns[COLUMNS_MAX];
    size_t column_count = list_columns(group, values, sizes, count, columns);
    if (!column_count)
        return err_set(err, ERR_UNSUPPORTED, "all-reduce '%s' cannot be used here: it needs %s",
                       values->algorithm, collective_allreduce_by_name(values->algorithm)->needs);
    if (comm_group_rank(group) == 0) {
        printf("all-reduce among %d workers: median in µs, bus bandwidth in GB/s, * the algorithm "
               "that training chooses\n",
               comm_group_size(group));
        printf("%10s", "");
        for (size_t i = 0; i < column_count; i++)
            printf("  %17s ", columns[i]->name);
        printf("\n");
    }
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = print_row(group, columns, column_count, data, sizes[i], err);
    return result;
}

static int join_and_measure(const struct bench_values *values, const struct ty_tf_config *config,
                            struct bench_workers *local, const char *secret, const size_t *sizes,
                            size_t count, struct err *err)
{
    _cleanup_(cleanup_shared_memory) struct shared_memory *memory = NULL;
    _cleanup_(cleanup_comm_group) struct comm_group *group = NULL;
    char host[32];
    size_t workers = tf_config_workers(config), largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    snprintf(host, sizeof(host), "%zu", config->self * (size_t)values->hosts / workers);
    const struct comm_options options = {
        .config = config,
        .secret = secret,
        .encrypt = values->encrypt,
        .transport = str_eq(values->transport, "tcp") ? COMM_TRANSPORT_TCP : COMM_TRANSPORT_AUTO,
        .wire = str_eq(values->wire, "bf16") ? COMM_WIRE_BF16 : COMM_WIRE_F32,
        .pretended_host = values->hosts > 1 ? host : NULL,
        .join_timeout_ms = values->join_timeout * 1000,
        .report = fit_print_line,
    };
    int result = shared_memory_new("bench", largest, &memory, err);
    if (result == 0)
        result = comm_group_open(&options, &group, err);
    if (result == 0)
        result = comm_group_share(group, memory, err);
    if (result == 0)
        result = print_times(group, values, sizes, count, memory->at, err);
    if (result < 0)
        bench_workers_fail(local, err);
    group = comm_group_free(group); /* The group is freed before the memory that it shares. */
    return result;
}

/* Creates a job secret for the workers that this process starts. */
static void make_secret(char text[2 * SECRET_SIZE + 1])
{
    uint8_t bytes[SECRET_SIZE];
    rand_secure(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static int bench_allreduce_run(const void *untyped, size_t argument_count,
                               const char *const *arguments, struct err *err)
{
    const struct bench_values *values = untyped;
    struct bench_workers local = {0};
    struct ty_tf_config *config = NULL;
    size_t sizes[SIZES_MAX], count = 0;
    char secret[2 * SECRET_SIZE + 1];
    int result = parse_sizes(values->sizes, sizes, &count, err);
    make_secret(secret);
    if (result == 0)
        result = values->workers ? bench_workers_start(&local, (int)values->workers, &config, err)
                                 : tf_config_from_process_environment(&config, err);
    if (result == 0 && tf_config_workers(config) < 2)
        result = err_set(err, ERR_USAGE,
                         "a single worker has no peers to sum with: use --workers N, or run it "
                         "where TF_CONFIG names several workers");
    if (result == 0)
        result = join_and_measure(values, config, &local, values->workers ? secret : NULL, sizes,
                                  count, err);
    ty_tf_config_free(config);
    return bench_workers_end(&local, result, err);
}

#define FIELD(name) .offset = offsetof(struct bench_values, name)

static const struct option OPTIONS[] = {
    {.name = "workers",
     .type = OPTION_INT,
     FIELD(workers),
     .fallback = "0",
     .min = 0,
     .max = BENCH_WORKERS_MAX,
     .value = "N",
     .help = "number of workers to start on this machine; 0: run as one of the workers that "
             "TF_CONFIG names"},
    {.name = "sizes",
     .type = OPTION_STRING,
     FIELD(sizes),
     .fallback = "4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,25MiB",
     .value = "SIZE,…",
     .help = "sizes of the data that each worker sums"},
    {.name = "algorithm",
     .type = OPTION_CHOICE,
     FIELD(algorithm),
     .choices = "shared|hierarchical|direct|doubling|halving|ring",
     .value = "NAME",
     .help = "measure only this algorithm; default: all that can be used"},
    {.name = "transport",
     .type = OPTION_CHOICE,
     FIELD(transport),
     .fallback = "auto",
     .choices = "auto|tcp",
     .value = "NAME",
     .help = "auto: shared memory between workers on one machine; tcp: TCP between all workers"},
    {.name = "wire",
     .type = OPTION_CHOICE,
     FIELD(wire),
     .fallback = "f32",
     .choices = "f32|bf16",
     .value = "FORM",
     .help = "format of numbers over TCP; bf16 has half the bytes and 8 bits of mantissa"},
    {.name = "encrypt",
     .type = OPTION_FLAG,
     FIELD(encrypt),
     .help = "encrypt the traffic over TCP with TLS"},
    {.name = "pretend-hosts",
     .type = OPTION_INT,
     FIELD(hosts),
     .fallback = "1",
     .min = 1,
     .max = BENCH_WORKERS_MAX,
     .value = "N",
     .help = "with --workers: pretend that they are spread over this many machines"},
    {.name = "join-timeout",
     .type = OPTION_INT,
     FIELD(join_timeout),
     .fallback = "300",
     .min = 1,
     .max = 86400,
     .value = "SECONDS",
     .help = "how long to wait for the other workers, in seconds"},
    {0},
};

const struct command COMMAND_BENCH_ALLREDUCE = {
    .name = "allreduce",
    .summary = "measure how fast the workers sum their gradients",
    .description =
        "Measures the sum over all workers for each size and each algorithm that can be used "
        "between them, and shows which algorithm training would choose. Bus bandwidth is "
        "size / time × 2 (n-1)/n for n workers: the least that each of them must send, divided by "
        "the time.\n\nWith --workers it "
        "starts processes on this machine. In the pods of a job, or wherever TF_CONFIG is set, "
        "each process is one worker and the first one prints.",
    .examples = "trainer bench allreduce --workers 2\n"
                "trainer bench allreduce --workers 4 --transport tcp --sizes 64KiB,1MiB",
    .options = OPTIONS,
    .values_size = sizeof(struct bench_values),
    .run = bench_allreduce_run,
};
