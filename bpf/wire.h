/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interface between the BPF programs and user space: the messages in the ring buffer, the
 * counters and the settings. It includes nothing; both sides define the __u types before. User
 * space checks each length (record/rings/wire_decoder).
 */
#ifndef PERFTAPE_BPF_WIRE_H
#define PERFTAPE_BPF_WIRE_H

#ifdef __cplusplus
#define WIRE_ASSERT(condition, text) static_assert(condition, text)
#else
#define WIRE_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/*
 * PERF_MAX_STACK_DEPTH: the default of kernel.perf_event_max_stack. Neither a kernel stack nor a
 * stack that is stored while a task waits has more frames.
 */
#define WIRE_MAX_FRAMES 127
/* The other user stacks have at most so many, and not more than wire_filter.user_frames. */
#define WIRE_MAX_USER_FRAMES 511
/*
 * Among the user frames: the next one was interrupted by a signal, and the one before, unless it is
 * the first, is the trampoline on which the signal's handler returns. It is an address that no
 * processor has.
 */
#define WIRE_INTERRUPTED ((__u64)1 << 63 | 1)

/* PERF_MAX_TRACE_SIZE: no raw record of a tracepoint is larger. */
#define WIRE_MAX_RAW 8192

/* The largest stack that perf copies: its size has 16 bits in attr, and is in whole words. */
#define WIRE_MAX_STACK 65528

enum wire_type {
	WIRE_SAMPLE = 1,
};

/* The start of every message. */
struct wire_header {
	__u16 type; /* enum wire_type */
	__u16 cpu;
	__u32 size;    /* of the whole message in bytes; user space checks it */
	__u64 time_ns; /* CLOCK_MONOTONIC, the clock of all records */
};
WIRE_ASSERT(sizeof(struct wire_header) == 16, "wire_header changed");

/* PERF_RECORD_MISC_KERNEL and PERF_RECORD_MISC_USER. */
#define WIRE_MODE_KERNEL 1
#define WIRE_MODE_USER	 2

/* (pid_t)-1, as in perf. */
#define WIRE_FOREIGN_PID 0xffffffffu

/*
 * wire_sample.flags: the first of the user frames is the return address of the function at whose
 * first instruction the probe is. Frame pointers do not show it there. The leaf comes after it.
 */
#define WIRE_CALLER_FIRST	 1
#define WIRE_CALLER_MAY_BE_FRAME 2 /* the frame after the leaf may be this caller */
#define WIRE_HAS_USER_STATE	 4 /* the message ends with a wire_user_state */
#define WIRE_UNFINISHED		 8 /* user frames are missing: user space finds them in the state */
#define WIRE_WAS_COMPLETE	 16 /* it was counted as WIRE_END_OF_STACK */
#define WIRE_WAS_DERIVED	 32 /* it was counted as WIRE_CHAINS_DERIVED */

/*
 * A sample. It is followed by the raw record of a tracepoint, padded with zeros to whole words,
 * then by kernel_frames words and user_frames words, both starting at the leaf, without context
 * markers. A wire_user_state may follow. The message ends with it or the last frame. So its size
 * tells the size of the raw record. That of a wakeup is one word, the tid of the woken thread.
 */
struct wire_sample {
	struct wire_header header;
	__u64 ip;
	__u64 period;
	__u32 pid; /* tgid and tid in the recorder's pid namespace; 0: the idle task; */
	__u32 tid; /* WIRE_FOREIGN_PID: a task outside of this namespace */
	__u16 kernel_frames;
	__u16 user_frames;
	__u16 event;	 /* number of the event in the recording */
	__u8 mode;	 /* WIRE_MODE_* at the interrupted instruction */
	__u8 flags;	 /* WIRE_CALLER_*, WIRE_HAS_USER_STATE, WIRE_UNFINISHED, WIRE_WAS_* */
	__u64 cgroup;	 /* id of the task's cgroup; 0 unless wire_filter.record_cgroup */
	__u64 walked_ns; /* when the user frames were found, if that was long before; or 0 */
};
WIRE_ASSERT(sizeof(struct wire_sample) == 64, "wire_sample changed");

/* The words of bpf_user_pt_regs_t. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define WIRE_USER_REGS 34
#else
#define WIRE_USER_REGS 21
#endif

/*
 * The registers of user code as it was interrupted, or entered the kernel. Its stack follows, from
 * the stack pointer on, padded to whole words, and then a word with the size of the stack in bytes.
 * The stack is shorter than asked for if one of its pages is absent.
 */
