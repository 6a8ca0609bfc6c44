// SPDX-License-Identifier: Apache-2.0
#include "convert/model/return_marks.h"

#include <algorithm>
#include <array>

namespace perftape::convert {
namespace {

constexpr std::array<std::string_view, 8> kSignalTrampolines = {
    "__restore_rt",                  // glibc, musl
    "__restore",                     // of 32-bit programs
    "restore_rt",                    // glibc before 2.27
    "__kernel_rt_sigreturn",         // the vdso: arm64, 32-bit programs
    "__kernel_sigreturn",            // the vdso of 32-bit programs
    "__vdso_rt_sigreturn",           // the vdso of RISC-V
    "runtime.sigreturn__sigaction",  // Go since 1.19
    "runtime.sigreturn",
};

constexpr std::array<std::string_view, 5> kOtherMarks = {
    "__start_context",             // glibc's makecontext
    "runtime.systemstack_switch",  // in the saved registers of a goroutine on the system stack
    "runtime.goexit",
    "runtime.goexit.abi0",
    "runtime.systemstack_switch.abi0",
};

}  // namespace

bool IsSignalTrampoline(std::string_view function) {
  return std::ranges::find(kSignalTrampolines, function) != kSignalTrampolines.end();
}

bool IsReturnMark(std::string_view function) {
  return IsSignalTrampoline(function) ||
         std::ranges::find(kOtherMarks, function) != kOtherMarks.end();
}

}  // namespace perftape::convert
