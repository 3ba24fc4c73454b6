/* A disk whose power can be cut; see power_disk.h. It gives SQLite the guarantees of a real disk:
 * sectors of 512 bytes are written as a whole or not at all, in any order, and other bytes do not
 * change. */
#include "power_disk.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512, PATH_LENGTH_MAX = 255 };

struct image {
    unsigned char *bytes;
    size_t size, capacity;
};

/* A change that no sync has covered yet. */
struct unsynced {
    struct unsynced *next;
    bool truncates; /* truncates the file to `offset` bytes */
    size_t offset, size;
    unsigned char bytes[];
};

struct power_inode {
    struct power_inode *next;
    struct image now, durable;
    struct unsynced *first, **end;
};

struct power_file {
    sqlite3_file base; /* SQLite's handle; must be first */
    struct power_disk *disk;
    struct power_inode *inode;
    bool names_new; /* its name may not be durable, so a sync also syncs the directory */
};

static void image_resize(struct image *image, size_t size)
{
    if (size >= image->capacity) { /* doubled: a file grows page by page */
        image->capacity = 2 * size + 1;
        image->bytes = mem_realloc(image->bytes, image->capacity);
    }
    if (size > image->size)
        memset(image->bytes + image->size, 0, size - image->size);
    image->size = size;
}

static void image_write(struct image *image, const void *bytes, size_t size, size_t offset)
{
    if (offset + size > image->size)
        image_resize(image, offset + size);
    memcpy(image->bytes + offset, bytes, size);
}

static void image_copy(struct image *image, const struct image *from)
{
    image_resize(image, from->size);
    memcpy(image->bytes, from->bytes, from->size);
}

/* ---- inodes ---------------------------------------------------------------------------------- */

static struct power_inode *inode_new(struct power_disk *disk)
{
    struct power_inode *inode = mem_zalloc(sizeof(*inode));
    image_resize(&inode->now, 0);
    image_resize(&inode->durable, 0);
    inode->end = &inode->first;
    inode->next = disk->inodes;
    disk->inodes = inode;
    return inode;
}

static void inode_forget_unsynced(struct power_inode *inode)
{
    for (struct unsynced *change = inode->first, *next; change; change = next) {
        next = change->next;
        free(change);
    }
    inode->first = NULL;
    inode->end = &inode->first;
}

static void inode_free(struct power_inode *inode)
{
    inode_forget_unsynced(inode);
    free(inode->now.bytes);
    free(inode->durable.bytes);
    free(inode);
}

static void inode_change(struct power_inode *inode, bool truncates, const void *bytes, size_t size,
                         size_t offset)
{
    struct unsynced *change = mem_zalloc(sizeof(*change) + size);
    *change = (struct unsynced){.truncates = truncates, .offset = offset, .size = size};
    if (size)
        memcpy(change->bytes, bytes, size);
    *inode->end = change;
    inode->end = &change->next;
    if (truncates)
        image_resize(&inode->now, offset);
    else
        image_write(&inode->now, bytes, size, offset);
}

static void inode_sync(struct power_inode *inode)
{
    for (const struct unsynced *change = inode->first; change; change = change->next) {
        if (change->truncates)
            image_resize(&inode->durable, change->offset);
        else
            image_write(&inode->durable, change->bytes, change->size, change->offset);
    }
    inode_forget_unsynced(inode);
}

/* Writes a random selection of the sectors. */
static void write_torn(struct image *image, const struct unsynced *change, struct rand *rand)
{
    for (size_t at = 0, size; at < change->size; at += size) {
        size = SECTOR - (change->offset + at) % SECTOR;
        if (size > change->size - at)
            size = change->size - at;
        if (rand_below(rand, 2))
            image_write(image, change->bytes + at, size, change->offset + at);
    }
}

/* A power cut keeps the first unsynced changes, perhaps none. In half of all cuts it also keeps
 * single sectors of the rest. */
