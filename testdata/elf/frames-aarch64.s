// SPDX-License-Identifier: Apache-2.0
// Stack frames as compilers for arm64 make them.
    .text
    .globl _start, leaf, framed, signed_return, scaled, trampoline
    .type _start, %function
_start:
    .cfi_startproc
    .cfi_undefined x30
    bl framed
    brk #0
    .cfi_endproc
    .size _start, . - _start
    .balign 64

    .type leaf, %function
leaf:
    .cfi_startproc
    sub sp, sp, #32
    .cfi_def_cfa_offset 32
    add sp, sp, #32
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size leaf, . - leaf
    .balign 64

    .type framed, %function
framed:
    .cfi_startproc
    stp x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset x29, -48
    .cfi_offset x30, -40
    mov x29, sp
    stp x19, x20, [sp, #16]
    .cfi_offset x19, -32
    .cfi_offset x20, -24
    .cfi_remember_state
    cbz x0, 1f
    sub sp, sp, x0
    .cfi_def_cfa x29, 48
    bl signed_return
    mov sp, x29
    .cfi_restore_state
1:
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #48
    .cfi_restore x20
    .cfi_restore x19
    .cfi_restore x30
    .cfi_restore x29
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size framed, . - framed
    .balign 64

    .type signed_return, %function
signed_return:
    .cfi_startproc
    hint #25 // paciasp
    .cfi_negate_ra_state
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    bl leaf
    ldp x29, x30, [sp], #16
    .cfi_restore x30
    .cfi_restore x29
    .cfi_def_cfa_offset 0
    hint #29 // autiasp
    .cfi_negate_ra_state
    ret
    .cfi_endproc
    .size signed_return, . - signed_return
    .balign 64

    // Only the return address is saved; far below the CFA.
    .type scaled, %function
scaled:
    .cfi_startproc
    str x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x30, -16
    sub sp, sp, #1024
    .cfi_def_cfa_offset 1040
    bl leaf
    add sp, sp, #1024
    .cfi_def_cfa_offset 16
    ldr x30, [sp], #16
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size scaled, . - scaled
    .balign 64

    // As a signal trampoline.
    .type trampoline, %function
trampoline:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa x29, 0
    .cfi_offset x29, 0
    .cfi_offset x30, 8
    mov x8, #139
    svc #0
    .cfi_endproc
    .size trampoline, . - trampoline