struct wire_user_state {
	__u64 abi;		    /* enum perf_sample_regs_abi; 0: a kernel thread */
	__u64 regs[WIRE_USER_REGS]; /* bpf_user_pt_regs_t */
};
WIRE_ASSERT(sizeof(struct wire_user_state) == 8 + 8 * WIRE_USER_REGS, "wire_user_state changed");

/* The reasons why an expiry of a CPU's sampling timer gave no sample. */
enum wire_missed {
	WIRE_THROTTLED,	  /* the kernel stopped the timer: more than perf_event_max_sample_rate */
	WIRE_SKIPPED,	  /* an overflow while bpf_prog_active was held: no call of the program */
	WIRE_NO_OVERFLOW, /* the kernel made no overflow: no tool would have a sample */
	WIRE_UNDECIDED,	  /* skipped or no overflow, at least one kernel tick ago */
	WIRE_LATE,	  /* it expired before the previous expiry was handled */
	WIRE_STALLED,	  /* the same, by WIRE_STALL_NS or more: CPU or interrupts were stopped */
	WIRE_UNEXPLAINED, /* any of these: this kernel gives programs no access to events */
	WIRE_MISSED_CAUSES,
};

#define WIRE_STALL_NS	1000000
#define WIRE_THROTTLING (~0ULL) /* wire_cpu.interrupts; MAX_INTERRUPTS of kernel/events/core.c */

/*
 * The counters of one event on one CPU. User space maps them, because the kernel skips overflows
 * during a bpf(2) call. Only programs on that CPU write them. User space may set expiry_ns to 0
 * while no program runs there; then the counting of missed expiries restarts. It sets
 * WIRE_OTHER_CPU before the start, and WIRE_SWITCHED_OFF at any time.
 */
struct wire_cpu {
	__u64 overflows;    /* calls of the sampling program, for any task */
	__u64 expiry_ns;    /* when the timer of the last call was due, CLOCK_MONOTONIC */
	__u64 end_ns;	    /* end of the last call, CLOCK_MONOTONIC */
	__u64 wanted;	    /* calls for a task that passes the filter */
	__u64 was_wanted;   /* whether the last call was one of these */
	__u64 interrupts;   /* overflows since the last tick; all ones: throttled */
	__u64 tick;	    /* number of that tick */
	__u64 throttled_ns; /* throttled time not yet in missed[], below a period */
	__u64 missed[WIRE_MISSED_CAUSES]; /* by cause, in halves: see missed.bpf.h */
	__u64 missed_unwanted;		  /* of tasks that do not pass the filter, in halves */
	__u64 ring_full;		  /* samples: the ring buffer was full */
	__u64 no_scratch;		  /* samples: no memory to build the message */
	__u64 untracked_forks;		  /* processes that did not fit into target_processes */
	__u64 hits;		/* of a tracepoint, by wanted tasks, that meet its conditions */
	__u64 excluded;		/* not 0: of events without a perf event on each CPU, nothing is */
				/* recorded here now; WIRE_OTHER_CPU | WIRE_SWITCHED_OFF */
	__u64 divisor;		/* not 0: of overflows, only one in so many makes a sample; */
				/* user space may change it at any time */
	__u64 held;		/* overflows since the last sample that made none, and the */
	__u64 held_period;	/* sum of their periods, which the next sample has, too */
	__u64 no_room;		/* calls of a latency probe that found no room for a histogram */
	__u64 no_begin;		/* the same for their begin, because too many were in progress */
	__u64 no_stack;		/* samples of waits: the copy of their stack found no room */
} __attribute__((aligned(64))); /* so that CPUs share no cache line */
WIRE_ASSERT(sizeof(struct wire_cpu) == 256, "wire_cpu changed");

/* wire_cpu.excluded */
#define WIRE_OTHER_CPU	  1 /* this CPU is not recorded */
#define WIRE_SWITCHED_OFF 2 /* the event is off */

enum wire_operator {
	WIRE_EQUAL,
	WIRE_NOT_EQUAL,
	WIRE_LESS,
	WIRE_GREATER,
	WIRE_ANY_BIT, /* the field and the value have a bit in common */
	WIRE_AT_MOST,
	WIRE_AT_LEAST,
};

/* A comparison of an integer field of a tracepoint's raw record. */
struct wire_condition {
	__u64 value;
	__u16 offset; /* of the field in the raw record */
	__u8 size;    /* 1, 2, 4 or 8 bytes */
	__u8 is_signed;
	__u8 comparison; /* enum wire_operator */
	__u8 pad[3];
};
WIRE_ASSERT(sizeof(struct wire_condition) == 16, "wire_condition changed");

