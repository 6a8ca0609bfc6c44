// SPDX-License-Identifier: Apache-2.0
// The terminal of stdout, and the pager that shows long texts on it.
#pragma once

namespace perftape::cli {

// Returns whether stdout is a terminal.
bool IsTerminal();

// Starts $PAGER, or less, and sends it what is written to stdout from now on. The pager shows a
// short text without waiting for a key (LESS=FRX, as git does). The destructor closes stdout and
// waits until the user leaves the pager. Does nothing if $PAGER is empty or "cat", or if the pager
// cannot be started.
class Pager {
 public:
  Pager();
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  int pid_ = -1;
};

}  // namespace perftape::cli
