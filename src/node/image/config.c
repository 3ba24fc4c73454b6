/* Reads the metadata of the images in an archive; see image/config.h. */
#include "node/image/config.h"

#include "base/str.h"

#include <string.h>
#include <sys/utsname.h>

enum { INDEX_DEPTH_MAX = 4 };

/* The state of image_config_read(). */
struct reading {
    const struct image_archive *archive;
    struct arena *arena;
    struct image_found *found;
    size_t count;
    const char *other_platform; /* "os/architecture" of an image that was skipped, or NULL */
    struct err *err;
};

/* Returns this machine's architecture, as images name it. */
static const char *config_architecture(struct arena *arena)
{
    static const char *const NAMES[][2] = {
        {"x86_64", "amd64"},    {"aarch64", "arm64"}, {"armv7l", "arm"},     {"i686", "386"},
        {"ppc64le", "ppc64le"}, {"s390x", "s390x"},   {"riscv64", "riscv64"}};
    struct utsname name;
    uname(&name);
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        if (str_eq(name.machine, NAMES[i][0]))
            return NAMES[i][1];
    return arena_strdup(arena, name.machine);
}

/* Returns the 64 digits of "sha256:<digits>", or NULL if the text is no such digest. */
static const char *hex_of(const char *digest)
{
    static const char prefix[] = "sha256:";
    if (!digest || !str_has_prefix(digest, prefix))
        return NULL;
    const char *hex = digest + strlen(prefix);
    return strlen(hex) == TLS_SHA256_TEXT - 1 && strspn(hex, "0123456789abcdef") == strlen(hex)
               ? hex
               : NULL;
}

/* Returns the digits in the name of a member whose name is its digest, or "" for another name. */
static const char *hex_in_name(struct arena *arena, const char *member)
{
    const char *slash = strrchr(member, '/'), *name = slash ? slash + 1 : member;
    char *hex = arena_strdup(arena, name);
    hex[strcspn(hex, ".")] = '\0';
    return hex_of(arena_printf(arena, "sha256:%s", hex)) ? hex : "";
}

/* Reads a JSON document. `expected` is its digest in hexadecimal, or "" if that is not known. */
static int read_document(struct reading *r, const char *member, const char *expected,
                         struct json **ret, char ret_digest[TLS_SHA256_TEXT])
{
    int result = image_archive_document(r->archive, member, ret, ret_digest, r->err);
    if (result == 0 && expected[0] && !str_eq(expected, ret_digest))
        result =
            err_set(r->err, ERR_INVALID, "'%s' is damaged: its digest is %s", member, ret_digest);
    return result;
}

static void copy_strings(struct arena *arena, struct json *row, const char *name,
                         const struct json *config, const char *key)
{
    const struct json *given = json_get(config, key);
    if (!json_count(given))
        return;
    struct json *list = json_array(arena);
    JSON_EACH (word, given) {
        if (json_text(word))
            json_append(list, json_string(arena, json_text(word)));
    }
    json_set(arena, row, name, list);
}

static void copy_string(struct arena *arena, struct json *row, const char *name,
                        const struct json *config, const char *key)
{
    const char *given = json_get_string(config, key, "");
    if (given[0])
        json_set_string(arena, row, name, given);
}

static struct json *make_row(struct arena *arena, const struct json *config)
{
    struct json *row = json_object(arena);
    copy_strings(arena, row, "command", config, "Entrypoint");
    copy_strings(arena, row, "args", config, "Cmd");
    copy_strings(arena, row, "env", config, "Env");
    copy_string(arena, row, "workdir", config, "WorkingDir");
    copy_string(arena, row, "user", config, "User");
    copy_string(arena, row, "stopSignal", config, "StopSignal");
    return row;
}

