/* Reads a tar archive as a stream; see image/tar_read.h. */
#include "node/image/tar_read.h"

#include "base/str.h"

#include <limits.h>
#include <string.h>

/* The fields of a header of 512 bytes. */
struct tar_header {
    char name[100];
    char mode[8];
    char uid[8];
    char gid[8];
    char size[12];
    char mtime[12];
    char checksum[8];
    char type;
    char link[100];
    char magic[8];
    char owner[32];
    char group[32];
    char device[16];
    char prefix[155];
    char rest[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is a block");

/* The fields of the next entry that extended headers have given. */
struct overrides {
    bool has_size, has_uid, has_gid, has_mtime, sparse;
    int64_t size, uid, gid, mtime;
};

void tar_reader_init(struct tar_reader *reader, struct tar_source source)
{
    *reader = (struct tar_reader){.source = source};
    buf_init(&reader->path, TAR_NAME_MAX);
    buf_init(&reader->link, TAR_NAME_MAX);
    buf_init(&reader->extended, TAR_EXTENDED_MAX);
}

void tar_reader_release(struct tar_reader *reader)
{
    buf_release(&reader->path);
    buf_release(&reader->link);
    buf_release(&reader->extended);
}

/* Reads `size` bytes, or fewer at the end of the archive. Returns the number of bytes, or a
 * negative code. */
static ssize_t read_fully(struct tar_reader *reader, char *data, size_t size, struct err *err)
{
    size_t filled = 0;
    while (filled < size) {
        ssize_t got =
            reader->source.read(reader->source.context, data + filled, size - filled, err);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        filled += (size_t)got;
    }
    reader->position += filled;
    return (ssize_t)filled;
}

static int cut_short(struct err *err)
{
    return err_set(err, ERR_INVALID, "the archive ends in the middle of an entry");
}

static int tar_skip_bytes(struct tar_reader *reader, uint64_t size, struct err *err)
{
    char scratch[16 * 1024];
    if (reader->source.skip) {
        reader->position += size;
        return reader->source.skip(reader->source.context, size, err);
    }
    while (size) {
        size_t step = size < sizeof(scratch) ? (size_t)size : sizeof(scratch);
        ssize_t got = read_fully(reader, scratch, step, err);
        if (got < 0)
            return (int)got;
        if ((size_t)got < step)
            return cut_short(err);
        size -= step;
    }
    return 0;
}

ssize_t tar_read_data(struct tar_reader *reader, void *data, size_t size, struct err *err)
{
    if (size > reader->left)
        size = (size_t)reader->left;
    if (size == 0)
        return 0;
    ssize_t got = read_fully(reader, data, size, err);
    if (got < 0)
        return got;
    if ((size_t)got < size)
        return cut_short(err);
    reader->left -= size;
    return got;
}

/* Must be called when the header of an entry was read: its data follows. */
static void begin_data(struct tar_reader *reader, uint64_t size)
{
    reader->left = size;
    reader->padding = (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}

/* Parses octal digits between blanks, or a big-endian binary number after a first byte of 0x80.
 * `what` names the field in messages. */
static int tar_read_number(const char *field, size_t size, const char *what, int64_t *ret,
                           struct err *err)
{
    uint64_t value = 0;
    size_t i = 0;
    if ((unsigned char)field[0] == 0x80) {
        for (i = 1; i < size; i++) {
            if (value >> 54)
                return err_set(err, ERR_INVALID, "the %s of an entry is too large", what);
            value = value << 8 | (unsigned char)field[i];
        }
        *ret = (int64_t)value;
        return 0;
    }
    while (i < size && field[i] == ' ')
        i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        value = value << 3 | (uint64_t)(field[i] - '0'); /* at most 12 digits */
    if (i < size && field[i] != ' ' && field[i] != '\0')
        return err_set(err, ERR_INVALID, "the %s of an entry is not a number", what);
    *ret = (int64_t)value;
    return 0;
}

static bool is_zero(const struct tar_header *header)
{
    const char *bytes = (const char *)header;
    return bytes[0] == '\0' && memcmp(bytes, bytes + 1, sizeof(*header) - 1) == 0;
}

/* Checks the checksum of a header. Also accepts a sum of signed bytes, as some old programs wrote
 * it. */
static int check_sum(const struct tar_header *header, struct err *err)
{
    struct tar_header blank = *header;
    memset(blank.checksum, ' ', sizeof(blank.checksum));
    int64_t stated, plain = 0, with_sign = 0;
    for (size_t i = 0; i < sizeof(blank); i++) {
        plain += ((const unsigned char *)&blank)[i];
        with_sign += ((const signed char *)&blank)[i];
    }
    if (tar_read_number(header->checksum, sizeof(header->checksum), "checksum", &stated, NULL) <
            0 ||
        (stated != plain && stated != with_sign))
        return err_set(err, ERR_INVALID, "this is not a tar archive, or it is damaged");
    return 0;
}

/* Reads the content of an extended header into reader->extended. */
static int read_extended(struct tar_reader *reader, uint64_t size, struct err *err)
{
    struct buf *buf = &reader->extended;
    buf_clear(buf);
    if (size > TAR_EXTENDED_MAX)
        return err_set(err, ERR_TOO_LARGE, "an extended header has more than %d bytes",
                       TAR_EXTENDED_MAX);
    begin_data(reader, size);
    char *room = buf_reserve(buf, (size_t)size);
    if (!room)
        return err_set(err, ERR_TOO_LARGE, "an extended header is too large");
    for (ssize_t got;
         (got = tar_read_data(reader, room + buf->size, (size_t)size - buf->size, err)) != 0;) {
        if (got < 0)
            return (int)got;
        buf_commit(buf, (size_t)got);
    }
    return 0;
}

/* Copies a name. Refuses a NUL byte in it, and a name longer than TAR_NAME_MAX. */
static int take_name(struct buf *target, const char *text, size_t size, struct err *err)
{
    buf_clear(target);
    if (memchr(text, '\0', size))
        return err_set(err, ERR_INVALID, "the name of an entry contains a NUL byte");
    buf_append(target, text, size);
    if (target->overflowed)
        return err_set(err, ERR_TOO_LARGE, "the name of an entry is longer than %d bytes",
                       TAR_NAME_MAX);
    return 0;
}

static int take_pax_number(const char *value, size_t size, bool *ret_has, int64_t *ret,
                           struct err *err)
{
    char text[32];
    if (size >= sizeof(text))
        return err_set(err, ERR_INVALID, "a number in an extended header is too long");
    memcpy(text, value, size);
    text[size] = '\0';
    text[strcspn(text, ".")] = '\0'; /* cuts off fractions of a second */
    *ret_has = true;
    if (str_to_int64(text, INT64_MIN, INT64_MAX, ret, err) < 0)
        return err_wrap(err, "an extended header");
    return 0;
}

static bool key_is(const char *key, size_t size, const char *name)
{
    return size == strlen(name) && memcmp(key, name, size) == 0;
}

static int take_pax_record(struct tar_reader *reader, const char *key, size_t key_size,
                           const char *value, size_t size, struct overrides *over, struct err *err)
{
    static const char sparse[] = "GNU.sparse.";
    if (key_is(key, key_size, "path"))
        return take_name(&reader->path, value, size, err);
    if (key_is(key, key_size, "linkpath"))
        return take_name(&reader->link, value, size, err);
    if (key_is(key, key_size, "size"))
        return take_pax_number(value, size, &over->has_size, &over->size, err);
    if (key_is(key, key_size, "uid"))
        return take_pax_number(value, size, &over->has_uid, &over->uid, err);
    if (key_is(key, key_size, "gid"))
        return take_pax_number(value, size, &over->has_gid, &over->gid, err);
    if (key_is(key, key_size, "mtime"))
        return take_pax_number(value, size, &over->has_mtime, &over->mtime, err);
    if (key_size > strlen(sparse) && memcmp(key, sparse, strlen(sparse)) == 0)
        over->sparse = true;
    return 0;
}

/* Parses records of the form "<length> <key>=<value>\n". The length includes its own digits. */
static int take_pax(struct tar_reader *reader, struct overrides *over, struct err *err)
{
    const char *at = reader->extended.data, *end = at + reader->extended.size;
    while (at < end) {
        size_t size = 0, digits = 0;
        for (; at + digits < end && at[digits] >= '0' && at[digits] <= '9' && digits < 7; digits++)
            size = size * 10 + (size_t)(at[digits] - '0');
        if (digits == 0 || size < digits + 3 || size > (size_t)(end - at) || at[digits] != ' ' ||
            at[size - 1] != '\n')
            return err_set(err, ERR_INVALID, "an extended header is damaged");
        const char *key = at + digits + 1, *stop = at + size - 1;
        const char *equals = memchr(key, '=', (size_t)(stop - key));
        if (!equals)
            return err_set(err, ERR_INVALID, "an extended header is damaged");
        int result = take_pax_record(reader, key, (size_t)(equals - key), equals + 1,
                                     (size_t)(stop - equals - 1), over, err);
        if (result < 0)
            return result;
        at += size;
    }
    return 0;
}

/* Copies a long name of GNU tar from the extended header. Its size includes a final NUL byte. */
static int take_long_name(struct tar_reader *reader, struct buf *target, struct err *err)
{
    const struct buf *text = &reader->extended;
    return take_name(target, text->data, strnlen(text->data, text->size), err);
}

/* Copies the path and the target of a link from the header, unless an extended header gave them. */
static int take_header_name(struct tar_reader *reader, const struct tar_header *header,
                            struct err *err)
{
    if (!reader->path.size) {
        bool is_posix =
            memcmp(header->magic, "ustar", 6) == 0; /* GNU tar has other data in `prefix` */
        if (is_posix && header->prefix[0]) {
            buf_append(&reader->path, header->prefix,
                       strnlen(header->prefix, sizeof(header->prefix)));
            buf_append_char(&reader->path, '/');
        }
        buf_append(&reader->path, header->name, strnlen(header->name, sizeof(header->name)));
    }
    if (!reader->link.size)
        buf_append(&reader->link, header->link, strnlen(header->link, sizeof(header->link)));
    return reader->path.size ? 0 : err_set(err, ERR_INVALID, "an entry has no name");
}

static int take_type(const struct tar_reader *reader, char letter, enum tar_type *ret,
                     struct err *err)
{
    switch (letter) {
    case '0':
    case '\0':
    case '7': /* contiguous: treated as a regular file */
        /* Before directories had a type, a slash at the end of the name marked them. */
        *ret = reader->path.data[reader->path.size - 1] == '/' ? TAR_DIRECTORY : TAR_FILE;
        return 0;
    case '1':
        *ret = TAR_HARDLINK;
        return 0;
    case '2':
        *ret = TAR_SYMLINK;
        return 0;
    case '3':
    case '4':
        *ret = TAR_DEVICE;
        return 0;
    case '5':
        *ret = TAR_DIRECTORY;
        return 0;
    case '6':
        *ret = TAR_FIFO;
        return 0;
    case 'S':
        return err_set(err, ERR_UNSUPPORTED, "'%s' is a sparse file, which is not supported",
                       reader->path.data);
    default:
        return err_set(err, ERR_UNSUPPORTED, "'%s' has the unknown entry type %d",
                       reader->path.data, letter);
    }
}

/* Takes a user or group ID from an extended header (`has`), or else from the header. */
static int take_id(bool has, int64_t given, const char field[8], const char *what, uint32_t *ret,
                   struct err *err)
{
    int64_t value = given;
    int result = has ? 0 : tar_read_number(field, 8, what, &value, err);
    if (result == 0 && (value < 0 || value >= UINT32_MAX))
        result = err_set(err, ERR_INVALID, "the %s of an entry is out of range", what);
    if (result == 0)
        *ret = (uint32_t)value;
    return result;
}

static int fill_entry(struct tar_reader *reader, const struct tar_header *header,
                      const struct overrides *over, struct tar_entry *ret, struct err *err)
{
    struct tar_entry entry = {0};
    int64_t size = over->size, mode, mtime = over->mtime;
    int result;
    if ((result = take_header_name(reader, header, err)) < 0)
        return result;
    if ((result = take_type(reader, header->type, &entry.type, err)) == 0 && over->sparse)
        result = take_type(reader, 'S', &entry.type, err);
    if (result < 0 ||
        (result = tar_read_number(header->mode, sizeof(header->mode), "mode", &mode, err)) < 0 ||
        (result = take_id(over->has_uid, over->uid, header->uid, "owner", &entry.uid, err)) < 0 ||
        (result = take_id(over->has_gid, over->gid, header->gid, "group", &entry.gid, err)) < 0)
        return result;
    if (!over->has_size &&
        (result = tar_read_number(header->size, sizeof(header->size), "size", &size, err)) < 0)
        return result;
    /* A time before 1970 has several encodings, and nothing here needs it. */
    if (!over->has_mtime &&
        tar_read_number(header->mtime, sizeof(header->mtime), "time", &mtime, err) < 0)
        mtime = 0;
    if (size < 0 || size > INT64_MAX - TAR_BLOCK)
        return err_set(err, ERR_INVALID, "the size of '%s' is out of range", reader->path.data);
    /* A link may state the size of its target, but no data follows. */
    entry.size = entry.type == TAR_FILE ? (uint64_t)size : 0;
    if (entry.type == TAR_SYMLINK || entry.type == TAR_HARDLINK)
        entry.link = reader->link.data;
    else
        entry.link = "";
    entry.mode = (unsigned)mode & 07777;
    entry.mtime = mtime;
    entry.path = reader->path.data;
    begin_data(reader, entry.size);
    *ret = entry;
    return 0;
}

/* Reads the next header. Returns 1, 0 at the end of the archive, or a negative code. */
static int tar_read_header(struct tar_reader *reader, struct tar_header *ret, struct err *err)
{
    int result = tar_skip_bytes(reader, reader->left + reader->padding, err);
    if (result < 0)
        return result;
    reader->left = reader->padding = 0;
    ssize_t got = read_fully(reader, (char *)ret, sizeof(*ret), err);
    if (got < 0)
        return (int)got;
    if (got == 0 || (got == (ssize_t)sizeof(*ret) && is_zero(ret)))
        return 0; /* the format requires two blocks of zeros, but some programs omit one or both */
    if (got < (ssize_t)sizeof(*ret))
        return cut_short(err);
    result = check_sum(ret, err);
    return result < 0 ? result : 1;
}

int tar_read_next(struct tar_reader *reader, struct tar_entry *ret, struct err *err)
{
    struct overrides over = {0};
    struct tar_header header;
    buf_clear(&reader->path);
    buf_clear(&reader->link);
    bool is_extended = false;
    for (;;) {
        int64_t size;
        int result = reader->ended ? 0 : tar_read_header(reader, &header, err);
        if (result == 0 && is_extended)
            return cut_short(err);
        if (result <= 0) {
            reader->ended = true;
            return result;
        }
        bool is_pax = header.type == 'x', is_ignored = header.type == 'g' || header.type == 'V';
        if (!is_pax && !is_ignored && header.type != 'L' && header.type != 'K') {
            result = fill_entry(reader, &header, &over, ret, err);
            return result < 0 ? result : 1;
        }
        if ((result = tar_read_number(header.size, sizeof(header.size), "size", &size, err)) < 0 ||
            (result = read_extended(reader, (uint64_t)size, err)) < 0)
            return result;
        is_extended = is_extended || !is_ignored;
        if (is_pax)
            result = take_pax(reader, &over, err);
        else if (!is_ignored)
            result =
                take_long_name(reader, header.type == 'L' ? &reader->path : &reader->link, err);
        if (result < 0)
            return result;
    }
}
