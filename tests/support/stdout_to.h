// SPDX-License-Identifier: Apache-2.0
// Another file as standard output.
#pragma once

#include <stdio.h>
#include <unistd.h>

#include "formats/base/file.h"

namespace perftape {

// Makes standard output another file, until the end of the scope.
class StdoutTo {
 public:
  explicit StdoutTo(int fd) {
    fflush(stdout);  // what the test framework has not written yet
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
