/* Implements reading and writing of checkpoints and model files; see checkpoint.h. The layout, all
 * little-endian: magic (8), version (u32), size of the header (u32), header, zeros up to a multiple
 * of 64, floats, CRC-32 of all bytes before the CRC (u32). */
#include "train/run/checkpoint.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "floats are written as they lie in memory");

static const char MAGIC[8] = {'T', 'Y', 'M', 'O', 'D', 'E', 'L', '\n'};

enum { PREFIX = 16, ALIGN = 64, TRAILER = 4 };

static size_t data_offset(size_t header_size)
{
    return (PREFIX + header_size + ALIGN - 1) / ALIGN * ALIGN;
}

static struct json *describe_checkpoint(struct arena *arena, const struct params *params,
                                        const struct optimizer *optimizer,
                                        const struct checkpoint_info *info)
{
    struct json *header = json_object(arena);
    json_set_string(arena, header, "model", info->model);
    json_set(arena, header, "config", json_clone(arena, info->config));
    if (info->notes)
        json_set(arena, header, "notes", json_clone(arena, info->notes));
    json_set_int(arena, header, "step", (int64_t)info->step);
    json_set_int(arena, header, "seed", (int64_t)info->seed);
    json_set_int(arena, header, "floats", (int64_t)params->floats);
    if (optimizer) {
        json_set_string(arena, header, "optimizer", optimizer_name(optimizer->kind));
        json_set_int(arena, header, "slots", optimizer->slot_count);
    }
    struct json *list = json_set(arena, header, "parameters", json_array(arena));
    for (size_t i = 0; i < params->count; i++) {
        struct json *entry = json_object(arena), *shape = json_array(arena);
        json_set_string(arena, entry, "name", params->entries[i].name);
        for (int d = 0; d < PARAM_DIMS; d++)
            json_append(shape, json_int(arena, params->entries[i].dims[d]));
        json_set(arena, entry, "shape", shape);
        json_append(list, entry);
    }
    return header;
}

static int write_parts(int fd, const struct buf *head, const struct params *params,
                       const struct optimizer *optimizer, struct err *err)
{
    size_t values = params->floats * sizeof(float);
    size_t slots = optimizer ? values * (size_t)optimizer->slot_count : 0;
    uLong crc = crc32_z(crc32(0, NULL, 0), (const Bytef *)head->data, head->size);
    crc = crc32_z(crc, (const Bytef *)params->values, values);
    if (slots)
        crc = crc32_z(crc, (const Bytef *)optimizer->slots, slots);
    uint32_t trailer = (uint32_t)crc;
    int result = file_write_all(fd, head->data, head->size, err);
    if (result == 0)
        result = file_write_all(fd, params->values, values, err);
    if (result == 0 && slots)
        result = file_write_all(fd, optimizer->slots, slots, err);
    if (result == 0)
        result = file_write_all(fd, &trailer, sizeof(trailer), err);
    return result;
}

static int sync_directory_of(const char *path)
{
    _cleanup_free_ char *directory = mem_strdup(path);
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = '\0';
    _cleanup_fd_ int fd = open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -1 : fsync(fd);
}

int checkpoint_write(const char *path, const struct params *params,
                     const struct optimizer *optimizer, const struct checkpoint_info *info,
                     struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *header = json_to_string(arena, describe_checkpoint(arena, params, optimizer, info));
    uint32_t size = (uint32_t)strlen(header), version = CHECKPOINT_VERSION;
    if (size > CHECKPOINT_HEADER_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "cannot write '%s': its header has %u bytes, but the limit is %d", path,
                       size, CHECKPOINT_HEADER_MAX);
    _cleanup_buf_ struct buf head;
    buf_init(&head, 2 * CHECKPOINT_HEADER_MAX);
    buf_append(&head, MAGIC, sizeof(MAGIC));
    buf_append(&head, &version, sizeof(version));
    buf_append(&head, &size, sizeof(size));
    buf_append(&head, header, size);
    while (head.size < data_offset(size))
        buf_append_char(&head, '\0');

    _cleanup_free_ char *temporary = mem_printf("%s.XXXXXX", path);
    _cleanup_fd_ int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot write '%s'", path);
    struct err problem = ERR_INIT;
    int result = write_parts(fd, &head, params, optimizer, &problem);
    if (result < 0)
        result = err_set_errno(err, problem.sys, "cannot write '%s'", path);
    else if (fchmod(fd, 0644) < 0 || fsync(fd) < 0 || rename(temporary, path) < 0 ||
             sync_directory_of(path) < 0)
        result = err_set_errno(err, errno, "cannot write '%s'", path);
    if (result < 0)
        unlink(temporary);
    return result;
}

