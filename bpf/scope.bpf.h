/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The scope of a recording: cgroups and names of threads. */
#ifndef PERFTAPE_BPF_SCOPE_BPF_H
#define PERFTAPE_BPF_SCOPE_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/filter.bpf.h"

/* include/linux/sched.h */
#define TASK_COMM_LEN 16

/* Deeper cgroups are outside of every scope, except those of version 2 for the current task. */
#define MAX_CGROUP_DEPTH 32

/* User space sets the number. A program compares only cgroups of version 2 by this map. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} target_cgroups SEC(".maps");

/* The same cgroups, for tasks that are not the current one and for version 1. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_cgroup_ids);
} target_cgroup_ids SEC(".maps");

/* The state of `task` in the hierarchy of version 1. */
static __always_inline struct cgroup_subsys_state *css_of(struct task_struct *task)
{
	const char *cgroups = (const char *)BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *css = 0;

	bpf_probe_read_kernel(&css, sizeof(css),
			      cgroups + bpf_core_field_offset(struct css_set, subsys) +
				      (filter.cgroup_v1 - 1) * sizeof(css));
	return css;
}

static __always_inline int is_target_cgroup(const struct wire_cgroup_ids *targets, __u64 id)
{
	__u32 i;

	for (i = 0; i < WIRE_MAX_CGROUPS && i < filter.cgroups; i++)
		if (targets->ids[i] == id)
			return 1;
	return 0;
}

/* Walks up from the cgroup of any task. */
static __always_inline int is_below(struct task_struct *task)
{
	struct cgroup_subsys_state *css;
	const struct wire_cgroup_ids *targets;
	__u32 depth, first = 0;

	targets = bpf_map_lookup_elem(&target_cgroup_ids, &first);
	if (!targets)
		return 0;
	if (filter.cgroup_v1)
		css = css_of(task);
	else
		css = &BPF_CORE_READ(task, cgroups, dfl_cgrp)->self;
	for (depth = 0; depth < MAX_CGROUP_DEPTH && css; depth++) {
		if (is_target_cgroup(targets, BPF_CORE_READ(css, cgroup, kn, id)))
			return 1;
		css = BPF_CORE_READ(css, parent);
	}
	return 0;
}

/* Is faster, for the current task. */
static __always_inline int is_current_below_v2(void)
{
	__u32 i;

	for (i = 0; i < WIRE_MAX_CGROUPS && i < filter.cgroups; i++)
		if (bpf_current_task_under_cgroup(&target_cgroups, i) == 1)
			return 1;
	return 0;
}

static __always_inline int is_matched(const char *comm, __u32 set)
{
	__u64 positions = filter.globs[set].start;
	__u32 i;

	for (i = 0; i < TASK_COMM_LEN - 1; i++) {
		__u8 character = comm[i];

		if (!character)
			break;
		positions = ((positions & filter.globs[set].accept[character]) << 1) |
			    (positions & filter.globs[set].stars);
	}
	return (positions & filter.globs[set].end) != 0;
}

static __always_inline int has_wanted_comm(struct task_struct *task)
{
	char comm[TASK_COMM_LEN];
	__u32 set;

	if (bpf_core_read_str(comm, sizeof(comm), &task->comm) < 0)
		return 0;
	for (set = 0; set < WIRE_GLOB_SETS && set < filter.glob_sets; set++)
		if (is_matched(comm, set))
			return 1;
	return 0;
}

/* Whether the current task is in the cgroups and has one of the names. */
static __always_inline int is_in_scope(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	if (filter.glob_sets && !has_wanted_comm(task))
		return 0;
	if (!filter.cgroups)
		return 1;
	return filter.cgroup_v1 ? is_below(task) : is_current_below_v2();
}

/* The same, for a task that may not be the current one. */
static __always_inline int is_task_in_scope(struct task_struct *task)
{
	if (filter.glob_sets && !has_wanted_comm(task))
		return 0;
	return !filter.cgroups || is_below(task);
}

/* The cgroup of any task, for a sample of it. The hierarchy is that of the filter. */
static __always_inline __u64 cgroup_of(struct task_struct *task)
{
	if (!filter.record_cgroup)
		return 0;
	if (filter.cgroup_v1)
		return BPF_CORE_READ(css_of(task), cgroup, kn, id);
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/* The same of the current task, in less time. */
static __always_inline __u64 current_cgroup(void)
{
	if (filter.record_cgroup && !filter.cgroup_v1)
		return bpf_get_current_cgroup_id();
	return cgroup_of((struct task_struct *)bpf_get_current_task());
}

#endif
