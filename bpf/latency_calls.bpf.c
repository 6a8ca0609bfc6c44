/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Latency of system calls: read, write, open, fsync, futex, exec, single calls and all of them. A
 * call begins at sys_enter and ends at sys_exit, and is in the storage of its task meanwhile. exit
 * and exit_group have no end, nor has a task that is killed: they are no calls here.
 *
 * These two are the only programs at sys_enter and sys_exit, because each one costs every system
 * call of the machine 40 ns, what it does not count, too. They go on to the programs for DNS and
 * accepted connections in the few calls that concern those.
 *
 * A signal interrupts a call with -512 to -516. Then the kernel enters it again, after the handler,
 * if there is one; -516 with restart_syscall. Both parts are one call. The kernel decides that
 * after sys_exit, so the call is kept until the task enters it again or something else shows that
 * it has ended: rt_sigreturn returns -EINTR, or the task calls something else from the same
 * function or an outer one.
 */
#include "bpf/latency.bpf.h"
#include "bpf/file_path.bpf.h"
#include "bpf/last_query.bpf.h"
#include "bpf/sockets.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* arch/x86/include/asm/thread_info.h: the call has a number of 32-bit programs */
#define TS_COMPAT 0x0002

/* include/uapi/linux/futex.h */
#define FUTEX_CMD_MASK 127
#define FUTEX_WAITS    ((1 << 0) | (1 << 6) | (1 << 9) | (1 << 11) | (1 << 13))

/* include/linux/sched/signal.h */
#define SIGNAL_GROUP_EXIT 0x4

/* No frame of a handler is so far above the interrupted one, unless it has a stack of its own. */
#define HANDLER_STACK (1 << 20)

struct call {
	__u64 start_ns; /* 0: none */
	__u64 end_ns;	/* of an interrupted one */
	__u64 argument; /* enum wire_call_object */
	__u64 sp;	/* of an interrupted one */
	__u32 nr;
	struct wire_call probes;
};

struct calls_of_task {
	struct call current;
	struct call interrupted;
	struct caller caller;
	char path[WIRE_LATENCY_TEXT]; /* of exec */
	__u32 path_size;
	__u32 is_over; /* the kernel has not continued the interrupted call */
	/* What has ended, and of which slots it is a sample: their numbers plus 1, a byte each. */
	struct call ended;
	struct latency_end end;
	__u32 sampled;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct calls_of_task);
} latency_calls SEC(".maps");

/* The programs of other objects that follow, by enum wire_next_program. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, WIRE_NEXT_PROGRAMS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} next_at_enter SEC(".maps"), next_at_exit SEC(".maps");

/* Whether the programs for DNS have seen a query. */
static __always_inline int is_dns_used(void)
{
	__u64 *sent = last_query_jiffies();

	return sent && *sent;
}

/*
 * How many tasks have an interrupted call. If none has, a call without probes needs no look at the
 * storage of its task.
 */
__u32 interrupted_calls;

static __always_inline int is_compat(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return task->thread_info.status & TS_COMPAT;
#else
	const bpf_user_pt_regs_t *user = (const void *)bpf_task_pt_regs(task);
	__u64 state = 0;

	bpf_probe_read_kernel(&state, sizeof(state), &user->pstate);
	return (state & PSR_MODE32_BIT) != 0;
#endif
}

/* The settings of a call, a struct wire_call. 0: it concerns no probe. */
static __always_inline __u64 word_of(__u64 nr)
{
	return *(const volatile __u64 *)call_settings(nr);
}

static __always_inline struct wire_call probes_in(__u64 word)
{
	union {
		__u64 word;
		struct wire_call probes;
	} loaded = {.word = word};

	return loaded.probes;
}

