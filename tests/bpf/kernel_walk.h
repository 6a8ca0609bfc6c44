// SPDX-License-Identifier: Apache-2.0
/*
 * The walk of user stacks by the BPF programs (bpf/unwind.bpf.h), compiled for the machine that
 * runs the tests: memory, maps and registers come from the test.
 */
#ifndef PERFTAPE_TESTS_BPF_KERNEL_WALK_H
#define PERFTAPE_TESTS_BPF_KERNEL_WALK_H

#include <linux/types.h>

#include "bpf/unwind_wire.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of the process that walks. */
#define KERNEL_WALK_TGID 7

/* The memory of the process. `read` copies all of `size` bytes and returns 0, or returns -1. */
struct kernel_memory {
  void* process;
  int (*read)(void* process, void* to, __u32 size, __u64 address);
};

struct kernel_array {
  void* values;
  __u32 count;
};

struct kernel_maps {
  struct kernel_array cells, rules, tables, mappings, processes;
};

/* On arm64, rbx does not exist. */
struct kernel_registers {
  __u64 pc, sp, fp;
  __u64 bx;          /* 0: unknown */
  __u64 general[32]; /* by their numbers in call frame information: rbp and rsp are above */
  __u32 kept;        /* a bit for each that is known */
  int has_fp;
  int is_first;  /* only then rdi, rcx and x30 can have a return address */
  int is_return; /* pc is a return address */
};

/* Sets the maps of the next walks, which borrow them. Forgets the rules that were met before. */
void kernel_set_maps(const struct kernel_maps* maps);

/* Goes to the caller by a rule. Returns 0, or -1 and sets `end` to an enum wire_unwind_end. */
int kernel_step(const struct kernel_memory* memory, const struct wire_unwind_rule* rule,
                struct kernel_registers* registers, __u32* end);

struct kernel_chain {
  __u64 frames[WIRE_MAX_USER_FRAMES];
  __u32 count;
  __u32 end; /* enum wire_unwind_end */
  int has_derived;
};

/* Returns how many of the frames of a 32-bit program are believed. */
__u32 kernel_believed(const struct kernel_memory* memory, const __u64* frames, __u32 count);

/* Walks the stack of the process from its interrupted registers on. */
void kernel_walk(const struct kernel_memory* memory, const struct kernel_registers* registers,
                 struct kernel_chain* chain);

#ifdef __cplusplus
}
#endif

#endif
