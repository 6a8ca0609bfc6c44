/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a sample for each wait of a wanted task: the time in which it is on no CPU. A wait is
 * measured by three tracepoints of the scheduler:
 *
 *   sched_switch   prev leaves its CPU: the wait starts; its user stack is stored, because the user
 *                  stack of another task cannot be read later, and so is its kernel stack, because
 *                  the kernel leaves out the functions of the scheduler later
 *   sched_wakeup   a sleep ends: its sample is sent; the wait for a CPU starts
 *   sched_switch   next gets a CPU: the sample of this second wait is sent
 *
 * Waits below the threshold are summed in the storage of the task. The sums are sent as samples of
 * their own: at a switch, about once a second; at the end of the task; at the end of the recording.
 * So the periods of all samples add up to the time that the task really waited.
 *
 * Interrupts are off in all three tracepoints, so no program here interrupts another on its CPU.
 */
#define SAMPLE_RAW_SIZE 8 /* of a wakeup: the tid of the woken thread */
#define USER_FRAMES	WIRE_MAX_FRAMES
#if defined(__TARGET_ARCH_arm64)
#define OWN_FRAMES (PROGRAM_FRAMES + 2) /* also __bpf_trace_sched_wakeup_template */
#else
#define OWN_FRAMES (PROGRAM_FRAMES + 1) /* the program and its caller, bpf_trace_runN */
#endif
#include "bpf/sample.bpf.h"
#include "bpf/stored_stack.bpf.h"
#include "bpf/stack_lead.bpf.h"
#include "bpf/tasks.bpf.h"
#include "bpf/tracing.bpf.h"
#include "bpf/waiting_stack.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* User space sets it while the events are off, and before it detaches the programs. */
volatile __u32 is_stopped = 0;

/* include/linux/sched.h */
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_DEAD	     0x0080
#define TASK_NOLOAD	     0x0400

/* What is known of a wanted task, from the first time that it left a CPU. */
struct off_cpu_task {
	__u64 start_ns; /* of the current wait; 0: it is on a CPU */
	__u32 wait;	/* enum wire_wait of the current wait */
	__u32 tgid;
	__u32 tid;
	__u32 user_frames;
	__u32 user_end;	    /* as in unwind_user() */
	__u32 stored_stack; /* number of the entry of stored_stacks, plus 1; 0: none */
	__u32 lead;	    /* of the current wait: number in leads, plus 1; 0: none */
	__u32 oldest_lead;
	__u64 cgroup;
	__u64 walked_ns;	   /* when the user frames were found */
	__u64 sums_ns[WIRE_WAITS]; /* of waits below the threshold */
	__u64 sums_start_ns;	   /* when the first of them ended; 0: there is none */
	__u64 frames[WIRE_MAX_FRAMES];
	struct lead leads[2]; /* of the last waits that differ */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct off_cpu_task);
} off_cpu_tasks SEC(".maps");

static __always_inline struct off_cpu_task *known_task(struct task_struct *task)
{
	return bpf_task_storage_get(&off_cpu_tasks, task, 0, 0);
}

static __always_inline __u32 cpu_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.cpu))
		return BPF_CORE_READ(task, thread_info.cpu);
	return BPF_CORE_READ((struct task_struct___old *)task, cpu);
}

/* Kernel threads without work are uninterruptible, too, but marked: ps shows I. */
static __always_inline __u32 wait_of(__u64 state)
{
	if (state == 0)
		return WIRE_RUNNABLE;
	if ((state & TASK_UNINTERRUPTIBLE) && !(state & TASK_NOLOAD))
		return WIRE_DISK_SLEEP;
	return WIRE_SLEEP;
}

/* Whether waits that end on this CPU are recorded. All events have the same CPUs. */
static __always_inline int is_cpu_recorded(__u32 number)
{
	__u32 index = off_cpu.events[WIRE_SLEEP] * filter.cpus + number;
	struct wire_cpu *cpu = bpf_map_lookup_elem(&cpus, &index);

	return cpu && !cpu->excluded;
}

