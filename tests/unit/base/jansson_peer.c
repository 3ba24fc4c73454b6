/* Loads jansson at run time; see jansson_peer.h. */
#include "jansson_peer.h"

#include <dlfcn.h>
#include <jansson.h>

static struct {
    json_t *(*loadb)(const char *buffer, size_t size, size_t flags, json_error_t *error);
    char *(*dumps)(const json_t *json, size_t flags);
    void (*delete)(json_t *json);
    int (*equal)(const json_t *a, const json_t *b);
} peer;

bool peer_load(void)
{
    void *library = dlopen("libjansson.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    *(void **)&peer.loadb = dlsym(library, "json_loadb");
    *(void **)&peer.dumps = dlsym(library, "json_dumps");
    *(void **)&peer.delete = dlsym(library, "json_delete");
    *(void **)&peer.equal = dlsym(library, "json_equal");
    return peer.loadb && peer.dumps && peer.delete &&peer.equal;
}

void *peer_read(const char *text, size_t size)
{
    return peer.loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
}

char *peer_write(const void *tree)
{
    return peer.dumps(tree, JSON_COMPACT | JSON_ENCODE_ANY);
}

void peer_free(void *tree)
{
    if (tree)
        peer.delete(tree);
}

bool peer_equal(const void *a, const void *b)
{
    return peer.equal(a, b);
}
