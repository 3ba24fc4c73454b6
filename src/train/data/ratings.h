/* Ratings of items by users, as MovieLens writes them: a CSV file of
 * userId,movieId,rating[,timestamp], in this order, or in that of a first line of headings. Read
 * whole into memory, and read-only afterwards. Which ratings are kept out of training follows from
 * the seed and the position in the file alone, so all workers that read the same file agree without
 * a word. */
#ifndef TRAINYARD_TRAIN_RATINGS_H
#define TRAINYARD_TRAIN_RATINGS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define RATINGS_FILE "ratings.csv" /* where a directory is given */

enum {
    RATINGS_MAX = 100 * 1000 * 1000,
    RATINGS_LINE_MAX = 4096,
    RATINGS_VALUE_MAX = 1000000, /* a rating lies between ± this */
};
static const size_t RATINGS_BYTES_MAX = (size_t)4 << 30;

struct rating {
    int64_t user, item;
    float value;
};

struct ratings {
    struct rating *items;
    size_t count;
};

/* A line that is none is refused with its number and what is wrong with it. */
int ratings_open(const char *path, struct ratings **ret, struct err *err);
/* The same from memory: `name` is for messages. */
int ratings_parse(const char *name, const char *data, size_t size, struct ratings **ret,
                  struct err *err);
struct ratings *ratings_free(struct ratings *ratings); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(ratings)

/* A whole number is itself; any other text is hashed to 63 bits, the same everywhere. */
int64_t ratings_id(const char *text, size_t size);

size_t ratings_users(const struct ratings *ratings); /* different ones */
size_t ratings_items(const struct ratings *ratings);

/* "100836 ratings, digest 1a2b3c4d": the same for the same ratings in the same order. */
enum { RATINGS_TEXT_MAX = 64 };
void ratings_describe(const struct ratings *ratings, char *text, size_t size);

/* Positions in the file, ascending; both lists are malloc'ed. A random part and not the latest: the
 * users of the last days would be people of whom nothing was learnt. */
struct ratings_split {
    size_t *train, *test;
    size_t train_count, test_count;
};
void ratings_split_draw(const struct ratings *ratings, uint64_t seed, int test_percent,
                        struct ratings_split *ret);
void ratings_split_release(struct ratings_split *split); /* safe on zeroed memory */

#endif
