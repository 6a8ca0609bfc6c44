/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds a sample and sends it. The sample is built in scratch memory of the CPU and sent with its
 * true length. This is cheaper than reserving the largest sample, which is ten times as long. It
 * needs only Linux 5.8, unlike dynptrs. One scratch sample is enough: the kernel does not call a
 * program while another one runs on the same CPU (bpf_prog_active).
 *
 * SAMPLE_RAW_SIZE is the room for a raw record, in bytes. SCRATCH_SAMPLES is defined by a program
 * that may run several times at once on a CPU.
 */
#ifndef PERFTAPE_BPF_SAMPLE_BPF_H
#define PERFTAPE_BPF_SAMPLE_BPF_H

#ifndef SCRATCH_SAMPLES
#define SCRATCH_SAMPLES 1
#endif

#include "bpf/common.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/return_probes.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/user_regs.bpf.h"
#include "bpf/user_stack.bpf.h"

struct full_sample {
	struct wire_sample sample;
	/* The raw record, then the frames. */
	__u64 words[SAMPLE_RAW_SIZE / 8 + WIRE_MAX_FRAMES + USER_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SAMPLES);
	__type(key, __u32);
	__type(value, struct full_sample);
} scratch SEC(".maps");

/* A sample with a wire_user_state, which follows the last frame. */
struct long_sample {
	struct full_sample full;
	struct wire_user_state state;
	__u8 stack[STACK_ROOM];
	__u64 copied; /* for copy_stack() */
};

/*
 * Used instead of `scratch` if most_stack_bytes() is not 0. A value of a per-CPU array has at most
 * 32 KiB, so the index is CPU * SCRATCH_SAMPLES + number. User space sets the number of entries.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct long_sample);
} long_scratch SEC(".maps");

/* How often the walk of a kernel stack by a program begins with the program itself. */
#if defined(__TARGET_ARCH_arm64)
#define PROGRAM_FRAMES 2 /* its address, and the frame record that holds it */
#else
#define PROGRAM_FRAMES 1
#endif

/* What caused a sample. */
struct sample_origin {
	__u32 event;
	__u32 mode;	 /* WIRE_MODE_* */
	__u32 raw_words; /* already in the scratch sample */
	__u64 ip;
	__u64 period;
	__u64 now_ns;
	__u64 caller;	  /* the return address, at the entry of a function; or 0 */
	__u64 flags;	  /* WIRE_CALLER_MAY_BE_FRAME */
	__u64 own_frames; /* the kernel frames of the tracing itself, to skip */
	__u32 slot;	  /* the number of the scratch sample */
};

struct task_ids {
	__u32 tgid;
	__u32 tid;
};

static __always_inline struct task_ids current_ids(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return (struct task_ids){.tgid = tgid_of(task), .tid = tid_of(task)};
}

_Static_assert((WIRE_MAX_FRAMES & (WIRE_MAX_FRAMES + 1)) == 0, "WIRE_MAX_FRAMES is no mask");
_Static_assert((USER_FRAMES & (USER_FRAMES + 1)) == 0, "USER_FRAMES is no mask");

/* At the entry of a function of arm64 the walk has the function, and then its caller's caller. */
static __always_inline __u32 walk_kernel(void *ctx, __u64 *frames,
					 const struct sample_origin *origin)
{
	__u32 walked;

	if (!origin->caller)
		return walk_kernel_frames(ctx, frames, origin->own_frames);
	walked = walk_kernel_frames(ctx, frames + 1, 0);
	if (walked == WIRE_MAX_FRAMES)
		walked--;
	frames[0] = origin->ip;
	frames[1] = origin->caller;
	return walked + 1;
}

/*
 * Writes the user frames of the current task, of process `tgid`, by the method that the filter
 * demands. Returns their number, at most USER_FRAMES. `end` is as in unwind_user.
 */
