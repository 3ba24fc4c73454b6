/* Where others knock; see door.h. */
#include "comm/group/peer_listener.h"

#include "comm/transport/socket.h"

#include <poll.h>
#include <string.h>

enum { GUESTS_MAX = 256 }; /* beside one for each member */

int door_open(struct door *door, const struct ty_task *self, int size, struct err *err)
{
    int result =
        socket_listen(self->port, strchr(self->host, ':') != NULL, size + 64, &door->listener, err);
    if (result == 0)
        door->identity.listen_port = (uint16_t)socket_local_port(door->listener);
    return result;
}

void door_close(struct door *door)
{
    while (door->guests.count)
        door_dismiss(door, door->guests.count - 1);
    vec_release(&door->guests);
    if (door->listener >= 0)
        close(door->listener);
    door->listener = -1;
}

static bool is_proven(const struct guest *guest)
{
    return guest->handshake.state == HANDSHAKE_PROVEN ||
           guest->handshake.state == HANDSHAKE_WRITE_VERDICT ||
           guest->handshake.state == HANDSHAKE_SECURING;
}

/* Whether there is room for one more; ret_evict: who has to go for it, -1: nobody. */
static bool find_room(const struct door *door, uint32_t size, ssize_t *ret_evict)
{
    *ret_evict = -1;
    if (door->guests.count < GUESTS_MAX + (size_t)size)
        return true;
    for (size_t i = 0; i < door->guests.count; i++)
        if (!is_proven(door->guests.items[i])) {
            *ret_evict = (ssize_t)i;
            return true;
        }
    return false;
}

bool door_has_room(const struct door *door, uint32_t size)
{
    ssize_t evict;
    return door->listener >= 0 && find_room(door, size, &evict);
}

/* Nobody can keep others out by connecting often and saying nothing: of those that have proved
 * nothing the one that came first goes. */
void door_accept(struct door *door, const struct handshake_identity *identity, int64_t now)
{
    ssize_t evict;
    for (int taken = 0;
         taken < GUESTS_MAX && door->listener >= 0 && find_room(door, identity->size, &evict);
         taken++) {
        char from[SOCKET_ADDRESS_TEXT_MAX];
        int fd = socket_accept(door->listener, from);
        if (fd < 0)
            return;
        if (evict >= 0)
            door_dismiss(door, (size_t)evict);
        struct guest *guest = mem_zalloc(sizeof(*guest));
        handshake_init_acceptor(&guest->handshake, fd, identity);
        memcpy(guest->from, from, sizeof(from));
        guest->ends = now + DOOR_ATTEMPT_MAX_MS;
        vec_push(&door->guests, guest);
    }
}

void door_dismiss(struct door *door, size_t position)
{
    handshake_release(&door->guests.items[position]->handshake);
    free(door->guests.items[position]);
    vec_remove(&door->guests, position);
}

bool door_secures(const struct door *door, int task)
{
    for (size_t i = 0; i < door->guests.count; i++) {
        const struct handshake *handshake = &door->guests.items[i]->handshake;
        if (handshake->state == HANDSHAKE_SECURING && handshake->hello.generation == 0 &&
            (int)handshake->hello.rank == task)
            return true;
    }
    return false;
}

void door_drop_departed(struct door *door)
{
    for (size_t i = 0; i < door->guests.count;) {
        const struct handshake *handshake = &door->guests.items[i]->handshake;
        struct pollfd state = {.fd = handshake->link.fd, .events = POLLRDHUP};
        if ((handshake->state == HANDSHAKE_PROVEN || handshake->state == HANDSHAKE_EARLY) &&
            poll(&state, 1, 0) > 0)
            door_dismiss(door, i);
        else
            i++;
    }
}

bool door_is_wanted(struct door *door, int64_t now)
{
    bool wanted = false;
    door_accept(door, &door->identity, now);
    door_drop_departed(door);
    for (size_t i = 0; i < door->guests.count;) {
        struct guest *guest = door->guests.items[i];
        handshake_adopt(&guest->handshake, &door->identity);
        int result = handshake_progress(&guest->handshake, NULL);
        bool proven = guest->handshake.state == HANDSHAKE_PROVEN;
        enum wire_verdict verdict =
            proven ? handshake_judge_proven(&guest->handshake) : WIRE_ACCEPTED;
        if (verdict != WIRE_ACCEPTED) {
            handshake_decide(&guest->handshake, verdict, NULL, 0);
            (void)handshake_progress(&guest->handshake, NULL);
            result = -ERR_FORBIDDEN;
        }
        if (result < 0 || (!proven && now >= guest->ends)) {
            door_dismiss(door, i);
            continue;
        }
        wanted |= proven;
        i++;
    }
    return wanted;
}