static __always_inline int is_any_interrupted(void)
{
	return *(volatile __u32 *)&interrupted_calls != 0;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline __u64 user_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

static __always_inline void first_arguments(const struct pt_regs *regs, __u64 *arguments)
{
	arguments[0] = regs->di;
	arguments[1] = regs->si;
}
#else
/* A copy of all registers would not fit into the stack of the program. */
static __always_inline __u64 user_sp(const struct pt_regs *regs)
{
	const bpf_user_pt_regs_t *user = (const void *)regs;
	__u64 sp = 0;

	bpf_probe_read_kernel(&sp, sizeof(sp), &user->sp);
	return sp;
}

static __always_inline void first_arguments(const struct pt_regs *regs, __u64 *arguments)
{
	const bpf_user_pt_regs_t *user = (const void *)regs;

	/* regs[0] will have the result; the kernel keeps the argument in orig_x0, after these. */
	bpf_probe_read_kernel(arguments, 2 * sizeof(__u64), &user->regs[0]);
}
#endif

static __always_inline __u32 read_text(struct wire_latency_raw *raw, __u64 address)
{
	long size = bpf_probe_read_user_str(raw->text, WIRE_LATENCY_TEXT, (const void *)address);

	return size > 0 && size <= WIRE_LATENCY_TEXT ? size : 0;
}

/* The text of the raw record. Returns its size with the NUL. */
static __always_inline __u32 write_text(struct wire_latency_raw *raw, const struct call *call,
					const struct calls_of_task *calls)
{
	__u32 object = call->probes.object;
	struct file *file;
	long size = 0;

	raw->fd = -1;
	if (object == WIRE_CALL_FD) {
		raw->fd = call->argument;
		file = file_of(call->argument);
		if (!file)
			return 0;
		raw->dev = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
		raw->number = BPF_CORE_READ(file, f_inode, i_ino);
		return copy_path(raw->text, find_path((__u64)file));
	}
	if (object == WIRE_CALL_PATH || object == WIRE_CALL_PATH_AT) {
		return read_text(raw, call->argument);
	} else if (object == WIRE_CALL_EXEC || object == WIRE_CALL_EXEC_AT) {
		size = calls->path_size;
		if (!size) /* the page was not in memory; that of a call that failed is now */
			return read_text(raw, call->argument);
		/* It is at most that; the verifier of Linux 6.1 sees only a mask. */
		barrier_var(size);
		size &= sizeof(raw->text) - 1;
		bpf_probe_read_kernel(raw->text, size, calls->path);
	} else if (object == WIRE_CALL_FUTEX || object == WIRE_CALL_ADDRESS) {
		raw->number = call->argument;
	}
	return size > 0 && size <= WIRE_LATENCY_TEXT ? size : 0;
}

/* Sends the sample that was sent before once more, as one of this slot. */
static __always_inline void send_again(struct full_sample *full, struct wire_cpu *cpu, __u32 slot,
				       __u32 nr)
{
	struct wire_latency_raw *raw = (struct wire_latency_raw *)full->words;
	const volatile struct wire_latency_probe *probe = probe_of(slot);
	__u64 most = most_stack_bytes() ? sizeof(struct long_sample) : sizeof(*full);
	__u64 size = full->sample.header.size;

	barrier_var(size);
	if (size > most)
		return; /* for the verifier */
	full->sample.event = probe->event;
	raw->type = probe->id;
	raw->number = nr;
	send(cpu, full, size);
}

/*
 * Sends a sample of what has ended for each slot. Its stacks are walked once. The one that records
 * objects is the first. All is read from the map, so that the verifier checks it once.
 */
static __always_inline void send_ended(void *ctx, struct calls_of_task *calls)
{
	const struct call *call = &calls->ended;
	struct latency_end *end = &calls->end;
	__u32 slots = *(volatile __u32 *)&calls->sampled;
	struct sample_origin origin = {.mode = WIRE_MODE_USER};
	struct task_ids ids = fast_ids();
	struct full_sample *full;
	struct wire_latency_raw *raw;
	struct wire_cpu *cpu;
	__u32 i;

	end->slot = (slots & 255) - 1;
	cpu = counters_of_slot(end->slot);
	if (!cpu)
		return;
	full = scratch_sample(cpu);
	if (!full)
		return;
	raw = start_raw(full, end, ids.tid);
	origin.raw_words = RAW_HEAD_WORDS;
	if (probe_of(end->slot)->records_objects)
		origin.raw_words = words_with_text(raw, write_text(raw, call, calls));
	else
		raw->number = call->nr;
	origin.event = probe_of(end->slot)->event;
	origin.period = end->period_ns;
	origin.now_ns = end->now_ns;
	bpf_get_stack(ctx, &origin.ip, sizeof(origin.ip), BPF_F_USER_STACK);
	send_sample_in(full, ctx, cpu, &origin, &ids);
	for (i = 1; i < WIRE_PROBES_OF_CALL; i++) {
		slots >>= 8;
		if (!slots)
			break;
		cpu = counters_of_slot((slots & 255) - 1);
		if (cpu)
			send_again(full, cpu, (slots & 255) - 1, call->nr);
	}
}

/* Counts the call. */
static __always_inline void end_call(struct task_struct *task, struct calls_of_task *calls,
				     struct call *call, __u64 end_ns, __u32 error)
{
	struct latency_end *end = &calls->end;
	struct task_ids ids = ids_of(task);
	struct wire_cpu *cpu;
	__u32 sampled = 0; /* slots plus 1, a byte each */
	__u32 shift = 0;
	__u32 slot;
	__u32 i;

	calls->caller.tgid = ids.tgid;
	calls->caller.tid = ids.tid;
	calls->caller.cgroup = loaded_cgroup_of(task);
	end->error = error;
	end->now_ns = end_ns;
	end->period_ns = end_ns - call->start_ns;
	calls->ended = *call;
	call->start_ns = 0;
	for (i = 0; i < WIRE_PROBES_OF_CALL; i++) {
		slot = call->probes.slots[i] - 1;
		if (slot >= WIRE_SYSCALL_SLOTS)
			break;
		cpu = counters_of_slot(slot);
		if (!cpu)
			continue;
		cpu->overflows++;
		cpu->wanted++;
		end->slot = slot;
		if (!count_call(end, &calls->caller))
			continue;
		sampled |= (slot + 1) << shift;
		shift += 8;
	}
	calls->sampled = sampled;
}

/*
 * Whether the call that begins continues the interrupted one; marks that if it is over. sys_exit
 * ends it, so that only one program has the code that walks stacks.
 */
static __always_inline int continues(struct calls_of_task *calls, const struct pt_regs *regs,
				     __u32 nr)
{
	__u64 before = calls->interrupted.sp;
	__u64 sp;

	if (!calls->interrupted.start_ns || nr == latency.sigreturn_call)
		return 0;
	sp = user_sp(regs);
	if (sp == before && (nr == calls->interrupted.nr || nr == latency.restart_call)) {
		calls->current = calls->interrupted;
		calls->interrupted.start_ns = 0;
		__sync_fetch_and_add(&interrupted_calls, -1);
		return 1;
	}
	if (sp >= before && sp - before < HANDLER_STACK)
		calls->is_over = 1;
	return 0;
}

/* A futex operation that waits. */
static __always_inline int is_wait(__u64 operation)
{
	__u32 command = operation & FUTEX_CMD_MASK;

	return command < 32 && ((1U << command) & FUTEX_WAITS);
}

static __always_inline void count_no_begin(const struct wire_call *probes)
{
	struct wire_cpu *cpu;
	__u32 slot;
	__u32 i;

	for (i = 0; i < WIRE_PROBES_OF_CALL; i++) {
		slot = probes->slots[i] - 1;
		if (slot >= WIRE_SYSCALL_SLOTS)
			break;
		cpu = counters_of_slot(slot);
		if (cpu)
			cpu->no_begin++;
	}
}

static __always_inline void read_exec_path(struct calls_of_task *calls, __u64 path)
{
	long size = bpf_probe_read_user_str(calls->path, sizeof(calls->path), (const void *)path);

	calls->path_size = size > 0 ? size : 0;
}

/* What the call is about. Returns 0 if it is no wait after all. */
static __always_inline int read_arguments(struct calls_of_task *calls, const struct pt_regs *regs,
					  __u32 object)
{
	__u64 arguments[2] = {};

	first_arguments(regs, arguments);
	calls->current.argument = arguments[0];
	switch (object) {
	case WIRE_CALL_PATH_AT:
		calls->current.argument = arguments[1];
		break;
	case WIRE_CALL_EXEC:
		read_exec_path(calls, arguments[0]);
		break;
	case WIRE_CALL_EXEC_AT:
		calls->current.argument = arguments[1];
		read_exec_path(calls, arguments[1]);
		break;
	case WIRE_CALL_FUTEX:
		return is_wait(arguments[1]);
	}
	return 1;
}

/* The same probes without the first one, which is that of the kind of call. */
static __always_inline struct wire_call without_kind(struct wire_call probes)
{
	__u32 slot = probes.slots[0] - 1;

	if (slot >= WIRE_SYSCALL_SLOTS || !probe_of(slot)->records_objects)
		return probes;
	return (struct wire_call){.slots = {probes.slots[1], probes.slots[2]}, .dns = probes.dns};
}

static __always_inline void begin_call(const struct pt_regs *regs, __u32 nr,
				       struct wire_call probes)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 flags = probes.slots[0] ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0;
	struct calls_of_task *calls;
	struct task_ids ids;

	/* A call without probes may end an interrupted one. */
	if (flags) {
		ids = ids_of(task);
		if (!is_wanted(ids.tgid, ids.tid) || is_compat(task))
			return;
	}
	calls = bpf_task_storage_get(&latency_calls, task, NULL, flags);
	if (!calls) {
		if (flags)
			count_no_begin(&probes);
		return;
	}
	if (continues(calls, regs, nr) || !flags)
		return;
	if (probes.object != WIRE_CALL_NUMBER && !read_arguments(calls, regs, probes.object)) {
		probes = without_kind(probes);
		if (!probes.slots[0])
			return;
	}
	calls->current.nr = nr;
	calls->current.probes = probes;
	calls->current.start_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *regs, long nr)
{
	__u64 word = word_of(nr);
	struct wire_call probes = probes_in(word);

	if (!word && !is_any_interrupted())
		return 0;
	if (probes.slots[0] || is_any_interrupted())
		begin_call(regs, nr, probes);
	if (probes.dns != WIRE_DNS_NONE && probes.dns < WIRE_DNS_RECEIVE)
		bpf_tail_call(ctx, &next_at_enter, WIRE_NEXT_DNS);
	return 0;
}