static __always_inline __u32 walk_user(void *ctx, __u32 slot, __u32 tgid, __u64 *frames, __u32 *end)
{
	*end = WIRE_ENDS;
	if (filter.callchain == WIRE_CHAIN_UNWIND)
		return unwind_user(ctx, slot, tgid, frames, end);
	if (filter.callchain == WIRE_CHAIN_ALL)
		return walk_frame_pointers(ctx, frames);
	return 0;
}

/* Counts how the walk of the user stack ended. The sample tells what was counted. */
static __always_inline void note_end(struct full_sample *full, __u32 end)
{
	count_end(full->sample.event, end);
	if ((end & ~UNWIND_DERIVED) == WIRE_END_OF_STACK)
		full->sample.flags |= WIRE_WAS_COMPLETE;
	if (end & UNWIND_DERIVED)
		full->sample.flags |= WIRE_WAS_DERIVED;
}

/* Writes kernel frames, if the kernel was interrupted, then user frames, and their numbers. */
static __always_inline void walk_stacks(void *ctx, struct full_sample *full, __u64 *frames,
					const struct sample_origin *origin)
{
	__u64 kernel = 0; /* in 64 bits the verifier keeps the bounds below */
	__u64 user;
	__u32 end;

	if (full->sample.mode == WIRE_MODE_KERNEL)
		kernel = walk_kernel(ctx, frames, origin);
	kernel &= WIRE_MAX_FRAMES; /* for the verifier, which may lose the bound of a comparison */
	if (origin->caller && filter.callchain == WIRE_CHAIN_ALL &&
	    full->sample.mode == WIRE_MODE_USER) {
		/* There are no kernel frames, so there is room for one more. */
		frames[0] = origin->caller;
		full->sample.flags = WIRE_CALLER_FIRST | origin->flags;
		user = walk_frame_pointers(ctx, frames + 1) + 1;
		if (user > USER_FRAMES + 1)
			user = USER_FRAMES + 1;
		full->sample.user_frames = user;
		return;
	}
	user = walk_user(ctx, origin->slot, full->sample.pid, frames + kernel, &end);
	if (filter.callchain == WIRE_CHAIN_UNWIND) {
		if (end & UNWIND_UNFINISHED)
			full->sample.flags = WIRE_UNFINISHED; /* user space counts it */
		else
			note_end(full, end);
	}
	barrier_var(kernel);
	barrier_var(user);
	if (kernel > WIRE_MAX_FRAMES)
		kernel = WIRE_MAX_FRAMES;
	if (user > USER_FRAMES)
		user = USER_FRAMES;
	full->sample.kernel_frames = kernel;
	full->sample.user_frames = user;
}

/*
 * The number of frames of a sample. It is read from the map, so that the verifier checks the rest
 * of the program once, and not for each way to walk the stacks.
 */
static __always_inline __u32 frames_of(struct full_sample *full)
{
	volatile struct wire_sample *sample = &full->sample;
	__u32 frames = sample->kernel_frames + sample->user_frames;

	return frames > WIRE_MAX_FRAMES + USER_FRAMES ? WIRE_MAX_FRAMES + USER_FRAMES : frames;
}

/* The largest stack that a sample may have. */
static __always_inline __u64 most_stack_bytes(void)
{
	return filter.stack_bytes ? filter.stack_bytes : filter.late_bytes;
}

/* Scratch sample `number` of this CPU, below SCRATCH_SAMPLES; null if there is none. */
static __always_inline struct full_sample *scratch_sample_of(__u32 number)
{
	__u32 index = bpf_get_smp_processor_id() * SCRATCH_SAMPLES + number;

	if (most_stack_bytes())
		return bpf_map_lookup_elem(&long_scratch, &index);
	return bpf_map_lookup_elem(&scratch, &number);
}

static __always_inline struct full_sample *scratch_sample(struct wire_cpu *cpu)
{
	struct full_sample *full = scratch_sample_of(0);

	if (!full)
		cpu->no_scratch++;
	return full;
}

/* Ends a wire_user_state with so large a stack. Returns its size in the message. */
static __always_inline __u64 end_user_state(struct wire_user_state *state, __u64 stack_size)
{
	__u64 padded = (stack_size + sizeof(__u64) - 1) & ~(sizeof(__u64) - 1);

	*(__u64 *)((void *)(state + 1) + padded) = stack_size;
	return sizeof(*state) + padded + sizeof(__u64);
}

