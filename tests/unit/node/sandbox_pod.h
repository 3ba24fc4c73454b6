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
void pod_request_stop(const struct pod *pod, const struct pod_stop *stop);
struct pod_state *pod_state_now(const struct pod *pod);
/* Waits for the end of the supervisor. Returns how the last container ended, in the pod's
 * memory. */
struct container_end *pod_finish(const struct pod *pod);
char *pod_log(const struct pod *pod, int64_t run);
/* Waits until the pod has written the word. The deadline is reached only by a defect. */
void pod_wait_for_word(const struct pod *pod, const char *word);
/* Like pod_wait_for_word(), but in the log of this run. */
void pod_wait_for_run(const struct pod *pod, int64_t run, const char *word);
void pod_expect_log(const struct pod *pod, const char *expected);
/* Waits until `is_so` returns true for the pod. */
void pod_await(const struct pod *pod, bool (*is_so)(const struct pod *pod));
/* Starts a pod whose script fails and prints a word if it finds files of the run before. Waits for
 * two restarts, expects that the second run has printed nothing, and drops the pod. */
void pod_expect_silent_restarts(struct pod *pod);
/* Returns how often this event is in the pod's state. `message` NULL: with any message. */
int pod_count_events(const struct pod *pod, const char *reason, const char *message);
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
void volumes_are_mounted(void **state);
void memory_volumes_are_shared_and_limited(void **state);
void read_only_volumes_include_mounts_below(void **state);
void secrets_below_a_read_only_volume_are_hidden(void **state);
void sub_paths_stay_in_the_volume(void **state);
void symbolic_links_in_volume_paths_are_rejected(void **state);
void secrets_in_volumes_are_hidden(void **state);
void listed_secrets_in_volumes_are_hidden(void **state);
void groups_and_capabilities_are_set(void **state);
void read_only_root_is_not_writable(void **state);

/* test_sandbox_root.c */
void working_directory_is_writable(void **state);
void each_run_has_its_own_files(void **state);
void program_runs_if_the_layer_cannot_be_created(void **state);
void root_on_an_overlay_is_writable(void **state);

/* test_sandbox_command.c */
void python_runs_python3(void **state);
void missing_program_is_reported(void **state);
void invalid_program_files_are_reported(void **state);
void too_long_variable_is_named(void **state);

/* test_sandbox_life.c */
void failed_probe_restarts_the_container(void **state);
void failed_probe_without_restart_ends_the_container(void **state);
void probe_timeout_is_a_failure(void **state);
void probe_does_not_fail_an_exited_container(void **state);
void container_that_exited_before_sigterm_succeeds(void **state);
void startup_probe_delays_the_other_probes(void **state);
void readiness_follows_the_probe(void **state);
void probes_and_hooks_use_tcp_and_http(void **state);
void next_container_waits_for_the_post_start_hook(void **state);
void failed_post_start_hook_ends_the_container(void **state);
void pre_stop_hook_runs_before_sigterm(void **state);
void sleep_hook_is_supported(void **state);

/* test_sandbox_order.c */
void sidecars_run_beside_other_containers(void **state);
void sidecars_end_last(void **state);
void failed_init_container_ends_the_pod(void **state);
void second_failure_causes_backoff(void **state);
void deadline_survives_a_new_supervisor(void **state);
void stored_deadline_never_moves_later(void **state);

/* test_sandbox_end.c */
void pod_ends_within_its_grace_period(void **state);
void earlier_deadline_ends_the_pod(void **state);
void paused_pod_resumes_with_any_restart_policy(void **state);
void deletion_ends_a_pod_that_is_being_paused(void **state);
void interrupted_pause_resumes(void **state);
void interrupted_eviction_is_completed(void **state);
void machine_shutdown_pauses_restartable_pods(void **state);
void evicted_pod_never_restarts(void **state);
void unwritable_stop_request_is_reported(void **state);
void deletion_does_not_wait_for_the_last_state(void **state);

/* test_sandbox_image.c */
void image_is_the_root_of_the_container(void **state);
void missing_program_in_the_image_is_reported(void **state);
void stop_signal_of_the_container_is_sent(void **state);

/* test_sandbox_share.c */
void containers_share_the_memory_of_the_pod(void **state);
void host_ipc_shares_the_memory_of_the_machine(void **state);
void shared_pid_namespace_shows_other_containers(void **state);
void leftover_processes_end_with_their_container(void **state);
void shared_containers_restart_alone(void **state);
void killed_supervisor_ends_shared_containers(void **state);
void hook_of_another_container_survives_an_exit(void **state);

/* test_sandbox_walls.c */
void files_of_the_machine_are_read_only_or_hidden(void **state);
void system_calls_cannot_escape_the_sandbox(void **state);
void mounts_forbid_setuid_files_and_devices(void **state);

#endif