/*
 * Keeps the current call until it is known whether the kernel continues it. A process that is
 * killed continues none.
 */
static __always_inline void interrupt(struct calls_of_task *calls, const struct pt_regs *regs,
				      __u64 now_ns)
{
	int is_killed = bpf_get_current_task_btf()->signal->flags & SIGNAL_GROUP_EXIT;

	if (!is_killed) {
		if (!calls->interrupted.start_ns)
			__sync_fetch_and_add(&interrupted_calls, 1);
		calls->interrupted = calls->current;
		calls->interrupted.end_ns = now_ns;
		calls->interrupted.sp = user_sp(regs);
		calls->is_over = 0;
	}
	calls->current.start_ns = 0;
}

/*
 * Ends one call at a time, so that the verifier checks that once. If two end here, the interrupted
 * one waits for the next end of a call.
 */
static __always_inline void end_calls(void *ctx, const struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct calls_of_task *calls = bpf_task_storage_get(&latency_calls, task, NULL, 0);

	if (!calls)
		return;
	calls->sampled = 0;
	/* rt_sigreturn returns what the handler interrupted. */
	if (calls->interrupted.start_ns && result == -EINTR)
		calls->is_over = 1;
	if (calls->current.start_ns && !is_restart(result)) {
		end_call(task, calls, &calls->current, bpf_ktime_get_ns(), error_of(result));
	} else if (calls->interrupted.start_ns && (calls->is_over || calls->current.start_ns)) {
		__sync_fetch_and_add(&interrupted_calls, -1);
		end_call(task, calls, &calls->interrupted, calls->interrupted.end_ns, 0);
	}
	if (*(volatile __u32 *)&calls->sampled)
		send_ended(ctx, calls);
	if (calls->current.start_ns)
		interrupt(calls, regs, bpf_ktime_get_ns());
}

