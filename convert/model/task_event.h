// SPDX-License-Identifier: Apache-2.0
// What happened to threads while a profile was recorded, for outputs that show it over time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace perftape::convert {

struct TaskEvent {
  enum class Type : std::uint8_t {
    kFork,  // the thread began
    kExec,  // it runs another program, whose name is `comm`
    kComm,  // it has another name
    kExit,
    kLoss,  // `lost` records were lost before this time; of no thread
  };
  Type type = {};
  std::int64_t time_ns = 0;  // on the clock of the labels "timestamp_ns"
  std::uint32_t pid = 0, tid = 0;
  std::uint32_t parent_pid = 0, parent_tid = 0;  // of a kFork: the thread that started it
  std::string comm = {};
  std::uint64_t lost = 0;
};

using TaskEvents = std::vector<TaskEvent>;

// A context switch: a thread began to run on a CPU, or ended (SWITCH, SWITCH_CPU_WIDE).
struct ThreadSwitch {
  std::int64_t time_ns = 0;  // on the clock of the labels "timestamp_ns"
  std::uint32_t pid = 0, tid = 0;
  bool is_in = false;
  bool is_preempted = false;  // it ended, and could have gone on
  bool is_cpu_wide = false;   // recorded by an event of a CPU, so also of other programs
};

}  // namespace perftape::convert
