/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registers and stacks of the user code of tasks that wait, if samples have them. They are copied
 * when a task leaves its CPU and sent at the end of the wait. The number of entries is limited. If
 * more tasks wait, the samples of some of them have none, which is counted. This needs Linux 5.15.
 */
#ifndef PERFTAPE_BPF_STORED_STACK_BPF_H
#define PERFTAPE_BPF_STORED_STACK_BPF_H

#include "bpf/sample.bpf.h"

const volatile struct wire_off_cpu off_cpu = {};

struct stored_stack {
	__u64 is_used;
	__u64 size; /* of the stack */
	struct wire_user_state state;
	__u8 stack[]; /* most_stack_bytes(), and STACK_STEP more for the verifier */
};

/* Instead of the number of an entry: there was no room, but each sample should have a stack. */
#define NO_STORED_STACK 0xffffffffU

/*
 * User space sets the size of the entries and their number: off_cpu.stacks, and one for a program
 * that needs it only while it runs.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct stored_stack));
} stored_stacks SEC(".maps");

static __always_inline struct stored_stack *stored_stack_of(__u32 number_plus_1)
{
	__u32 number = number_plus_1 - 1;

	return number_plus_1 ? bpf_map_lookup_elem(&stored_stacks, &number) : NULL;
}

/* Claims an entry and returns its number plus 1; 0 if the tried ones are used. */
static __always_inline __u32 claim_stored_stack(struct task_struct *task)
{
	__u32 first = BPF_CORE_READ(task, pid);
	struct stored_stack *stored;
	__u32 number;
	__u32 i;

#pragma unroll
	for (i = 0; i < 8; i++) {
		number = (first + i * 61) % off_cpu.stacks;
		stored = stored_stack_of(number + 1);
		if (stored && __sync_val_compare_and_swap(&stored->is_used, 0, 1) == 0)
			return number + 1;
	}
	return 0;
}

/*
 * Copies registers and stack of `task` to the entry `number`, or to a new one if there is none.
 * Returns the entry's number plus 1, 0 or NO_STORED_STACK. `other` as in copy_stack.
 */
static __always_inline __u32 store_user_state(__u32 number, struct task_struct *task,
					      struct task_struct *other)
{
	struct stored_stack *stored;
	bpf_user_pt_regs_t *regs;

	if (BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return number;
	if (!number || number == NO_STORED_STACK)
		number = claim_stored_stack(task);
	stored = stored_stack_of(number);
	if (!stored)
		return filter.stack_bytes ? NO_STORED_STACK : 0;
	regs = (bpf_user_pt_regs_t *)stored->state.regs;
	stored->size = 0;
	stored->state.abi = read_user_regs(task, regs);
	if (stored->state.abi) {
		copy_stack(stored->stack, stack_pointer_of(regs), most_stack_bytes(), other,
			   &stored->size);
		restore_return_addresses(task, stored->stack, stack_pointer_of(regs), stored->size,
					 most_stack_bytes());
	}
	return number;
}

/* Returns 0. */
static __always_inline __u32 release_stored_stack(__u32 number)
{
	struct stored_stack *stored = stored_stack_of(number);

	if (stored)
		__sync_lock_test_and_set(&stored->is_used, 0);
	return 0;
}

/* As add_user_state(), from the entry. */
static __always_inline __u64 add_stored_state(struct full_sample *full, struct wire_cpu *cpu,
					      __u64 size, __u32 number)
{
	struct stored_stack *stored = stored_stack_of(number);
	struct wire_user_state *state;
	__u64 stack_size = 0;

	barrier_var(size);
	if (size > sizeof(*full))
		return size; /* for the verifier */
	if (number == NO_STORED_STACK)
		__sync_fetch_and_add(&cpu->no_stack, 1);
	state = (void *)full + size;
	state->abi = PERF_SAMPLE_REGS_ABI_NONE;
	if (stored) {
		stack_size = stored->size;
		barrier_var(stack_size);
		if (stack_size > most_stack_bytes())
			stack_size = most_stack_bytes();
		*state = stored->state;
		bpf_probe_read_kernel(state + 1, stack_size, stored->stack);
	}
	full->sample.flags |= WIRE_HAS_USER_STATE;
	return size + end_user_state(state, stack_size);
}

#endif
