/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Latency of the run queue: from the wakeup of a thread, its creation or its preemption until it
 * gets a CPU. Only a thread itself can read its user stack. So a sample waits until its thread runs
 * again, at the end of the switch (sched_exit_tp), before it returns to user code: only long waits
 * cost a walk. Older kernels have no such tracepoint: there the stack is stored whenever a thread
 * leaves its CPU. Interrupts are off in all programs but on_running, and preemption in that.
 */
#include "bpf/latency_begin.bpf.h"
#include "bpf/tasks.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/linux/sched.h */
#define TASK_DEAD 0x0080

/* sched_switch passes the state of the thread that leaves (Linux 5.18). */
const volatile __u32 has_prev_state = 1;

/* on_running is attached. */
const volatile __u32 has_switch_end = 1;

struct queued {
	__u64 start_ns; /* 0: it is not in a run queue, or not wanted */
	__u32 is_new;	/* it has not run yet */
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct queued);
} queue SEC(".maps");

/* The user stack of a thread that has left its CPU, without on_running. */
struct left_stack {
	__u32 user_frames;
	__u32 user_end;	    /* as in unwind_user() */
	__u32 stored_stack; /* number of the entry of stored_stacks, plus 1; 0: none */
	__u32 pad;
	__u64 walked_ns;
	__u64 frames[WIRE_MAX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct left_stack);
} left_stacks SEC(".maps");

/* The thread whose sample, in the scratch memory of this CPU, has no user stack yet; null: none. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} unsent SEC(".maps");

static __always_inline void count_no_begin(void)
{
	struct wire_cpu *cpu = counters_of_slot(WIRE_LATENCY_RUNQ);

	if (cpu)
		cpu->no_begin++;
}

static __always_inline void start_queueing(struct task_struct *task, __u64 now_ns, __u32 is_new)
{
	struct queued *queued =
		bpf_task_storage_get(&queue, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!queued) {
		count_no_begin();
		return;
	}
	queued->is_new = is_new;
	queued->start_ns = now_ns;
}

static __always_inline void store_user_stack(void *ctx, struct task_struct *task, __u32 tgid,
					     __u64 now_ns)
{
	struct left_stack *left =
		bpf_task_storage_get(&left_stacks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!left)
		return;
	left->walked_ns = now_ns;
	left->user_frames = walk_user(ctx, 0, tgid, left->frames, &left->user_end);
	if (needs_user_state(left->user_end))
		left->stored_stack = store_user_state(left->stored_stack, task, NULL);
}

static __always_inline void leave_cpu(void *ctx, struct task_struct *task, int is_running,
				      __u64 now_ns)
{
	int stores_stack = filter.callchain && !has_switch_end;
	struct task_ids ids;

	if (!is_running && !stores_stack)
		return;
	ids = ids_of(task);
	if (ids.tid == 0 || !is_wanted(ids.tgid, ids.tid))
		return;
	if (stores_stack)
		store_user_stack(ctx, task, ids.tgid, now_ns);
	if (is_running)
		start_queueing(task, now_ns, 0);
}

/* Ends the sample of the current task, which has its kernel frames, and sends it. */
static __always_inline void send_with_user_stack(void *ctx, struct full_sample *full,
						 struct wire_cpu *cpu)
{
	__u64 kernel = checked_frames(full->sample.kernel_frames);
	__u64 size;
	__u32 end;

	full->sample.user_frames =
		walk_user(ctx, 0, full->sample.pid, full->words + RAW_HEAD_WORDS + kernel, &end);
	if (filter.callchain == WIRE_CHAIN_UNWIND) {
		if (end & UNWIND_UNFINISHED)
			full->sample.flags = WIRE_UNFINISHED;
		else
			note_end(full, end);
	}
	size = sizeof(struct wire_sample) + (RAW_HEAD_WORDS + frames_of(full)) * sizeof(__u64);
	if (needs_user_state(end))
		size = add_user_state(full, size);
	full->sample.header.size = size;
	send(cpu, full, size);
}

/* The same, of a task that is not the current one, with the stack that was stored. */
static __always_inline void send_with_left_stack(struct task_struct *task, struct full_sample *full,
						 struct wire_cpu *cpu)
{
	struct left_stack *left = NULL;
	__u64 kernel = checked_frames(full->sample.kernel_frames);
	__u64 words = RAW_HEAD_WORDS + kernel;
	__u64 user;
	__u64 size;

	if (filter.callchain && !has_switch_end)
		left = bpf_task_storage_get(&left_stacks, task, NULL, 0);
	if (!left) {
		size = sizeof(struct wire_sample) + words * sizeof(__u64);
		full->sample.header.size = size;
		send(cpu, full, size);
		return;
	}
	user = checked_frames(left->user_frames);
	bpf_probe_read_kernel(full->words + words, user * sizeof(__u64), left->frames);
	full->sample.user_frames = user;
	full->sample.walked_ns = left->walked_ns;
	full->sample.header.size = end_user_part(
		full, cpu, sizeof(struct wire_sample) + (words + user) * sizeof(__u64),
		left->user_end, left->stored_stack);
	send(cpu, full, full->sample.header.size);
}

