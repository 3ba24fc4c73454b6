/* Fuzzes the reader of cascades. An accepted cascade must run without harm on a picture of its
 * window's size. */
#include "train/data/cascade.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint32_t plain[(CASCADE_WINDOW_MAX + 1) * (CASCADE_WINDOW_MAX + 1)];
    static uint64_t squares[(CASCADE_WINDOW_MAX + 1) * (CASCADE_WINDOW_MAX + 1)];
    struct cascade *cascade = NULL;
    if (cascade_parse((const char *)data, size, &cascade, NULL) < 0)
        return 0;
    struct cascade_sums sums = {.sums = plain, .squares = squares};
    cascade_window(cascade, &sums.width, &sums.height);
    sums.stride = sums.width + 1;
    uint32_t value = 1;
    for (int i = 0; i < sums.stride * (sums.height + 1); i++) {
        value = value * 1664525 + 1013904223;
        plain[i] = value >> 8;
        squares[i] = value;
    }
    struct cascade_plan *plan = cascade_plan_new(cascade, sums.stride);
    (void)cascade_accepts(plan, &sums, 0, 0);
    cascade_plan_free(plan);
    cascade_free(cascade);
    return 0;
}
