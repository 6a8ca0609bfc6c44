/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The begin of a call whose end runs elsewhere: in an interrupt, or in another task. The caller and
 * its stacks are stored at the begin.
 */
#ifndef PERFTAPE_BPF_LATENCY_BEGIN_BPF_H
#define PERFTAPE_BPF_LATENCY_BEGIN_BPF_H

#define USER_FRAMES WIRE_MAX_FRAMES
#include "bpf/latency.bpf.h"
#include "bpf/stored_stack.bpf.h"

struct latency_begin {
	__u64 start_ns;
	struct caller caller;
	__u32 kernel_frames;
	__u32 user_frames;
	__u32 user_end;	    /* as in unwind_user() */
	__u32 stored_stack; /* number of the entry of stored_stacks, plus 1; 0: none */
	__u64 frames[2 * WIRE_MAX_FRAMES];
};

/* A number of frames with a bound that the verifier sees. */
static __always_inline __u64 checked_frames(__u64 frames)
{
	barrier_var(frames);
	return frames & WIRE_MAX_FRAMES;
}

/* Whether a sample needs registers and stack of the user code, whose walk ended so. */
static __always_inline int needs_user_state(__u32 user_end)
{
	return filter.stack_bytes || (filter.late_bytes && (user_end & UNWIND_UNFINISHED));
}

/*
 * Adds the state that a task's sample needs, or else counts how the walk of its stack ended.
 * Returns the size of the message.
 */
static __always_inline __u64 end_user_part(struct full_sample *full, struct wire_cpu *cpu,
					   __u64 size, __u32 user_end, __u32 stored_stack)
{
	if (filter.callchain == WIRE_CHAIN_UNWIND) {
		if ((user_end & UNWIND_UNFINISHED) && stored_stack)
			full->sample.flags = WIRE_UNFINISHED;
		else
			note_end(full, user_end & ~UNWIND_UNFINISHED);
	}
	if (filter.stack_bytes || (filter.late_bytes && (full->sample.flags & WIRE_UNFINISHED)))
		size = add_stored_state(full, cpu, size, stored_stack);
	return size;
}

/* Stores the current task and its stacks. */
static __always_inline void store_begin(void *ctx, struct latency_begin *begin,
					const struct task_ids *ids, __u64 now_ns)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 kernel = 0;

	begin->start_ns = now_ns;
	begin->caller.tgid = ids->tgid;
	begin->caller.tid = ids->tid;
	begin->caller.cgroup = loaded_cgroup_of(bpf_get_current_task_btf());
	begin->caller.task = 0;
	read_comm(task, begin->caller.comm);
	begin->kernel_frames = 0;
	begin->user_frames = 0;
	begin->user_end = WIRE_ENDS;
	begin->stored_stack = 0;
	if (!filter.callchain)
		return;
	kernel = checked_frames(walk_kernel_frames(ctx, begin->frames, TRACING_FRAMES));
	begin->kernel_frames = kernel;
	begin->user_frames = walk_user(ctx, 0, ids->tgid, begin->frames + kernel, &begin->user_end);
	if (needs_user_state(begin->user_end))
		begin->stored_stack = store_user_state(0, bpf_get_current_task_btf(), NULL);
}

/* Call it before the begin is forgotten. */
static __always_inline void forget_begin(struct latency_begin *begin)
{
	if (most_stack_bytes())
		begin->stored_stack = release_stored_stack(begin->stored_stack);
}

/*
 * Forgets the call that began with `key`, if there is one: the kernel uses the memory of a request
 * or of a socket for many, and the end of the last one may have been missed. The values of `begins`
 * start with a struct latency_begin.
 */
static __always_inline void forget_earlier(void *begins, const void *key)
{
	struct latency_begin *begin = bpf_map_lookup_elem(begins, key);

	if (!begin)
		return;
	forget_begin(begin);
	bpf_map_delete_elem(begins, key);
}

/* The sample of the call, of which the caller has written the raw record. */
static __always_inline void send_begun(struct full_sample *full, struct wire_cpu *cpu,
				       struct latency_begin *begin, const struct latency_end *end,
				       __u64 raw_words)
{
	__u64 kernel = checked_frames(begin->kernel_frames);
	__u64 user = checked_frames(begin->user_frames);
	__u64 frames = kernel + user;
	__u32 event = probe_of(end->slot)->event;

	full->sample = (struct wire_sample){
		.header =
			{
				.type = WIRE_SAMPLE,
				.cpu = bpf_get_smp_processor_id(),
				.time_ns = end->now_ns,
			},
		.ip = frames ? begin->frames[0] : 0,
		.period = end->period_ns,
		.pid = begin->caller.tgid,
		.tid = begin->caller.tid,
		.cgroup = begin->caller.cgroup,
		.event = event,
		.mode = WIRE_MODE_KERNEL,
		.kernel_frames = kernel,
		.user_frames = user,
		.walked_ns = begin->start_ns,
	};
	barrier_var(raw_words);
	if (raw_words > SAMPLE_RAW_SIZE / sizeof(__u64)) /* for the verifier */
		raw_words = SAMPLE_RAW_SIZE / sizeof(__u64);
	bpf_probe_read_kernel(full->words + raw_words, frames * sizeof(__u64), begin->frames);
	full->sample.header.size = end_user_part(
		full, cpu, sizeof(struct wire_sample) + (raw_words + frames) * sizeof(__u64),
		begin->user_end, begin->stored_stack);
	send(cpu, full, full->sample.header.size);
}

#endif
