/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The filter and settings of a recording. They are constant, so what is not used costs nothing. */
#ifndef PERFTAPE_BPF_FILTER_BPF_H
#define PERFTAPE_BPF_FILTER_BPF_H

#include "bpf/kernel_types.h"

#include "bpf/wire.h"

const volatile struct wire_filter filter = {};

#endif
