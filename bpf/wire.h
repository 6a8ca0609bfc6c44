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

/* PERF_MAX_STACK_DEPTH: the default of kernel.perf_event_max_stack. */
#define WIRE_MAX_FRAMES 127

/* PERF_MAX_TRACE_SIZE: no raw record of a tracepoint is larger. */
#define WIRE_MAX_RAW 8192

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

/*
 * A sample. It is followed by the raw record of a tracepoint, padded with zeros to whole words,
 * then by kernel_frames words and user_frames words, both starting at the leaf, without context
 * markers. The message ends after the last frame. So its size tells the size of the raw record.
 */
struct wire_sample {
	struct wire_header header;
	__u64 ip;
	__u64 period;
	__u32 pid; /* tgid and tid in the recorder's pid namespace; 0: the idle task; */
	__u32 tid; /* WIRE_FOREIGN_PID: a task outside of this namespace */
	__u16 kernel_frames;
	__u16 user_frames;
	__u16 event; /* number of the event in the recording */
	__u8 mode;   /* WIRE_MODE_* at the interrupted instruction */
	__u8 flags;  /* WIRE_CALLER_* */
};
WIRE_ASSERT(sizeof(struct wire_sample) == 48, "wire_sample changed");

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
 * while no program runs there; then the counting of missed expiries restarts. It sets `excluded`
 * before the start.
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
	__u64 ring_full;		  /* samples: the ring buffer was full */
	__u64 no_scratch;		  /* samples: no memory to build the message */
	__u64 untracked_forks;		  /* processes that did not fit into target_processes */
	__u64 hits;	/* of a tracepoint, by wanted tasks, that meet its conditions */
	__u64 excluded; /* a tracepoint is not recorded on this CPU */
	__u64 pad[4];
};
WIRE_ASSERT(sizeof(struct wire_cpu) == 192, "wire_cpu changed");

enum wire_operator {
	WIRE_EQUAL,
	WIRE_NOT_EQUAL,
	WIRE_LESS,
	WIRE_GREATER,
	WIRE_ANY_BIT, /* the field and the value have a bit in common */
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
#define WIRE_AT_ENTRY  4 /* the probe is at the first instruction of a function of a program */
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

/* The filter and settings; all zero samples every task. Read-only after loading. */
struct wire_filter {
	__u32 by_process; /* only processes in target_processes; their forks are added */
	__u32 by_thread;  /* only threads in target_threads; with by_process: either */
	__u32 by_uid;	  /* of those, only tasks of `uid` */
	__u32 uid;
	__u32 excluded_pid;  /* never this process (the recorder); 0 for none */
	__u32 command_pid;   /* added to target_processes at its exec; 0 for none */
	__u32 callchain;     /* 0: samples have no frames */
	__u32 pid_namespace; /* of the recorder: inode of /proc/self/ns/pid; 0: initial */
	__u32 wakeup_bytes;  /* a power of two: the reader is woken after so many bytes */
	__u32 event;	     /* the number of the event, or WIRE_EVENT_OF_COOKIE */
	__u32 cpus;	     /* possible CPUs */
	__u32 with_locks;    /* an event records waits for locks of the kernel */
};
WIRE_ASSERT(sizeof(struct wire_filter) == 48, "wire_filter changed");

#endif
