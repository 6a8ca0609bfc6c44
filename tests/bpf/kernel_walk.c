// SPDX-License-Identifier: Apache-2.0
/* The headers of the BPF programs, with helpers that read memory of the test. */
#include "tests/bpf/kernel_walk.h"

#include "bpf/registers.bpf.h" /* declares the true helpers, and calls none */

/* Instead of filter.bpf.h, whose settings are written when a program is loaded. */
#define PERFTAPE_BPF_FILTER_BPF_H
static const struct wire_filter filter = {
    .callchain = WIRE_CHAIN_UNWIND,
    .cpus = 1,
    .rings = 1,
    .user_frames = WIRE_MAX_USER_FRAMES,
};

static const struct kernel_memory* memory;

static void* element_of(const void* map, __u32 index);

static long read_user(void* to, __u32 size, const void* address) {
  return memory->read(memory->process, to, size, (__u64)address);
}

static long read_kernel(void* to, __u32 size, const void* from) {
  __builtin_memcpy(to, from, size);
  return 0;
}

/* A kernel without the fields that programs look for: without uprobes. */
#define __builtin_preserve_access_index(expression) (expression)
#define __builtin_preserve_field_info(field, kind) 0
#define __builtin_preserve_type_info(type, kind) 0
#define bpf_map_lookup_elem(map, key) element_of(map, *(const __u32*)(key))
#define bpf_probe_read_user(to, size, address) read_user(to, size, address)
#define bpf_probe_read_kernel(to, size, from) read_kernel(to, size, from)
#define bpf_get_current_task_btf() (&task)
#define bpf_task_pt_regs(task) ((long)&user_regs)
#define bpf_get_smp_processor_id() 0
#define bpf_ktime_get_ns() 1

static struct task_struct task;
static bpf_user_pt_regs_t user_regs;

#define SCRATCH_SAMPLES 1
#include "bpf/unwind.bpf.h"

static struct kernel_maps maps;
static struct unwind_state state;
static __u64 recent[WIRE_UNWIND_RECENT];

static void* element_in(const struct kernel_array* array, __u32 index, __u32 size) {
  return index < array->count ? (char*)array->values + (__u64)index * size : NULL;
}

static void* element_of(const void* map, __u32 index) {
  const struct kernel_array states = {&state, 1};
  const struct kernel_array recent_rules = {recent, WIRE_UNWIND_RECENT};

  if (map == &unwind_states) return element_in(&states, index, sizeof(state));
  if (map == &unwind_recent) return element_in(&recent_rules, index, sizeof(recent[0]));
  if (map == &unwind_cells) return element_in(&maps.cells, index, sizeof(struct wire_unwind_cell));
  if (map == &unwind_rules) return element_in(&maps.rules, index, sizeof(struct wire_unwind_rule));
  if (map == &unwind_tables)
    return element_in(&maps.tables, index, sizeof(struct wire_unwind_table));
  if (map == &unwind_mappings)
    return element_in(&maps.mappings, index, sizeof(struct wire_unwind_mapping));
  if (map == &unwind_processes) return element_in(&maps.processes, index, sizeof(__u64));
  return NULL;
}

void kernel_set_maps(const struct kernel_maps* new_maps) {
  maps = *new_maps;
  __builtin_memset(recent, 0, sizeof(recent));
}

static void set_user_regs(const struct kernel_registers* registers) {
  const __u64* general = registers->general;
#if defined(__TARGET_ARCH_x86)
  user_regs = (bpf_user_pt_regs_t){
      .ip = registers->pc,
      .sp = registers->sp,
      .bp = registers->fp,
      .bx = registers->bx,
      .cs = 0x33, /* __USER_CS */
      .ax = general[0],
      .dx = general[1],
      .cx = general[2],
      .si = general[4],
      .di = general[5],
      .r8 = general[8],
      .r9 = general[9],
      .r10 = general[10],
      .r11 = general[11],
      .r12 = general[12],
      .r13 = general[13],
      .r14 = general[14],
      .r15 = general[15],
  };
#else
  user_regs = (bpf_user_pt_regs_t){
      .pc = registers->pc,
      .sp = registers->sp,
  };
  __builtin_memcpy(user_regs.regs, general, sizeof(user_regs.regs));
  user_regs.regs[29] = registers->fp;
#endif
}

int kernel_step(const struct kernel_memory* process, const struct wire_unwind_rule* rule,
                struct kernel_registers* registers, __u32* end) {
  memory = process;
  set_user_regs(registers);
  read_user_regs(&task, &state.regs);
  start_walk(&state, 0, 1);
  state.is_first = registers->is_first;
  state.is_return = registers->is_return;
  state.kept = registers->kept;
  if (step_by_rule(&state, 0, rule) != UNWIND_CALLER) {
    *end = state.end;
    return -1;
  }
  *registers = (struct kernel_registers){
      .pc = state.pc,
      .sp = state.sp,
      .has_fp = load_fp(&state) == 0,
      .bx = state.bx,
      .is_first = state.is_first,
      .is_return = state.is_return,
  };
  registers->fp = registers->has_fp ? state.fp : 0;
  for (__u32 number = 0; number < 32; number++) {
    const int is_general =
        number != WIRE_BASE && number != WIRE_STACK_POINTER && number != WIRE_FRAME_POINTER;
    if (is_general && load_register(&state, number, &registers->general[number]) == 0)
      registers->kept |= 1U << number;
  }
  return 0;
}

__u32 kernel_believed(const struct kernel_memory* process, const __u64* frames, __u32 count) {
  memory = process;
  __builtin_memcpy(state.frames, frames, count * sizeof(*frames));
  return believed_frames(0, count);
}

void kernel_walk(const struct kernel_memory* process, const struct kernel_registers* registers,
                 struct kernel_chain* chain) {
  __u32 end;

  memory = process;
  set_user_regs(registers);
  chain->count = unwind_user(NULL, 0, KERNEL_WALK_TGID, chain->frames, &end);
  chain->end = end & (WIRE_END_COUNTS - 1);
  chain->has_derived = (end & UNWIND_DERIVED) != 0;
}
