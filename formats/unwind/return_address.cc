// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/machine_code.h"
#include "formats/unwind/stack_walk.h"

namespace perftape::unwind {
namespace {

// The rule before the first instruction of a function.
Rule EntryRule(Machine machine) {
  if (machine == Machine::kAArch64) return {.cfa = CfaRule::kStackPointer};
  return {.cfa_offset = 8, .ra_offset = -8, .cfa = CfaRule::kStackPointer};
}

}  // namespace

bool IsReturnAddress(Machine machine, const Code& code) {
  if (code.table == nullptr || code.binary == nullptr) return false;
  const ImageAddress address{code.address.value + 1};
  const ImageAddress call{address.value - kCallBytes};
  if (!EndsWithCall(machine, CodeBytes(*code.binary, call, kCallBytes))) return false;
  const Rule entry = EntryRule(machine);
  return code.table->Find(address) != entry || code.table->Find(code.address) == entry;
}

}  // namespace perftape::unwind
