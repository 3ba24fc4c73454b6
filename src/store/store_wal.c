/* Reads SQLite's write-ahead log; see store_wal.h. */
#include "store/store_wal.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    MAGIC = 0x377f0682,  /* first word of the header; MAGIC + 1 if the checksums are big-endian */
    PAGE_DEFAULT = 4096, /* used if the page size in the header is invalid */
    HEADER_SUMMED = 24,  /* bytes of the header that its checksum covers */
    FRAME_SUMMED = 8,    /* bytes of a frame header that its checksum covers, besides the page */
    /* Offset of the commit field, which is not 0 in the last frame of a transaction. */
    COMMIT_AT = 4,
    SALT_AT = 8,
    FRAME_SUM_AT = 16,
    HEADER_SALT_AT = 16,
    HEADER_SUM_AT = 24,
};

static uint32_t wal_big32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return be32toh(value);
}

void store_wal_sum(bool big_endian, const unsigned char *data, size_t size, uint32_t sum[2])
{
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint32_t words[2];
        memcpy(words, data + at, sizeof(words));
        sum[0] += (big_endian ? be32toh(words[0]) : le32toh(words[0])) + sum[1];
        sum[1] += (big_endian ? be32toh(words[1]) : le32toh(words[1])) + sum[0];
    }
}

static bool is_sum(const uint32_t sum[2], const unsigned char *at)
{
    return sum[0] == wal_big32(at) && sum[1] == wal_big32(at + 4);
}

static bool is_page_size(uint32_t size)
{
    return size >= 512 && size <= STORE_WAL_PAGE_MAX && (size & (size - 1)) == 0;
}

void store_wal_init(struct store_wal *wal, const unsigned char header[STORE_WAL_HEADER])
{
    uint32_t magic = wal_big32(header), page_size = wal_big32(header + 8);
    *wal = (struct store_wal){.big_endian = magic == MAGIC + 1};
    store_wal_sum(wal->big_endian, header, HEADER_SUMMED, wal->sum);
    wal->header_valid = (magic & ~1u) == MAGIC && is_page_size(page_size) &&
                        is_sum(wal->sum, header + HEADER_SUM_AT);
    wal->page_size = is_page_size(page_size) ? page_size : PAGE_DEFAULT;
    memcpy(wal->salt, header + HEADER_SALT_AT, sizeof(wal->salt));
}

/* Returns whether the checksum in the frame continues the running checksum of the log. If it does,
 * updates the running checksum. */
static bool frame_continues_sum(struct store_wal *wal, const unsigned char *frame)
{
    uint32_t sum[2] = {wal->sum[0], wal->sum[1]};
    store_wal_sum(wal->big_endian, frame, FRAME_SUMMED, sum);
    store_wal_sum(wal->big_endian, frame + STORE_WAL_FRAME_HEADER, wal->page_size, sum);
    if (!is_sum(sum, frame + FRAME_SUM_AT))
        return false;
    memcpy(wal->sum, sum, sizeof(sum));
    return true;
}

void store_wal_add(struct store_wal *wal, const unsigned char *frame)
{
    if (wal->frames++ == 0 && !wal->header_valid) {
        wal->bad_frame = 1; /* SQLite would read no frame; use the salt of the first frame */
        memcpy(wal->salt, frame + SALT_AT, sizeof(wal->salt));
    }
    bool salt_matches = memcmp(frame + SALT_AT, wal->salt, sizeof(wal->salt)) == 0;
    if (!wal->bad_frame && !(salt_matches && frame_continues_sum(wal, frame)))
        wal->bad_frame = wal->frames;
    if (wal->bad_frame && salt_matches && wal_big32(frame + COMMIT_AT) != 0)
        wal->later_commits++;
}

enum store_wal_state store_wal_state(const struct store_wal *wal)
{
    if (!wal->bad_frame)
        return STORE_WAL_WHOLE;
    return wal->later_commits >= (wal->header_valid ? 2 : 1) ? STORE_WAL_DAMAGED
                                                             : STORE_WAL_SUSPECT;
}

/* Returns true if all bytes were read. */
static bool read_whole(int fd, void *data, size_t size, off_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, (char *)data + done, size - done, at + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

int store_wal_file_read(const char *path, struct store_wal *ret, struct err *err)
{
    unsigned char header[STORE_WAL_HEADER];
    *ret = (struct store_wal){0};
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_set_errno(err, errno, "cannot open '%s'", path);
    if (!read_whole(fd, header, sizeof(header), 0))
        return 0; /* a log that is shorter than its header is empty */
    store_wal_init(ret, header);
    size_t frame_size = STORE_WAL_FRAME_HEADER + ret->page_size;
    _cleanup_free_ unsigned char *frame = mem_alloc(frame_size);
    off_t at = STORE_WAL_HEADER;
    while (ret->frames < STORE_WAL_FRAMES_MAX && read_whole(fd, frame, frame_size, at)) {
        store_wal_add(ret, frame);
        at += (off_t)frame_size;
    }
    return 0;
}
