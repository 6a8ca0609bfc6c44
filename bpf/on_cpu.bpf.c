/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a sample to the ring for each overflow of a perf event. The sample is built in scratch
 * memory of the CPU and sent with its true length. This is cheaper than reserving the largest
 * sample, which is ten times as long. It needs only Linux 5.8, unlike dynptrs. The three programs
 * at the end maintain target_processes. They are loaded only if processes are filtered.
 */
#include "bpf/common.bpf.h"
#include "bpf/missed.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct full_sample {
	struct wire_sample sample;
	__u64 frames[2 * WIRE_MAX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct full_sample);
} scratch SEC(".maps");

#if defined(__TARGET_ARCH_x86)
static __always_inline __u64 interrupted_ip(struct bpf_perf_event_data *ctx)
{
	return ctx->regs.ip;
}

/* The selector of the code segment contains the privilege level. */
static __always_inline int in_user_mode(struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.cs & 3) != 0;
}
#else
static __always_inline __u64 interrupted_ip(struct bpf_perf_event_data *ctx)
{
	return ctx->regs.pc;
}

/* The kernel is in the upper half of the address space. */
static __always_inline int in_user_mode(struct bpf_perf_event_data *ctx)
{
	return (__s64)ctx->regs.pc >= 0;
}
#endif

/* Writes frames to `first` and returns their number; 0 if the walk fails, as for the user stack of
 * a kernel thread. */
static __always_inline __u32 walk(struct bpf_perf_event_data *ctx, __u64 *first, __u64 flags)
{
	long bytes = bpf_get_stack(ctx, first, WIRE_MAX_FRAMES * sizeof(__u64), flags);

	return bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
}

/* Writes kernel frames, if the kernel was interrupted, then user frames. Returns their number. */
static __always_inline __u32 walk_stacks(struct bpf_perf_event_data *ctx, struct full_sample *full)
{
	__u32 kernel = 0;
	__u32 user;

	if (full->sample.mode == WIRE_MODE_KERNEL)
		kernel = walk(ctx, full->frames, 0);
	if (kernel > WIRE_MAX_FRAMES)
		kernel = WIRE_MAX_FRAMES; /* for the verifier */
	user = walk(ctx, full->frames + kernel, BPF_F_USER_STACK);
	if (user > WIRE_MAX_FRAMES)
		user = WIRE_MAX_FRAMES;
	full->sample.kernel_frames = kernel;
	full->sample.user_frames = user;
	return kernel + user;
}

static __always_inline void send_sample(struct bpf_perf_event_data *ctx, __u64 now_ns, __u32 tgid,
					__u32 tid)
{
	struct full_sample *full;
	__u32 zero = 0;
	__u64 size;

	full = bpf_map_lookup_elem(&scratch, &zero);
	if (!full) {
		COUNT_LOSS(no_scratch);
		return;
	}
	full->sample = (struct wire_sample){
		.header =
			{
				.type = WIRE_SAMPLE,
				.cpu = bpf_get_smp_processor_id(),
				.time_ns = now_ns,
			},
		.ip = interrupted_ip(ctx),
		.period = ctx->sample_period,
		.pid = tgid,
		.tid = tid,
		.mode = in_user_mode(ctx) ? WIRE_MODE_USER : WIRE_MODE_KERNEL,
	};
	size = sizeof(struct wire_sample);
	if (filter.callchain)
		size += walk_stacks(ctx, full) * sizeof(__u64);
	full->sample.header.size = size;
	send(full, size);
}

static __always_inline void sample_if_wanted(struct bpf_perf_event_data *ctx, struct wire_cpu *cpu,
					     const struct overflow *overflow)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 tgid = tgid_of(task);
	__u32 tid = tid_of(task);
	int wanted = is_wanted(tgid, tid);

	count_missed(cpu, overflow, wanted);
	cpu->was_wanted = wanted;
	if (!wanted)
		return;
	cpu->wanted++;
	send_sample(ctx, overflow->now_ns, tgid, tid);
}

SEC("perf_event")
int on_cpu(struct bpf_perf_event_data *ctx)
{
	struct wire_cpu *cpu = this_cpu();
	struct overflow overflow;

	if (!cpu)
		return 0;
	overflow = this_overflow(ctx);
	sample_if_wanted(ctx, cpu, &overflow);
	end_overflow(cpu, &overflow);
	return 0;
}

/* The same for kernels that do not give the program access to the event. */
SEC("perf_event")
int on_cpu_by_time(struct bpf_perf_event_data *ctx)
{
	struct wire_cpu *cpu = this_cpu();
	struct overflow overflow;

	if (!cpu)
		return 0;
	overflow = estimated_overflow(cpu);
	sample_if_wanted(ctx, cpu, &overflow);
	end_overflow(cpu, &overflow);
	return 0;
}

static __always_inline void add_target_process(__u32 tgid)
{
	__u8 present = 1;

	if (bpf_map_update_elem(&target_processes, &tgid, &present, BPF_ANY) != 0)
		COUNT_LOSS(untracked_forks);
}

/* args of sched_process_fork: parent, child. args of the other two: the task. */

/* A child of a target is a target. A new thread has the id of its process and adds nothing. */
SEC("tp_btf/sched_process_fork")
int follow_fork(__u64 *args)
{
	__u32 parent_tgid = tgid_of((struct task_struct *)args[0]);
	__u32 child_tgid = tgid_of((struct task_struct *)args[1]);

	if (child_tgid != parent_tgid && bpf_map_lookup_elem(&target_processes, &parent_tgid))
		add_target_process(child_tgid);
	return 0;
}

/* The command is a target from its exec on; before it, it runs the recorder's own code. */
SEC("tp_btf/sched_process_exec")
int follow_exec(__u64 *args)
{
	struct task_struct *task = (struct task_struct *)args[0];
	__u32 tgid = tgid_of(task);

	if (filter.command_pid && tgid == filter.command_pid)
		add_target_process(tgid);
	return 0;
}

/* After the last thread has exited, another process may get the id. */
SEC("tp_btf/sched_process_exit")
int follow_exit(__u64 *args)
{
	struct task_struct *task = (struct task_struct *)args[0];
	__u32 tgid = tgid_of(task);

	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		bpf_map_delete_elem(&target_processes, &tgid);
	return 0;
}