static int check_machine(struct reading *r, const struct json *config)
{
    const char *wanted = config_architecture(r->arena);
    const char *architecture = json_get_string(config, "architecture", wanted);
    const char *system = json_get_string(config, "os", "linux");
    if (str_eq(architecture, wanted) && str_eq(system, "linux"))
        return 0;
    return err_set(r->err, ERR_UNSUPPORTED,
                   "the image is for %s/%s, but this machine is linux/%s: save the image for this "
                   "platform, for example after 'docker pull --platform linux/%s'",
                   system, architecture, wanted, wanted);
}

/* Reads the configuration of an image, which lists the digest of each unpacked layer. The caller
 * has called add_layers() before. */
static int read_config(struct reading *r, const char *member, const char *expected,
                       struct image_found *image)
{
    struct json *config;
    char digest[TLS_SHA256_TEXT];
    int result = read_document(r, member, expected, &config, digest);
    if (result < 0 || (result = check_machine(r, config)) < 0)
        return result;
    const struct json *diff_ids = json_at(config, "rootfs", "diff_ids", NULL);
    if (json_count(diff_ids) != image->layer_count)
        return err_set(r->err, ERR_INVALID,
                       "the image has %zu layers, but its configuration lists %zu",
                       image->layer_count, json_count(diff_ids));
    size_t i = 0;
    JSON_EACH (id, diff_ids) {
        const char *hex = hex_of(json_text(id));
        if (!hex)
            return err_set(r->err, ERR_INVALID, "a layer of the image has no sha256 digest");
        image->layers[i++].diff_id = hex;
    }
    image->digest = arena_printf(r->arena, "sha256:%s", digest);
    image->row = make_row(r->arena, json_get(config, "config"));
    return 0;
}

static int add_layers(struct reading *r, struct image_found *image, const struct json *list)
{
    if (json_count(list) > IMAGE_LAYERS_MAX)
        return err_set(r->err, ERR_TOO_MANY, "the image has more than %d layers", IMAGE_LAYERS_MAX);
    image->layers = ARENA_ARRAY(r->arena, struct image_layer, json_count(list) + 1);
    JSON_EACH (item, list) {
        struct image_layer *layer = &image->layers[image->layer_count++];
        if (json_text(item)) { /* Docker's form: a file name */
            layer->member = json_text(item);
            layer->digest = strstr(layer->member, "blobs/sha256/") == layer->member
                                ? hex_in_name(r->arena, layer->member)
                                : "";
        } else {
            const char *hex = hex_of(json_get_string(item, "digest", ""));
            if (!hex)
                return err_set(r->err, ERR_INVALID, "a layer of the image has no sha256 digest");
            layer->digest = hex;
            layer->member = arena_printf(r->arena, "blobs/sha256/%s", hex);
        }
        if (!image_archive_find(r->archive, layer->member))
            return err_set(r->err, ERR_NOT_FOUND, "the archive lacks layer '%s'", layer->member);
    }
    return 0;
}

/* Returns NULL if there are too many images. */
static struct image_found *add_image(struct reading *r)
{
    if (r->count == IMAGES_MAX)
        return NULL;
    struct image_found *image = &r->found[r->count++];
    *image = (struct image_found){.manifest = ""};
    return image;
}

static void add_name(struct image_found *image, const char *name)
{
    if (name && name[0] && image->name_count < IMAGES_MAX)
        image->names[image->name_count++] = name;
}

static int too_many(struct reading *r)
{
    return err_set(r->err, ERR_TOO_MANY, "the archive has more than %d images", IMAGES_MAX);
}

