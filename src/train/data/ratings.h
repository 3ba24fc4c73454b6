/* Reads ratings of items by users, in the CSV format of MovieLens:
 * userId,movieId,rating[,timestamp], in this order or in the order of a header line. Ratings are
 * read completely into memory and are immutable afterwards. The split into training and test
 * ratings depends only on the seed, the percentage and the position of each rating, so all workers
 * that read the same file get the same split. The recommender uses it. */
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

/* `user` and `item` are ids of ratings_id(). */
struct rating {
    int64_t user, item;
    float value;
};

struct ratings {
    struct rating *items;
    size_t count;
};

/* Reads a file, or RATINGS_FILE in a directory. The caller frees the ratings. If a line is invalid,
 * the error names its number and the problem. */
int ratings_open(const char *path, struct ratings **ret, struct err *err);
/* Like ratings_open(), but reads from memory. `name` is the name of the file in error messages. */
int ratings_parse(const char *name, const char *data, size_t size, struct ratings **ret,
                  struct err *err);
struct ratings *ratings_free(struct ratings *ratings); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(ratings)

/* Returns the id for a text. A whole number of at most 64 bits is its own id. The id of any other
 * text is a hash of 63 bits, which is equal on every machine. */
int64_t ratings_id(const char *text, size_t size);

size_t ratings_users(const struct ratings *ratings); /* number of different users */
size_t ratings_items(const struct ratings *ratings); /* number of different items */

/* Writes "100836 ratings, digest 1a2b3c4d". The digest is equal for the same ratings in the same
 * order. */
enum { RATINGS_TEXT_MAX = 64 };
void ratings_describe(const struct ratings *ratings, char *text, size_t size);

/* The training and the test ratings, as ascending indices in `items`. */
struct ratings_split {
    size_t *train, *test;
    size_t train_count, test_count;
};
/* Draws the test ratings: a random sample of about test_percent percent. If they were the latest
 * ratings, many of their users would be missing from the training data. The caller releases the
 * split. */
void ratings_split_draw(const struct ratings *ratings, uint64_t seed, int test_percent,
                        struct ratings_split *ret);
void ratings_split_release(struct ratings_split *split); /* safe on zeroed memory */

#endif
