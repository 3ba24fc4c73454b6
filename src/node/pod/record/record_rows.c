/* Reads and writes the fields of a struct as records, by a table; see pod/record/record_rows.h. */
#include "node/pod/record/record_rows.h"

#include "base/str.h"
#include "node/plan/strings.h"
#include "node/pod/record/record.h"

static const void *row_field(const struct record_row *row, const void *object)
{
    return (const char *)object + row->offset;
}

static void row_write_strings(const struct record_row *row, const struct pod_strings *list,
                              struct buf *buf)
{
    for (size_t i = 0; i < list->count; i++)
        record_write(buf, row->key, list->items[i]);
}

static void row_write_text(const struct record_row *row, const char *text, struct buf *buf)
{
    if (text && (text[0] || !row->skips_empty))
        record_write(buf, row->key, text);
}

static void row_write_number(const struct record_row *row, int64_t number, struct buf *buf)
{
    if (number || !row->skips_empty)
        record_write_int(buf, row->key, number);
}

static void row_write(const struct record_row *row, const void *object, struct buf *buf)
{
    const void *field = row_field(row, object);
    switch (row->type) {
    case RECORD_TEXT:
        row_write_text(row, *(const char *const *)field, buf);
        break;
    case RECORD_CHARS:
        row_write_text(row, field, buf);
        break;
    case RECORD_BOOL:
        row_write_number(row, *(const bool *)field, buf);
        break;
    case RECORD_INT:
        row_write_number(row, *(const int *)field, buf);
        break;
    case RECORD_INT64:
        row_write_number(row, *(const int64_t *)field, buf);
        break;
    case RECORD_WORD:
        if (*(const unsigned *)field < row->size)
            record_write(buf, row->key, row->words[*(const unsigned *)field]);
        break;
    case RECORD_STRINGS:
        row_write_strings(row, field, buf);
        break;
    case RECORD_CUSTOM:
        row->write(object, row->key, buf);
        break;
    }
}

void record_rows_write(const struct record_table *table, const void *object, struct buf *buf)
{
    for (size_t i = 0; i < table->count; i++)
        row_write(&table->rows[i], object, buf);
}

static int row_read_number(const struct record_row *row, const char *value, int64_t min,
                           int64_t max, int64_t *ret, struct err *err)
{
    return str_to_int64(value, min, max, ret, err) < 0 ? err_wrap(err, "%s", row->key) : 0;
}

static int row_read_word(const struct record_row *row, const char *value, unsigned *ret,
                         struct err *err)
{
    for (size_t i = 0; i < row->size; i++) {
        if (str_eq(value, row->words[i])) {
            *ret = (unsigned)i;
            return 0;
        }
    }
    return err_set(err, ERR_UNSUPPORTED, "unknown %s '%.32s'", row->key, value);
}

static int row_read(const struct record_row *row, struct arena *arena, void *object,
                    const char *value, struct err *err)
{
    void *field = (char *)object + row->offset;
    int64_t number = 0;
    int result = 0;
    switch (row->type) {
    case RECORD_TEXT:
        *(const char **)field = value;
        break;
    case RECORD_CHARS:
        str_copy(field, row->size, value);
        break;
    case RECORD_BOOL:
        if ((result = row_read_number(row, value, 0, 1, &number, err)) == 0)
            *(bool *)field = number != 0;
        break;
    case RECORD_INT:
        if ((result = row_read_number(row, value, row->min, row->max, &number, err)) == 0)
            *(int *)field = (int)number;
        break;
    case RECORD_INT64:
        if ((result = row_read_number(row, value, row->min, row->max, &number, err)) == 0)
            *(int64_t *)field = number;
        break;
    case RECORD_WORD:
        result = row_read_word(row, value, field, err);
        break;
    case RECORD_STRINGS:
        pod_strings_add(arena, field, value);
        break;
    case RECORD_CUSTOM:
        result = row->read(arena, object, value, err);
        break;
    }
    return result;
}

int record_rows_read(const struct record_table *table, struct arena *arena, void *object,
                     const char *key, const char *value, struct err *err)
{
    for (size_t i = 0; object && i < table->count; i++)
        if (str_eq(key, table->rows[i].key))
            return row_read(&table->rows[i], arena, object, value, err);
    return 1;
}