/* Reads Docker's manifest.json. */
static int read_docker(struct reading *r, const struct json *manifest)
{
    JSON_EACH (item, manifest) {
        struct image_found *image = add_image(r);
        const char *config = json_get_string(item, "Config", "");
        if (!image)
            return too_many(r);
        JSON_EACH (name, json_get(item, "RepoTags"))
            add_name(image, json_text(name));
        int result = add_layers(r, image, json_get(item, "Layers"));
        if (result == 0)
            result = read_config(r, config, hex_in_name(r->arena, config), image);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Reads the OCI manifest of one image. `hex` is its digest. */
static int read_manifest(struct reading *r, const struct json *manifest, const char *hex,
                         const char *name)
{
    struct image_found *image = add_image(r);
    const char *config = hex_of(json_get_string(json_get(manifest, "config"), "digest", ""));
    if (!image)
        return too_many(r);
    if (!config)
        return err_set(r->err, ERR_INVALID,
                       "a manifest of the archive has no sha256 digest of its configuration");
    add_name(image, name);
    image->manifest = arena_printf(r->arena, "sha256:%s", hex);
    int result = add_layers(r, image, json_get(manifest, "layers"));
    if (result < 0)
        return result;
    return read_config(r, arena_printf(r->arena, "blobs/sha256/%s", config), config, image);
}

/* Returns false for an image of another platform, and for an entry that is not an image but a
 * signature or attestation. An entry without a platform is accepted. */
static bool is_for_this_machine(struct reading *r, const struct json *descriptor)
{
    const struct json *platform = json_get(descriptor, "platform");
    if (!platform)
        return true;
    const char *architecture = json_get_string(platform, "architecture", "");
    const char *system = json_get_string(platform, "os", "");
    if (str_eq(architecture, config_architecture(r->arena)) && str_eq(system, "linux"))
        return true;
    if (!str_eq(architecture, "unknown"))
        r->other_platform = arena_printf(r->arena, "%s/%s", system, architecture);
    return false;
}

/* Reads an OCI index. `name` is the name of its images, unless an entry has a name. */
static int read_index(struct reading *r, const struct json *index, const char *name, int depth)
{
    if (depth > INDEX_DEPTH_MAX)
        return err_set(r->err, ERR_INVALID, "the archive's index is nested too deep");
    JSON_EACH (descriptor, json_get(index, "manifests")) {
        const struct json *notes = json_get(descriptor, "annotations");
        const char *ref_name =
            json_get_string(notes, "io.containerd.image.name",
                            json_get_string(notes, "org.opencontainers.image.ref.name", name));
        const char *hex = hex_of(json_get_string(descriptor, "digest", ""));
        struct json *document;
        char digest[TLS_SHA256_TEXT];
        if (!is_for_this_machine(r, descriptor))
            continue;
        if (!hex)
            return err_set(r->err, ERR_INVALID,
                           "an entry of the archive's index has no sha256 digest");
        int result = read_document(r, arena_printf(r->arena, "blobs/sha256/%s", hex), hex,
                                   &document, digest);
        if (result == 0)
            result = json_get(document, "manifests") ? read_index(r, document, ref_name, depth + 1)
                                                     : read_manifest(r, document, hex, ref_name);
        if (result < 0)
            return result;
    }
    return 0;
}

int image_config_read(const struct image_archive *archive, struct image_found *ret,
                      size_t *ret_count, struct err *err)
{
    struct reading r = {.archive = archive, .arena = archive->arena, .found = ret, .err = err};
    struct json *document;
    char digest[TLS_SHA256_TEXT];
    int result;
    if (image_archive_find(archive, "manifest.json")) {
        result = read_document(&r, "manifest.json", "", &document, digest);
        if (result == 0)
            result = read_docker(&r, document);
    } else if (image_archive_find(archive, "index.json")) {
        result = read_document(&r, "index.json", "", &document, digest);
        if (result == 0)
            result = read_index(&r, document, "", 0);
    } else {
        result = err_set(err, ERR_INVALID,
                         "it is not an image archive: it contains neither manifest.json nor "
                         "index.json; create it with 'docker save' or 'skopeo copy'");
    }
    if (result == 0 && r.count == 0 && r.other_platform)
        result = err_set(err, ERR_UNSUPPORTED, "the image is for %s, but this machine is linux/%s",
                         r.other_platform, config_architecture(r.arena));
    if (result == 0 && r.count == 0)
        result = err_set(err, ERR_INVALID, "it contains no image");
    if (result == 0)
        *ret_count = r.count;
    return result;
}