/*
 * Adds registers and stack of the current task's user code to a sample that has `size` bytes.
 * Returns its new size.
 */
static __always_inline __u64 add_user_state(struct full_sample *full, __u64 size)
{
	struct wire_user_state *state;
	bpf_user_pt_regs_t *regs;
	__u64 stack_size = 0;

	barrier_var(size);
	if (size > sizeof(*full))
		return size; /* for the verifier */
	state = (void *)full + size;
	regs = (bpf_user_pt_regs_t *)state->regs;
	state->abi = read_user_regs(bpf_get_current_task_btf(), regs);
	if (state->abi) {
		stack_size = copy_stack(state + 1, stack_pointer_of(regs), most_stack_bytes(), NULL,
					&((struct long_sample *)full)->copied);
		restore_return_addresses(bpf_get_current_task_btf(), state + 1,
					 stack_pointer_of(regs), stack_size, most_stack_bytes());
	}
	if (full->sample.flags & WIRE_UNFINISHED)
		settle_copy(full->sample.pid, stack_size);
	full->sample.flags |= WIRE_HAS_USER_STATE;
	return size + end_user_state(state, stack_size);
}

/* Builds the sample in `full`. */
static __always_inline void send_sample_in(struct full_sample *full, void *ctx,
					   struct wire_cpu *cpu, const struct sample_origin *origin,
					   const struct task_ids *ids)
{
	__u32 words = origin->raw_words;
	__u64 size;

	if (words > SAMPLE_RAW_SIZE / 8)
		words = SAMPLE_RAW_SIZE / 8; /* for the verifier */
	barrier_var(words);
	full->sample = (struct wire_sample){
		.header =
			{
				.type = WIRE_SAMPLE,
				.cpu = bpf_get_smp_processor_id(),
				.time_ns = origin->now_ns,
			},
		.ip = origin->ip,
		.period = origin->period,
		.pid = ids->tgid,
		.tid = ids->tid,
		.event = origin->event,
		.mode = origin->mode,
		.cgroup = current_cgroup(),
	};
	if (filter.callchain) {
		walk_stacks(ctx, full, full->words + words, origin);
		words += frames_of(full);
	}
	size = sizeof(struct wire_sample) + words * sizeof(__u64);
	if (filter.stack_bytes || (filter.late_bytes && (full->sample.flags & WIRE_UNFINISHED)))
		size = add_user_state(full, size);
	full->sample.header.size = size;
	send(cpu, full, size);
}

static __always_inline void send_sample(void *ctx, struct wire_cpu *cpu,
					const struct sample_origin *origin,
					const struct task_ids *ids)
{
	struct full_sample *full = scratch_sample(cpu);

	if (full)
		send_sample_in(full, ctx, cpu, origin, ids);
}

/*
 * Makes a sample of a hit in the kernel, of a program that samples only the event filter.event. The
 * kernel stack without the frames of the tracing itself starts with the function that was hit.
 */
static __always_inline void sample_kernel_hit(void *ctx, __u64 own_frames)
{
	__u32 event = filter.event;
	struct wire_cpu *cpu = counters_of(event);
	struct wire_event *settings = settings_of(event);
	struct sample_origin origin = {};
	struct task_ids ids;

	if (!cpu || !settings || cpu->excluded)
		return;
	cpu->overflows++;
	ids = current_ids();
	if (!is_wanted(ids.tgid, ids.tid))
		return;
	cpu->wanted++;
	if (!is_sampled(settings, ++cpu->hits))
		return;
	origin.event = event;
	origin.mode = WIRE_MODE_KERNEL;
	origin.period = settings->every;
	origin.now_ns = bpf_ktime_get_ns();
	origin.own_frames = own_frames;
	bpf_get_stack(ctx, &origin.ip, sizeof(origin.ip), own_frames);
	send_sample(ctx, cpu, &origin, &ids);
}

#endif
