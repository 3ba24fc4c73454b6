/* Fuzzes the reader of CSV files with ratings. Accepted ratings must be within their limits. */
#include "train/data/ratings.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ratings *ratings = NULL;
    struct err err = ERR_INIT;
    if (ratings_parse("fuzz", (const char *)data, size, &ratings, &err) < 0)
        return 0;
    if (ratings->count == 0 || ratings_users(ratings) > ratings->count)
        abort();
    for (size_t i = 0; i < ratings->count; i++)
        if (!(ratings->items[i].value >= -RATINGS_VALUE_MAX &&
              ratings->items[i].value <= RATINGS_VALUE_MAX))
            abort();
    ratings_free(ratings);
    return 0;
}
