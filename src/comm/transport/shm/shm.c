/* Shared memory between members on one machine; see transport_shm.h. */
#include "comm/transport/shm/shm.h"

#include "base/mem.h"
#include "base/moment.h"
#include "comm/transport/shm/host_links.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

enum {
    SLOTS = 3,
    CALLS = 2,
    LINE_SIZE = 4096,
    SPIN_NS = 20 * 1000,   /* cores are shared with others: then sleep */
    SLEEP_MS = 10,         /* then look after the connections */
    SURE_NS = 1000 * 1000, /* no two clocks differ by less and not by nothing */
    NO_ARENA = TRANSPORT_SHM_ARENAS,
};

/* What a member does in a call, for the others to compare. */
struct call_note {
    struct transport_mark mark;
    int64_t came_ns;        /* the clock is that of the machine */
    uint64_t arena, offset; /* of the data, in memory shared as a whole */
};

/* Where a member stands. Two calls, because a member may begin the next one while another has not
 * yet compared this one's. */
struct line {
    _Alignas(64) _Atomic uint32_t met; /* meetings it has come to; the word others sleep on */
    _Alignas(64) _Atomic uint32_t sleepers;
    _Alignas(64) struct call_note calls[CALLS];
};

struct arena {
    struct shared_memory *own;
    void *at[HOST_MEMBERS_MAX]; /* by index; the own one's is own->at */
};

struct transport_shm {
    struct transport_tcp *tcp;
    struct host_links *host;
    struct shared_memory *segment;
    char *segments[HOST_MEMBERS_MAX]; /* by index */
    struct arena arenas[TRANSPORT_SHM_ARENAS];
    size_t arena_count;
    uint32_t meetings;
    uint64_t blamed; /* the last call in which it was asked who was late */
    size_t calls;    /* begun here: not all calls of the group are */
    size_t turn;     /* of the slots: the one that is written now */
    int64_t spin_ns;
    float *rows[HOST_MEMBERS_MAX]; /* of the current call */
    bool in_place;
};

static const size_t SEGMENT_SIZE = LINE_SIZE + (size_t)SLOTS * TRANSPORT_SHM_SLOT;

static struct line *line_of(const struct transport_shm *shm, int index)
{
    return (struct line *)(void *)shm->segments[index];
}

static void *slot_of(const struct transport_shm *shm, int index, size_t meetings_ago)
{
    size_t slot = (shm->turn + SLOTS - meetings_ago) % SLOTS;
    return shm->segments[index] + LINE_SIZE + slot * TRANSPORT_SHM_SLOT;
}

int transport_shm_count(const struct transport_shm *shm)
{
    return shm->host->count;
}

int transport_shm_index(const struct transport_shm *shm)
{
    return shm->host->index;
}

int transport_shm_leader(const struct transport_shm *shm, int rank)
{
    return shm->host->leader[rank];
}

void *transport_shm_slot(const struct transport_shm *shm, int index)
{
    return slot_of(shm, index, 0);
}

void *transport_shm_slot_last(const struct transport_shm *shm, int index)
{
    return slot_of(shm, index, 1);
}

void *transport_shm_slot_second_last(const struct transport_shm *shm, int index)
{
    return slot_of(shm, index, 2);
}

void *transport_shm_arena_at(const struct transport_shm *shm, size_t arena, int rank)
{
    for (int i = 0; arena < shm->arena_count && i < shm->host->count; i++)
        if (shm->host->ranks[i] == rank)
            return shm->arenas[arena].at[i];
    return NULL;
}

/* Map what each other member of the host has handed over; the own one's place is `own`. */
static int swap_and_map(struct transport_shm *shm, struct shared_memory *own, void **ret_at,
                        struct err *err)
{
    struct host_links *host = shm->host;
    int fds[HOST_MEMBERS_MAX];
    own->handed = true;
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

static void unmap_peers(void **at, const struct shared_memory *own)
{
    for (int i = 0; i < HOST_MEMBERS_MAX; i++)
        if (at[i] && at[i] != own->at)
            munmap(at[i], own->size);
}

/* Where there is a core for every member, a short wait is best spent looking. */
static int64_t spin_of(int members)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) < members
               ? 0
               : SPIN_NS;
}

static int make_segment(struct transport_shm *shm, struct err *err)
{
    int result = shared_memory_new("trainyard segment", SEGMENT_SIZE, &shm->segment, err);
    return result == 0 ? shared_memory_populate(shm->segment, err) : result;
}

/* Memory changes hands when all of a machine have said that theirs is there: whoever comes late is
 * waited for in that call, as in every other. For the handing over there is little time, in which
 * nobody hears from us. Then all hear who could not. */
