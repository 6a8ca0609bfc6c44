// SPDX-License-Identifier: Apache-2.0
// The DWARF expressions of call frame information that Rule can express.
#pragma once

#include "formats/dwarf/cursor.h"
#include "formats/unwind/frame_program.h"

namespace perftape::unwind {

// The CFA that DW_CFA_def_cfa_expression computes. kNone for other expressions than these:
//   breg r n                             r + n
//   breg r n; deref                      *(r + n): a signal frame, GCC's realigned stacks
//   breg r n; deref; plus_uconst m       *(r + n) + m: OpenSSL
//   breg sp n; breg pc 0; lit15; and; lit e; ge; lit3; shl; plus
//                                        the entries of linkage tables (binutils,
//                                        bfd/elfxx-x86.c: elf_x86_64_eh_frame_lazy_plt)
FrameAddress CfaExpression(dwarf::Cursor expression, Machine machine);

// The address that DW_CFA_expression computes, at which a register is saved: sp + n or fp + n.
// kOther for another expression.
RegisterRule AddressExpression(dwarf::Cursor expression, Machine machine);

}  // namespace perftape::unwind
