/* Implements the barriers between the members of one host; see shm_private.h. */
#include "comm/transport/shm/shm_private.h"

#include "base/moment.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SLEEP_MS = 10, /* longest interval between two checks of the control connections */
    /* A longer difference between two clocks may have another cause than a wait: see
     * shm_count_wait(). */
    SURE_NS = 1000 * 1000,
};

static long shm_futex(_Atomic uint32_t *word, int operation, uint32_t value,
                      const struct timespec *timeout)
{
    return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void shm_relax_core(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

static bool shm_has_reached(struct shm_progress *progress, uint32_t barrier)
{
    return (int32_t)(atomic_load_explicit(&progress->barriers, memory_order_acquire) - barrier) >=
           0;
}

static bool shm_spin(const struct shm *shm, struct shm_progress *progress)
{
    enum { LOOKS = 16 };
    int64_t until = shm->spin_ns ? moment_monotonic_ns() + shm->spin_ns : 0;
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (shm_has_reached(progress, shm->barriers))
                return true;
            shm_relax_core();
        }
    } while (shm->spin_ns && moment_monotonic_ns() < until);
    return false;
}

/* Records which members have reached the barrier, so that they do not count as late. */
static void shm_note_arrivals(struct shm *shm)
{
    for (int i = 0; i < shm->host->count; i++)
        if (i != shm->host->index && shm_has_reached(shm_progress_of(shm, i), shm->barriers))
            control_note_arrival(shm->control, shm->host->ranks[i]);
}

/* Waits until member `index` of the host has reached the current barrier of this member. */
static int shm_await(struct shm *shm, int index, struct err *err)
{
    static const struct timespec NAP = {.tv_nsec = SLEEP_MS * 1000 * 1000};
    struct shm_progress *progress = shm_progress_of(shm, index);
    if (shm_spin(shm, progress))
        return 0;
    for (;;) {
        uint32_t reached = atomic_load(&progress->barriers);
        atomic_fetch_add(&progress->sleepers, 1);
        long woken = 0;
        int64_t began = moment_monotonic_ms();
        if (!shm_has_reached(progress, shm->barriers))
            woken = shm_futex(&progress->barriers, FUTEX_WAIT, reached, &NAP);
        atomic_fetch_sub(&progress->sleepers, 1);
        control_note_oversleep(shm->control, moment_monotonic_ms() - began - SLEEP_MS);
        if (shm_has_reached(progress, shm->barriers))
            return 0;
        if (woken == 0)
            continue;
        shm_note_arrivals(shm);
        int result = control_watch(shm->control, shm->host->ranks[index], err);
        if (result < 0)
            return result;
    }
}

int shm_barrier(struct transport *transport, struct err *err)
{
    struct shm *shm = (struct shm *)transport;
    struct shm_progress *own = shm_progress_of(shm, shm->host->index);
    shm->barriers++;
    shm->slot = (shm->slot + 1) % SHM_SLOTS;
    atomic_store(&own->barriers, shm->barriers);
    if (atomic_load(&own->sleepers))
        (void)shm_futex(&own->barriers, FUTEX_WAKE, INT32_MAX, NULL);
    for (int i = 0; i < shm->host->count; i++) {
        int result = i == shm->host->index ? 0 : shm_await(shm, i, err);
        if (result < 0)
            return result;
    }
    control_end_wait(shm->control);
    return 0;
}

static struct shm_call shm_describe_call(const struct shm *shm, const void *data)
{
    struct shm_call call = {.note = control_current_call(shm->control),
                            .came_ns = moment_monotonic_ns(),
                            .memory = SHM_NOT_SHARED};
    for (size_t i = 0; i < shm->memory_count; i++) {
        const struct shared_memory *own = shm->memories[i].own;
        uintptr_t start = (uintptr_t)own->at, at = (uintptr_t)data;
        if (at >= start && at - start <= own->size && own->size - (at - start) >= call.note.size) {
            call.memory = i;
            call.offset = at - start;
        }
    }
    return call;
}

/* Counts how long this member waited for the last member to arrive. The clocks of two members
 * differ if they run in different time namespaces. So a difference of more than SURE_NS is limited
 * to the time that this member spent in the call. */
static void shm_count_wait(struct shm *shm, size_t which)
{
    const int64_t own = shm_progress_of(shm, shm->host->index)->calls[which].came_ns;
    int64_t latest = own;
    int last = shm->host->index;
    for (int i = 0; i < shm->host->count; i++) {
        int64_t came = shm_progress_of(shm, i)->calls[which].came_ns;
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
    control_count_wait(shm->control, shm->host->ranks[last], waited);
}

int shm_begin(struct transport *transport, const void *data, struct err *err)
{
    struct shm *shm = (struct shm *)transport;
    const struct shm_call own = shm_describe_call(shm, data);
    size_t which = shm->calls++ % SHM_CALLS;
    shm_progress_of(shm, shm->host->index)->calls[which] = own;
    int result = shm_barrier(transport, err);
    if (result < 0)
        return result;
    shm->in_place = own.memory != SHM_NOT_SHARED;
    for (int i = 0; i < shm->host->count; i++) {
        const struct shm_call other = shm_progress_of(shm, i)->calls[which];
        if (memcmp(&other.note, &own.note, sizeof(own.note)) != 0)
            return control_refuse_call(shm->control, shm->host->ranks[i], &other.note, err);
        shm->in_place &= other.memory == own.memory && other.offset == own.offset;
        control_note_arrival(shm->control, shm->host->ranks[i]);
    }
    /* An algorithm may call shm_begin() twice in a call. The second time, members wait for computed
     * data, not for a late member. */
    if (shm->counted_call != own.note.sequence)
        shm_count_wait(shm, which);
    shm->counted_call = own.note.sequence;
    for (int i = 0; shm->in_place && i < shm->host->count; i++)
        shm->rows[i] = (float *)(void *)((char *)shm->memories[own.memory].at[i] + own.offset);
    return 0;
}
