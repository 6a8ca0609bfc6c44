// SPDX-License-Identifier: Apache-2.0
// Another file as standard input, and a pipe with something in it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <thread>

#include "formats/base/file.h"

namespace perftape {

// Makes standard input another file, until the end of the scope.
class StdinFrom {
 public:
  explicit StdinFrom(int fd) : saved_(dup(STDIN_FILENO)) { dup2(fd, STDIN_FILENO); }
  StdinFrom(const StdinFrom&) = delete;
  StdinFrom& operator=(const StdinFrom&) = delete;
  ~StdinFrom() { dup2(saved_.get(), STDIN_FILENO); }

 private:
  UniqueFd saved_;
};

// A pipe into which a thread writes `text`, however long, and which then ends.
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

  // The end to read from.
  int get() const { return reading_.get(); }

 private:
  UniqueFd reading_;
  std::thread writer_;
};

}  // namespace perftape
