/* Reads ratings of items by users, in the CSV format of MovieLens:
 * userId,movieId,rating[,timestamp], in this order or in the order of a header line. Ratings are
 * read completely into memory and are immutable afterwards. The split into training and test
 * ratings depends only on the seed and the position in the file, so all workers that read the same
 * file get the same split. */
#ifndef TRAINYARD_TRAIN_DATA_RATINGS_H
#define TRAINYARD_TRAIN_DATA_RATINGS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define RATINGS_FILE "ratings.csv" /* read if the path is a directory */

enum {
    RATINGS_MAX = 100 * 1000 * 1000,
    RATINGS_LINE_MAX = 4096,
    RATINGS_VALUE_MAX = 1000000, /* a rating is from -RATINGS_VALUE_MAX to RATINGS_VALUE_MAX */
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

/* Reads a file. The caller frees the ratings. The error names the number of the invalid line and
 * the problem. */
int ratings_open(const char *path, struct ratings **ret, struct err *err);
/* Like ratings_open(), but from memory. `name` is used in messages. */
int ratings_parse(const char *name, const char *data, size_t size, struct ratings **ret,
                  struct err *err);
struct ratings *ratings_free(struct ratings *ratings); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(ratings)

/* Returns the id for a text: the number itself for a whole number, else a hash of 63 bits, which is
 * equal on every machine. */
int64_t ratings_id(const char *text, size_t size);

size_t ratings_users(const struct ratings *ratings); /* number of different users */
size_t ratings_items(const struct ratings *ratings);

/* Writes "100836 ratings, digest 1a2b3c4d", which is equal for the same ratings in the same
 * order. */
enum { RATINGS_TEXT_MAX = 64 };
void ratings_describe(const struct ratings *ratings, char *text, size_t size);

/* The training and the test ratings, as ascending positions in the file. The caller releases the
 * split. The test ratings are a random sample. If they were the latest ratings, many of their users
 * would be missing from the training data. */
struct ratings_split {
    size_t *train, *test;
    size_t train_count, test_count;
};
void ratings_split_draw(const struct ratings *ratings, uint64_t seed, int test_percent,
                        struct ratings_split *ret);
void ratings_split_release(struct ratings_split *split); /* safe on zeroed memory */

#endif