/* Starts a sample of `known`, which waited for `period` and ends that on `cpu_number`. */
static __always_inline void start_sample(struct full_sample *full, const struct off_cpu_task *known,
					 __u32 event, __u32 cpu_number, __u64 period, __u64 now_ns)
{
	full->sample = (struct wire_sample){
		.header =
			{
				.type = WIRE_SAMPLE,
				.cpu = cpu_number,
				.size = sizeof(struct wire_sample),
				.time_ns = now_ns,
			},
		.ip = WIRE_SHORT_WAITS_IP,
		.period = period,
		.pid = known->tgid,
		.tid = known->tid,
		.cgroup = known->cgroup,
		.walked_ns = known->walked_ns,
		.event = event,
		.mode = WIRE_MODE_KERNEL,
	};
}

/* The scratch sample, and the counters of the event, in which the caller counts. */
static __always_inline struct full_sample *new_sample(__u32 event, struct wire_cpu **cpu)
{
	*cpu = counters_of(event);
	if (!*cpu)
		return 0;
	(*cpu)->overflows++;
	(*cpu)->wanted++;
	return scratch_sample(*cpu);
}

/* A number of frames with a bound that the verifier sees. */
static __always_inline __u64 checked(__u64 frames)
{
	barrier_var(frames);
	if (frames > WIRE_MAX_FRAMES)
		frames = WIRE_MAX_FRAMES;
	return frames;
}

/*
 * Stores the first frames of the kernel stack of the current task. The kernel needs 100 ns for each
 * frame of a walk. A task mostly waits where it has waited before, so the last stacks are compared
 * with the memory of the stack first.
 */
static __always_inline void store_lead(void *ctx, struct off_cpu_task *known)
{
	__u32 zero = 0;
	struct raw_stack *raw = bpf_map_lookup_elem(&raw_stacks, &zero);
	struct lead *lead;
	long bytes;
	__u32 which;

	known->lead = 0;
	if (!raw)
		return;
	if (bpf_probe_read_kernel(raw, sizeof(*raw), ctx) == 0) {
		if (is_same_lead(&known->leads[0], raw)) {
			known->lead = 1;
			return;
		}
		if (is_same_lead(&known->leads[1], raw)) {
			known->lead = 2;
			return;
		}
	} else {
		raw->words[0] = 0; /* the stack ends before */
	}
	which = known->oldest_lead & 1;
	lead = &known->leads[which];
	bytes = bpf_get_stack(ctx, lead->frames, sizeof(lead->frames), OWN_FRAMES);
	lead->count = bytes > 0 ? bytes / sizeof(__u64) : 0;
	lead->checked = 0;
	if (lead->count < 4)
		return;
	known->lead = which + 1;
	known->oldest_lead = which ^ 1;
	find_slots(lead, raw);
}

/*
 * Writes the kernel stack on which `task` waits, and returns the number of its frames. The kernel
 * leaves out the functions of the scheduler (stack_trace_save_tsk), which the lead has.
 */
static __always_inline __u64 kernel_stack(struct full_sample *full, struct task_struct *task,
					  const struct off_cpu_task *known)
{
	__u32 most = filter.callchain ? WIRE_MAX_FRAMES : 1;
	const struct lead *lead = &known->leads[(known->lead - 1) & 1];
	long bytes = bpf_get_task_stack(task, full->words + LEAD_FRAMES, most * sizeof(__u64), 0);
	__u64 frames = checked(bytes > 0 ? bytes / sizeof(__u64) : 0);
	__u64 left_out = 0;
	__u32 first = 0;
	__u32 i;

	if (known->lead && known->lead <= 2) {
		first = switch_frames(lead);
		for (i = 0; i < LEAD_FRAMES; i++) {
			if (i < first || i >= lead->count)
				continue;
			if (lead->frames[i] == full->words[LEAD_FRAMES] && frames) {
				left_out = i - first;
				break;
			}
		}
	}
	barrier_var(left_out);
	if (left_out > LEAD_FRAMES)
		left_out = LEAD_FRAMES;
	if (frames > WIRE_MAX_FRAMES - LEAD_FRAMES)
		frames = WIRE_MAX_FRAMES - LEAD_FRAMES;
	bpf_probe_read_kernel(full->words + left_out, frames * sizeof(__u64),
			      full->words + LEAD_FRAMES);
	bpf_probe_read_kernel(full->words, left_out * sizeof(__u64), lead->frames + first);
	return filter.callchain ? frames + left_out : frames > 0;
}

