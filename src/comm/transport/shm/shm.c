/* Implements the shared memory transport except its barriers; see transport.h and shm_private.h. */
#include "comm/transport/shm/shm_private.h"

#include "base/mem.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A wait spins this long, then sleeps, because other processes need the cores. */
enum { SPIN_NS = 20 * 1000 };

static const size_t SEGMENT_SIZE = SHM_PROGRESS_SIZE + (size_t)SHM_SLOTS * TRANSPORT_SLOT_SIZE;

static void *shm_slot(const struct transport *transport, int index, int barriers_ago)
{
    const struct shm *shm = (const struct shm *)transport;
    size_t slot = (shm->slot + SHM_SLOTS - (size_t)barriers_ago) % SHM_SLOTS;
    return shm->segments[index] + SHM_PROGRESS_SIZE + slot * TRANSPORT_SLOT_SIZE;
}

static float *const *shm_rows(const struct transport *transport)
{
    const struct shm *shm = (const struct shm *)transport;
    return shm->in_place ? shm->rows : NULL;
}

static void *shm_peer_memory(const struct transport *transport, size_t memory, int rank)
{
    const struct shm *shm = (const struct shm *)transport;
    for (int i = 0; memory < shm->memory_count && i < shm->host->count; i++)
        if (shm->host->ranks[i] == rank)
            return shm->memories[memory].at[i];
    return NULL;
}

/* Passes the descriptor of `own` to the other members of the host, and maps their memory. ret_at
 * has the mappings by index on the host. On failure some may be set: the caller calls
 * shm_unmap_peers(). */
static int shm_map_peers(struct shm *shm, struct shared_memory *own, void **ret_at, struct err *err)
{
    struct host_links *host = shm->host;
    int fds[TRANSPORT_HOST_MAX];
    own->was_shared = true;
    int result = host_links_swap(host, own->fd, fds, err);
    if (result < 0)
        return result;
    for (int i = 0; i < host->count; i++) {
        ret_at[i] = i == host->index ? own->at : NULL;
        if (i != host->index && result == 0)
            result = shared_memory_map_peer(fds[i], own->size, &ret_at[i], err);
        if (fds[i] >= 0)
            close(fds[i]);
    }
    return result;
}

static void shm_unmap_peers(void **at, const struct shared_memory *own)
{
    for (int i = 0; i < TRANSPORT_HOST_MAX; i++)
        if (at[i] && at[i] != own->at)
            munmap(at[i], own->size);
}

/* Returns how long a wait spins: 0 if this process may use fewer cores than the host has
 * members. */
static int64_t shm_spin_time(int members)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) < members
               ? 0
               : SPIN_NS;
}

static int shm_create_segment(struct shm *shm, struct err *err)
{
    int result = shared_memory_new("trainyard segment", SEGMENT_SIZE, &shm->segment, err);
    return result == 0 ? shared_memory_populate(shm->segment, err) : result;
}

/* Creates the segment of this member and maps the segments of the others. The first
 * host_links_agree() waits for late members with the group's usual timeout, until all members have
 * created their segment. Only then do the members of a host exchange descriptors. The exchange has
 * a short deadline, because a member does not answer pings meanwhile. The second agreement tells
 * all members whether the exchange succeeded. */
static int shm_share_segments(struct shm *shm, struct err *err)
{
    struct host_links *host = shm->host;
    bool yes = host->count == 1 || shm_create_segment(shm, &host->failure) == 0;
    int result = host_links_agree(host, shm->control, yes, err);
    if (result < 0)
        return result;
    yes = host->count == 1 ||
          shm_map_peers(shm, shm->segment, (void **)shm->segments, &host->failure) == 0;
    return host_links_agree(host, shm->control, yes, err);
}

/* Reports that this member does not share memory although others run on its machine, and why. */
static void shm_report_failure(const struct shm *shm)
{
    int on_machine = shm->host->on_machine;
    const char *reason = shm->host->failure.code ? shm->host->failure.message
                                                 : "another member could not share its memory";
    if (on_machine > 1 && shm->host->count == 1)
        control_report(shm->control,
                       "cannot share memory with %d other member%s on this machine (%s): using TCP "
                       "instead, which is slower",
                       on_machine - 1, on_machine == 2 ? "" : "s", reason);
}

