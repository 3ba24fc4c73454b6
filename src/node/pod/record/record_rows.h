/* Reads and writes the fields of a struct as records (pod/record/record.h). A table has one row per
 * field, with its key, type, offset and bounds. The reader and the writer use the same table, so
 * that each key appears in the code only once. The writer writes the records in the order of the
 * rows. */
#ifndef TRAINYARD_NODE_POD_RECORD_RECORD_ROWS_H
#define TRAINYARD_NODE_POD_RECORD_RECORD_ROWS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_type {
    /* const char *; NULL is not written. The reader stores the pointer to the value without copying
     * it, so the text that is read must outlive the object. */
    RECORD_TEXT,
    RECORD_CHARS,   /* char[size]; a value that is too long is truncated */
    RECORD_BOOL,    /* bool, as 0 or 1 */
    RECORD_INT,     /* int */
    RECORD_INT64,   /* int64_t or uint64_t */
    RECORD_WORD,    /* an enum that indexes `words`; an index outside of `words` is not written */
    RECORD_STRINGS, /* struct pod_strings, one record per item */
    RECORD_CUSTOM,  /* the row's own functions read and write it */
};

struct record_row {
    const char *key;
    enum record_type type;
    size_t offset;            /* in the struct */
    size_t size;              /* of RECORD_CHARS: bytes; of RECORD_WORD: the number of words */
    int64_t min, max;         /* of RECORD_INT and RECORD_INT64: bounds for the reader */
    bool skips_empty;         /* a field that is zero, false or "" is not written; not for
                                 RECORD_WORD and RECORD_CUSTOM */
    const char *const *words; /* of RECORD_WORD: the word per value */
    /* For RECORD_CUSTOM: the functions that read and write the field. */
    int (*read)(struct arena *arena, void *object, const char *value, struct err *err);
    void (*write)(const void *object, const char *key, struct buf *buf);
};

struct record_table {
    const struct record_row *rows;
    size_t count;
};

#define RECORD_TABLE(array)                                                                        \
    {                                                                                              \
        array, sizeof(array) / sizeof((array)[0])                                                  \
    }

/* Rows by type: field `member` of the struct type `owner` has the key `name`. */
#define RECORD_ROW_TEXT(owner, member, name)                                                       \
    {                                                                                              \
        .key = (name), .type = RECORD_TEXT, .offset = offsetof(owner, member)                      \
    }
#define RECORD_ROW_BOOL(owner, member, name)                                                       \
    {                                                                                              \
        .key = (name), .type = RECORD_BOOL, .offset = offsetof(owner, member)                      \
    }
#define RECORD_ROW_STRINGS(owner, member, name)                                                    \
    {                                                                                              \
        .key = (name), .type = RECORD_STRINGS, .offset = offsetof(owner, member)                   \
    }
#define RECORD_ROW_CHARS(owner, member, name)                                                      \
    {                                                                                              \
        .key = (name), .type = RECORD_CHARS, .offset = offsetof(owner, member),                    \
        .size = sizeof(((owner *)NULL)->member)                                                    \
    }
#define RECORD_ROW_INT(owner, member, name, least, most)                                           \
    {                                                                                              \
        .key = (name), .type = RECORD_INT, .offset = offsetof(owner, member), .min = (least),      \
        .max = (most)                                                                              \
    }
#define RECORD_ROW_INT64(owner, member, name, least, most)                                         \
    {                                                                                              \
        .key = (name), .type = RECORD_INT64, .offset = offsetof(owner, member), .min = (least),    \
        .max = (most)                                                                              \
    }
#define RECORD_ROW_WORD(owner, member, name, names, name_count)                                    \
    {                                                                                              \
        .key = (name), .type = RECORD_WORD, .offset = offsetof(owner, member),                     \
        .size = (name_count), .words = (names)                                                     \
    }

void record_rows_write(const struct record_table *table, const void *object, struct buf *buf);

/* Reads one record into the object. Returns 0; 1 if the table has no such key or `object` is NULL;
 * or a negative code if the value is not what the row allows. The arena is for rows of the type
 * RECORD_STRINGS, and for functions of RECORD_CUSTOM rows that allocate. It may be NULL for tables
 * without such rows. */
int record_rows_read(const struct record_table *table, struct arena *arena, void *object,
                     const char *key, const char *value, struct err *err);

#endif