static int share_segments(struct transport_shm *shm, struct err *err)
{
    struct host_links *host = shm->host;
    bool yes = host->count == 1 || make_segment(shm, &host->failure) == 0;
    int result = host_links_agree(host, shm->tcp, yes, err);
    if (result < 0)
        return result;
    yes = host->count == 1 ||
          swap_and_map(shm, shm->segment, (void **)shm->segments, &host->failure) == 0;
    return host_links_agree(host, shm->tcp, yes, err);
}

/* Who wanted to share and cannot says so, once. */
static void explain(const struct transport_shm *shm)
{
    int wanted = shm->host->wanted;
    const char *reason =
        shm->host->failure.code ? shm->host->failure.message : "another of them could not";
    if (wanted > 1 && shm->host->count == 1)
        transport_tcp_say(shm->tcp,
                          "shares a machine with %d other%s of the group but not its memory (%s): "
                          "they talk over TCP, which is slower",
                          wanted - 1, wanted == 2 ? "" : "s", reason);
}

int transport_shm_open(struct transport_tcp *tcp, const char *pretend, struct transport_shm **ret,
                       struct err *err)
{
    struct transport_shm *shm = mem_zalloc(sizeof(*shm));
    shm->tcp = tcp;
    int result = host_links_open(tcp, pretend, &shm->host, err);
    if (result == 0)
        result = share_segments(shm, err);
    if (result == 0)
        explain(shm);
    bool any = false;
    for (int i = 0; result == 0 && i < transport_tcp_size(tcp); i++)
        any |= shm->host->leader[i] != i;
    if (!any) {
        transport_shm_free(shm);
        shm = NULL;
    } else {
        shm->spin_ns = spin_of(shm->host->count);
    }
    *ret = shm;
    return result;
}

struct transport_shm *transport_shm_free(struct transport_shm *shm)
{
    if (!shm)
        return NULL;
    for (size_t i = 0; i < shm->arena_count; i++)
        unmap_peers(shm->arenas[i].at, shm->arenas[i].own);
    if (shm->segment)
        unmap_peers((void **)shm->segments, shm->segment);
    shared_memory_free(shm->segment);
    host_links_free(shm->host);
    free(shm);
    return NULL;
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value,
                  const struct timespec *timeout)
{
    return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

static bool has_met(struct line *line, uint32_t meeting)
{
    return (int32_t)(atomic_load_explicit(&line->met, memory_order_acquire) - meeting) >= 0;
}

static bool spin(const struct transport_shm *shm, struct line *line)
{
    enum { LOOKS = 16 };
    int64_t until = shm->spin_ns ? moment_monotonic_ns() + shm->spin_ns : 0;
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (has_met(line, shm->meetings))
                return true;
            relax();
        }
    } while (shm->spin_ns && moment_monotonic_ns() < until);
    return false;
}

/* Those that have come are not to blame. */
static void notice_all(struct transport_shm *shm)
{
    for (int i = 0; i < shm->host->count; i++)
        if (i != shm->host->index && has_met(line_of(shm, i), shm->meetings))
            transport_tcp_noticed(shm->tcp, shm->host->ranks[i]);
}

static int await(struct transport_shm *shm, int index, struct err *err)
{
    static const struct timespec NAP = {.tv_nsec = SLEEP_MS * 1000 * 1000};
    struct line *line = line_of(shm, index);
    if (spin(shm, line))
        return 0;
    for (;;) {
        uint32_t met = atomic_load(&line->met);
        atomic_fetch_add(&line->sleepers, 1);
        long woken = 0;
        int64_t began = moment_monotonic_ms();
        if (!has_met(line, shm->meetings))
            woken = futex(&line->met, FUTEX_WAIT, met, &NAP);
        atomic_fetch_sub(&line->sleepers, 1);
        transport_tcp_overslept(shm->tcp, moment_monotonic_ms() - began - SLEEP_MS);
        if (has_met(line, shm->meetings))
            return 0;
        if (woken == 0)
            continue;
        notice_all(shm);
        int result = transport_tcp_watch(shm->tcp, shm->host->ranks[index], err);
        if (result < 0)
            return result;
    }
}

int transport_shm_meet(struct transport_shm *shm, struct err *err)
{
    struct line *own = line_of(shm, shm->host->index);
    shm->meetings++;
    shm->turn = (shm->turn + 1) % SLOTS;
    atomic_store(&own->met, shm->meetings);
    if (atomic_load(&own->sleepers))
        (void)futex(&own->met, FUTEX_WAKE, INT32_MAX, NULL);
    for (int i = 0; i < shm->host->count; i++) {
        int result = i == shm->host->index ? 0 : await(shm, i, err);
        if (result < 0)
            return result;
    }
    transport_tcp_progress(shm->tcp);
    return 0;
}

