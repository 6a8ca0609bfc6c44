// SPDX-License-Identifier: Apache-2.0
// Redirects standard input, and makes a pipe with content.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <thread>

#include "formats/base/file.h"

namespace perftape {

// Redirects standard input to a descriptor until the end of the scope.
class StdinFrom {
 public:
  explicit StdinFrom(int fd) : saved_(dup(STDIN_FILENO)) { dup2(fd, STDIN_FILENO); }
  StdinFrom(const StdinFrom&) = delete;
  StdinFrom& operator=(const StdinFrom&) = delete;
  ~StdinFrom() { dup2(saved_.get(), STDIN_FILENO); }

 private:
  UniqueFd saved_;
};

// A pipe into which a thread writes `text` of any length. The writing end is then closed.
class PipeWith {
 public:
  explicit PipeWith(std::string text) {
    std::array<int, 2> ends = {};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    reading_ = UniqueFd(ends[0]);
    writer_ = std::thread([text = std::move(text), writing = UniqueFd(ends[1])] {
      (void)WriteAll(writing.get(), AsBytes(text));
    });
  }
  PipeWith(const PipeWith&) = delete;
  PipeWith& operator=(const PipeWith&) = delete;
  ~PipeWith() { writer_.join(); }

  // The reading end.
  int get() const { return reading_.get(); }

 private:
  UniqueFd reading_;
  std::thread writer_;
};

}  // namespace perftape