static int read_checkpoint_header(const char *name, struct checkpoint *checkpoint, struct err *err)
{
    struct json *header = checkpoint->header;
    int64_t floats = json_get_int(header, "floats", -1), slots = json_get_int(header, "slots", 0);
    struct checkpoint_info *info = &checkpoint->info;
    info->model = json_get_string(header, "model", NULL);
    info->config = json_get(header, "config");
    info->notes = json_get(header, "notes");
    info->step = (uint64_t)json_get_int(header, "step", 0);
    info->seed = (uint64_t)json_get_int(header, "seed", 0);
    if (!info->model)
        return err_set(err, ERR_BAD_REQUEST, "'%s': its header names no model", name);
    if (!info->config || info->config->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_REQUEST, "'%s': its header has no configuration of the model",
                       name);
    if (floats < 0 || floats > PARAMS_FLOATS_MAX || slots < 0 || slots > 2)
        return err_set(err, ERR_BAD_REQUEST,
                       "'%s' has an invalid header: %lld values and %lld optimizer slots", name,
                       (long long)floats, (long long)slots);
    checkpoint->optimizer = (char *)json_get_string(header, "optimizer", NULL);
    checkpoint->floats = (size_t)floats;
    checkpoint->slot_count = (int)slots;
    return 0;
}

int checkpoint_parse(const char *name, const void *data, size_t size, struct checkpoint **ret,
                     struct err *err)
{
    const char *bytes = data;
    uint32_t version, header_size, crc;
    if (size < PREFIX + TRAILER || memcmp(bytes, MAGIC, sizeof(MAGIC)) != 0)
        return err_set(err, ERR_BAD_REQUEST, "'%s' is not a model or checkpoint file", name);
    memcpy(&version, bytes + 8, sizeof(version));
    memcpy(&header_size, bytes + 12, sizeof(header_size));
    memcpy(&crc, bytes + size - TRAILER, sizeof(crc));
    if (crc != (uint32_t)crc32_z(crc32(0, NULL, 0), data, size - TRAILER))
        return err_set(err, ERR_BAD_REQUEST, "'%s' is damaged: its checksum is wrong", name);
    if (version != CHECKPOINT_VERSION)
        return err_set(err, ERR_UNSUPPORTED,
                       "'%s' has version %u of the file format, but this program reads version %d",
                       name, version, CHECKPOINT_VERSION);
    if (header_size > CHECKPOINT_HEADER_MAX || data_offset(header_size) > size - TRAILER)
        return err_set(err, ERR_BAD_REQUEST, "'%s' is truncated", name);

    _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = mem_zalloc(sizeof(*checkpoint));
    checkpoint->arena = arena_new();
    int result =
        json_parse(checkpoint->arena, bytes + PREFIX, header_size, NULL, &checkpoint->header, err);
    if (result < 0)
        return err_wrap(err, "header of '%s'", name);
    result = read_checkpoint_header(name, checkpoint, err);
    if (result < 0)
        return result;
    size_t have = size - TRAILER - data_offset(header_size);
    size_t want = checkpoint->floats * (size_t)(1 + checkpoint->slot_count) * sizeof(float);
    if (have != want)
        return err_set(err, ERR_BAD_REQUEST,
                       "'%s' holds %zu bytes of values, but its header says %zu", name, have, want);
    checkpoint->values = mem_alloc(want ? want : 1);
    memcpy(checkpoint->values, bytes + data_offset(header_size), want);
    *ret = TAKE(checkpoint);
    return 0;
}

