/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What crosses from the kernel side to user space: the messages in the ring buffer, the counters
 * and the settings. It includes nothing; both sides define the __u types before. User space
 * distrusts every length in it (record/rings/wire_decoder).
 */
#ifndef PERFTAPE_BPF_WIRE_H
#define PERFTAPE_BPF_WIRE_H

#ifdef __cplusplus
#define WIRE_ASSERT(condition, text) static_assert(condition, text)
#else
#define WIRE_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* PERF_MAX_STACK_DEPTH: what kernel.perf_event_max_stack allows unless it was changed. */
#define WIRE_MAX_FRAMES 127

enum wire_kind {
	WIRE_SAMPLE = 1,
};

/* First in every message. */
struct wire_header {
	__u16 kind; /* enum wire_kind */
	__u16 cpu;
	__u32 size;    /* of the whole message, for a check on arrival */
	__u64 time_ns; /* CLOCK_MONOTONIC, as perf's clockid says */
};
WIRE_ASSERT(sizeof(struct wire_header) == 16, "wire_header changed");

/* PERF_RECORD_MISC_KERNEL and PERF_RECORD_MISC_USER. */
#define WIRE_MODE_KERNEL 1
#define WIRE_MODE_USER	 2

/* As perf: (pid_t)-1. */
#define WIRE_FOREIGN_PID 0xffffffffu

/*
 * A sample. The frames follow it, kernel_frames + user_frames words, each part leaf first, without
 * context markers. The message ends behind the last frame.
 */
struct wire_sample {
	struct wire_header header;
	__u64 ip;
	__u64 period;
	__u32 pid; /* tgid and tid in the recorder's pid namespace; 0 is the idle task, */
	__u32 tid; /* WIRE_FOREIGN_PID a task that the namespace does not contain */
	__u16 kernel_frames;
	__u16 user_frames;
	__u16 event; /* which of the sampling events, from 0 */
	__u8 mode;   /* WIRE_MODE_* at the interrupted instruction */
	__u8 pad;
};
WIRE_ASSERT(sizeof(struct wire_sample) == 48, "wire_sample changed");

/* Why an expiry of a CPU's sampling timer came to nothing. */
enum wire_missed {
	WIRE_THROTTLED, /* the kernel had stopped the timer: more than perf_event_max_sample_rate */
	WIRE_SKIPPED,	/* an overflow, but another held bpf_prog_active: no call of the program */
	WIRE_NO_OVERFLOW, /* the kernel made no overflow of it: nobody would have got a sample */
	WIRE_UNDECIDED,	  /* one of the last two, a tick of the kernel or more ago */
	WIRE_LATE,	  /* it was over before the one before it had been served */
	WIRE_STALLED,	  /* the same, by WIRE_STALL_NS: the CPU stood still, or its interrupts */
	WIRE_UNEXPLAINED, /* any of these: this kernel does not show its events to programs */
	WIRE_MISSED_CAUSES,
};

#define WIRE_STALL_NS	1000000
#define WIRE_THROTTLING (~0ULL) /* wire_cpu.interrupts; MAX_INTERRUPTS of kernel/events/core.c */

/*
 * What one CPU counts, in a map that user space has mapped: a bpf(2) call for it would make the
 * kernel skip overflows meanwhile. Only programs on that CPU write it; an expiry_ns of 0, which
 * user space may set while none runs there, begins anew.
 */
struct wire_cpu {
	__u64 overflows;    /* calls of the sampling program, whomever they hit */
	__u64 expiry_ns;    /* when the timer was due for the last of these, CLOCK_MONOTONIC */
	__u64 end_ns;	    /* when the program had done */
	__u64 wanted;	    /* those that hit a task that is wanted */
	__u64 was_wanted;   /* the last one did */
	__u64 interrupts;   /* overflows since the last tick; all ones: the kernel throttled then */
	__u64 tick;	    /* the number of that tick */
	__u64 throttled_ns; /* time without the timer that is not yet in missed[], below a period */
	__u64 missed[WIRE_MISSED_CAUSES]; /* by cause, in halves: see missed.bpf.h */
	__u64 ring_full;		  /* samples: the ring buffer had no room */
	__u64 no_scratch;		  /* samples: no memory to build the message in */
	__u64 untracked_forks;		  /* processes that target_processes had no room for */
	__u64 pad[6];
};
WIRE_ASSERT(sizeof(struct wire_cpu) == 192, "wire_cpu changed");

/* What is asked for; all zero takes every task of every user. Read-only once loaded. */
struct wire_filter {
	__u32 by_process; /* only processes in the map target_processes; forks of theirs join it */
	__u32 by_thread;  /* only threads in the map target_threads; with by_process: either */
	__u32 by_uid;	  /* and of those only tasks of `uid` */
	__u32 uid;
	__u32 excluded_pid;  /* never this process: the recorder itself; 0 for none */
	__u32 command_pid;   /* joins target_processes when it calls exec; 0 for none */
	__u32 callchain;     /* 0: samples have no frames */
	__u32 pid_namespace; /* the recorder's: inode of /proc/self/ns/pid; 0: the initial one */
	__u32 wakeup_bytes;  /* a power of two: readers are woken for each so many that pile up */
	__u32 pad;
	__u64 period_ns; /* of the timer; 0: what it misses is not counted */
};
WIRE_ASSERT(sizeof(struct wire_filter) == 48, "wire_filter changed");

#endif
