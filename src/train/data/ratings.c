/* Implements the reading and splitting of ratings; see ratings.h. */
#include "train/data/ratings.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/system/file.h"
#include "base/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <zlib.h>

enum { FIELDS_MIN = 3, FIELDS_MAX = 4 };

/* The columns, in the order of a file without a header line. */
enum column { USER, ITEM, VALUE, TIME };

static const struct {
    const char *name;
    enum column column;
} COLUMNS[] = {
    {"userId", USER},  {"user", USER},     {"user_id", USER},   {"movieId", ITEM},
    {"movie", ITEM},   {"movie_id", ITEM}, {"itemId", ITEM},    {"item", ITEM},
    {"item_id", ITEM}, {"rating", VALUE},  {"timestamp", TIME}, {"time", TIME},
};

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
    /* The key is a constant, because the hash must be equal on all workers. */
    static const struct hash_key key = {{0}};
    return (int64_t)(hash_bytes(&key, text, size) >> 1);
}

/* Reads a number from a field, which has no terminating zero byte. Returns whether it is a
 * number. */
static bool read_rating(const struct field *field, float *ret)
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

/* Cuts a line into fields. Returns their number. Fields beyond FIELDS_MAX are counted but not
 * stored. */
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

/* Returns the number of bytes of the field that a message quotes. */
static int quoted_size(const struct field *field)
{
    return (int)(field->size < 40 ? field->size : 40);
}

/* Returns whether this is a header line. A header line has no numbers and no empty fields. */
static bool is_header_line(const struct field *fields, size_t count)
{
    float number;
    for (size_t i = 0; i < count; i++)
        if (fields[i].size == 0 || read_rating(&fields[i], &number))
            return false;
    return true;
}

/* Sets the position of each column in a line from the header line. */
static int read_header_line(const char *name, const struct field *fields, size_t count,
                            size_t places[FIELDS_MAX], struct err *err)
{
    static const char *const NAMES[] = {"userId", "movieId", "rating", "timestamp"};
    bool found[FIELDS_MAX] = {0};
    for (size_t i = 0; i < count; i++) {
        struct field field = fields[i];
        if (field.size > 1 && field.text[0] == '"' && field.text[field.size - 1] == '"')
            field = (struct field){field.text + 1, field.size - 2};
        size_t row = 0;
        while (row < ARRAY_SIZE(COLUMNS) &&
               (strlen(COLUMNS[row].name) != field.size ||
                strncasecmp(COLUMNS[row].name, field.text, field.size) != 0))
            row++;
        if (row == ARRAY_SIZE(COLUMNS))
            return err_set(
                err, ERR_BAD_REQUEST,
                "'%s' line 1: unknown column '%.*s': expected userId, movieId, rating or timestamp",
                name, quoted_size(&field), field.text);
        enum column column = COLUMNS[row].column;
        if (found[column])
            return err_set(err, ERR_BAD_REQUEST, "'%s' line 1 has two columns %s", name,
                           NAMES[column]);
        found[column] = true;
        places[column] = i;
    }
    for (size_t column = USER; column < FIELDS_MIN; column++)
        if (!found[column])
            return err_set(err, ERR_BAD_REQUEST, "'%s' line 1 has no column %s", name,
                           NAMES[column]);
    return 0;
}

/* Reads one line: the rating, or the columns of a header line, which sets *ret_is_header. */
static int read_line(const char *name, size_t number, const char *line, size_t size,
                     size_t places[FIELDS_MAX], bool *ret_is_header, struct rating *ret,
                     struct err *err)
{
    struct field fields[FIELDS_MAX];
    if (size > RATINGS_LINE_MAX)
        return err_set(err, ERR_TOO_LARGE, "'%s' line %zu has more than %d characters", name,
                       number, RATINGS_LINE_MAX);
    if (memchr(line, '\0', size))
        return err_set(err, ERR_BAD_REQUEST,
                       "'%s' line %zu has a NUL byte: the file must be text in UTF-8 or ASCII",
                       name, number);
    size_t count = cut_line(line, size, fields);
    if (count < FIELDS_MIN || count > FIELDS_MAX)
        return err_set(err, ERR_BAD_REQUEST,
                       "'%s' line %zu has %zu field%s; expected userId,movieId,rating,timestamp",
                       name, number, count, count == 1 ? "" : "s");
    *ret_is_header = number == 1 && is_header_line(fields, count);
    if (*ret_is_header)
        return read_header_line(name, fields, count, places, err);
    for (size_t column = USER; column < FIELDS_MIN; column++)
        if (places[column] >= count)
            return err_set(err, ERR_BAD_REQUEST, "'%s' line %zu has fewer fields than line 1", name,
                           number);
    const struct field *user = &fields[places[USER]], *item = &fields[places[ITEM]],
                       *rated = &fields[places[VALUE]];
    if (user->size == 0 || item->size == 0)
        return err_set(err, ERR_BAD_REQUEST, "'%s' line %zu has no %s", name, number,
                       user->size ? "movie" : "user");
    float value = 0;
    if (!read_rating(rated, &value) || fabsf(value) > RATINGS_VALUE_MAX)
        return err_set(err, ERR_BAD_REQUEST, "'%s' line %zu: '%.*s' is not a rating", name, number,
                       quoted_size(rated), rated->text);
    *ret = (struct rating){
        .user = ratings_id(user->text, user->size),
        .item = ratings_id(item->text, item->size),
        .value = value,
    };
    return 0;
}

int ratings_parse(const char *name, const char *data, size_t size, struct ratings **ret,
                  struct err *err)
{
    VEC(struct rating) found = {0};
    size_t number = 0, places[FIELDS_MAX] = {USER, ITEM, VALUE, TIME};
    int result = 0;
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) { /* a UTF-8 byte order mark */
        data += 3;
        size -= 3;
    }
    for (const char *at = data, *end = data + size; result == 0 && at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        size_t length = (size_t)(stop - at);
        length -= length && at[length - 1] == '\r';
        number++;
        if (length) {
            struct rating rating;
            bool is_header = false;
            result = read_line(name, number, at, length, places, &is_header, &rating, err);
            if (result == 0 && !is_header && found.count == RATINGS_MAX)
                result =
                    err_set(err, ERR_TOO_LARGE, "'%s' has more than %d ratings", name, RATINGS_MAX);
            if (result == 0 && !is_header)
                vec_push(&found, rating);
        }
        at = stop + 1;
    }
    if (result == 0 && found.count == 0)
        result = err_set(err, ERR_BAD_REQUEST, "'%s' has no ratings", name);
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

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the number of different ids in the member of struct rating at `offset`. */
static size_t count_different(const struct ratings *ratings, size_t offset)
{
    _cleanup_free_ int64_t *ids = mem_calloc(ratings->count + 1, sizeof(*ids));
    for (size_t i = 0; i < ratings->count; i++)
        memcpy(&ids[i], (const char *)&ratings->items[i] + offset, sizeof(*ids));
    qsort(ids, ratings->count, sizeof(*ids), compare_ids);
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

void ratings_describe(const struct ratings *ratings, char *text, size_t size)
{
    const size_t bytes = offsetof(struct rating, value) + sizeof(float); /* without padding */
    uLong digest = crc32(0, NULL, 0);
    for (size_t i = 0; i < ratings->count; i++)
        digest = crc32_z(digest, (const unsigned char *)&ratings->items[i], bytes);
    snprintf(text, size, "%zu ratings, digest %08lx", ratings->count, (unsigned long)digest);
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