static void shm_close(struct transport *transport)
{
    struct shm *shm = (struct shm *)transport;
    for (size_t i = 0; i < shm->memory_count; i++)
        shm_unmap_peers(shm->memories[i].at, shm->memories[i].own);
    if (shm->segment)
        shm_unmap_peers((void **)shm->segments, shm->segment);
    shared_memory_free(shm->segment);
    host_links_free(shm->host);
    free(shm);
}

static int shm_open_host(const struct transport_config *config, struct transport **ret,
                         struct err *err)
{
    struct shm *shm = mem_zalloc(sizeof(*shm));
    shm->control = config->control;
    int result = host_links_open(shm->control, config->pretended_host, &shm->host, err);
    if (result == 0)
        result = shm_share_segments(shm, err);
    if (result == 0)
        shm_report_failure(shm);
    bool any = false;
    for (int i = 0; result == 0 && i < control_size(shm->control); i++)
        any |= shm->host->leaders[i] != i;
    if (!any) {
        shm_close(&shm->transport);
        *ret = NULL;
        return result;
    }
    shm->spin_ns = shm_spin_time(shm->host->count);
    shm->transport = (struct transport){.ops = &transport_shm,
                                        .count = shm->host->count,
                                        .index = shm->host->index,
                                        .leaders = shm->host->leaders};
    *ret = &shm->transport;
    return 0;
}

/* Sets *ret_all to whether every member of this host voted yes. A collective call, because all
 * members of the group must count the same calls. */
static int shm_vote(struct shm *shm, bool yes, bool *ret_all, struct err *err)
{
    int size = control_size(shm->control);
    _cleanup_free_ uint8_t *all = mem_calloc((size_t)size, 1);
    const uint8_t own = yes;
    int result = control_begin_call(shm->control, CONTROL_CALL_SHARE, sizeof(own), err);
    if (result == 0)
        result = control_exchange(shm->control, &own, sizeof(own), all, err);
    *ret_all = true;
    for (int i = 0; i < shm->host->count; i++)
        *ret_all &= all[shm->host->ranks[i]] != 0;
    return result;
}

/* Fails without setting `err` if no other member is on this host. */
static int shm_prepare_share(struct shm *shm, struct shared_memory *memory, struct err *err)
{
    if (shm->memory_count == TRANSPORT_SHARED_MAX)
        return err_set(err, ERR_UNSUPPORTED,
                       "%d memory regions are shared already, which is the limit",
                       TRANSPORT_SHARED_MAX);
    return shm->host->count > 1 ? shared_memory_populate(memory, err) : -ERR_UNSUPPORTED;
}

/* Shares `memory` in the same steps as shm_share_segments(): a vote, the exchange, and a second
 * vote. */
static int shm_share(struct transport *transport, struct shared_memory *memory, struct err *err)
{
    struct shm *shm = (struct shm *)transport;
    struct shm_memory shared = {.own = memory};
    struct err failure = ERR_INIT;
    int mapped = shm_prepare_share(shm, memory, &failure);
    bool all = false;
    int result = shm_vote(shm, mapped == 0, &all, err);
    if (result == 0 && all)
        mapped = shm_map_peers(shm, memory, shared.at, &failure);
    if (result == 0)
        result = shm_vote(shm, all && mapped == 0, &all, err);
    if (result == 0 && all)
        shm->memories[shm->memory_count++] = shared;
    else
        shm_unmap_peers(shared.at, memory);
    if (result == 0 && !all && shm->host->count > 1)
        control_report(shm->control, "cannot share memory of %zu bytes (%s): it is copied instead",
                       memory->size,
                       failure.code ? failure.message
                                    : "another member could not share its memory");
    return result;
}

const struct transport_ops transport_shm = {
    .name = "shm",
    .kind = TRANSPORT_MEMORY,
    .open = shm_open_host,
    .close = shm_close,
    .share = shm_share,
    .begin = shm_begin,
    .barrier = shm_barrier,
    .rows = shm_rows,
    .slot = shm_slot,
    .peer_memory = shm_peer_memory,
};
