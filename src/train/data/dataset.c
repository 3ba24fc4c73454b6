/* Implements data sets of persons, except for their digest and their survey; see dataset.h. */
#include "train/data/dataset.h"

#include "base/mem.h"
#include "base/rand.h"
#include "base/vec.h"
#include "train/data/dataset_internal.h"
#include "train/data/faces_procedural.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct dataset *dataset_free(struct dataset *dataset)
{
    if (!dataset)
        return NULL;
    for (size_t i = 0; i < dataset->count; i++) {
        struct person *person = &dataset->persons[i];
        for (size_t k = 0; person->files && k < person->count; k++)
            free(person->files[k]);
        free(person->files);
        free(person->squares);
        free(person->name);
    }
    free(dataset->persons);
    free(dataset);
    return NULL;
}

/* ---- Folders */

static bool is_picture_name(const char *name)
{
    static const char *const ENDINGS[] = {".pgm", ".ppm", ".png", ".jpg", ".jpeg", ".webp"};
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < ARRAY_SIZE(ENDINGS); i++)
        if (strcasecmp(ending, ENDINGS[i]) == 0)
            return true;
    return false;
}

static int by_version(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the subdirectories or the picture files of a directory, as paths ordered by name. Skips
 * hidden entries. Follows symbolic links. The caller frees the paths and the list. Returns
 * -ERR_TOO_MANY if there are more than `max`. */
static int list_directory(const char *path, bool directories, size_t max, char ***ret_paths,
                          size_t *ret_count, struct err *err)
{
    DIR *stream = opendir(path);
    if (!stream)
        return err_set_errno(err, errno, "cannot open '%s'", path);
    VEC(char *) paths = {0};
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(stream));) {
        if (entry->d_name[0] == '.' || (!directories && !is_picture_name(entry->d_name)))
            continue;
        char *full = mem_printf("%s/%s", path, entry->d_name);
        struct stat info;
        bool exists = stat(full, &info) == 0;
        if (!exists && errno != ENOENT && errno != ELOOP) /* a dangling link is skipped */
            result = err_set_errno(err, errno, "cannot stat '%s'", full);
        bool wanted = exists && (directories ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode));
        if (!wanted) {
            free(full);
        } else {
            vec_push(&paths, full);
            if (paths.count > max)
                result = err_set(err, ERR_TOO_MANY, "'%s' holds more than %zu entries", path, max);
        }
    }
    closedir(stream);
    if (result < 0) {
        for (size_t i = 0; i < paths.count; i++)
            free(paths.items[i]);
        vec_release(&paths);
        return result;
    }
    if (paths.count)
        qsort(paths.items, paths.count, sizeof(char *), by_version);
    *ret_paths = paths.items;
    *ret_count = paths.count;
    return 0;
}

int dataset_open_folder(const char *path, struct dataset **ret, struct err *err)
{
    _cleanup_(cleanup_dataset) struct dataset *dataset = mem_zalloc(sizeof(*dataset));
    char **folders = NULL;
    size_t count = 0;
    int result = list_directory(path, true, DATASET_PERSONS_MAX, &folders, &count, err);
    dataset->persons = mem_calloc(count, sizeof(struct person));
    for (size_t i = 0; i < count; i++) {
        struct person person = {0};
        if (result == 0)
            result = list_directory(folders[i], false, DATASET_PICTURES_MAX, &person.files,
                                    &person.count, err);
        if (result == 0 && person.count > 0) {
            person.name = mem_strdup(strrchr(folders[i], '/') + 1);
            dataset->persons[dataset->count++] = person;
            dataset->total += person.count;
        }
        free(folders[i]);
    }
    free(folders);
    if (result < 0)
        return result;
    if (dataset->count == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "'%s' has no pictures: it needs one folder per person, with PGM, PPM, PNG, "
                       "JPEG or WebP files",
                       path);
    *ret = TAKE(dataset);
    return 0;
}

