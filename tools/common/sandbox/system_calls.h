// SPDX-License-Identifier: Apache-2.0
// The system calls of sandboxed programs, in one table for all tools. seccomp_filter.h makes
// seccomp filters of it.
//
// A call that is in no row fails with ENOSYS, as on an older kernel. So the C library uses an older
// call instead of a new one that this table does not have. In particular it uses clone(2) instead
// of clone3(2), whose flags a filter cannot see. A call whose rows all have a condition, none of
// which is met, fails with EPERM. No call ends the process.
//
// To allow a feature a further call, add a row. A recorder must create a helper process that
// executes programs before it installs the filter (record/processes/command_runner.h). A process
// that exists already is not filtered.
#pragma once

#include <cstdint>
#include <span>

namespace perftape::sandbox {

// The programs that a row applies to.
enum class Caller : std::uint8_t {
  kAll,
  kWithFiles,       // all that open files: kReader, kRecorder, kClient
  kWithoutSockets,  // all that open no sockets: kReader, kRecorder, kServer
  kReader,          // converters and inspectors
  kRecorder,        // perftape-record after everything is attached
  kServer,          // the server of perftape-serve: it has open sockets, and opens no file
  kClient,          // what connects to other machines
};

enum class Verdict : std::uint8_t {
  kAllow,
  kRefuse,  // fails with EPERM, for calls that an attacker tries first
};

// A condition on the lower 32 bits of an argument. Rows of a call are alternatives.
struct ArgumentRule {
  enum class Test : std::uint8_t {
    kNone,
    kBits,    // (argument & mask) == value
    kOwnPid,  // is the process id of the caller
  };
  Test test = Test::kNone;
  std::uint32_t index = 0;  // of the argument
  std::uint32_t mask = 0;
  std::uint32_t value = 0;
};

struct SystemCallRow {
  std::uint32_t number = 0;  // SYS_read and so on
  Caller caller = Caller::kAll;
  Verdict verdict = Verdict::kAllow;
  ArgumentRule argument = {};  // only of rows that allow
};

constexpr bool AppliesTo(const SystemCallRow& row, Caller caller) {
  return row.caller == Caller::kAll || row.caller == caller ||
         (row.caller == Caller::kWithFiles && caller != Caller::kServer) ||
         (row.caller == Caller::kWithoutSockets && caller != Caller::kClient);
}

// In the order of subjects. A call with a row without a condition has no other row for its caller.
std::span<const SystemCallRow> SystemCallTable();

}  // namespace perftape::sandbox