/*
 * rt_sigreturn, which may end an interrupted call, has no number here any more. restart_syscall has
 * its own one.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs *regs, long result)
{
	__u32 nr = call_of(regs);
	__u64 word = word_of(nr);
	struct wire_call probes = probes_in(word);

	if (!word && !is_any_interrupted() && nr != latency.restart_call)
		return 0;
	if (probes.slots[0] || is_any_interrupted() || nr == latency.restart_call)
		end_calls(ctx, regs, result);
	if (result < 0)
		return 0;
	if (probes.object == WIRE_CALL_ACCEPT)
		bpf_tail_call(ctx, &next_at_exit, WIRE_NEXT_ACCEPT);
	else if (probes.dns >= WIRE_DNS_RECEIVE && is_dns_used())
		bpf_tail_call(ctx, &next_at_exit, WIRE_NEXT_DNS);
	return 0;
}

/* A task that was stopped in a call, and killed, does not continue it. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_task_exit, struct task_struct *task)
{
	struct calls_of_task *calls;

	if (!is_any_interrupted())
		return 0;
	calls = bpf_task_storage_get(&latency_calls, task, NULL, 0);
	if (!calls || !calls->interrupted.start_ns)
		return 0;
	calls->interrupted.start_ns = 0;
	__sync_fetch_and_add(&interrupted_calls, -1);
	return 0;
}