/* Starts the sample of a task that gets this CPU, with its kernel stack. */
static __always_inline void start_sample(struct task_struct *task, struct full_sample *full,
					 const struct caller *caller, const struct latency_end *end)
{
	struct wire_latency_raw *raw = start_raw(full, end, caller->tid);
	long bytes;

	raw->fd = bpf_get_smp_processor_id();
	full->sample = (struct wire_sample){
		.header =
			{
				.type = WIRE_SAMPLE,
				.cpu = bpf_get_smp_processor_id(),
				.time_ns = end->now_ns,
			},
		.period = end->period_ns,
		.pid = caller->tgid,
		.tid = caller->tid,
		.cgroup = caller->cgroup,
		.event = probe_of(WIRE_LATENCY_RUNQ)->event,
		.mode = WIRE_MODE_KERNEL,
	};
	if (!filter.callchain)
		return;
	bytes = bpf_get_task_stack(task, full->words + RAW_HEAD_WORDS,
				   WIRE_MAX_FRAMES * sizeof(__u64), 0);
	full->sample.kernel_frames = checked_frames(bytes > 0 ? bytes / sizeof(__u64) : 0);
	if (full->sample.kernel_frames)
		full->sample.ip = full->words[RAW_HEAD_WORDS];
}

/* Returns the entry of `unsent`, in which there is none. */
static __always_inline __u64 *empty_unsent(struct wire_cpu *cpu)
{
	__u32 zero = 0;
	__u64 *task = bpf_map_lookup_elem(&unsent, &zero);

	if (task && *task) {
		/* The kernel has not reported the end of that switch. */
		*task = 0;
		cpu->no_scratch++;
	}
	return task;
}

static __always_inline void end_queueing(struct task_struct *task, struct wire_cpu *cpu,
					 const struct queued *queued, __u64 now_ns)
{
	struct latency_end end = {
		.slot = WIRE_LATENCY_RUNQ,
		.period_ns = now_ns - queued->start_ns,
		.now_ns = now_ns,
	};
	struct task_ids ids = ids_of(task);
	struct caller caller = {
		.tgid = ids.tgid,
		.tid = ids.tid,
		.cgroup = loaded_cgroup_of(task),
		.task = (__u64)task,
	};
	struct full_sample *full;
	__u64 *sender;

	cpu->overflows++;
	cpu->wanted++;
	if (!count_call(&end, &caller))
		return;
	sender = empty_unsent(cpu);
	full = scratch_sample(cpu);
	if (!full || !sender)
		return;
	start_sample(task, full, &caller, &end);
	/* A new thread does not end this switch. */
	if (filter.callchain && has_switch_end && !queued->is_new)
		*sender = (__u64)task;
	else
		send_with_left_stack(task, full, cpu);
}

static __always_inline void release_left_stack(struct task_struct *task)
{
	struct left_stack *left;

	if (has_switch_end || !most_stack_bytes())
		return;
	left = bpf_task_storage_get(&left_stacks, task, NULL, 0);
	if (left)
		left->stored_stack = release_stored_stack(left->stored_stack);
}

static __always_inline void get_cpu(struct task_struct *task, __u64 now_ns)
{
	struct queued *queued = bpf_task_storage_get(&queue, task, NULL, 0);
	struct wire_cpu *cpu;

	if (queued && queued->start_ns) {
		cpu = counters_of_slot(WIRE_LATENCY_RUNQ);
		if (cpu)
			end_queueing(task, cpu, queued, now_ns);
		queued->start_ns = 0;
		queued->is_new = 0;
	}
	release_left_stack(task);
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

/* The thread that got the CPU runs, and is still in the scheduler. */
SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_running)
{
	__u32 zero = 0;
	__u64 *task = bpf_map_lookup_elem(&unsent, &zero);
	struct wire_cpu *cpu;
	struct full_sample *full;

	if (!task || !*task || *task != bpf_get_current_task())
		return 0;
	*task = 0;
	cpu = counters_of_slot(WIRE_LATENCY_RUNQ);
	full = scratch_sample_of(0);
	if (cpu && full)
		send_with_user_stack(ctx, full, cpu);
	return 0;
}

/*
 * The waker is the current task, or interrupted; what counts is the woken one. A thread that was
 * going to sleep, and runs, is in no queue.
 */
static __always_inline void enqueue(struct task_struct *task, __u32 is_new)
{
	struct task_ids ids = ids_of(task);

	if (bpf_core_field_exists(task->on_cpu) && task->on_cpu)
		return;
	if (is_wanted_task(task, ids.tgid, ids.tid))
		start_queueing(task, bpf_ktime_get_ns(), is_new);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	enqueue(task, 0);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	enqueue(task, 1);
	return 0;
}
