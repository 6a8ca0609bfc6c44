/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by all sampling programs: the ring, the filter and its maps, process ids in the recorder's
 * namespace, and the counters of each CPU.
 */
#ifndef PERFTAPE_BPF_COMMON_BPF_H
#define PERFTAPE_BPF_COMMON_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/filter.bpf.h"
#include "bpf/scope.bpf.h"
#include "bpf/wire.h"

/* User space sets the sizes of this ring and of the target maps before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} ring SEC(".maps");

/* The rings of groups of CPUs, if there are several: `ring` is the first. */
struct ring_of_group {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring_of_group);
} rings SEC(".maps");

/* The index is event * filter.cpus + CPU. User space sets the number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_cpu);
} cpus SEC(".maps");

/* The index is the number of the event. User space sets the number of events. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_event);
} events SEC(".maps");

/*
 * Both are preallocated hashes, because before Linux 6.1 a perf_event program may use no others.
 * The values are not used.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32); /* tgid, in the recorder's pid namespace */
	__type(value, __u8);
} target_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32); /* tid, in the recorder's pid namespace */
	__type(value, __u8);
} target_threads SEC(".maps");

/*
 * The number of the event that called the program. A recording of one event needs no cookie, and
 * neither do several before Linux 5.15, where each event has an instance of the program.
 */
static __always_inline __u32 event_of(void *ctx)
{
	if (filter.event != WIRE_EVENT_OF_COOKIE)
		return filter.event;
	return bpf_get_attach_cookie(ctx);
}

/* The counters of the event on this CPU. */
static __always_inline struct wire_cpu *counters_of(__u32 event)
{
	__u32 index = event * filter.cpus + bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &index);
}

static __always_inline struct wire_event *settings_of(__u32 event)
{
	return bpf_map_lookup_elem(&events, &event);
}

/* Whether the hit with this number on this CPU makes a sample (wire_event.every). */
static __always_inline int is_sampled(const struct wire_event *settings, __u64 hit)
{
	return settings->every <= 1 || hit % settings->every == 0;
}

/* include/linux/pid_namespace.h: MAX_PID_NS_LEVEL */
#define MAX_PID_LEVELS 32

/*
 * Returns the number of `pid` in the recorder's namespace. bpf_get_ns_current_pid_tgid() supports
 * only tasks of exactly this namespace. This function also supports tasks of namespaces below it,
 * as the kernel's own perf records do.
 */
static __always_inline __u32 pid_in_namespace(struct pid *pid)
{
	const char *numbers;
	unsigned int level;
	unsigned int i;

	if (!pid)
		return WIRE_FOREIGN_PID; /* the task is exiting and has lost its ids */
	level = BPF_CORE_READ(pid, level);
	numbers = (const char *)pid + bpf_core_field_offset(struct pid, numbers);
	for (i = 0; i < MAX_PID_LEVELS && i <= level; i++) {
		const struct upid *upid =
			(const struct upid *)(numbers + i * bpf_core_type_size(struct upid));

		if (BPF_CORE_READ(upid, ns, ns.inum) == filter.pid_namespace)
			return BPF_CORE_READ(upid, nr);
	}
	return WIRE_FOREIGN_PID;
}

/* Process and thread id of `task` in the recorder's namespace. Idle tasks always have 0. */
static __always_inline __u32 tgid_of(struct task_struct *task)
{
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (!filter.pid_namespace || tgid == 0)
		return tgid;
	return pid_in_namespace(BPF_CORE_READ(task, group_leader, thread_pid));
}

static __always_inline __u32 tid_of(struct task_struct *task)
{
	__u32 tid = BPF_CORE_READ(task, pid);

	if (!filter.pid_namespace || tid == 0)
		return tid;
	return pid_in_namespace(BPF_CORE_READ(task, thread_pid));
}

static __always_inline int is_target_task(__u32 tgid, __u32 tid)
{
	if (!filter.by_process && !filter.by_thread)
		return 1;
	if (filter.by_process && bpf_map_lookup_elem(&target_processes, &tgid))
		return 1;
	return filter.by_thread && bpf_map_lookup_elem(&target_threads, &tid);
}

/* Whether to sample the current task. `tgid` and `tid` are its ids. */
static __always_inline int is_wanted(__u32 tgid, __u32 tid)
{
	if (filter.excluded_pid && tgid == filter.excluded_pid)
		return 0;
	if (!is_target_task(tgid, tid))
		return 0;
	if (filter.by_uid && (tid == 0 || (__u32)bpf_get_current_uid_gid() != filter.uid))
		return 0;
	return is_in_scope();
}

/*
 * A wake-up costs the sampled task at least 7 us. So the reader polls with a timeout and is woken
 * only after each wakeup_bytes of messages.
 */
static __always_inline __u64 wakeup_flag(void *to, __u64 size)
{
	__u64 waiting = bpf_ringbuf_query(to, BPF_RB_AVAIL_DATA);
	__u64 after = waiting + BPF_RINGBUF_HDR_SZ + size;
	__u64 step = ~((__u64)filter.wakeup_bytes - 1);

	return (waiting & step) != (after & step) ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline long send_to_group(void *message, __u64 size)
{
	__u32 group = bpf_get_smp_processor_id() & (filter.rings - 1);
	void *to = bpf_map_lookup_elem(&rings, &group);

	return to ? bpf_ringbuf_output(to, message, size, wakeup_flag(to, size)) : -1;
}

/*
 * Counts the programs on this CPU that send a message now. Only for programs that the kernel may
 * call meanwhile (interrupts_sending in record/bpf/program_events): the others ignore it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} sending SEC(".maps");

static __always_inline void add_to_sending(__s64 change)
{
	__u32 zero = 0;
	__u64 *count;

	if (!filter.count_sending)
		return;
	count = bpf_map_lookup_elem(&sending, &zero);
	if (count)
		__sync_fetch_and_add(count, change);
}

/* Whether the current task was interrupted, or waits, while it sent a message. */
static __always_inline int is_sending(void)
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(&sending, &zero);

	return !count || *count != 0;
}

static __always_inline int is_half_free(void *to, __u64 size)
{
	return bpf_ringbuf_query(to, BPF_RB_AVAIL_DATA) + size <=
	       bpf_ringbuf_query(to, BPF_RB_RING_SIZE) / 2;
}

/*
 * Whether half of the ring stays free after another `size` bytes. Copies of stacks that are not
 * essential must not take the room of samples.
 */
static __always_inline int is_ring_half_free(__u64 size)
{
	__u32 group = bpf_get_smp_processor_id() & (filter.rings - 1);
	void *to;

	if (filter.rings <= 1)
		return is_half_free(&ring, size);
	to = bpf_map_lookup_elem(&rings, &group);
	return to && is_half_free(to, size);
}

/* Sends `size` bytes. Counts a lost sample if the ring is full. */
static __always_inline void send(struct wire_cpu *cpu, void *message, __u64 size)
{
	long failed;

	add_to_sending(1);
	if (filter.rings > 1)
		failed = send_to_group(message, size);
	else
		failed = bpf_ringbuf_output(&ring, message, size, wakeup_flag(&ring, size));
	if (failed)
		__sync_fetch_and_add(&cpu->ring_full, 1);
	add_to_sending(-1);
}

#endif
