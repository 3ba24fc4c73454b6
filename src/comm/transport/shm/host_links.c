/* Implements the connections between the members of one host; see host_links.h. */
#include "comm/transport/shm/host_links.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/system/boot.h"
#include "comm/transport/secret.h"
#include "comm/transport/shm/descriptors.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { SWAP_MS = 5000, TOKEN_SIZE = SECRET_MAC_SIZE, BACKLOG = TRANSPORT_HOST_MAX };

_Static_assert((int)TRANSPORT_HOST_MAX <= (int)DESCRIPTORS_MAX,
               "the descriptors of a host fit into one message");

static const char PEERS_DIR[] = "/run/trainyard/peers";

/* The data that each member sends to all others. It consists of bytes only, so that byte order does
 * not matter. */
struct host_card {
    /* Boot id and pretended host name; "": this member shares memory with no other. */
    char host[HOST_NAME_SIZE];
    uint8_t token[TOKEN_SIZE]; /* what members must send when they connect to this member */
    char name[40]; /* name of the Unix socket; with '@' at the start, an abstract socket */
};

/* The first message of a member on the connection to its leader. */
struct host_hello {
    uint8_t token[TOKEN_SIZE];
    uint32_t rank;
};

static const char *host_peers_dir(void)
{
    const char *dir = getenv("TRAINYARD_PEERS_DIR");
    return str_is_empty(dir) ? PEERS_DIR : dir;
}

/* Returns false if the path of the socket is too long. */
static bool host_socket_address(const char *name, struct sockaddr_un *ret, socklen_t *ret_size)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (name[0] == '@') {
        int length =
            snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "trainyard-%s", name + 1);
        *ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
        return true;
    }
    int length = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/%s", host_peers_dir(), name);
    *ret_size = sizeof(*ret);
    return length < (int)sizeof(ret->sun_path);
}