/* The stack on which `task` waits. */
static __always_inline __u64 add_stacks(struct full_sample *full, struct task_struct *task,
					const struct off_cpu_task *known)
{
	__u64 kernel = kernel_stack(full, task, known);
	__u64 user = checked(known->user_frames);

	full->sample.ip = kernel ? full->words[0] : 0;
	if (!filter.callchain)
		return 0;
	bpf_probe_read_kernel(full->words + kernel, user * sizeof(__u64), known->frames);
	full->sample.kernel_frames = kernel;
	full->sample.user_frames = user;
	if (filter.callchain == WIRE_CHAIN_UNWIND) {
		if ((known->user_end & UNWIND_UNFINISHED) && known->stored_stack)
			full->sample.flags = WIRE_UNFINISHED;
		else
			note_end(full, known->user_end & ~UNWIND_UNFINISHED);
	}
	return kernel + user;
}

static __always_inline void send_wait(struct task_struct *task, const struct off_cpu_task *known,
				      __u32 event, __u32 cpu_number, __u64 period, __u64 now_ns)
{
	struct wire_cpu *cpu;
	struct full_sample *full = new_sample(event, &cpu);
	__u64 size;

	if (!full)
		return;
	start_sample(full, known, event, cpu_number, period, now_ns);
	size = sizeof(struct wire_sample) + add_stacks(full, task, known) * sizeof(__u64);
	if (filter.stack_bytes || (filter.late_bytes && (full->sample.flags & WIRE_UNFINISHED)))
		size = add_stored_state(full, cpu, size, known->stored_stack);
	full->sample.header.size = size;
	send(cpu, full, size);
}

/* A sample without stacks for each kind of wait. */
static __always_inline void send_sums(struct off_cpu_task *known, __u32 cpu_number, __u64 now_ns)
{
	struct wire_cpu *cpu;
	struct full_sample *full;
	__u32 wait;

	known->sums_start_ns = 0;
	for (wait = 0; wait < WIRE_WAITS; wait++) {
		__u64 sum_ns = known->sums_ns[wait];

		known->sums_ns[wait] = 0;
		if (!sum_ns)
			continue;
		full = new_sample(off_cpu.events[wait], &cpu);
		if (!full)
			continue;
		start_sample(full, known, off_cpu.events[wait], cpu_number, sum_ns, now_ns);
		send(cpu, full, sizeof(struct wire_sample));
	}
}

/* Sends the current wait or adds it to the sums. */
static __always_inline void end_wait(struct task_struct *task, struct off_cpu_task *known,
				     __u32 cpu_number, __u64 now_ns)
{
	__u64 period = now_ns - known->start_ns;
	__u32 wait = known->wait;

	if (wait >= WIRE_WAITS || now_ns <= known->start_ns || !is_cpu_recorded(cpu_number))
		return;
	if (period >= off_cpu.threshold_ns) {
		send_wait(task, known, off_cpu.events[wait], cpu_number, period, now_ns);
		return;
	}
	known->sums_ns[wait] += period;
	if (!known->sums_start_ns)
		known->sums_start_ns = now_ns;
}