int dataset_open_pictures(const char *path, struct dataset **ret, struct err *err)
{
    struct person person = {0};
    int result =
        list_directory(path, false, DATASET_PICTURES_MAX, &person.files, &person.count, err);
    if (result < 0)
        return result;
    if (person.count == 0) {
        free(person.files);
        return err_set(err, ERR_NOT_FOUND,
                       "'%s' has no pictures: it needs PGM, PPM, PNG, JPEG or WebP files", path);
    }
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    const char *slash = memrchr(path, '/', end);
    person.name =
        slash ? mem_strndup(slash + 1, (size_t)(path + end - slash - 1)) : mem_strndup(path, end);
    struct dataset *dataset = mem_zalloc(sizeof(*dataset));
    dataset->persons = mem_calloc(1, sizeof(person));
    dataset->persons[0] = person;
    dataset->count = 1;
    dataset->total = person.count;
    *ret = dataset;
    return 0;
}

/* ---- Generated faces */

int dataset_open_procedural(uint64_t seed, size_t persons, size_t pictures, struct dataset **ret,
                            struct err *err)
{
    if (persons == 0 || persons > DATASET_PERSONS_MAX || pictures == 0 ||
        pictures > DATASET_PICTURES_MAX)
        return err_set(err, ERR_INVALID,
                       "cannot draw %zu persons with %zu pictures each: use 1 to %d persons and 1 "
                       "to %d pictures",
                       persons, pictures, DATASET_PERSONS_MAX, DATASET_PICTURES_MAX);
    struct dataset *dataset = mem_zalloc(sizeof(*dataset));
    dataset->generated = true;
    dataset->seed = seed;
    dataset->count = persons;
    dataset->total = persons * pictures;
    dataset->persons = mem_calloc(persons, sizeof(struct person));
    for (size_t i = 0; i < persons; i++) {
        char name[FACES_NAME_MAX];
        faces_name(i, name);
        dataset->persons[i] = (struct person){.name = mem_strdup(name), .count = pictures};
    }
    *ret = dataset;
    return 0;
}

/* ---- Queries */

size_t dataset_persons(const struct dataset *dataset)
{
    return dataset->count;
}

size_t dataset_pictures(const struct dataset *dataset, size_t person)
{
    return dataset->persons[person].count;
}

size_t dataset_total(const struct dataset *dataset)
{
    return dataset->total;
}

const char *dataset_person_name(const struct dataset *dataset, size_t person)
{
    return dataset->persons[person].name;
}

void dataset_picture_name(const struct dataset *dataset, size_t person, size_t picture, char *text,
                          size_t size)
{
    if (dataset->generated)
        snprintf(text, size, "procedural:%llu/%zu/%zu", (unsigned long long)dataset->seed, person,
                 picture);
    else
        snprintf(text, size, "%s", dataset->persons[person].files[picture]);
}

static int load_picture(const struct dataset *dataset, size_t person, size_t picture, size_t side,
                        struct picture *ret, struct picture_square *ret_square, struct err *err)
{
    if (person >= dataset->count || picture >= dataset->persons[person].count)
        return err_set(err, ERR_NOT_FOUND, "person %zu has no picture %zu", person, picture);
    if (side == 0 || side > DATASET_SIDE_MAX)
        return err_set(err, ERR_INVALID,
                       "the side of a picture is %zu pixels, but must be from 1 to %d", side,
                       DATASET_SIDE_MAX);
    const struct person *of = &dataset->persons[person];
    if (dataset->generated) {
        *ret = (struct picture){
            .width = side, .height = side, .channels = 3, .pixels = mem_alloc(side * side * 3)};
        faces_draw(dataset->seed, person, picture, side, ret->pixels);
    } else {
        int result = picture_read(of->files[picture], ret, err);
        if (result < 0)
            return result;
    }
    *ret_square = of->squares ? of->squares[picture] : picture_middle(ret);
    return 0;
}

int dataset_load(const struct dataset *dataset, size_t person, size_t picture, size_t side,
                 size_t channels, float *ret_pixels, struct err *err)
{
    _cleanup_(picture_release) struct picture loaded = {0};
    struct picture_square square;
    int result = load_picture(dataset, person, picture, side, &loaded, &square, err);
    if (result == 0)
        picture_cut(&loaded, &square, side, channels, ret_pixels);
    return result;
}

