// SPDX-License-Identifier: Apache-2.0
// The system calls of sandboxed programs, in one table for all tools. seccomp_filter.h makes
// filters of it.
//
// A call that is in no row fails with ENOSYS, as on an older kernel. So the C library uses an older
// call instead of a new one that this table does not have. In particular it uses clone(2) instead
// of clone3(2), whose flags a filter cannot see. No call ends the process.
//
// To allow a feature a further call, add a row. A recorder must create a helper process that
// executes programs (--exec-on-switch) before it installs the filter. A process that exists already
// is not filtered. The recorder can send it requests through a pipe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace perftape::sandbox {

// The programs that a row applies to.
enum class Caller : std::uint8_t {
  kAll,
  kReader,    // converters and inspectors
  kRecorder,  // perftape-record after everything is attached
};

enum class Verdict : std::uint8_t {
  kAllow,
  kRefuse,  // fails with EPERM
};

// A condition on an argument of a call. Rows of a call are alternatives.
struct ArgumentRule {
  enum class Test : std::uint8_t {
    kNone,
    kBits,      // (argument & mask) == value
    kOwnPid,    // is the process id of the caller
    kOtherPid,  // is not
  };
  Test test = Test::kNone;
  unsigned index = 0;  // of the argument
  std::uint64_t mask = 0;
  std::uint64_t value = 0;
};

struct SystemCallRow {
  std::string_view name;  // as in the manual; unknown names of other architectures are skipped
  Caller caller = Caller::kAll;
  Verdict verdict = Verdict::kAllow;
  ArgumentRule argument = {};
};

std::span<const SystemCallRow> SystemCallTable();

}  // namespace perftape::sandbox
