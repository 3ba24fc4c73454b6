/* Implements TensorBoard's event files; see event_file.h. A file is a sequence of TFRecords (size,
 * masked CRC-32C of the size, data, masked CRC-32C of the data). The data of a record is a protobuf
 * Event. The field numbers are those of tensorflow/core/util/event.proto and
 * framework/summary.proto. */
#include "train/run/event_file.h"

#include "base/mem.h"
#include "base/protobuf_write.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    RECORD_MAX = 64 * 1024,
    HEAD = 12, /* the size in 8 bytes, and its checksum */
    TAIL = 4,  /* the checksum of the data */

    EVENT_WALL_TIME = 1, /* seconds, as a double */
    EVENT_STEP = 2,
    EVENT_FILE_VERSION = 3,
    EVENT_SUMMARY = 5,
    EVENT_SESSION_LOG = 7,
    SESSION_STATUS = 1,
    SESSION_START = 1,
    SUMMARY_VALUE = 1,
    VALUE_TAG = 1,
    VALUE_SIMPLE = 2,
};

struct event_file {
    int fd;
    char *path;
    struct buf event;  /* the encoded event that is being built */
    struct buf record; /* the record that is being written */
};

/* Computes CRC-32C (Castagnoli) bit by bit, which is fast enough because records are small and
 * rare. */
static uint32_t event_crc32c(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint32_t crc = ~0U;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
    }
    return ~crc;
}

/* Masks a checksum as the format requires. Masking avoids problems with the CRC of data that
 * contains CRCs. */
static uint32_t masked_crc(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

static void put_little_endian(struct buf *buf, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buf_append_char(buf, (char)(value >> 8 * i));
}

/* Appends the record with one write(). If only a part was written, for example to a full disk, the
 * file is truncated to its old size, because no record after an incomplete record can be read. */
static int write_record(struct event_file *file, struct err *err)
{
    struct buf *record = &file->record;
    buf_clear(record);
    put_little_endian(record, file->event.size, 8);
    put_little_endian(record, masked_crc(event_crc32c(record->data, 8)), 4);
    buf_append(record, file->event.data, file->event.size);
    put_little_endian(record, masked_crc(event_crc32c(file->event.data, file->event.size)), TAIL);
    if (file->event.overflowed || record->overflowed)
        return err_set(err, ERR_TOO_LARGE, "cannot write '%s': a record is larger than %d bytes",
                       file->path, RECORD_MAX);
    off_t start = lseek(file->fd, 0, SEEK_END);
    ssize_t written = write(file->fd, record->data, record->size);
    if (written == (ssize_t)record->size)
        return 0;
    int problem = written < 0 ? errno : ENOSPC;
    if (written > 0 && start >= 0)
        (void)ftruncate(file->fd, start);
    return err_set_errno(err, problem, "cannot write '%s'", file->path);
}

static void begin_event(struct event_file *file, int64_t now_ms)
{
    buf_clear(&file->event);
    protobuf_put_double(&file->event, EVENT_WALL_TIME, (double)now_ms / 1000);
}

/* Writes the first records. The first has the version of the format. If steps_done is not 0, the
 * second marks the start of a session at step steps_done + 1. */
static int write_start(struct event_file *file, int64_t now_ms, uint64_t steps_done,
                       struct err *err)
{
    begin_event(file, now_ms);
    protobuf_put_string(&file->event, EVENT_FILE_VERSION, "brain.Event:2");
    int result = write_record(file, err);
    if (result < 0 || steps_done == 0)
        return result;
    _cleanup_buf_ struct buf session;
    buf_init(&session, RECORD_MAX);
    protobuf_put_int(&session, SESSION_STATUS, SESSION_START);
    begin_event(file, now_ms);
    protobuf_put_int(&file->event, EVENT_STEP, (int64_t)steps_done + 1);
    protobuf_put_message(&file->event, EVENT_SESSION_LOG, &session);
    return write_record(file, err);
}

int event_file_open(const char *directory, int64_t now_ms, uint64_t steps_done,
                    struct event_file **ret, struct err *err)
{
    char host[256] = "localhost";
    int result = file_make_dirs(directory, 0755, err);
    if (result < 0)
        return result;
    (void)gethostname(host, sizeof(host) - 1);
    struct event_file *file = mem_zalloc(sizeof(*file));
    file->path = mem_printf("%s/events.out.tfevents.%010lld.%s.%d", directory,
                            (long long)(now_ms / 1000), host, (int)getpid());
    buf_init(&file->event, RECORD_MAX);
    buf_init(&file->record, HEAD + RECORD_MAX + TAIL);
    file->fd = open(file->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    result = file->fd < 0 ? err_set_errno(err, errno, "cannot open '%s'", file->path)
                          : write_start(file, now_ms, steps_done, err);
    if (result == 0)
        *ret = file;
    else
        event_file_close(file);
    return result;
}

struct event_file *event_file_close(struct event_file *file)
{
    if (!file)
        return NULL;
    if (file->fd >= 0)
        close(file->fd);
    buf_release(&file->event);
    buf_release(&file->record);
    free(file->path);
    free(file);
    return NULL;
}

int event_file_add(struct event_file *file, int64_t now_ms, uint64_t step,
                   const struct event_scalar *scalars, size_t count, struct err *err)
{
    _cleanup_buf_ struct buf summary, value;
    buf_init(&summary, RECORD_MAX);
    buf_init(&value, RECORD_MAX);
    for (size_t i = 0; i < count; i++) {
        buf_clear(&value);
        protobuf_put_string(&value, VALUE_TAG, scalars[i].tag);
        protobuf_put_float(&value, VALUE_SIMPLE, (float)scalars[i].value);
        protobuf_put_message(&summary, SUMMARY_VALUE, &value);
    }
    begin_event(file, now_ms);
    protobuf_put_int(&file->event, EVENT_STEP, (int64_t)step);
    protobuf_put_message(&file->event, EVENT_SUMMARY, &summary);
    return write_record(file, err);
}
