/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the programs of latency probes: they count each call in a histogram of its process, and
 * make a sample of a call that was slow or failed.
 *
 * The histograms are in a hash that user space replaces by an empty one to read it. The kernel
 * waits for running programs then, so nobody counts in a hash that is being read. The CPU is part
 * of the key, so no other CPU writes the same counters.
 */
#ifndef PERFTAPE_BPF_LATENCY_BPF_H
#define PERFTAPE_BPF_LATENCY_BPF_H

#define SAMPLE_RAW_SIZE 320 /* sizeof(struct wire_latency_raw) */
#include "bpf/sample.bpf.h"
#include "bpf/tracing.bpf.h"

_Static_assert(SAMPLE_RAW_SIZE == sizeof(struct wire_latency_raw), "SAMPLE_RAW_SIZE is wrong");

const volatile struct wire_latency_settings latency = {};

/* User space sets the number of entries. */
struct latency_histograms {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(struct wire_latency_key));
	__uint(value_size, sizeof(struct wire_latency));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct latency_histograms);
} latency_current SEC(".maps");

/* One entry, which is never written: the value of a new histogram. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_latency);
} latency_empty SEC(".maps");

static __always_inline const volatile struct wire_latency_probe *probe_of(__u32 slot)
{
	barrier_var(slot);
	return &latency.probes[slot & (WIRE_LATENCY_SLOTS - 1)];
}

static __always_inline const volatile struct wire_call *call_settings(__u64 nr)
{
	return &latency.calls[nr < WIRE_SYSCALLS ? nr : WIRE_SYSCALLS];
}

/* Who made a call. */
struct caller {
	__u32 tgid;
	__u32 tid;
	__u64 cgroup;
	__u64 task;    /* the address of its task_struct; 0: the current one */
	char comm[16]; /* of the process; empty: that of `task` */
};

/* A call that has ended. */
struct latency_end {
	__u32 slot; /* enum wire_latency_slot */
	__u32 error;
	__u64 period_ns;
	__u64 now_ns;
};

/* include/linux/errno.h and include/uapi/asm-generic/errno-base.h */
#define EINTR	       4
#define EAGAIN	       11
#define EINPROGRESS    115
#define ERESTARTSYS    512
#define ERESTART_BLOCK 516

/* The error of a call that returned `result`: 0 unless it failed. */
static __always_inline __u32 error_of(__s64 result)
{
	__u32 code;

	if (result >= 0 || result < -4095)
		return 0;
	code = -result;
	if (code == EINTR || code == EAGAIN || code == EINPROGRESS ||
	    (code >= ERESTARTSYS && code <= ERESTART_BLOCK))
		return 0;
	return code;
}

static __always_inline int is_restart(__s64 result)
{
	return result >= -ERESTART_BLOCK && result <= -ERESTARTSYS;
}

/*
 * The ids and the cgroup of a task, as tgid_of(), tid_of() and cgroup_of() find them. A tracing
 * program may load from a task, in a nanosecond; a helper that reads the kernel's memory takes 30.
 */
static __always_inline struct task_ids ids_of(struct task_struct *task)
{
	if (filter.pid_namespace)
		return (struct task_ids){.tgid = tgid_of(task), .tid = tid_of(task)};
	return (struct task_ids){.tgid = task->tgid, .tid = task->pid};
}

static __always_inline __u64 loaded_cgroup_of(struct task_struct *task)
{
	if (!filter.record_cgroup || filter.cgroup_v1)
		return cgroup_of(task);
	return task->cgroups->dfl_cgrp->kn->id;
}

/* The current task. */
static __always_inline struct task_ids fast_ids(void)
{
	return ids_of(bpf_get_current_task_btf());
}

/*
 * By the upper 6 bits of a product with this number, a de Bruijn sequence: the binary logarithm of
 * a value whose bits below the highest one are set, too. So the verifier sees no branches.
 */
#define DE_BRUIJN 0x03f6eaf2cd271461ULL
static const volatile __u8 log2_by_product[64] = {
	0,  58, 1,  59, 47, 53, 2,  60, 39, 48, 27, 54, 33, 42, 3,  61, 51, 37, 40, 49, 18, 28,
	20, 55, 30, 34, 11, 43, 14, 22, 4,  62, 57, 46, 52, 38, 26, 32, 41, 50, 36, 17, 19, 29,
	10, 13, 21, 56, 45, 25, 31, 35, 16, 9,	12, 44, 24, 15, 8,  23, 7,  6,	5,  63,
};

/* Floor of the binary logarithm; `value` is not 0. */
static __always_inline __u32 log2_of(__u64 value)
{
	value |= value >> 1;
	value |= value >> 2;
	value |= value >> 4;
	value |= value >> 8;
	value |= value >> 16;
	value |= value >> 32;
	return log2_by_product[(value * DE_BRUIJN) >> 58];
}