static int host_socket_new(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static void host_socket_unlink(const char *name)
{
    struct sockaddr_un address;
    socklen_t size;
    if (name[0] && name[0] != '@' && host_socket_address(name, &address, &size))
        (void)unlink(address.sun_path);
}

/* Listens on the Unix socket `name`. Returns 0 or a positive errno. */
static int host_listen_at(const char *name, int *ret_fd)
{
    struct sockaddr_un address;
    socklen_t size;
    if (!host_socket_address(name, &address, &size))
        return ENAMETOOLONG;
    _cleanup_fd_ int fd = host_socket_new();
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0)
        return errno;
    /* Peers may run as other users; the token authenticates them. */
    if ((name[0] != '@' && chmod(address.sun_path, 0666) < 0) || listen(fd, BACKLOG) < 0) {
        int errnum = errno;
        host_socket_unlink(name);
        return errnum;
    }
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* Listens on a socket in the directory of peers or, if that fails, on an abstract socket of the
 * network namespace. */
static int host_listen(struct host_card *card, int *ret_fd, struct err *err)
{
    uint8_t draw[12];
    char text[2 * sizeof(draw) + 1];
    rand_secure(draw, sizeof(draw));
    for (size_t i = 0; i < sizeof(draw); i++)
        snprintf(text + 2 * i, 3, "%02x", draw[i]);
    snprintf(card->name, sizeof(card->name), "%s", text);
    if (host_listen_at(card->name, ret_fd) == 0)
        return 0;
    snprintf(card->name, sizeof(card->name), "@%s", text);
    int errnum = host_listen_at(card->name, ret_fd);
    return errnum ? err_set_errno(err, errnum, "cannot listen on a Unix socket") : 0;
}

static int host_describe_self(struct host_card *card, const char *pretend, int *ret_listener,
                              struct err *err)
{
    char machine[BOOT_ID_MAX];
    int result = boot_id(machine, err);
    if (result == 0)
        result = host_listen(card, ret_listener, err);
    if (result < 0)
        return result;
    rand_secure(card->token, sizeof(card->token));
    snprintf(card->host, sizeof(card->host), "%s/%s", machine, pretend ? pretend : "");
    return 0;
}

void host_links_find(struct host_links *links, const char *const *hosts, int size, int rank)
{
    for (int i = 0; i < size; i++) {
        links->leaders[i] = i;
        for (int j = 0; j < i && hosts[i][0] && links->leaders[i] == i; j++)
            if (strncmp(hosts[j], hosts[i], HOST_NAME_SIZE) == 0)
                links->leaders[i] = links->leaders[j];
    }
    links->count = links->on_machine = 0;
    for (int i = 0; i < size; i++)
        links->on_machine += links->leaders[i] == links->leaders[rank];
    if (links->on_machine > TRANSPORT_HOST_MAX)
        (err_set)(&links->failure, ERR_UNSUPPORTED,
                  "more than %d members on one host cannot share memory", TRANSPORT_HOST_MAX);
    for (int i = 0; i < size; i++) {
        int members = 0;
        for (int j = 0; j < size; j++)
            members += links->leaders[j] == i;
        for (int j = size - 1; members > TRANSPORT_HOST_MAX && j >= 0; j--)
            if (links->leaders[j] == i)
                links->leaders[j] = j;
    }
    for (int i = 0; i < size; i++)
        if (links->leaders[i] == links->leaders[rank]) {
            links->index = i == rank ? links->count : links->index;
            links->ranks[links->count++] = i;
        }
}

static int host_connect_leader(struct host_links *links, const struct host_card *leader, int rank,
                               struct err *err)
{
    struct sockaddr_un address;
    socklen_t size;
    struct host_hello hello = {.rank = (uint32_t)rank};
    memcpy(hello.token, leader->token, sizeof(hello.token));
    if (memchr(leader->name, '\0', sizeof(leader->name)) == NULL || strchr(leader->name, '/') ||
        !host_socket_address(leader->name, &address, &size))
        return err_set(err, ERR_INVALID, "another member sent an invalid name of its Unix socket");
    _cleanup_fd_ int fd = host_socket_new();
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, size) < 0 ||
        send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
        return err_set_errno(err, errno, "cannot connect to the Unix socket of another member");
    links->links[0] = TAKE_FD(fd);
    return 0;
}

/* Accepts the members of the host. They have connected and sent their hello before this call, so a
 * connection without a hello is rejected. */
