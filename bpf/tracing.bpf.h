/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* BPF_PROG: programs whose parameters are the arguments of a tracepoint. */
#ifndef PERFTAPE_BPF_TRACING_BPF_H
#define PERFTAPE_BPF_TRACING_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_tracing.h>

/* The macro also declares `ctx`, which few programs use. */
#pragma clang diagnostic ignored "-Wunused-parameter"

#endif