static void inode_cut(struct power_inode *inode, struct rand *rand)
{
    size_t count = 0;
    for (const struct unsynced *change = inode->first; change; change = change->next)
        count++;
    size_t whole = rand_below(rand, 2) ? rand_below(rand, count + 1) : 0;
    bool tears = rand_below(rand, 2);
    for (const struct unsynced *change = inode->first; change; change = change->next) {
        bool is_whole = whole && whole--;
        if (!is_whole && !tears)
            break;
        if (change->truncates) {
            if (is_whole || rand_below(rand, 2))
                image_resize(&inode->durable, change->offset);
        } else if (is_whole) {
            image_write(&inode->durable, change->bytes, change->size, change->offset);
        } else {
            write_torn(&inode->durable, change, rand);
        }
    }
    inode_forget_unsynced(inode);
    image_copy(&inode->now, &inode->durable);
}

/* ---- names ----------------------------------------------------------------------------------- */

static struct power_name *find_name(struct power_disk *disk, const char *path)
{
    for (size_t i = 0; i < ARRAY_SIZE(disk->names); i++) {
        struct power_name *name = &disk->names[i];
        if (!name->path)
            name->path = mem_strdup(path);
        if (str_eq(name->path, path))
            return name;
    }
    mem_panic("power disk: no room for '%s'", path);
}

static void sync_directory(struct power_disk *disk)
{
    for (size_t i = 0; i < ARRAY_SIZE(disk->names); i++)
        disk->names[i].durable = disk->names[i].now;
}

static bool is_named(const struct power_disk *disk, const struct power_inode *inode)
{
    for (size_t i = 0; i < ARRAY_SIZE(disk->names); i++)
        if (disk->names[i].now == inode)
            return true;
    return false;
}

static void free_nameless(struct power_disk *disk)
{
    for (struct power_inode **link = &disk->inodes, *inode; (inode = *link);) {
        if (is_named(disk, inode)) {
            link = &inode->next;
            continue;
        }
        *link = inode->next;
        inode_free(inode);
    }
}

/* Whether the power is gone by the end of this operation. If so, its caller gets an error. */
static bool is_last(struct power_disk *disk)
{
    if (!disk->off && disk->operations_left-- <= 0)
        disk->off = true;
    return disk->off;
}

/* ---- SQLite's side: an open file ------------------------------------------------------------- */

static struct power_file *file_of(sqlite3_file *file)
{
    return (struct power_file *)file;
}

static int file_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *ret, int size, sqlite3_int64 offset)
{
    const struct image *image = &file_of(file)->inode->now;
    if (file_of(file)->disk->off)
        return SQLITE_IOERR_READ;
    size_t there = (size_t)offset < image->size ? image->size - (size_t)offset : 0;
    size_t got = there < (size_t)size ? there : (size_t)size;
    if (got)
        memcpy(ret, image->bytes + offset, got);
    memset((char *)ret + got, 0, (size_t)size - got);
    return got == (size_t)size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    bool was_off = file_of(file)->disk->off, fails = is_last(file_of(file)->disk);
    if (!was_off)
        inode_change(file_of(file)->inode, false, bytes, (size_t)size, (size_t)offset);
    return fails ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    bool was_off = file_of(file)->disk->off, fails = is_last(file_of(file)->disk);
    if (!was_off)
        inode_change(file_of(file)->inode, true, NULL, 0, (size_t)size);
    return fails ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int file_sync(sqlite3_file *file, int flags)
{
    struct power_file *self = file_of(file);
    (void)flags;
    if (is_last(self->disk))
        return SQLITE_IOERR_FSYNC;
    inode_sync(self->inode);
    if (self->names_new)
        sync_directory(self->disk);
    self->names_new = false;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)file_of(file)->inode->now.size;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level)
{
    (void)file, (void)level;
    return SQLITE_OK;
}

static int file_reserved(sqlite3_file *file, int *ret)
{
    (void)file;
    *ret = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int operation, void *argument)
{
    (void)file, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *file)
{
    (void)file;
    return 4096; /* as on Linux */
}

