/* Histograms of the loop's turns; see loop_turns.h. */
#include "loop/loop_turns.h"

const double LOOP_TURN_BOUNDS_S[LOOP_TURN_BOUNDS] = {
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5};

void loop_turn_histogram_add(struct loop_turn_histogram *histogram, int64_t ns)
{
    double seconds = (double)ns / 1e9;
    size_t bucket = 0;
    while (bucket < LOOP_TURN_BOUNDS && seconds > LOOP_TURN_BOUNDS_S[bucket])
        bucket++;
    histogram->buckets[bucket]++;
    histogram->sum_s += seconds;
    if (seconds > histogram->longest_s)
        histogram->longest_s = seconds;
}
