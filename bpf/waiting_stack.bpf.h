/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User stacks of tasks that wait, walked by a sleepable program (Linux 6.1): the memory of another
 * task can only be read by one that may sleep.
 */
#ifndef PERFTAPE_BPF_WAITING_STACK_BPF_H
#define PERFTAPE_BPF_WAITING_STACK_BPF_H

#include "bpf/sample.bpf.h"
#include "bpf/stored_stack.bpf.h"

struct user_frame {
	__u64 caller_frame;
	__u64 return_address;
};

/*
 * Walks the frame pointers of a task that waits in the kernel. Not inlined, because the registers
 * of arm64 need more than half of the stack that a program and what it calls can have.
 */
static __noinline __u32 walk_waiting(struct task_struct *task, __u64 *frames)
{
	bpf_user_pt_regs_t regs = {};
	struct user_frame frame;
	__u64 at;
	__u32 i;

	if (BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return 0;
	bpf_probe_read_kernel(&regs, sizeof(regs), (void *)bpf_task_pt_regs(task));
	frames[0] = ip_of(&regs);
	at = frame_pointer_of(&regs);
	for (i = 1; i < WIRE_MAX_FRAMES; i++) {
		if (bpf_copy_from_user_task(&frame, sizeof(frame), (void *)at, task, 0) != 0)
			break;
		frames[i] = without_signature(frame.return_address);
		/* The stack grows down. */
		if (frame.caller_frame <= at)
			return i + 1;
		at = frame.caller_frame;
	}
	return i;
}

/*
 * Walks the user stack of a task that waits in the kernel, from the copy in `stored`, which the
 * frames replace. Returns their number, with `end` as in unwind_user.
 */
static __always_inline __u32 unwind_waiting(struct stored_stack *stored, __u32 tgid, __u32 *end)
{
	__u32 slot = UNWIND_SLEEPABLE_SLOT;
	struct unwind_state *state = bpf_map_lookup_elem(&unwind_states, &slot);
	__u64 process = unwind_process_of(tgid);
	__u64 *frames = (__u64 *)stored->stack;
	__u32 is_compat;

	*end = WIRE_ENDS;
	if (!state || stored->state.abi == PERF_SAMPLE_REGS_ABI_NONE)
		return 0;
	bpf_probe_read_kernel(&state->regs, sizeof(state->regs), stored->state.regs);
	is_compat = stored->state.abi == PERF_SAMPLE_REGS_ABI_32;
	if (is_compat || !process) {
		*end = is_compat ? WIRE_END_COMPAT
				 : unfinished(WIRE_END_NO_PROCESS, WIRE_END_NO_PROCESS, tgid,
					      bpf_ktime_get_ns());
		frames[0] = ip_of(&state->regs);
		return 1;
	}
	state->copy = (__u64)stored->stack;
	state->copy_start = stack_pointer_of(&state->regs);
	state->copy_size = stored->size;
	return unwind_from(state, slot, process, tgid, frames, end);
}

#endif
