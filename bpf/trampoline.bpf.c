/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a sample to the ring for each call of a function of the kernel (on_fentry), or each return
 * from it (on_fexit). Each function has an instance of the programs, because the kernel needs to
 * know the function when it loads a program.
 */
#define SAMPLE_RAW_SIZE 0
#include "bpf/sample.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The frames of the program and of the trampoline. The next one is in the function. */
#define OWN_FRAMES (PROGRAM_FRAMES + 1)

/* User space sets the functions. */
SEC("fentry")
int on_fentry(void *ctx)
{
	sample_kernel_hit(ctx, OWN_FRAMES);
	return 0;
}

SEC("fexit")
int on_fexit(void *ctx)
{
	sample_kernel_hit(ctx, OWN_FRAMES);
	return 0;
}
