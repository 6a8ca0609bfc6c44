/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps with unwind tables, which user space writes while programs read them (record/unwind). It
 * maps them into memory, because the kernel skips samples during a bpf(2) call. A program reads a
 * region only if a word leads to it. So user space writes a region first, then that word, and does
 * not reuse a region that nothing leads to before every program that may have seen it has ended.
 */
#ifndef PERFTAPE_BPF_UNWIND_WIRE_H
#define PERFTAPE_BPF_UNWIND_WIRE_H

#include "bpf/wire.h"

/* How the caller's registers are found: formats/unwind/rule.h. */
enum wire_unwind_cfa {
	WIRE_CFA_NONE,
	WIRE_CFA_END_OF_STACK,
	WIRE_CFA_STACK_POINTER,
	WIRE_CFA_FRAME_POINTER,
	WIRE_CFA_AT_STACK_POINTER,
	WIRE_CFA_AT_FRAME_POINTER,
	WIRE_CFA_PLT,
	WIRE_CFA_REGISTER,
	WIRE_CFA_AT_REGISTER,
	WIRE_CFA_UNSUPPORTED,
};

#define WIRE_RULE_IN_REGISTER	((__s32)0x80000000)
#define WIRE_RULE_SIGNAL_FRAME	1
#define WIRE_RULE_FROM_SP	2
#define WIRE_RULE_SIGNED_RETURN 4
#define WIRE_RULE_FP_FROM_FP	8
#define WIRE_RULE_RETURN_IN_CX	16
#define WIRE_RULE_IN_GAP	32
#define WIRE_RULE_DERIVED	64
#define WIRE_RULE_OTHER_STACK	128
#define WIRE_RULE_BX_UNCHANGED	0
#define WIRE_RULE_BX_UNKNOWN	(-128)

struct wire_unwind_rule {
	__s32 cfa_offset;
	__s32 fp_offset;
	__s32 ra_offset;
	__u8 cfa; /* enum wire_unwind_cfa */
	__u8 flags;
	__u8 addend;
	__s8 bx_words;
	__u8 base;
	__u8 index;
	__u8 scale;
	__u8 reserved;
	__u32 changed;
};
WIRE_ASSERT(sizeof(struct wire_unwind_rule) == 24, "wire_unwind_rule changed");

/* The numbers of registers in call frame information: formats/unwind/frame_registers.h. */
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#define WIRE_STACK_POINTER 31
#define WIRE_FRAME_POINTER 29
#define WIRE_BASE	   0x100 /* none: no register of a rule */
#define WIRE_GENERAL	   31	 /* the registers below are general ones */
#else
#define WIRE_STACK_POINTER	  7
#define WIRE_FRAME_POINTER	  6
#define WIRE_BASE		  3 /* rbx */
#define WIRE_GENERAL		  16

/*
 * The registers that the kernel saves for a signal handler, by their numbers: formats/unwind/step.h
 * has the same (kSignalRegisters).
 */
#define WIRE_SIGNAL_REGISTERS	  0x76543210fa89becdULL
#define WIRE_SIGNAL_STACK_POINTER (15 * 8)
#endif

/*
 * Whether the last instruction of the 8 bytes before an address may be a call: `word` has them, the
 * last one in its highest byte. formats/unwind/machine_code.h has the same (EndsWithCall). It is
 * always inlined: before Linux 6.13 each function in a chain of calls takes 32 of its 512 bytes of
 * stack.
 */
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
static inline __attribute__((always_inline)) int wire_ends_with_call(__u64 word)
{
	__u32 last = (__u32)(word >> 32);

	return (last & 0xfc000000) == 0x94000000 || /* bl */
	       (last & 0xfffffc1f) == 0xd63f0000 || /* blr */
	       (last & 0xfefff800) == 0xd63f0800;   /* blraa, blrab, blraaz, blrabz */
}
#else
/* The size of `call *operand` (ff /2) with these bytes behind the opcode; 0 if it is another. */
static inline __u32 wire_call_size(__u32 mod_rm, __u32 sib)
{
	__u32 mod = mod_rm >> 6 & 3;
	__u32 rm = mod_rm & 7;
	__u32 size = 2;

	if ((mod_rm >> 3 & 7) != 2)
		return 0;
	if (mod == 3)
		return size;
	if (rm == 4)
		size++;
	if (mod == 1)
		return size + 1;
	if (mod == 2 || rm == 5 || (rm == 4 && (sib & 7) == 5))
		return size + 4;
	return size;
}

static inline __attribute__((always_inline)) int wire_ends_with_call(__u64 word)
{
	__u32 i;

	if ((word >> 24 & 0xff) == 0xe8)
		return 1;
	/* The shortest one has its opcode and its operand in the last two bytes. */
	for (i = 1; i <= 6; i++) {
		__u64 code = word >> 8 * i;

		if ((code & 0xff) == 0xff &&
		    wire_call_size(code >> 8 & 0xff, code >> 16 & 0xff) == 8 - i)
			return 1;
	}
	return 0;
}
#endif

