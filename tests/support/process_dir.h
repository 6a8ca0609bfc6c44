// SPDX-License-Identifier: Apache-2.0
// A directory with processes in its proc.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <string>

#include "tests/support/temp_dir.h"

namespace perftape {

struct ProcessDir {
  TempDir dir;

  // Adds a process that starts now, with its user and its pid in its own namespace.
  void AddProcess(std::uint32_t pid, std::int64_t user, std::uint32_t own_pid) const {
    const std::string id = std::to_string(user);
    dir.Write("proc/" + std::to_string(pid) + "/status",
              "Name:\tx\nUid:\t0\t" + id + "\t0\t0\nNSpid:\t" + std::to_string(pid) +
                  (own_pid == pid ? "" : "\t" + std::to_string(own_pid)) + "\nVmPeak:\t1 kB\n");
    timespec now = {};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const std::int64_t ticks =
        (now.tv_sec * 1'000 + now.tv_nsec / 1'000'000) * sysconf(_SC_CLK_TCK) / 1'000;
    std::string stat = std::to_string(pid) + " (a ) b) S";
    for (int field = 4; field < 22; ++field) stat += " 0";
    dir.Write("proc/" + std::to_string(pid) + "/stat", stat + " " + std::to_string(ticks) + " 0\n");
  }
};

}  // namespace perftape