static struct call_note note_of(const struct transport_shm *shm, const void *data)
{
    struct call_note note = {
        .mark = transport_tcp_mark(shm->tcp), .came_ns = moment_monotonic_ns(), .arena = NO_ARENA};
    for (size_t i = 0; i < shm->arena_count; i++) {
        const struct shared_memory *own = shm->arenas[i].own;
        uintptr_t start = (uintptr_t)own->at, at = (uintptr_t)data;
        if (at >= start && at - start <= own->size && own->size - (at - start) >= note.mark.size) {
            note.arena = i;
            note.offset = at - start;
        }
    }
    return note;
}

/* All have come: how long this one waited for the last. Clocks may differ after all, between time
 * namespaces; nobody waited for longer than it did. */
static void blame_last(struct transport_shm *shm, size_t which)
{
    const int64_t own = line_of(shm, shm->host->index)->calls[which].came_ns;
    int64_t latest = own;
    int last = shm->host->index;
    for (int i = 0; i < shm->host->count; i++) {
        int64_t came = line_of(shm, i)->calls[which].came_ns;
        last = came > latest ? i : last;
        latest = came > latest ? came : latest;
    }
    if (last == shm->host->index)
        return;
    int64_t waited = latest - own;
    if (waited > SURE_NS) {
        int64_t most = moment_monotonic_ns() - own;
        waited = waited < most ? waited : most;
    }
    transport_tcp_waited(shm->tcp, shm->host->ranks[last], waited);
}

int transport_shm_begin(struct transport_shm *shm, const void *data, struct err *err)
{
    const struct call_note own = note_of(shm, data);
    size_t which = shm->calls++ % CALLS;
    line_of(shm, shm->host->index)->calls[which] = own;
    int result = transport_shm_meet(shm, err);
    if (result < 0)
        return result;
    shm->in_place = own.arena != NO_ARENA;
    for (int i = 0; i < shm->host->count; i++) {
        const struct call_note other = line_of(shm, i)->calls[which];
        if (memcmp(&other.mark, &own.mark, sizeof(own.mark)) != 0)
            return transport_tcp_differs(shm->tcp, shm->host->ranks[i], &other.mark, err);
        shm->in_place &= other.arena == own.arena && other.offset == own.offset;
        transport_tcp_noticed(shm->tcp, shm->host->ranks[i]);
    }
    if (shm->blamed != own.mark.sequence) /* later ones wait for what is done meanwhile */
        blame_last(shm, which);
    shm->blamed = own.mark.sequence;
    for (int i = 0; shm->in_place && i < shm->host->count; i++)
        shm->rows[i] = (float *)(void *)((char *)shm->arenas[own.arena].at[i] + own.offset);
    return 0;
}

float *const *transport_shm_rows(const struct transport_shm *shm)
{
    return shm->in_place ? shm->rows : NULL;
}

/* Whether every member of this host says yes. All members of the group take part, so that calls are
 * counted alike. */
static int ask_host(struct transport_shm *shm, bool yes, bool *ret_all, struct err *err)
{
    int size = transport_tcp_size(shm->tcp);
    _cleanup_free_ uint8_t *all = mem_calloc((size_t)size, 1);
    const uint8_t own = yes;
    int result = transport_tcp_begin(shm->tcp, TRANSPORT_SHARE, sizeof(own), err);
    if (result == 0)
        result = transport_tcp_exchange(shm->tcp, &own, sizeof(own), all, err);
    *ret_all = true;
    for (int i = 0; i < shm->host->count; i++)
        *ret_all &= all[shm->host->ranks[i]] != 0;
    return result;
}

static int prepare_share(struct transport_shm *shm, struct shared_memory *memory, struct err *err)
{
    if (shm->arena_count == TRANSPORT_SHM_ARENAS)
        return err_set(err, ERR_UNSUPPORTED, "there are %d already, and no more are shared",
                       TRANSPORT_SHM_ARENAS);
    return shm->host->count > 1 ? shared_memory_populate(memory, err) : -ERR_UNSUPPORTED;
}

/* In turns, as share_segments. */
int transport_shm_share(struct transport_shm *shm, struct shared_memory *memory, struct err *err)
{
    struct arena arena = {.own = memory};
    struct err failure = ERR_INIT;
    int mapped = prepare_share(shm, memory, &failure);
    bool all = false;
    int result = ask_host(shm, mapped == 0, &all, err);
    if (result == 0 && all)
        mapped = swap_and_map(shm, memory, arena.at, &failure);
    if (result == 0)
        result = ask_host(shm, all && mapped == 0, &all, err);
    if (result == 0 && all)
        shm->arenas[shm->arena_count++] = arena;
    else
        unmap_peers(arena.at, memory);
    if (result == 0 && !all && shm->host->count > 1)
        transport_tcp_say(shm->tcp, "cannot share memory of %zu bytes (%s): it is copied instead",
                          memory->size,
                          failure.code ? failure.message : "another member could not");
    return result;
}
