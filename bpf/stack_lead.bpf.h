/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The first frames of the kernel stack on which a task leaves its CPU, for `off_cpu.bpf.c`: those
 * of the scheduler, which the kernel leaves out of the stack of a task that waits.
 */
#ifndef PERFTAPE_BPF_STACK_LEAD_BPF_H
#define PERFTAPE_BPF_STACK_LEAD_BPF_H

#include "bpf/stored_stack.bpf.h"

/* So many frames reach out of the section of the scheduler. */
#define LEAD_FRAMES    12
#define CHECKED_FRAMES 8

/* The first frames of a kernel stack, from the tracepoint on. */
struct lead {
	__u64 frames[LEAD_FRAMES];
	__u32 count;
	__u32 checked;		    /* so many frames are compared; 0: it is walked again */
	__u8 slots[CHECKED_FRAMES]; /* where they are in a raw_stack */
};

static __always_inline int is_in_sched_text(__u64 address)
{
	return address > off_cpu.sched_text && address < off_cpu.sched_text_end;
}

/* More than the size of schedule(). */
#define SCHEDULE_ROOM 512

/*
 * The number of the first frames that every wait has: what comes before the tracepoint, if other
 * tools trace it, too; __schedule(), which has the tracepoint; schedule(), but not its other
 * callers. So the leaf is the function that waits.
 */
static __always_inline __u32 switch_frames(const struct lead *lead)
{
	__u32 first = 0;

	if (off_cpu.sched_text && !is_in_sched_text(lead->frames[0])) {
		first = 1;
		if (!is_in_sched_text(lead->frames[1]))
			first = is_in_sched_text(lead->frames[2]) ? 2 : 0;
	}
	first++;
	if (off_cpu.schedule && lead->frames[first] - off_cpu.schedule < SCHEDULE_ROOM)
		first++;
	return first;
}

/* Words of the kernel stack from the arguments of the program on, which are on it. */
#define RAW_WORDS 96

struct raw_stack {
	__u64 words[RAW_WORDS];
};

/* Interrupts are off, and no other program uses it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct raw_stack);
} raw_stacks SEC(".maps");

/* Whether the return addresses of `lead` are where they were when it was walked. */
static __always_inline int is_same_lead(const struct lead *lead, const struct raw_stack *raw)
{
	__u32 i;

	if (!lead->checked)
		return 0;
	for (i = 0; i < CHECKED_FRAMES; i++) {
		__u32 slot = lead->slots[i];

		if (i >= lead->checked)
			break;
		if (slot >= RAW_WORDS || raw->words[slot] != lead->frames[i])
			return 0;
	}
	return 1;
}

/*
 * Finds the return addresses in the stack. If these end within the section of the scheduler, the
 * lead cannot be checked, and is walked again each time. The number of those that were found is in
 * memory, so that the verifier does not follow each of its values.
 */
static __always_inline void find_slots(struct lead *lead, const struct raw_stack *raw)
{
	volatile __u32 *found = &lead->checked;
	__u32 number;
	__u32 i;

	*found = 0;
	for (i = 0; i < RAW_WORDS; i++) {
		number = *found;
		if (number >= CHECKED_FRAMES || number >= lead->count)
			break;
		if (raw->words[i] != lead->frames[number])
			continue;
		lead->slots[number] = i;
		*found = number + 1;
	}
	number = *found - 1;
	if (number < 2 || number >= CHECKED_FRAMES || !off_cpu.sched_text ||
	    is_in_sched_text(lead->frames[number]))
		*found = 0;
}

#endif