/* What is known of the task from now on. If there is no memory, its wait is counted as lost. */
static __always_inline struct off_cpu_task *add_task(struct task_struct *task, __u32 wait)
{
	struct off_cpu_task *known =
		bpf_task_storage_get(&off_cpu_tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct wire_cpu *cpu;

	if (known)
		return known;
	cpu = counters_of(off_cpu.events[wait]);
	if (cpu)
		cpu->no_scratch++;
	return NULL;
}

static __always_inline void leave_cpu(void *ctx, struct task_struct *task, __u32 wait, __u64 now_ns)
{
	struct task_ids ids = {.tgid = tgid_of(task), .tid = tid_of(task)};
	struct off_cpu_task *known;

	if (ids.tid == 0 || !is_wanted(ids.tgid, ids.tid))
		return;
	known = add_task(task, wait);
	if (!known)
		return;
	/*
	 * Not 0 if the kernel did not report the end of the last wait. A wakeup before the end of
	 * this function must not take it for the start of this one.
	 */
	known->start_ns = 0;
	known->tgid = ids.tgid;
	known->tid = ids.tid;
	known->cgroup = cgroup_of(task);
	known->wait = wait;
	known->lead = 0;
	/* Of a preempted task, nothing is left out that says more. */
	if (wait != WIRE_RUNNABLE)
		store_lead(ctx, known);
	known->walked_ns = now_ns;
	known->user_frames = walk_user(ctx, 0, ids.tgid, known->frames, &known->user_end);
	if (filter.stack_bytes || (filter.late_bytes && (known->user_end & UNWIND_UNFINISHED)))
		known->stored_stack = store_user_state(known->stored_stack, task, NULL);
	known->start_ns = now_ns;
}

static __always_inline void get_cpu(struct task_struct *task, __u64 now_ns)
{
	__u32 cpu_number = bpf_get_smp_processor_id();
	struct off_cpu_task *known = known_task(task);

	if (!known)
		return;
	if (known->start_ns)
		end_wait(task, known, cpu_number, now_ns);
	known->start_ns = 0;
	if (most_stack_bytes())
		known->stored_stack = release_stored_stack(known->stored_stack);
	if (known->sums_start_ns && now_ns - known->sums_start_ns >= off_cpu.flush_ns)
		send_sums(known, cpu_number, now_ns);
}

/* The last switch of a task. Its process is a target no longer, if it was one. */
static __always_inline void end_task(struct task_struct *task, __u64 now_ns)
{
	struct off_cpu_task *known = known_task(task);

	if (known && known->sums_start_ns)
		send_sums(known, bpf_get_smp_processor_id(), now_ns);
}

/*
 * Since Linux 5.18 a fourth argument is the state of prev, which may be woken already. It is no
 * parameter here, because older kernels refuse a program that reads it.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now_ns = bpf_ktime_get_ns();
	__u64 state = 0;

	if (is_stopped)
		return 0;
	/* A preempted task may have set its state, but is still runnable. */
	if (!preempt)
		state = off_cpu.has_prev_state ? (__u32)ctx[3] : state_of(prev);
	if (state & TASK_DEAD)
		end_task(prev, now_ns);
	else
		leave_cpu(ctx, prev, wait_of(state), now_ns);
	get_cpu(next, now_ns);
	return 0;
}

/*
 * The task is in the queue of its CPU now. Unlike sched_waking, this comes after the sched_switch
 * in which the task left its CPU.
 */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	struct off_cpu_task *known = known_task(task);
	__u64 now_ns;

	if (!known || !known->start_ns || known->wait == WIRE_RUNNABLE || is_stopped)
		return 0;
	now_ns = bpf_ktime_get_ns();
	end_wait(task, known, cpu_of(task), now_ns);
	known->wait = WIRE_RUNNABLE;
	known->start_ns = now_ns;
	return 0;
}

/* Stores a wait whose start no switch has reported. Returns 0 if the task is not wanted. */
static __always_inline struct off_cpu_task *start_wait(struct task_struct *task, __u32 wait)
{
	struct task_ids ids = {.tgid = tgid_of(task), .tid = tid_of(task)};
	struct off_cpu_task *known;

	if (!is_wanted_task(task, ids.tgid, ids.tid))
		return 0;
	known = add_task(task, wait);
	if (!known || known->start_ns)
		return 0;
	known->tgid = ids.tgid;
	known->tid = ids.tid;
	known->cgroup = cgroup_of(task);
	known->wait = wait;
	known->lead = 0;
	known->start_ns = bpf_ktime_get_ns();
	return known;
}

/* A new task waits for its first CPU. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	if (!is_stopped)
		start_wait(task, WIRE_RUNNABLE);
	return 0;
}

/*
 * The waker runs here, or the interrupt that wakes. The sample belongs to the recording if the
 * woken task does. Waits below the threshold have no wakeup: only their sums are known.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct off_cpu_task *known = known_task(task);
	struct sample_origin origin = {
		.event = off_cpu.wakeup_event,
		.mode = WIRE_MODE_KERNEL,
		.own_frames = OWN_FRAMES,
		.raw_words = 1,
	};
	struct full_sample *full;
	struct task_ids ids;
	struct wire_cpu *cpu;

	if (!known || !known->start_ns || known->wait == WIRE_RUNNABLE || is_stopped)
		return 0;
	origin.now_ns = bpf_ktime_get_ns();
	origin.period = origin.now_ns - known->start_ns;
	if (origin.period < off_cpu.threshold_ns)
		return 0;
	cpu = counters_of(off_cpu.wakeup_event);
	if (!cpu || cpu->excluded)
		return 0;
	cpu->overflows++;
	cpu->wanted++;
	ids = current_ids();
	bpf_get_stack(ctx, &origin.ip, sizeof(origin.ip), OWN_FRAMES);
	full = scratch_sample(cpu);
	if (!full)
		return 0;
	full->words[0] = known->tid;
	send_sample_in(full, ctx, cpu, &origin, &ids);
	return 0;
}

static __always_inline struct off_cpu_task *start_if_waiting(struct task_struct *task)
{
	struct off_cpu_task *known;

	if (!task || BPF_CORE_READ(task, on_cpu))
		return 0;
	known = start_wait(task, wait_of(state_of(task)));
	if (!known || !BPF_CORE_READ(task, on_cpu))
		return known;
	known->start_ns = 0; /* it got a CPU meanwhile */
	return 0;
}