static int host_accept_members(struct host_links *links, int listener, const struct host_card *self,
                               struct err *err)
{
    int missing = links->count - 1;
    for (int fd;
         missing && (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        struct host_hello hello;
        int place = 0;
        if (recv(fd, &hello, sizeof(hello), 0) == sizeof(hello) &&
            secret_mac_equal(hello.token, self->token))
            for (int i = 1; i < links->count; i++)
                if (links->ranks[i] == (int)hello.rank && links->links[i] < 0)
                    place = i;
        if (place) {
            links->links[place] = fd;
            missing--;
        } else {
            close(fd);
        }
    }
    return missing
               ? err_set(err, ERR_UNAVAILABLE,
                         "%d members on this machine did not connect to the Unix socket", missing)
               : 0;
}

static void host_close_links(struct host_links *links)
{
    for (int i = 0; i < TRANSPORT_HOST_MAX; i++)
        if (links->links[i] >= 0)
            close(TAKE_FD(links->links[i]));
}

int host_links_agree(struct host_links *links, struct control *control, bool yes, struct err *err)
{
    int size = control_size(control);
    _cleanup_free_ uint8_t *all = mem_calloc((size_t)size, 1);
    const uint8_t own = yes;
    int result = control_begin_call(control, CONTROL_CALL_SHARE, sizeof(own), err);
    if (result == 0)
        result = control_exchange(control, &own, sizeof(own), all, err);
    if (result < 0)
        return result;
    _cleanup_free_ bool *refused = mem_calloc((size_t)size, sizeof(*refused));
    for (int i = 0; i < size; i++)
        refused[links->leaders[i]] |= !all[i];
    if (refused[links->leaders[control_rank(control)]]) {
        host_close_links(links);
        links->ranks[0] = control_rank(control);
        links->count = 1;
        links->index = 0;
    }
    for (int i = 0; i < size; i++)
        if (refused[links->leaders[i]])
            links->leaders[i] = i;
    return 0;
}

/* A collective call: exchanges the cards of all members, connects each member to its leader, and
 * informs all members of the group about hosts that failed. */
static int host_find_members(struct host_links *links, struct control *control,
                             const struct host_card *self, int listener, struct err *err)
{
    int size = control_size(control), rank = control_rank(control);
    _cleanup_free_ struct host_card *cards = mem_calloc((size_t)size, sizeof(*cards));
    int result = control_begin_call(control, CONTROL_CALL_SHARE, sizeof(*self), err);
    if (result == 0)
        result = control_exchange(control, self, sizeof(*self), cards, err);
    if (result < 0)
        return result;
    _cleanup_free_ const char **hosts = mem_calloc((size_t)size, sizeof(*hosts));
    for (int i = 0; i < size; i++)
        hosts[i] = cards[i].host;
    host_links_find(links, hosts, size, rank);
    bool is_leader = links->leaders[rank] == rank;
    int connected =
        is_leader ? 0
                  : host_connect_leader(links, &cards[links->leaders[rank]], rank, &links->failure);
    result = host_links_agree(links, control, connected == 0, err);
    if (result == 0 && links->count > 1 && is_leader &&
        host_accept_members(links, listener, self, &links->failure) < 0)
        /* the other members of the host detect this at the next exchange of descriptors */
        host_close_links(links);
    return result;
}

int host_links_open(struct control *control, const char *pretend, struct host_links **ret,
                    struct err *err)
{
    _cleanup_(cleanup_host_links) struct host_links *links = mem_zalloc(sizeof(*links));
    _cleanup_fd_ int listener = -1;
    struct host_card self = {0};
    links->leaders = mem_calloc((size_t)control_size(control), sizeof(*links->leaders));
    for (int i = 0; i < TRANSPORT_HOST_MAX; i++)
        links->links[i] = -1;
    if (host_describe_self(&self, pretend, &listener, &links->failure) < 0)
        self.host[0] = '\0';
    int result = host_find_members(links, control, &self, listener, err);
    host_socket_unlink(self.name);
    if (result < 0)
        return result;
    *ret = TAKE(links);
    return 0;
}

struct host_links *host_links_free(struct host_links *links)
{
    if (!links)
        return NULL;
    host_close_links(links);
    free(links->leaders);
    free(links);
    return NULL;
}

int host_links_swap(struct host_links *links, int fd, int *ret_fds, struct err *err)
{
    int fds[TRANSPORT_HOST_MAX], result = 0;
    int64_t deadline = moment_monotonic_ms() + SWAP_MS;
    for (int i = 0; i < TRANSPORT_HOST_MAX; i++)
        fds[i] = -1;
    if (links->index == 0) {
        fds[0] = fd;
        for (int i = 1; i < links->count && result == 0; i++)
            result = descriptors_receive(links->links[i], deadline, &fds[i], 1, err);
        for (int i = 1; i < links->count && result == 0; i++)
            result = descriptors_send(links->links[i], fds, links->count, err);
    } else {
        result = descriptors_send(links->links[0], &fd, 1, err);
        if (result == 0)
            result = descriptors_receive(links->links[0], deadline, fds, links->count, err);
        if (result == 0)
            close(TAKE_FD(fds[links->index])); /* a copy of this member's own descriptor */
    }
    if (links->index == 0)
        fds[0] = -1;
    if (result == 0)
        memcpy(ret_fds, fds, (size_t)links->count * sizeof(int));
    else
        host_close_links(links);
    for (int i = 0; i < links->count && result < 0; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return result;
}
