/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* BPF_PROG: programs whose parameters are the arguments of a tracepoint (tp_btf). */
#ifndef PERFTAPE_BPF_TRACING_BPF_H
#define PERFTAPE_BPF_TRACING_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_tracing.h>

/* The macro also declares `ctx`, which few programs use. */
#pragma clang diagnostic ignored "-Wunused-parameter"

/*
 * The kernel frames of a tp_btf program and of bpf_trace_run*, which calls it. arm64 has no static
 * calls, so __bpf_trace_* and __traceiter_* have frames, too. PROGRAM_FRAMES: bpf/sample.bpf.h.
 */
#if defined(__TARGET_ARCH_arm64)
#define TRACING_FRAMES (PROGRAM_FRAMES + 3)
#else
#define TRACING_FRAMES (PROGRAM_FRAMES + 1)
#endif

#endif
