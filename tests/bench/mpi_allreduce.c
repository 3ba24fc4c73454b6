/* The peer of bench_allreduce.c in Open MPI: the same sizes, the same figures.
 *
 *   mpicc -O3 -o mpi_allreduce mpi_allreduce.c
 *   mpirun -np 2 --mca btl tcp,self mpi_allreduce     over TCP
 *   mpirun -np 2 mpi_allreduce                        over shared memory
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CALLS_MAX = 2000 };

static const struct {
    const char *name;
    size_t bytes;
    int calls;
} SIZES[] = {
    {"25 MiB", (size_t)25 << 20, 40},      {"100 MiB", (size_t)100 << 20, 8},
    {"1 MiB", (size_t)1 << 20, 300},       {"64 KiB", (size_t)64 << 10, CALLS_MAX},
    {"4 KiB", (size_t)4 << 10, CALLS_MAX},
};

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    static double times[CALLS_MAX];
    for (size_t which = 0; which < sizeof(SIZES) / sizeof(SIZES[0]); which++) {
        size_t bytes = SIZES[which].bytes;
        float *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        (void)madvise(data, bytes, MADV_HUGEPAGE);
        memset(data, 0, bytes);
        for (int call = -3; call < SIZES[which].calls; call++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double start = MPI_Wtime();
            MPI_Allreduce(MPI_IN_PLACE, data, (int)(bytes / sizeof(float)), MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
            if (call >= 0)
                times[call] = MPI_Wtime() - start;
        }
        qsort(times, (size_t)SIZES[which].calls, sizeof(times[0]), compare);
        double median = times[SIZES[which].calls / 2];
        if (rank == 0)
            printf("{\"name\":\"allreduce %s Open MPI %d ranks\",\"value\":%.4g,\"unit\":\"GB/s\","
                   "\"us\":%.1f,\"best_us\":%.1f}\n",
                   SIZES[which].name, ranks, (double)bytes / median / 1e9 * 2 * (ranks - 1) / ranks,
                   median * 1e6, times[0] * 1e6);
        munmap(data, bytes);
    }
    MPI_Finalize();
    return 0;
}