#define WIRE_MAX_CONDITIONS 4

/* wire_event.flags */
#define WIRE_RELATIVE  1 /* last_location is a __rel_loc */
#define WIRE_FROM_USER 2 /* user code caused the hit; the kernel frames are the tracing's own */
#define WIRE_AT_ENTRY  4 /* at the first instruction of a function, whose caller a walk misses */
#define WIRE_PUSHES_FP                                                                             \
	8 /* this instruction is the usual one: the kernel's walk may find the caller */

/* The settings of one event. */
struct wire_event {
	__u64 period_ns; /* of the timer; 0: missed expiries are not counted */
	/* Of a tracepoint or a probe: */
	__u64 every; /* so many hits on a CPU make a sample */
	/* Of a tracepoint: */
	__u16 id;	      /* its number in tracefs */
	__u16 raw_size;	      /* of the fields with a fixed position */
	__u16 last_location;  /* offset of the last __data_loc or __rel_loc; 0: there is none */
	__u8 flags;	      /* the WIRE_* above */
	__u8 condition_count; /* all of them must hold */
	struct wire_condition conditions[WIRE_MAX_CONDITIONS];
};
WIRE_ASSERT(sizeof(struct wire_event) == 88, "wire_event changed");

/* wire_filter.event: the cookie of the attachment is the number of the event (Linux 5.15). */
#define WIRE_EVENT_OF_COOKIE 0xffffffffu

/* Cgroups in wire_filter. The program compares each of them. */
#define WIRE_MAX_CGROUPS 32

/* Sets of globs in wire_filter. */
#define WIRE_GLOB_SETS 4

/*
 * Globs as one automaton. A bit is a position in a glob: at its start, or behind one of its
 * characters. The next character moves it forward if it is accepted there, and leaves it where a
 * '*' is. The glob matches if its last position is reached with the last character.
 */
struct wire_globs {
	__u64 accept[256]; /* by character: positions behind which it is accepted */
	__u64 stars;
	__u64 start;
	__u64 end;
};
WIRE_ASSERT(sizeof(struct wire_globs) == 2072, "wire_globs changed");

/* wire_filter.callchain */
#define WIRE_CHAIN_NONE	  0
#define WIRE_CHAIN_ALL	  1
#define WIRE_CHAIN_KERNEL 2 /* no user frames */
#define WIRE_CHAIN_UNWIND 3 /* user frames by unwind tables (unwind.bpf.h) */

/* The filter and settings; all zero samples every task. Read-only after loading. */
struct wire_filter {
	__u32 by_process; /* only processes in target_processes; their forks are added */
	__u32 by_thread;  /* only threads in target_threads; with by_process: either */
	__u32 by_uid;	  /* of those, only tasks of `uid` */
	__u32 uid;
	__u32 excluded_pid;  /* never this process (the recorder); 0 for none */
	__u32 command_pid;   /* added to target_processes at its exec; 0 for none */
	__u32 callchain;     /* WIRE_CHAIN_* */
	__u32 pid_namespace; /* of the recorder: inode of /proc/self/ns/pid; 0: initial */
	__u32 wakeup_bytes;  /* a power of two: the reader is woken after so many bytes */
	__u32 event;	     /* the number of the event, or WIRE_EVENT_OF_COOKIE */
	__u32 cpus;	     /* possible CPUs */
	__u32 rings;	     /* a power of two; 1: only `ring` */
	/* The scope: all of these must hold, too. */
	__u32 cgroups;	 /* so many in target_cgroups and target_cgroup_ids: below any of them */
	__u32 cgroup_v1; /* 0: version 2; else number of the subsystem of version 1, plus 1 */
	__u32 record_cgroup; /* samples have the id of the task's cgroup, of this version */
	__u32 glob_sets;     /* the comm matches any glob in these */
	__u32 count_sending; /* programs count their messages in `sending` */
	__u32 stack_bytes;   /* not 0: samples have a wire_user_state with at most this stack */
	__u32 late_bytes;    /* the same, but only samples with WIRE_UNFINISHED */
	__u32 user_frames;   /* kernel.perf_event_max_stack, at most WIRE_MAX_USER_FRAMES */
	__u32 every_task;    /* all tasks pass the filter and the scope, but not excluded_pid */
	__u32 pad;
	struct wire_globs globs[WIRE_GLOB_SETS];
};
WIRE_ASSERT(sizeof(struct wire_filter) == 88 + 2072 * WIRE_GLOB_SETS, "wire_filter changed");

