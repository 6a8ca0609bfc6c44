/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tasks that are not the current one, for programs at tracepoints of the scheduler. */
#ifndef PERFTAPE_BPF_TASKS_BPF_H
#define PERFTAPE_BPF_TASKS_BPF_H

#include "bpf/common.bpf.h"
#include "bpf/scope.bpf.h"

static __always_inline __u64 state_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return BPF_CORE_READ((struct task_struct___old *)task, state);
}

/* As is_wanted(), for a task that is not the current one. */
static __always_inline int is_wanted_task(struct task_struct *task, __u32 tgid, __u32 tid)
{
	if (tid == 0 || (filter.excluded_pid && tgid == filter.excluded_pid))
		return 0;
	if (!is_target_task(tgid, tid))
		return 0;
	if (filter.by_uid && BPF_CORE_READ(task, cred, uid.val) != filter.uid)
		return 0;
	return is_task_in_scope(task);
}

#endif
