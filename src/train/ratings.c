/* Ratings from CSV files; see ratings.h. */
#include "train/ratings.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FIELDS_MIN = 3, FIELDS_MAX = 4 };

struct field {
    const char *text;
    size_t size;
};

int64_t ratings_id(const char *text, size_t size)
{
    char number[24];
    int64_t id;
    if (size < sizeof(number)) {
        memcpy(number, text, size);
        number[size] = '\0';
        if (strlen(number) == size && str_to_int64(number, INT64_MIN, INT64_MAX, &id, NULL) == 0)
            return id;
    }
    static const struct hash_key key = {{0}}; /* not secret: all must agree */
    return (int64_t)(hash_bytes(&key, text, size) >> 1);
}

/* Any text that is a number, without its end in memory. */
static bool read_value(const struct field *field, float *ret)
{
    char text[32];
    double value;
    if (field->size >= sizeof(text))
        return false;
    memcpy(text, field->text, field->size);
    text[field->size] = '\0';
    if (strlen(text) != field->size || str_to_double(text, &value, NULL) < 0)
        return false;
    *ret = (float)value;
    return true;
}

/* How many fields the line has; those over FIELDS_MAX are counted and not kept. */
static size_t cut_line(const char *line, size_t size, struct field fields[FIELDS_MAX])
{
    size_t count = 0;
    for (const char *at = line, *end = line + size;; count++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        if (count < FIELDS_MAX)
            fields[count] = (struct field){at, (size_t)((comma ? comma : end) - at)};
        if (!comma)
            return count + 1;
        at = comma + 1;
    }
}

static int read_line(const char *name, size_t number, const char *line, size_t size,
                     bool *ret_heading, struct rating *ret, struct err *err)
{
    struct field fields[FIELDS_MAX];
    if (size > RATINGS_LINE_MAX)
        return err_set(err, ERR_TOO_LARGE, "'%s' line %zu has more than %d characters", name,
                       number, RATINGS_LINE_MAX);
    if (memchr(line, '\0', size))
        return err_set(err, ERR_BAD_REQUEST,
                       "'%s' line %zu has a NUL byte in it: it must be text, in UTF-8 or ASCII",
                       name, number);
    size_t count = cut_line(line, size, fields);
    if (count < FIELDS_MIN || count > FIELDS_MAX)
        return err_set(err, ERR_BAD_REQUEST,
                       "'%s' line %zu has %zu field%s, not userId,movieId,rating,timestamp", name,
                       number, count, count == 1 ? "" : "s");
    if (fields[0].size == 0 || fields[1].size == 0)
        return err_set(err, ERR_BAD_REQUEST, "'%s' line %zu names no %s", name, number,
                       fields[0].size ? "movie" : "user");
    float value = 0;
    bool is_number = read_value(&fields[2], &value);
    *ret_heading = number == 1 && !is_number;
    if (*ret_heading)
        return 0;
    if (!is_number || fabsf(value) > RATINGS_VALUE_MAX)
        return err_set(err, ERR_BAD_REQUEST, "'%s' line %zu: '%.*s' is no rating", name, number,
                       (int)(fields[2].size < 40 ? fields[2].size : 40), fields[2].text);
    *ret = (struct rating){
        .user = ratings_id(fields[0].text, fields[0].size),
        .item = ratings_id(fields[1].text, fields[1].size),
        .value = value,
    };
    return 0;
}

int ratings_parse(const char *name, const char *data, size_t size, struct ratings **ret,
                  struct err *err)
{
    VEC(struct rating) found = {0};
    size_t number = 0;
    int result = 0;
    for (const char *at = data, *end = data + size; result == 0 && at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        size_t length = (size_t)(stop - at);
        length -= length && at[length - 1] == '\r';
        number++;
        if (length) {
            struct rating rating;
            bool heading = false;
            result = read_line(name, number, at, length, &heading, &rating, err);
            if (result == 0 && !heading && found.count == RATINGS_MAX)
                result =
                    err_set(err, ERR_TOO_LARGE, "'%s' has more than %d ratings", name, RATINGS_MAX);
            if (result == 0 && !heading)
                vec_push(&found, rating);
        }
        at = stop + 1;
    }
    if (result == 0 && found.count == 0)
        result = err_set(err, ERR_BAD_REQUEST, "'%s' holds no rating", name);
    if (result < 0) {
        vec_release(&found);
        return result;
    }
    struct ratings *ratings = mem_zalloc(sizeof(*ratings));
    ratings->items = found.items;
    ratings->count = found.count;
    *ret = ratings;
    return 0;
}

int ratings_open(const char *path, struct ratings **ret, struct err *err)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        _cleanup_free_ char *inside = mem_printf("%s/%s", path, RATINGS_FILE);
        return ratings_open(inside, ret, err);
    }
    _cleanup_buf_ struct buf data;
    buf_init(&data, RATINGS_BYTES_MAX);
    int result = file_read(path, &data, err);
    return result < 0 ? result : ratings_parse(path, data.data, data.size, ret, err);
}

struct ratings *ratings_free(struct ratings *ratings)
{
    if (!ratings)
        return NULL;
    free(ratings->items);
    free(ratings);
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static size_t count_different(const struct ratings *ratings, size_t field)
{
    _cleanup_free_ int64_t *ids = mem_calloc(ratings->count + 1, sizeof(*ids));
    for (size_t i = 0; i < ratings->count; i++)
        memcpy(&ids[i], (const char *)&ratings->items[i] + field, sizeof(*ids));
    qsort(ids, ratings->count, sizeof(*ids), ascending);
    size_t different = 0;
    for (size_t i = 0; i < ratings->count; i++)
        different += i == 0 || ids[i] != ids[i - 1];
    return different;
}

size_t ratings_users(const struct ratings *ratings)
{
    return count_different(ratings, offsetof(struct rating, user));
}

size_t ratings_items(const struct ratings *ratings)
{
    return count_different(ratings, offsetof(struct rating, item));
}

void ratings_split_draw(const struct ratings *ratings, uint64_t seed, int test_percent,
                        struct ratings_split *ret)
{
    static const uint64_t KEY_SPLIT = 0x73706c6974;
    struct ratings_split split = {
        .train = mem_calloc(ratings->count + 1, sizeof(*split.train)),
        .test = mem_calloc(ratings->count + 1, sizeof(*split.test)),
    };
    for (size_t i = 0; i < ratings->count; i++) {
        struct rand rand;
        rand_init_keyed(&rand, seed, KEY_SPLIT, i);
        if (rand_below(&rand, 100) < (uint64_t)test_percent)
            split.test[split.test_count++] = i;
        else
            split.train[split.train_count++] = i;
    }
    *ret = split;
}

void ratings_split_release(struct ratings_split *split)
{
    free(split->train);
    free(split->test);
    *split = (struct ratings_split){0};
}