/*
 * The ids of the cgroups of the scope. They may change at any time: a cgroup that is made again has
 * another id.
 */
struct wire_cgroup_ids {
	__u64 ids[WIRE_MAX_CGROUPS];
};

/* What a task that is not on a CPU waits for. Each is an event of its own. */
enum wire_wait {
	WIRE_SLEEP,	 /* until it is woken: TASK_INTERRUPTIBLE, stopped, idle */
	WIRE_DISK_SLEEP, /* the same, state D: TASK_UNINTERRUPTIBLE */
	WIRE_RUNNABLE,	 /* for a CPU: woken, created or preempted */
	WIRE_WAITS,
};

#define WIRE_NO_EVENT 0xffffffffu

/*
 * The ip, and only frame, of a sample that sums short waits. It is in the last 2 MiB of the address
 * space, which neither x86-64 nor arm64 use (Documentation/arch/{x86/x86_64/mm,arm64/memory}.rst),
 * below the context markers of callchains.
 */
#define WIRE_SHORT_WAITS_IP 0xffffffffffe00000ULL

/* The settings of off_cpu.bpf.c. Read-only after loading. */
struct wire_off_cpu {
	__u64 threshold_ns;	  /* shorter waits are summed */
	__u64 flush_ns;		  /* sums that are older are sent */
	__u32 events[WIRE_WAITS]; /* numbers of the events */
	__u32 wakeup_event;	  /* of the wakers, or WIRE_NO_EVENT */
	__u32 has_prev_state;	  /* sched_switch passes the state (Linux 5.18) */
	__u32 stacks;		  /* entries of stored_stacks; not 0 if filter.stack_bytes is not */
	/* Addresses in the kernel; 0 if they are hidden: */
	__u64 sched_text; /* the section of the scheduler's functions */
	__u64 sched_text_end;
	__u64 schedule; /* the function */
};
WIRE_ASSERT(sizeof(struct wire_off_cpu) == 64, "wire_off_cpu changed");

/*
 * Latency probes (latency.bpf.h). A probe has a slot, and its event a number. The first slots are
 * for system calls.
 */
#define WIRE_SYSCALL_SLOTS 16
enum wire_latency_slot {
	WIRE_LATENCY_DNS = WIRE_SYSCALL_SLOTS,
	WIRE_LATENCY_RUNQ,
	WIRE_LATENCY_RECLAIM,
	WIRE_LATENCY_BLOCK_IO,
	WIRE_LATENCY_TCP_CONNECT,
	WIRE_LATENCY_TCP_ACCEPT,
	WIRE_LATENCY_TCP_RTT,
	WIRE_LATENCY_PAGE_FAULT,
};

#define WIRE_LATENCY_SLOTS 32 /* a power of two, for the verifier */

/* What the first arguments of a system call name. */
enum wire_call_object {
	WIRE_CALL_NUMBER,  /* nothing that is recorded */
	WIRE_CALL_FD,	   /* a descriptor */
	WIRE_CALL_PATH,	   /* a path */
	WIRE_CALL_PATH_AT, /* a path, in the second argument */
	WIRE_CALL_EXEC,	   /* the same two, which are gone at the end of the call */
	WIRE_CALL_EXEC_AT,
	WIRE_CALL_ADDRESS,
	WIRE_CALL_FUTEX,  /* the same; the second argument is the operation */
	WIRE_CALL_ACCEPT, /* it returns a socket */
};

/* System calls with higher numbers are only in probes of all. */
#define WIRE_SYSCALLS 512

struct wire_latency_probe {
	__u64 min_ns;	      /* calls that take as long are samples */
	__u32 event;	      /* its number, or WIRE_NO_EVENT */
	__u16 id;	      /* in the raw record */
	__u8 samples_errors;  /* calls that fail are samples, too */
	__u8 records_objects; /* of system calls: the raw record names the object, not the number */
};
WIRE_ASSERT(sizeof(struct wire_latency_probe) == 16, "wire_latency_probe changed");

/* The probes of a system call: of its kind, of all calls, of this call. */
#define WIRE_PROBES_OF_CALL 3

/*
 * What a system call on a socket means to the probe of DNS. Its programs run when the call returns,
 * from WIRE_DNS_RECEIVE on, and else when it begins.
 */
