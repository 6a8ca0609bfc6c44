// SPDX-License-Identifier: Apache-2.0
// The expressions of call frame information (DWARF 5, 2.5) that Rule can represent.
#pragma once

#include "formats/dwarf/cursor.h"
#include "formats/unwind/frame_program.h"
#include "formats/unwind/rule.h"

namespace perftape::unwind {

// The CFA that DW_CFA_def_cfa_expression computes. kNone for other expressions than these, however
// they are written:
//   r + k * i + n                        k * i may be absent
//   *(r + k * i + n) + m                 a signal frame, GCC's realigned stacks, OpenSSL
//   breg sp n; breg pc 0; lit15; and; lit e; ge; lit3; shl; plus
//                                        the entries of linkage tables (binutils,
//                                        bfd/elfxx-x86.c: elf_x86_64_eh_frame_lazy_plt)
FrameAddress CfaExpression(dwarf::Cursor expression, Machine machine);

// The address that DW_CFA_expression computes, at which a register is saved: sp + n or fp + n.
// kOther for another expression.
RegisterRule AddressExpression(dwarf::Cursor expression, Machine machine);

}  // namespace perftape::unwind