/*
 * Whether the 8 bytes from an address on are where the callees of interpreted Java return to. The
 * interpreter of HotSpot pushes this address and jumps to the callee, so it follows no call. The
 * code takes the stack pointer from the frame (generate_return_entry_for() in
 * src/hotspot/cpu/.../templateInterpreterGenerator_*.cpp; interpreter_frame_last_sp_offset is -2).
 * In JDK 25 the frame has it as a number of words from the frame pointer on.
 */
static inline int wire_is_return_entry(__u64 code)
{
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
	return (__u32)code == 0xf85f03b4 ||   /* ldur x20,[x29,#-16] */
	       code == 0x8b080fb4f85f03a8ULL; /* ldur x8,[x29,#-16]; add x20,x29,x8,lsl #3 */
#else
	return (__u32)code == 0xf0658b48 ||   /* mov -16(%rbp),%rsp */
	       code == 0xcd648d48f04d8b48ULL; /* mov -16(%rbp),%rcx; lea 0(%rbp,%rcx,8),%rsp */
#endif
}

/*
 * Whether the 8 bytes from an address on are the code that the handler of a signal returns to in a
 * 32-bit program: [pop %eax;] mov $number,%eax; int $0x80, of sigreturn or rt_sigreturn.
 */
static inline int wire_is_sigreturn_32(__u64 code)
{
	return code == 0x80cd00000077b858 || (code << 8) >> 8 == 0x80cd000000adb8;
}

/*
 * Code that was compiled at run time keeps frame pointers, but trampolines do not: they only make
 * room on the stack for a call, and return. So what follows the call tells where the return address
 * is. CPython makes such a trampoline for each Python function (-X perf, -X perf_jit):
 *
 *   [endbr64]; sub $n,%rsp; call *reg; add $n,%rsp; ret
 *
 * `code` has the 8 bytes from the address of a frame on, the first one in its lowest byte, `next`
 * the 8 bytes behind them, which only an interrupted instruction needs. Returns the distance from
 * the stack pointer to the canonical frame address; 0 if the code is any other. It is never unsure:
 * the processor will execute these instructions before anything else.
 */
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
static inline __u32 wire_prologue_cfa(__u64 code)
{
	(void)code;
	return 0;
}

static inline __u32 wire_trampoline_cfa(__u64 code, __u64 next, int is_return)
{
	(void)code;
	(void)next;
	(void)is_return;
	return 0; /* trampolines keep frame pointers */
}
#else
/* The same for `add $n,%rsp; ret`, whose add may be left out. */
static inline __u32 wire_epilogue_cfa(__u64 code)
{
	if ((code & 0xff) == 0xc3)
		return 8;
	/* n is a multiple of 8 with one byte, and not negative. */
	if ((code & 0xff87ffffff) == 0xc300c48348)
		return (code >> 24 & 0xff) + 8;
	return 0;
}

/*
 * The same for an interrupted instruction that makes a frame, after an endbr64 if there is one. The
 * frame pointer is still that of the caller: in its register before `push %rbp`, 16 bytes below the
 * canonical frame address before `mov %rsp,%rbp`.
 */
static inline __u32 wire_prologue_cfa(__u64 code)
{
	if ((code & 0xffffffff) == 0xfa1e0ff3)
		code >>= 32;
	if ((code & 0xffffffff) == 0xe5894855 || (code & 0xffffffff) == 0xec8b4855)
		return 8;
	if ((code & 0xffffff) == 0xe58948 || (code & 0xffffff) == 0xec8b48)
		return 16;
	return 0;
}

static inline __u32 wire_trampoline_cfa(__u64 code, __u64 next, int is_return)
{
	__u32 cfa = wire_epilogue_cfa(code);

	if (cfa || is_return)
		return cfa;
	if ((code & 0xffffffff) == 0xfa1e0ff3) { /* endbr64 */
		code = code >> 32 | next << 32;
		next >>= 32;
	}
	if ((code & 0xf8ff) == 0xd0ff) /* call *reg */
		return wire_epilogue_cfa(code >> 16);
	/* sub $n,%rsp; call *reg */
	if ((code & 0xf8ff87ffffff) != 0xd0ff00ec8348)
		return 0;
	cfa = wire_epilogue_cfa(code >> 48 | next << 16);
	return cfa == (code >> 24 & 0xff) + 8 ? 8 : 0;
}
#endif

/*
 * A table has a region of cells: first a cell for each page of code, then the rows. Distances count
 * from the first row's address.
 */
#define WIRE_UNWIND_PAGE_BITS 12

struct wire_unwind_page {
	__u32 first; /* cell of the row that holds at the start of the page */
	__u32 end;   /* cell behind the last row of the page */
};

struct wire_unwind_row {
	__u32 pc;   /* distance */
	__u32 rule; /* index */
};

