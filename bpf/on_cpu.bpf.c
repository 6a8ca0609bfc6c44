/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a sample to the ring for each overflow of a perf event: of a clock (on_cpu) or a counter
 * (on_count). The three programs at the end maintain target_processes. They are loaded only if
 * processes are filtered.
 */
#define SAMPLE_RAW_SIZE 0
#include "bpf/missed.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/tracing.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline struct sample_origin origin_of(struct bpf_perf_event_data *ctx, __u32 event)
{
	return (struct sample_origin){
		.event = event,
		.mode = mode_of(&ctx->regs),
		.ip = ip_of(&ctx->regs),
		.period = ctx->sample_period,
	};
}

/*
 * Returns whether a wanted overflow makes no sample, because user space has lowered the rate. The
 * next sample has its period, too.
 */
static __always_inline int is_held(struct wire_cpu *cpu, struct sample_origin *origin)
{
	if (cpu->divisor < 2 && !cpu->held)
		return 0;
	cpu->held_period += origin->period;
	if (++cpu->held < cpu->divisor)
		return 1;
	origin->period = cpu->held_period;
	cpu->held = 0;
	cpu->held_period = 0;
	return 0;
}

static __always_inline void sample_if_wanted(struct bpf_perf_event_data *ctx, __u32 event,
					     struct wire_cpu *cpu, __u64 period,
					     const struct overflow *overflow)
{
	struct sample_origin origin;
	struct task_ids ids = current_ids();
	int wanted = is_wanted(ids.tgid, ids.tid);

	count_missed(cpu, overflow, period, wanted);
	cpu->was_wanted = wanted;
	if (!wanted)
		return;
	cpu->wanted++;
	origin = origin_of(ctx, event);
	if (is_held(cpu, &origin))
		return;
	origin.now_ns = overflow->now_ns;
	send_sample(ctx, cpu, &origin, &ids);
}

SEC("perf_event")
int on_cpu(struct bpf_perf_event_data *ctx)
{
	__u32 event = event_of(ctx);
	struct wire_cpu *cpu = counters_of(event);
	struct wire_event *settings = settings_of(event);
	struct overflow overflow;

	if (!cpu || !settings)
		return 0;
	overflow = this_overflow(ctx);
	sample_if_wanted(ctx, event, cpu, settings->period_ns, &overflow);
	end_overflow(cpu, &overflow);
	return 0;
}

/* The same for kernels that do not give the program access to the event. */
SEC("perf_event")
int on_cpu_by_time(struct bpf_perf_event_data *ctx)
{
	__u32 event = event_of(ctx);
	struct wire_cpu *cpu = counters_of(event);
	struct wire_event *settings = settings_of(event);
	struct overflow overflow;

	if (!cpu || !settings)
		return 0;
	overflow = estimated_overflow(cpu, settings->period_ns);
	sample_if_wanted(ctx, event, cpu, settings->period_ns, &overflow);
	end_overflow(cpu, &overflow);
	return 0;
}

/* An overflow of an event that has no timer: page faults, context switches, hardware counters. */
SEC("perf_event")
int on_count(struct bpf_perf_event_data *ctx)
{
	__u32 event = event_of(ctx);
	struct wire_cpu *cpu = counters_of(event);
	struct task_ids ids = current_ids();
	struct sample_origin origin;

	if (!cpu)
		return 0;
	cpu->overflows++;
	if (!is_wanted(ids.tgid, ids.tid))
		return 0;
	cpu->wanted++;
	origin = origin_of(ctx, event);
	if (is_held(cpu, &origin))
		return 0;
	origin.now_ns = bpf_ktime_get_ns();
	send_sample(ctx, cpu, &origin, &ids);
	return 0;
}

static __always_inline void add_target_process(__u32 tgid)
{
	struct wire_cpu *cpu = counters_of(0);
	__u8 present = 1;

	if (bpf_map_update_elem(&target_processes, &tgid, &present, BPF_ANY) != 0 && cpu)
		cpu->untracked_forks++;
}

/* A child of a target is a target. A new thread has the id of its process and adds nothing. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_tgid = tgid_of(parent);
	__u32 child_tgid = tgid_of(child);

	if (child_tgid != parent_tgid && bpf_map_lookup_elem(&target_processes, &parent_tgid))
		add_target_process(child_tgid);
	return 0;
}

/* The command is a target from its exec on; before it, it runs the recorder's own code. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(follow_exec, struct task_struct *task)
{
	__u32 tgid = tgid_of(task);

	if (filter.command_pid && tgid == filter.command_pid)
		add_target_process(tgid);
	return 0;
}

/* After the last thread has exited, another process may get the id. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(follow_exit, struct task_struct *task)
{
	__u32 tgid = tgid_of(task);

	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		bpf_map_delete_elem(&target_processes, &tgid);
	return 0;
}