/*
 * The stack of a task that waits since `start_ns`. It is walked at once, from an entry that no
 * other program uses. Copies are kept only of stacks that user space can walk further: there may be
 * more threads than room for copies.
 */
static __always_inline void store_waiting(struct task_struct *task, struct off_cpu_task *known,
					  __u64 start_ns)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct stored_stack *stored;
	__u32 end = WIRE_ENDS;
	__u64 frames;

	if (filter.callchain == WIRE_CHAIN_UNWIND) {
		stored = stored_stack_of(store_user_state(off_cpu.stacks + 1, task, task));
		if (!stored)
			return;
		frames = unwind_waiting(stored, known->tgid, &end);
		/* If it runs meanwhile, its frames are of its next wait. */
		if (known->start_ns != start_ns)
			return;
		frames = checked(frames);
		bpf_probe_read_kernel(known->frames, frames * sizeof(__u64), stored->stack);
		known->user_frames = frames;
		known->user_end = end;
		known->walked_ns = now_ns;
		if (known->start_ns != start_ns)
			known->user_frames = 0;
	}
	if (filter.stack_bytes || (end & UNWIND_UNFINISHED))
		known->stored_stack = store_user_state(known->stored_stack, task, task);
}

/* What is known of a task that waits, and whose tables were not there when it began to. */
static __always_inline struct off_cpu_task *waiting_without_tables(struct task_struct *task)
{
	struct off_cpu_task *known;
	__u32 end;

	if (filter.callchain != WIRE_CHAIN_UNWIND || !task || BPF_CORE_READ(task, on_cpu))
		return 0;
	known = known_task(task);
	if (!known || !known->start_ns)
		return 0;
	end = known->user_end & ~(UNWIND_UNFINISHED | UNWIND_DERIVED);
	return end == WIRE_END_NO_PROCESS || end == WIRE_END_NO_MAPPING || end == WIRE_END_NO_TABLE
		       ? known
		       : 0;
}

/*
 * The start of the recording: waits that began before count from here on. A thread that waits until
 * the end, as in a deadlock, has its user stack from here. It runs again before the end, when all
 * tables are loaded: the stacks of threads that still wait are as they were.
 */
SEC("iter.s/task")
int at_start(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct off_cpu_task *known = start_if_waiting(task);
	__u64 start_ns;
	__u32 frames;

	if (!known)
		known = waiting_without_tables(task);
	if (known && most_stack_bytes())
		store_waiting(task, known, known->start_ns);
	if (!known || filter.callchain != WIRE_CHAIN_ALL)
		return 0;
	start_ns = known->start_ns;
	frames = walk_waiting(task, known->frames);
	/* If it runs meanwhile, its frames are of its next wait. */
	if (known->start_ns != start_ns)
		return 0;
	known->user_frames = frames;
	known->user_end = WIRE_ENDS;
	return 0;
}

/* The same before Linux 6.1, without the user stack. */
SEC("iter/task")
int at_start_without_stacks(struct bpf_iter__task *ctx)
{
	start_if_waiting(ctx->task);
	return 0;
}

/* The end of the recording, or the events are switched off: what still waits, and the sums. */
SEC("iter/task")
int at_end(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct off_cpu_task *known;
	__u64 now_ns;
	__u32 cpu_number;

	if (!task)
		return 0;
	known = known_task(task);
	if (!known)
		return 0;
	now_ns = bpf_ktime_get_ns();
	cpu_number = cpu_of(task);
	if (known->start_ns && !BPF_CORE_READ(task, on_cpu))
		end_wait(task, known, cpu_number, now_ns);
	known->start_ns = 0;
	if (known->sums_start_ns)
		send_sums(known, cpu_number, now_ns);
	return 0;
}