int checkpoint_read(const char *path, struct checkpoint **ret, struct err *err)
{
    /* Without O_NONBLOCK, opening a FIFO would block. */
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) < 0)
        return err_set_errno(err, errno, "cannot read '%s'", path);
    if (!S_ISREG(info.st_mode) || info.st_size == 0)
        return err_set(err, ERR_BAD_REQUEST, "'%s' is not a model or checkpoint file", path);
    size_t size = (size_t)info.st_size, done = 0;
    _cleanup_free_ char *data = malloc(size);
    if (!data)
        return err_set_errno(err, errno, "cannot read '%s'", path);
    while (done < size) { /* not mmap(): a failing disk would raise SIGBUS */
        ssize_t got = read(fd, data + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set_errno(err, errno, "cannot read '%s'", path);
        if (got == 0)
            break; /* the file was truncated after fstat() */
        done += (size_t)got;
    }
    return checkpoint_parse(path, data, done, ret, err);
}

struct checkpoint *checkpoint_free(struct checkpoint *checkpoint)
{
    if (!checkpoint)
        return NULL;
    arena_free(checkpoint->arena);
    free(checkpoint->values);
    free(checkpoint);
    return NULL;
}

static void shape_text(const int64_t *dims, char *text, size_t size)
{
    snprintf(text, size, "%lld×%lld×%lld×%lld", (long long)dims[0], (long long)dims[1],
             (long long)dims[2], (long long)dims[3]);
}

static int check_parameters(const struct checkpoint *checkpoint, const char *name,
                            const struct params *params, struct err *err)
{
    const struct json *list = json_get(checkpoint->header, "parameters");
    if (json_count(list) != params->count)
        return err_set(err, ERR_INVALID, "'%s' has %zu parameters, but this model has %zu", name,
                       json_count(list), params->count);
    size_t i = 0;
    JSON_EACH (entry, list) {
        const struct param *param = &params->entries[i++];
        const char *found = json_get_string(entry, "name", "");
        if (!str_eq(found, param->name))
            return err_set(err, ERR_INVALID, "'%s' has parameter '%s' where this model has '%s'",
                           name, found, param->name);
        int64_t theirs[PARAM_DIMS], ours[PARAM_DIMS];
        bool same = true;
        for (int d = 0; d < PARAM_DIMS; d++) {
            const struct json *dim = json_element(json_get(entry, "shape"), (size_t)d);
            theirs[d] = dim && dim->type == JSON_INT ? dim->integer : 0;
            ours[d] = param->dims[d];
            same = same && theirs[d] == ours[d];
        }
        if (!same) {
            char their_text[96], our_text[96];
            shape_text(theirs, their_text, sizeof(their_text));
            shape_text(ours, our_text, sizeof(our_text));
            return err_set(err, ERR_INVALID,
                           "'%s': parameter '%s' has shape %s, but %s in this model", name,
                           param->name, their_text, our_text);
        }
    }
    if (checkpoint->floats != params->floats)
        return err_set(err, ERR_BAD_REQUEST, "'%s' holds %zu values, but its shapes need %zu", name,
                       checkpoint->floats, params->floats);
    return 0;
}

int checkpoint_restore(const struct checkpoint *checkpoint, const char *name, struct params *params,
                       struct optimizer *optimizer, struct err *err)
{
    int result = check_parameters(checkpoint, name, params, err);
    if (result < 0)
        return result;
    if (optimizer && (!str_eq(checkpoint->optimizer, optimizer_name(optimizer->kind)) ||
                      checkpoint->slot_count != optimizer->slot_count))
        return err_set(err, ERR_INVALID,
                       "'%s' has the state of optimizer '%s', but this run uses '%s'", name,
                       checkpoint->optimizer ? checkpoint->optimizer : "none",
                       optimizer_name(optimizer->kind));
    memcpy(params->values, checkpoint->values, params->floats * sizeof(float));
    if (optimizer)
        memcpy(optimizer->slots, checkpoint->values + params->floats,
               params->floats * (size_t)optimizer->slot_count * sizeof(float));
    return 0;
}
