// SPDX-License-Identifier: Apache-2.0
// Redirects standard output.
#pragma once

#include <stdio.h>
#include <unistd.h>

#include "formats/base/file.h"

namespace perftape {

// Redirects standard output to a file until the end of the scope.
class StdoutTo {
 public:
  explicit StdoutTo(int fd) {
    fflush(stdout);  // the output of the test framework so far
    saved_ = UniqueFd(dup(STDOUT_FILENO));
    dup2(fd, STDOUT_FILENO);
  }
  StdoutTo(const StdoutTo&) = delete;
  StdoutTo& operator=(const StdoutTo&) = delete;
  ~StdoutTo() {
    fflush(stdout);
    dup2(saved_.get(), STDOUT_FILENO);
  }

 private:
  UniqueFd saved_;
};

}  // namespace perftape
