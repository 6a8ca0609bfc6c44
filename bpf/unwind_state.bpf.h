/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk of a user stack that runs (unwind.bpf.h): its state, how it ends, what it reads. */
#ifndef PERFTAPE_BPF_UNWIND_STATE_BPF_H
#define PERFTAPE_BPF_UNWIND_STATE_BPF_H

#include "bpf/common.bpf.h"
#include "bpf/return_probes.bpf.h"
#include "bpf/unwind_wire.h"
#include "bpf/user_regs.bpf.h"
#include "bpf/user_stack.bpf.h"

/* Bytes of the stack that are read at once. Blocks are aligned, so none has parts of two pages. */
#define UNWIND_BLOCK 512

struct unwind_state {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 fp_at; /* where fp is on the stack; 0: it was read */
	__u64 bx;    /* rbx, if follows_registers; 0: unknown */
	__u64 link;  /* x30, rdi */
	__u64 cx;    /* rcx */
	/* The registers of interrupted code: where a signal frame has them; 0: they are in regs. */
	__u64 general_at;
	__u64 sum;  /* the result of add_registers */
	__u32 kept; /* if follows_registers: a bit for each that no callee has saved since then */
	__u32 is_by_fp; /* a checked frame pointer has led to the frame */
	/*
	 * Few stacks have a rule that needs another register than the stack pointer and the frame
	 * pointer. A walk that meets one begins again, and follows the registers.
	 */
	__u32 needs_registers;
	__u32 follows_registers;
	__u32 is_first;	 /* only the first frame has link and cx */
	__u32 is_return; /* pc is a return address, not an interrupted instruction */
	__u32 is_marked; /* the frame of an interrupted instruction has its marker */
	__u32 end;	 /* enum wire_unwind_end */
	__u32 cause;	 /* why the last step ended, whatever was guessed before */
	__u32 guess;	 /* why a frame was guessed by its frame pointer; WIRE_END_OF_STACK: none */
	__u32 derived;	 /* WIRE_RULE_DERIVED if a rule had it */
	__u64 process;	 /* the entry of unwind_processes */
	__u32 mapping;	 /* the last one that was hit */
	__u64 now_ns;
	/* Of another task than the current one: a copy of its stack. 0: it is the current one. */
	__u64 copy;
	__u64 copy_start; /* its address in that task */
	__u64 copy_size;
	struct return_probes probes;
	__u64 block_at; /* address of `block`; 1: it has nothing */
	bpf_user_pt_regs_t regs;
	__u64 frames[USER_FRAMES];
	__u8 block[UNWIND_BLOCK];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SAMPLES + 1);
	__type(key, __u32);
	__type(value, struct unwind_state);
} unwind_states SEC(".maps");

/* The slot of a walk by a sleepable program, which the others interrupt. */
#define UNWIND_SLEEPABLE_SLOT SCRATCH_SAMPLES

/* The result of a step. The walk goes on after UNWIND_CALLER. */
#define UNWIND_CALLER 0
#define UNWIND_ENDED  1

/* Only rules can tell that a chain with a guessed frame is complete. */
static __always_inline int end_walk(struct unwind_state *state, __u32 end)
{
	state->cause = end;
	state->end = state->guess != WIRE_END_OF_STACK ? state->guess : end;
	return UNWIND_ENDED;
}

static __always_inline int end_of_stack(struct unwind_state *state)
{
	state->end = WIRE_END_OF_STACK;
	return UNWIND_ENDED;
}

/* Reads memory of the task whose stack is walked. Returns 0 on success. */
static __always_inline long read_memory(const struct unwind_state *state, void *to, __u32 size,
					__u64 address)
{
	__u64 offset = address - state->copy_start;

	if (!state->copy)
		return bpf_probe_read_user(to, size, (const void *)address);
	if (offset >= state->copy_size || state->copy_size - offset < size)
		return -1;
	return bpf_probe_read_kernel(to, size, (const void *)(state->copy + offset));
}

/* Reads a word of the stack. Returns 0 on success. */
static __always_inline int read_word(struct unwind_state *state, __u64 *word, __u64 address)
{
	__u64 offset = address & (UNWIND_BLOCK - 1);
	__u64 start = address - offset;

	if (offset & (sizeof(*word) - 1))
		return read_memory(state, word, sizeof(*word), address);
	if (state->block_at != start) {
		if (state->copy)
			return read_memory(state, word, sizeof(*word), address);
		state->block_at = 1;
		if (bpf_probe_read_user(state->block, UNWIND_BLOCK, (const void *)start) != 0)
			return -1;
		state->block_at = start;
	}
	barrier_var(offset);
	*word = *(__u64 *)(state->block + (offset & (UNWIND_BLOCK - sizeof(*word))));
	return 0;
}

/*
 * Reads the frame pointer. Most functions save it, but few rules need it, so it is not read in each
 * frame. Returns 0 on success.
 */
static __always_inline int load_fp(struct unwind_state *state)
{
	if (!state->fp_at)
		return 0;
	if (read_word(state, &state->fp, state->fp_at) != 0)
		return -1;
	state->fp_at = 0;
	return 0;
}

/* Copies the frames of the state, and returns their number: in 64 bits the verifier keeps its
 * bound. */
static __always_inline __u64 copy_frames(struct unwind_state *state, __u64 *frames, __u64 count)
{
	barrier_var(count);
	/*
	 * A mask and no comparison: before that clang may store the number on the stack, and the
	 * verifier of Linux 6.1 does not know the bound of what is read back.
	 */
	count &= USER_FRAMES;
	bpf_probe_read_kernel(frames, count * sizeof(__u64), state->frames);
	return count;
}

#endif