static int file_characteristics(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE; /* as on Linux */
}

static const sqlite3_io_methods METHODS = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_characteristics,
};

/* ---- SQLite's side: the directory ------------------------------------------------------------ */

static struct power_disk *disk_of(sqlite3_vfs *vfs)
{
    return CONTAINER_OF(vfs, struct power_disk, vfs);
}

/* The first sync of a new log or journal also syncs the directory, like SQLite's own Unix VFS. For
 * a database it does not. */
static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    struct power_disk *disk = disk_of(vfs);
    struct power_name *name = path ? find_name(disk, path) : NULL;
    bool makes = !name || !name->now;
    *file_of(file) = (struct power_file){.disk = disk};
    if (disk->off)
        return SQLITE_CANTOPEN;
    file_of(file)->names_new = name && makes && !(flags & SQLITE_OPEN_MAIN_DB);
    file_of(file)->inode = makes ? inode_new(disk) : name->now;
    if (name)
        name->now = file_of(file)->inode;
    file->pMethods = &METHODS;
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
    struct power_disk *disk = disk_of(vfs);
    struct power_name *name = find_name(disk, path);
    bool was_off = disk->off, fails = is_last(disk);
    if (!was_off)
        name->now = NULL;
    if (fails)
        return SQLITE_IOERR_DELETE;
    if (sync)
        sync_directory(disk);
    return SQLITE_OK;
}

static int disk_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret)
{
    (void)flags;
    *ret = find_name(disk_of(vfs), path)->now != NULL;
    return SQLITE_OK;
}

static int disk_full_path(sqlite3_vfs *vfs, const char *path, int size, char *ret)
{
    (void)vfs;
    return str_copy(ret, (size_t)size, path) ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* ---- power ----------------------------------------------------------------------------------- */

void power_disk_init(struct power_disk *disk, uint64_t seed)
{
    const sqlite3_vfs *machine = sqlite3_vfs_find(NULL);
    *disk = (struct power_disk){.operations_left = INT64_MAX};
    rand_init(&disk->rand, seed);
    disk->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(struct power_file),
        .mxPathname = PATH_LENGTH_MAX,
        .zName = "power",
        .xOpen = disk_open,
        .xDelete = disk_delete,
        .xAccess = disk_access,
        .xFullPathname = disk_full_path,
        .xRandomness = machine->xRandomness,
        .xSleep = machine->xSleep,
        .xCurrentTime = machine->xCurrentTime,
        .xGetLastError = machine->xGetLastError,
    };
    sqlite3_vfs_register(&disk->vfs, 1);
}

void power_disk_release(struct power_disk *disk)
{
    sqlite3_vfs_unregister(&disk->vfs);
    for (size_t i = 0; i < ARRAY_SIZE(disk->names); i++) {
        free(disk->names[i].path);
        disk->names[i] = (struct power_name){0};
    }
    free_nameless(disk);
}

void power_disk_cycle(struct power_disk *disk, int64_t operations)
{
    for (size_t i = 0; i < ARRAY_SIZE(disk->names); i++) {
        struct power_name *name = &disk->names[i];
        if (rand_below(&disk->rand, 2)) /* the kernel may have written the directory's blocks */
            name->durable = name->now;
        name->now = name->durable;
    }
    free_nameless(disk);
    for (struct power_inode *inode = disk->inodes; inode; inode = inode->next)
        inode_cut(inode, &disk->rand);
    disk->operations_left = operations;
    disk->off = false;
}

const unsigned char *power_disk_read(const struct power_disk *disk, const char *path,
                                     size_t *ret_size)
{
    *ret_size = 0;
    for (size_t i = 0; i < ARRAY_SIZE(disk->names); i++) {
        const struct power_name *name = &disk->names[i];
        if (!name->path || !name->now || !str_eq(name->path, path))
            continue;
        *ret_size = name->now->now.size;
        return name->now->now.bytes;
    }
    return NULL;
}
