/* Implements the lookup of a host name in a thread; see resolve.h. The caller and the thread share
 * the struct; the last owner frees it. */
#include "comm/transport/resolve.h"

#include "base/mem.h"
#include "base/system/thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct resolve {
    atomic_int owners; /* 2 while the caller and the thread use the struct */
    atomic_bool done;
    int event; /* eventfd for resolve_fd(); -1: not available */
    int error; /* 0, or an EAI_* code of getaddrinfo() */
    struct addrinfo *addresses;
    char port[8];
    char host[];
};

static void resolve_unref(struct resolve *resolve)
{
    if (atomic_fetch_sub(&resolve->owners, 1) > 1)
        return;
    if (resolve->addresses)
        freeaddrinfo(resolve->addresses);
    if (resolve->event >= 0)
        close(resolve->event);
    free(resolve);
}

static void *resolve_look_up(void *argument)
{
    struct resolve *resolve = argument;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    resolve->error = getaddrinfo(resolve->host, resolve->port, &hints, &resolve->addresses);
    atomic_store(&resolve->done, true);
    if (resolve->event >= 0)
        (void)eventfd_write(resolve->event, 1);
    resolve_unref(resolve);
    return NULL;
}

struct resolve *resolve_new(const char *host, int port)
{
    size_t size = strlen(host) + 1;
    struct resolve *resolve = mem_zalloc(sizeof(*resolve) + size);
    memcpy(resolve->host, host, size);
    snprintf(resolve->port, sizeof(resolve->port), "%d", port);
    const struct addrinfo number = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    bool known = getaddrinfo(host, resolve->port, &number, &resolve->addresses) == 0;
    resolve->event = eventfd(known, EFD_CLOEXEC | EFD_NONBLOCK);
    atomic_init(&resolve->owners, known ? 1 : 2);
    atomic_init(&resolve->done, known);
    if (known)
        return resolve;
    pthread_t thread;
    if (resolve->event >= 0 &&
        thread_start(&thread, "resolve", "a thread", resolve_look_up, resolve, NULL) == 0) {
        pthread_detach(thread);
    } else {
        /* No descriptor or thread is available: handled like a name server that does not answer. */
        atomic_store(&resolve->owners, 1);
        resolve->error = EAI_AGAIN;
        atomic_store(&resolve->done, true);
    }
    return resolve;
}

struct resolve *resolve_free(struct resolve *resolve)
{
    if (resolve)
        resolve_unref(resolve);
    return NULL;
}

int resolve_fd(const struct resolve *resolve)
{
    return resolve->event;
}

bool resolve_done(const struct resolve *resolve)
{
    return atomic_load(&resolve->done);
}

bool resolve_is_unknown(const struct resolve *resolve)
{
    return resolve->error == EAI_NONAME || resolve->error == EAI_NODATA;
}

const struct addrinfo *resolve_addresses(const struct resolve *resolve, const char **ret_reason)
{
    if (resolve->error == 0 && resolve->addresses)
        return resolve->addresses;
    switch (resolve->error) {
    case EAI_NONAME:
    case EAI_NODATA:
        *ret_reason = "name does not resolve yet";
        break;
    case EAI_AGAIN:
        *ret_reason = "name does not resolve yet: the name server does not answer";
        break;
    default:
        *ret_reason = "name does not resolve";
    }
    return NULL;
}