struct wire_unwind_cell {
	union {
		struct wire_unwind_page page;
		struct wire_unwind_row row;
	};
};
WIRE_ASSERT(sizeof(struct wire_unwind_cell) == 8, "wire_unwind_cell changed");

struct wire_unwind_table {
	__u32 first;	   /* cell */
	__u32 pages;	   /* 0: not in memory */
	__u64 last_hit_ns; /* CLOCK_MONOTONIC, written by programs; exact to WIRE_UNWIND_HIT_NS */
	__u32 load;	   /* number of the load of its rows, from 1 to WIRE_UNWIND_LOADS */
	__u32 pad;
};
WIRE_ASSERT(sizeof(struct wire_unwind_table) == 24, "wire_unwind_table changed");
#define WIRE_UNWIND_HIT_NS 100000000

/*
 * Each CPU remembers the rules of return addresses, because most are met again. An element is one
 * word, so that a change is atomic: from the highest bit on, the load of the table, the number of
 * the page, and the rule. 0 is a free element.
 */
#define WIRE_UNWIND_RECENT	     (1 << WIRE_UNWIND_PAGE_BITS) /* elements for each CPU */
#define WIRE_UNWIND_PAGE_NUMBER_BITS (32 - WIRE_UNWIND_PAGE_BITS)
#define WIRE_UNWIND_RULE_BITS	     16
#define WIRE_UNWIND_LOADS	     ((1 << (64 - WIRE_UNWIND_PAGE_NUMBER_BITS - WIRE_UNWIND_RULE_BITS)) - 1)

/* wire_unwind_mapping.table of code without a table */
#define WIRE_UNWIND_BY_FP                                                                          \
	0xffffffffu			/* frames by frame pointers: compiled at run time, no rows \
					 */
#define WIRE_UNWIND_UNKNOWN 0xfffffffeu /* the table is not loaded yet, or cannot be */

struct wire_unwind_mapping {
	__u64 start;
	__u64 end;
	__u64 bias;  /* address - bias is the distance in the table */
	__u32 table; /* index, or WIRE_UNWIND_* */
	__u32 pad;
};
WIRE_ASSERT(sizeof(struct wire_unwind_mapping) == 32, "wire_unwind_mapping changed");

/*
 * A process is one word, so that a change is atomic: tgid << 42 | mappings << 26 | first mapping.
 * The mappings are sorted. 0 is a free entry. The entry of a process is one of WIRE_UNWIND_PROBES
 * from (tgid & (WIRE_UNWIND_PROCESSES - 1)) on.
 */
#define WIRE_UNWIND_PROCESSES	65536
#define WIRE_UNWIND_PROBES	16
#define WIRE_UNWIND_TGID_SHIFT	42 /* PID_MAX_LIMIT is 2^22 */
#define WIRE_UNWIND_COUNT_SHIFT 26
#define WIRE_UNWIND_COUNT_MASK	0xffff
#define WIRE_UNWIND_FIRST_MASK	0x3ffffff

#define WIRE_UNWIND_RULES  (1 << WIRE_UNWIND_RULE_BITS)
#define WIRE_UNWIND_TABLES 16384

/* Where the user part of a call chain ends. */
enum wire_unwind_end {
	WIRE_END_OF_STACK,    /* it is complete */
	WIRE_END_NO_PROCESS,  /* the mappings of the process are not known */
	WIRE_END_NO_MAPPING,  /* no mapping is known at the address */
	WIRE_END_NO_TABLE,    /* the table of the binary is not in memory */
	WIRE_END_NO_ROW,      /* the table has no rule for the address */
	WIRE_END_UNREADABLE,  /* a word of the stack cannot be read: its page is absent */
	WIRE_END_NO_PROGRESS, /* the next frame would not be above this one */
	WIRE_END_TOO_DEEP,    /* there are more than wire_filter.user_frames */
	WIRE_END_COMPAT,      /* a 32-bit process: by frame pointers */
	/* code that was compiled at run time has no frame pointer that leads to a caller */
	WIRE_END_NO_FRAME_POINTER,
	WIRE_ENDS,
};

#define WIRE_END_COUNTS 16 /* a power of two, for the verifier */

/* In wire_unwind_counts: chains with a frame by WIRE_RULE_DERIVED, however they ended. */
#define WIRE_CHAINS_DERIVED (WIRE_END_COUNTS - 1)

/* How many samples of an event ended so, on a CPU. The index is that of wire_cpu. */
struct wire_unwind_counts {
	__u64 ends[WIRE_END_COUNTS]; /* that of WIRE_ENDS: samples without a user stack */
};
WIRE_ASSERT(WIRE_ENDS < WIRE_CHAINS_DERIVED, "wire_unwind_counts is full");
WIRE_ASSERT(sizeof(struct wire_unwind_counts) == 128, "wire_unwind_counts changed");

#endif