enum wire_dns_call {
	WIRE_DNS_NONE,
	WIRE_DNS_SEND,
	WIRE_DNS_SEND_TO,
	WIRE_DNS_SEND_MESSAGE,
	WIRE_DNS_SEND_MESSAGES,
	WIRE_DNS_CLOSE,
	WIRE_DNS_RECEIVE,
	WIRE_DNS_RECEIVE_MESSAGE,
	WIRE_DNS_RECEIVE_MESSAGES,
};

/* Of a system call. The programs load it as one word. */
struct wire_call {
	__u8 slots[WIRE_PROBES_OF_CALL]; /* plus 1, the first ones; 0: none */
	__u8 object;			 /* enum wire_call_object */
	__u8 dns;			 /* enum wire_dns_call */
	__u8 pad[3];
} __attribute__((aligned(8)));
WIRE_ASSERT(sizeof(struct wire_call) == 8, "wire_call changed");

/* The programs that the programs at sys_enter and sys_exit go on to. */
enum wire_next_program {
	WIRE_NEXT_DNS,
	WIRE_NEXT_ACCEPT,
	WIRE_NEXT_PROGRAMS,
};

/* The settings of all latency probes. Read-only after loading. */
struct wire_latency_settings {
	struct wire_latency_probe probes[WIRE_LATENCY_SLOTS];
	struct wire_call calls[WIRE_SYSCALLS + 1]; /* by number; the last one: all others */
	__u16 restart_call, sigreturn_call;	   /* numbers of restart_syscall and rt_sigreturn */
	__u32 pad;
};
WIRE_ASSERT(sizeof(struct wire_latency_settings) ==
		    16 * WIRE_LATENCY_SLOTS + 8 * (WIRE_SYSCALLS + 1) + 8,
	    "wire_latency_settings changed");

/*
 * The ip, and only frame, of a sample that sums fast calls: the address after WIRE_SHORT_WAITS_IP.
 */
#define WIRE_FAST_CALLS_IP 0xffffffffffe00001ULL

/* The histogram of a probe for a process in a cgroup, of the calls that ended on a CPU. */
struct wire_latency_key {
	__u32 tgid; /* as in wire_sample */
	__u32 event;
	__u64 cgroup;
	__u32 cpu;
	__u32 pad;
};
WIRE_ASSERT(sizeof(struct wire_latency_key) == 24, "wire_latency_key changed");

#define WIRE_LATENCY_BUCKETS 160 /* formats/base/latency_buckets.h */
#define WIRE_LATENCY_ERRORS  16

struct wire_latency_error {
	__u64 code;
	__u64 count;
};

struct wire_latency {
	__u64 count;
	__u64 sum_ns;
	__u64 max_ns;
	__u64 fast_ns;	    /* of the calls that are no samples */
	__u64 other_errors; /* with codes for which there was no room */
	char comm[16];	    /* of the process */
	struct wire_latency_error errors[WIRE_LATENCY_ERRORS];
	__u64 buckets[WIRE_LATENCY_BUCKETS];
};
WIRE_ASSERT(sizeof(struct wire_latency) == 56 + 16 * WIRE_LATENCY_ERRORS + 8 * WIRE_LATENCY_BUCKETS,
	    "wire_latency changed");

/* The raw record of a sample of a probe (formats/perfdata/latency_probes.h). */
#define WIRE_LATENCY_TEXT 192
struct wire_latency_raw {
	__u16 type;
	__u8 flags;
	__u8 preempt_count;
	__s32 pid;
	__s32 error;
	__s32 fd;     /* or a CPU, or an order */
	__u64 number; /* of a call, lock, sector or inode */
	__u32 dev;
	__u32 bytes;
	__u32 text_location;
	__u8 peer[28];
	char text[WIRE_LATENCY_TEXT + 64]; /* room for the verifier */
};
WIRE_ASSERT(sizeof(struct wire_latency_raw) == 64 + WIRE_LATENCY_TEXT + 64,
	    "wire_latency_raw changed");

/* What kernel_text.bpf.c writes: the addresses of symbols; 0 if they are hidden or missing. */
struct wire_kernel_text {
	__u64 text;	      /* _text */
	__u64 stext;	      /* _stext */
	__u64 etext;	      /* _etext */
	__u64 sched_text;     /* __sched_text_start */
	__u64 sched_text_end; /* __sched_text_end */
	__u64 schedule;	      /* schedule */
};
WIRE_ASSERT(sizeof(struct wire_kernel_text) == 48, "wire_kernel_text changed");

#endif
