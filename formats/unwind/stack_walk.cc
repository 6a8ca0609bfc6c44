// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/stack_walk.h"

#include "formats/unwind/machine_code.h"

namespace perftape::unwind {
namespace {

// Whether the rule is that before the first instruction of a function, wherever it is from.
bool IsEntryRule(Machine machine, const Rule& rule) {
  if (rule.cfa != CfaRule::kStackPointer) return false;
  if (machine == Machine::kAArch64)
    return rule.cfa_offset == 0 && rule.ra_offset == Rule::kInRegister;
  return rule.cfa_offset == kWordSize && rule.fp_offset == Rule::kInRegister;
}

}  // namespace

bool IsReturnAddress(Machine machine, const Code& code) {
  if (code.table == nullptr || code.binary == nullptr) return false;
  const ImageAddress address{code.address.value + 1};
  const ImageAddress call{address.value - kCallBytes};
  if (!EndsWithCall(machine, CodeBytes(*code.binary, call, kCallBytes))) return false;
  return !IsEntryRule(machine, code.table->Find(address)) ||
         IsEntryRule(machine, code.table->Find(code.address));
}

}  // namespace perftape::unwind