int dataset_load_bytes(const struct dataset *dataset, size_t person, size_t picture, size_t side,
                       size_t channels, uint8_t *ret_pixels, struct err *err)
{
    _cleanup_(picture_release) struct picture loaded = {0};
    struct picture_square square;
    int result = load_picture(dataset, person, picture, side, &loaded, &square, err);
    if (result == 0)
        picture_cut_bytes(&loaded, &square, side, channels, ret_pixels);
    return result;
}

/* ---- Random draws */

/* Constants that make the streams of random numbers independent of each other. */
enum { KEY_SPLIT = 0x73706c69, KEY_EPOCH = 0x65706f63, KEY_PICTURES = 0x70696374 };

static void shuffle_order(struct rand *rand, size_t count, size_t *ret_order)
{
    for (size_t i = 0; i < count; i++) {
        size_t j = rand_below(rand, i + 1);
        ret_order[i] = ret_order[j];
        ret_order[j] = i;
    }
}

void dataset_shuffle(uint64_t seed, uint64_t epoch, size_t count, size_t *ret_order)
{
    struct rand rand;
    rand_init_keyed(&rand, seed, KEY_EPOCH, epoch);
    shuffle_order(&rand, count, ret_order);
}

static int compare_indices(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

int dataset_split_persons(const struct dataset *dataset, uint64_t seed, size_t held_out,
                          struct dataset_split *ret, struct err *err)
{
    size_t count = dataset->count;
    if (held_out >= count)
        return err_set(err, ERR_INVALID,
                       "cannot hold out %zu of %zu persons: none would be left to train on; hold "
                       "out fewer, or add more people",
                       held_out, count);
    struct rand rand;
    rand_init_keyed(&rand, seed, KEY_SPLIT, 0);
    _cleanup_free_ size_t *order = mem_calloc(count, sizeof(size_t));
    shuffle_order(&rand, count, order);
    struct dataset_split split = {
        .held_out = {mem_calloc(held_out, sizeof(size_t)), held_out},
        .train = {mem_calloc(count - held_out, sizeof(size_t)), count - held_out},
    };
    memcpy(split.held_out.items, order, held_out * sizeof(size_t));
    memcpy(split.train.items, order + held_out, (count - held_out) * sizeof(size_t));
    qsort(split.held_out.items, split.held_out.count, sizeof(size_t), compare_indices);
    qsort(split.train.items, split.train.count, sizeof(size_t), compare_indices);
    *ret = split;
    return 0;
}

void dataset_split_release(struct dataset_split *split)
{
    free(split->train.items);
    free(split->held_out.items);
    *split = (struct dataset_split){0};
}

/* Draws `wanted` pictures of one person. No picture is drawn again before all others have been
 * drawn. */
static void draw_pictures(struct rand *rand, size_t available, size_t wanted, size_t person,
                          struct dataset_sample *ret_samples)
{
    _cleanup_free_ size_t *order = mem_calloc(available, sizeof(size_t));
    for (size_t i = 0; i < wanted; i++) {
        if (i % available == 0)
            shuffle_order(rand, available, order);
        ret_samples[i] = (struct dataset_sample){person, order[i % available]};
    }
}

int dataset_draw_batch(const struct dataset *dataset, const struct dataset_persons_list *from,
                       uint64_t seed, uint64_t step, size_t batch_persons, size_t batch_pictures,
                       struct dataset_sample *ret_samples, struct err *err)
{
    if (batch_persons == 0 || batch_persons > from->count || batch_pictures == 0)
        return err_set(
            err, ERR_INVALID,
            "a batch of %zu persons with %zu pictures each cannot be drawn from %zu persons",
            batch_persons, batch_pictures, from->count);
    /* An epoch has only complete batches. Which persons it leaves out depends on the epoch. */
    uint64_t steps = from->count / batch_persons, epoch = step / steps;
    _cleanup_free_ size_t *order = mem_calloc(from->count, sizeof(size_t));
    dataset_shuffle(seed, epoch, from->count, order);
    for (size_t i = 0; i < batch_persons; i++) {
        size_t person = from->items[order[(step % steps) * batch_persons + i]];
        struct rand rand;
        rand_init_keyed(&rand, seed ^ KEY_PICTURES, step, person);
        draw_pictures(&rand, dataset->persons[person].count, batch_pictures, person,
                      &ret_samples[i * batch_pictures]);
    }
    return 0;
}