/* LatencyBucketOf of formats/base/latency_buckets.h */
static __always_inline __u32 bucket_of(__u64 ns)
{
	__u32 exponent;
	__u32 index;

	if (ns < 4)
		return ns;
	exponent = log2_of(ns);
	index = 4 * (exponent - 1) + ((ns >> (exponent - 2)) & 3);
	return index < WIRE_LATENCY_BUCKETS ? index : WIRE_LATENCY_BUCKETS - 1;
}

static __always_inline void count_error(struct wire_latency *histogram, __u32 error)
{
	__u32 i;

	for (i = 0; i < WIRE_LATENCY_ERRORS; i++) {
		struct wire_latency_error *entry = &histogram->errors[i];

		if (entry->count && entry->code != error)
			continue;
		entry->code = error;
		entry->count++;
		return;
	}
	histogram->other_errors++;
}

/* The name of a task's process, of 16 bytes. */
static __always_inline void read_comm(struct task_struct *task, char *comm)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	bpf_core_read_str(comm, 16, &leader->comm);
}

/* Finds or creates the histogram of a process of `caller`. */
static __always_inline struct wire_latency *histogram_of(const struct wire_latency_key *key,
							 const struct caller *caller)
{
	__u32 zero = 0;
	void *current = bpf_map_lookup_elem(&latency_current, &zero);
	struct wire_latency *histogram;
	void *empty;

	if (!current)
		return NULL;
	histogram = bpf_map_lookup_elem(current, key);
	if (histogram)
		return histogram;
	empty = bpf_map_lookup_elem(&latency_empty, &zero);
	if (!empty)
		return NULL;
	bpf_map_update_elem(current, key, empty, BPF_NOEXIST);
	histogram = bpf_map_lookup_elem(current, key);
	if (histogram && caller->comm[0])
		__builtin_memcpy(histogram->comm, caller->comm, sizeof(histogram->comm));
	else if (histogram)
		read_comm((struct task_struct *)(caller->task ?: bpf_get_current_task()),
			  histogram->comm);
	return histogram;
}

/*
 * Counts the call. Returns whether it is a sample. A function that the verifier checks once.
 */
__weak __noinline int count_call(const struct latency_end *end, const struct caller *caller)
{
	const volatile struct wire_latency_probe *probe;
	struct wire_latency_key key = {};
	struct wire_latency *histogram;
	struct wire_cpu *cpu;
	int is_sample;
	__u32 bucket;

	if (!end || !caller)
		return 0;
	probe = probe_of(end->slot);
	is_sample = end->period_ns >= probe->min_ns || (end->error && probe->samples_errors);
	key.tgid = caller->tgid;
	key.event = probe->event;
	key.cgroup = caller->cgroup;
	key.cpu = bpf_get_smp_processor_id();
	histogram = histogram_of(&key, caller);
	if (!histogram) {
		cpu = counters_of(probe->event);
		if (cpu)
			cpu->no_room++;
		return is_sample;
	}
	histogram->count++;
	histogram->sum_ns += end->period_ns;
	if (end->period_ns > histogram->max_ns)
		histogram->max_ns = end->period_ns;
	if (!is_sample)
		histogram->fast_ns += end->period_ns;
	if (end->error)
		count_error(histogram, end->error);
	bucket = bucket_of(end->period_ns);
	if (bucket < WIRE_LATENCY_BUCKETS)
		histogram->buckets[bucket]++;
	return is_sample;
}

/* Sets the common fields of the raw record, in the scratch sample, and clears the others. */
static __always_inline struct wire_latency_raw *start_raw(struct full_sample *full,
							  const struct latency_end *end, __u32 tid)
{
	struct wire_latency_raw *raw = (struct wire_latency_raw *)full->words;

	__builtin_memset(raw, 0, __builtin_offsetof(struct wire_latency_raw, text));
	raw->type = probe_of(end->slot)->id;
	raw->pid = tid;
	raw->error = end->error;
	return raw;
}

#define RAW_HEAD_WORDS (__builtin_offsetof(struct wire_latency_raw, text) / sizeof(__u64))

/*
 * The words of a raw record whose text has so many bytes, with its NUL; 0: there is none. Readers
 * expect an empty one then.
 */
static __always_inline __u32 words_with_text(struct wire_latency_raw *raw, __u32 size)
{
	if (!size) {
		raw->text[0] = '\0';
		size = 1;
	}
	raw->text_location = __builtin_offsetof(struct wire_latency_raw, text) | size << 16;
	/* Read back, so that the verifier checks the rest once, and not for each way to a text. */
	size = *(volatile __u32 *)&raw->text_location >> 16;
	return RAW_HEAD_WORDS + (size + sizeof(__u64) - 1) / sizeof(__u64);
}

/* The counters of the event of a slot; null if this CPU is not recorded. */
static __always_inline struct wire_cpu *counters_of_slot(__u32 slot)
{
	struct wire_cpu *cpu = counters_of(probe_of(slot)->event);

	return cpu && !cpu->excluded ? cpu : NULL;
}

#endif
