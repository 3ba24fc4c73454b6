/* Pods as processes of this machine, for tests: made from a script, started, waited for, read. They
 * are in the namespaces of one cluster below a scratch directory, and belong to root or to an
 * ordinary user. */
#ifndef TRAINYARD_TESTS_UNIT_NODE_SANDBOX_POD_H
#define TRAINYARD_TESTS_UNIT_NODE_SANDBOX_POD_H

#include "node_test.h"

#include "node/network/namespaces.h"
#include "node/pod/record/stop.h"

enum { DEADLINE_MS = 60 * 1000 };

extern char scratch[];
extern char *state_dir, *step_path;
extern struct node_namespaces *space;

int sandbox_enter(struct err *err);

struct pod {
    struct arena *arena;
    struct pod_spec spec;
    struct pod_container *main;
    char *directory;
};

struct pod pod_make(const char *name, const char *address, const char *script);
/* Adds another container like the main one. Must be called before the pod starts. */
struct pod_container *pod_add_container(struct pod *pod, const char *name, const char *script);
void pod_write_spec(const struct pod *pod);
/* Returns the exit status of the process that starts the supervisor. */
int pod_try_supervisor(const struct pod *pod);
void pod_start_supervisor(const struct pod *pod);
void pod_start(const struct pod *pod);
/* Returns a pidfd, or -1 if there is no supervisor. */
int pod_find_supervisor(const struct pod *pod);
/* Sends the stop request, and does not wait for the end. */
void pod_tell_to_stop(const struct pod *pod, const struct pod_stop *stop);
struct pod_state *pod_state_now(const struct pod *pod);
/* Waits for the end of the supervisor. Returns how the last container ended, in the pod's
 * memory. */
struct container_end *pod_finish(const struct pod *pod);
char *pod_log(const struct pod *pod, int64_t run);
/* Waits until the pod has written the word. The deadline is reached only by a defect. */
void pod_wait_for_word(const struct pod *pod, const char *word);
/* in the log of this run */
void pod_wait_for_run(const struct pod *pod, int64_t run, const char *word);
void pod_expect_log(const struct pod *pod, const char *expected);
/* Waits until `is_so` returns true for the pod. */
void pod_await(const struct pod *pod, bool (*is_so)(const struct pod *pod));
/* Starts a pod whose script fails and prints a word if it finds files of the run before. Waits for
 * two restarts, expects that the second run has printed nothing, and drops the pod. */
void pod_expect_silent_restarts(struct pod *pod);
/* Returns how often this event is in the pod's state. `message` NULL: with any message. */
int pod_count_news(const struct pod *pod, const char *reason, const char *message);
/* Adds a directory at /v of the main container, and of containers added later. It outlives their
 * runs. */
void pod_add_kept(struct pod *pod);
char *pod_kept_path(const struct pod *pod, const char *name);
/* Creates an empty file in the directory at /v. Returns its path. */
char *pod_keep(const struct pod *pod, const char *name);
/* Returns the content of a file in the directory at /v, or "nothing" if the file does not exist. */
const char *pod_kept(const struct pod *pod, const char *name);
/* Waits until the file begins with this text. */
void pod_await_kept(const struct pod *pod, const char *name, const char *start);
void pod_drop(struct pod *pod);

/* test_sandbox_volumes.c */
void volumes_lie_where_they_are_mounted(void **state);
void memory_is_shared_and_limited(void **state);
void read_only_all_the_way_down(void **state);
void secrets_below_a_read_only_volume(void **state);
void sub_paths_stay_inside(void **state);
void no_link_leads_to_a_volume(void **state);
void volumes_cover_secrets(void **state);
void volumes_cover_listed_secrets(void **state);
void groups_and_capabilities(void **state);
void a_read_only_root(void **state);

/* test_sandbox_root.c */
void the_working_directory_is_writable(void **state);
void each_run_has_its_own_files(void **state);
void a_root_without_room(void **state);
void a_root_on_an_overlay(void **state);

/* test_sandbox_command.c */
void python_is_python3(void **state);
void what_cannot_start_says_why(void **state);
void what_is_no_program_is_named(void **state);
void what_is_too_long_is_named(void **state);

/* test_sandbox_life.c */
void a_failed_probe_restarts(void **state);
void a_failed_probe_ends_for_good(void **state);
void a_probe_that_hangs_has_failed(void **state);
void an_end_fails_no_probe(void **state);
void what_was_done_is_not_condemned(void **state);
void startup_holds_the_others_back(void **state);
void readiness_comes_and_goes(void **state);
void probes_and_hooks_over_the_network(void **state);
void others_wait_for_a_hook(void **state);
void a_failed_hook_ends_its_container(void **state);
void a_hook_goes_before_the_end(void **state);
void a_hook_may_sleep(void **state);

/* test_sandbox_order.c */
void sidecars_live_beside_the_others(void **state);
void sidecars_end_last(void **state);
void a_failed_init_container_ends_the_pod(void **state);
void who_fails_again_waits(void **state);
void what_was_condemned_does_not_come_back(void **state);
void a_deadline_never_moves_away(void **state);

/* test_sandbox_end.c */
void ending_with_grace(void **state);
void a_deadline_that_comes_nearer(void **state);
void a_pause_goes_on_whatever_the_policy(void **state);
void a_pause_that_was_cut_short(void **state);
void an_eviction_that_was_cut_short(void **state);
void a_machine_that_goes_down(void **state);
void an_eviction_is_final(void **state);
void an_end_that_cannot_be_described(void **state);
void a_deletion_without_room_for_the_last_state(void **state);

/* test_sandbox_image.c */
void an_image_is_the_root(void **state);
void images_without_a_program_say_so(void **state);
void a_stop_signal(void **state);

/* test_sandbox_share.c */
void shared_memory_is_the_pods(void **state);
void the_machines_shared_memory(void **state);
void containers_see_each_other(void **state);
void what_a_container_leaves_behind_ends_with_it(void **state);
void shared_containers_restart_alone(void **state);
void a_killed_supervisor_takes_shared_containers_along(void **state);
void commands_of_other_containers_outlive_one(void **state);

/* test_sandbox_walls.c */
void the_machine_is_read_only_and_hidden(void **state);
void every_way_out_is_closed(void **state);
void no_file_gives_power(void **state);

#endif
