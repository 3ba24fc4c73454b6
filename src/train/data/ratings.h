/* Ratings of items by users, in the CSV format of MovieLens: userId,movieId,rating[,timestamp], in
 * this order or in the order of a header line. Read completely into memory and immutable
 * afterwards. The ratings that are kept out of training depend only on the seed and the position in
 * the file, so all workers that read the same file agree without communication. */
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

/* Reads a file. The caller frees the ratings. The error names the number of a wrong line and what
 * is wrong with it. */
int ratings_open(const char *path, struct ratings **ret, struct err *err);
/* Like ratings_open(), but from memory. `name` is used in messages. */
int ratings_parse(const char *name, const char *data, size_t size, struct ratings **ret,
                  struct err *err);
struct ratings *ratings_free(struct ratings *ratings); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(ratings)

/* A whole number is its own id; any other text is hashed to 63 bits, the same on every machine. */
int64_t ratings_id(const char *text, size_t size);

size_t ratings_users(const struct ratings *ratings); /* different users */
size_t ratings_items(const struct ratings *ratings);

/* "100836 ratings, digest 1a2b3c4d": equal for the same ratings in the same order. */
enum { RATINGS_TEXT_MAX = 64 };
void ratings_describe(const struct ratings *ratings, char *text, size_t size);

/* Positions in the file, ascending. The caller releases both lists. The test ratings are a random
 * sample and not the latest ratings: the model would know nothing about users who appear only at
 * the end. */
struct ratings_split {
    size_t *train, *test;
    size_t train_count, test_count;
};
void ratings_split_draw(const struct ratings *ratings, uint64_t seed, int test_percent,
                        struct ratings_split *ret);
void ratings_split_release(struct ratings_split *split); /* safe on zeroed memory */

#endif
