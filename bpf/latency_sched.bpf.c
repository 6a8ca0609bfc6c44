/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Latency of the run queue: from the wakeup of a thread, its creation or its preemption until it
 * gets a CPU. The user stack of a thread can be read only while it runs, so it is stored whenever
 * the thread leaves its CPU. Interrupts are off in all programs.
 */
#include "bpf/latency_begin.bpf.h"
#include "bpf/tasks.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/linux/sched.h */
#define TASK_DEAD 0x0080

/* sched_switch passes the state of the thread that leaves (Linux 5.18). */
const volatile __u32 has_prev_state = 1;

struct queued {
	__u64 start_ns; /* 0: it is not in a run queue, or not wanted */
	struct caller caller;
	__u32 user_frames;
	__u32 user_end;	    /* as in unwind_user() */
	__u32 stored_stack; /* number of the entry of stored_stacks, plus 1; 0: none */
	__u32 pad;
	__u64 frames[WIRE_MAX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct queued);
} queue SEC(".maps");

static __always_inline struct queued *add_task(struct task_struct *task, __u32 tgid, __u32 tid)
{
	struct queued *queued =
		bpf_task_storage_get(&queue, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct wire_cpu *cpu;

	if (!queued) {
		cpu = counters_of_slot(WIRE_LATENCY_RUNQ);
		if (cpu)
			cpu->no_room++;
		return NULL;
	}
	queued->caller.tgid = tgid;
	queued->caller.tid = tid;
	queued->caller.cgroup = cgroup_of(task);
	read_comm(task, queued->caller.comm);
	return queued;
}

static __always_inline void leave_cpu(void *ctx, struct task_struct *task, int is_running,
				      __u64 now_ns)
{
	__u32 tgid = tgid_of(task);
	__u32 tid = tid_of(task);
	struct queued *queued;

	if (tid == 0 || !is_wanted(tgid, tid)) {
		queued = bpf_task_storage_get(&queue, task, NULL, 0);
		if (queued)
			queued->start_ns = 0;
		return;
	}
	queued = add_task(task, tgid, tid);
	if (!queued)
		return;
	queued->user_frames = walk_user(ctx, 0, tgid, queued->frames, &queued->user_end);
	if (needs_user_state(queued->user_end))
		queued->stored_stack = store_user_state(queued->stored_stack, task, NULL);
	queued->start_ns = is_running ? now_ns : 0;
}

static __always_inline void send_queued(struct task_struct *task, struct wire_cpu *cpu,
					const struct queued *queued, const struct latency_end *end)
{
	struct full_sample *full = scratch_sample(cpu);
	__u64 kernel = 0;
	__u64 user = checked_frames(queued->user_frames);
	struct wire_latency_raw *raw;
	__u32 event = probe_of(WIRE_LATENCY_RUNQ)->event;
	long bytes;

	if (!full)
		return;
	raw = start_raw(full, end, queued->caller.tid);
	raw->fd = bpf_get_smp_processor_id();
	full->sample = (struct wire_sample){
		.header =
			{
				.type = WIRE_SAMPLE,
				.cpu = bpf_get_smp_processor_id(),
				.time_ns = end->now_ns,
			},
		.period = end->period_ns,
		.pid = queued->caller.tgid,
		.tid = queued->caller.tid,
		.cgroup = queued->caller.cgroup,
		.event = event,
		.mode = WIRE_MODE_KERNEL,
	};
	if (filter.callchain) {
		bytes = bpf_get_task_stack(task, full->words + RAW_HEAD_WORDS,
					   WIRE_MAX_FRAMES * sizeof(__u64), 0);
		kernel = checked_frames(bytes > 0 ? bytes / sizeof(__u64) : 0);
		if (kernel)
			full->sample.ip = full->words[RAW_HEAD_WORDS];
		bpf_probe_read_kernel(full->words + RAW_HEAD_WORDS + kernel, user * sizeof(__u64),
				      queued->frames);
		full->sample.kernel_frames = kernel;
		full->sample.user_frames = user;
		kernel += user;
	}
	full->sample.header.size = end_user_part(
		full, sizeof(struct wire_sample) + (RAW_HEAD_WORDS + kernel) * sizeof(__u64),
		queued->user_end, queued->stored_stack);
	send(cpu, full, full->sample.header.size);
}

static __always_inline void end_queueing(struct task_struct *task, struct wire_cpu *cpu,
					 struct queued *queued, __u64 now_ns)
{
	struct latency_end end = {
		.slot = WIRE_LATENCY_RUNQ,
		.period_ns = now_ns - queued->start_ns,
		.now_ns = now_ns,
	};

	cpu->overflows++;
	cpu->wanted++;
	if (count_call(&end, &queued->caller))
		send_queued(task, cpu, queued, &end);
}

static __always_inline void get_cpu(struct task_struct *task, __u64 now_ns)
{
	struct queued *queued = bpf_task_storage_get(&queue, task, NULL, 0);
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_RUNQ);

	if (!queued)
		return;
	if (queued->start_ns && cpu)
		end_queueing(task, cpu, queued, now_ns);
	queued->start_ns = 0;
	if (most_stack_bytes())
		queued->stored_stack = release_stored_stack(queued->stored_stack);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now_ns = bpf_ktime_get_ns();
	__u64 state = 0;

	/* A preempted task may have set its state, but is still runnable. */
	if (!preempt)
		state = has_prev_state ? (__u32)ctx[3] : state_of(prev);
	if (!(state & TASK_DEAD))
		leave_cpu(ctx, prev, state == 0, now_ns);
	get_cpu(next, now_ns);
	return 0;
}

/* The waker is the current task, or interrupted; what counts is the woken one. */
static __always_inline void enqueue(struct task_struct *task)
{
	struct queued *queued = bpf_task_storage_get(&queue, task, NULL, 0);
	__u32 tgid, tid;

	if (!queued) {
		tgid = tgid_of(task);
		tid = tid_of(task);
		if (!is_wanted_task(task, tgid, tid))
			return;
		queued = add_task(task, tgid, tid);
		if (!queued)
			return;
	}
	queued->start_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	enqueue(task);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	enqueue(task);
	return 0;
}
