// SPDX-License-Identifier: Apache-2.0
// The recording that a verb reads.
#pragma once

#include <memory>
#include <string>

#include "formats/base/input.h"
#include "formats/base/result.h"
#include "formats/perfdata/reader.h"
#include "tools/common/cli/options.h"

namespace perftape::perf_tool {

// Returns the argument of -i. If it is empty, returns what perf reads without -i: "-", stdin, if
// that is a pipe, otherwise "perf.data" (tools/perf/util/data.c, check_pipe).
std::string InputOrDefault(const std::string& input);

// Fails with kInvalidArgument if there is an operand: the verb has none.
Status RefuseOperands(const cli::BaseOptions& options);

// An open perf.data: owns the bytes that its reader views.
class Recording {
 public:
  // Fails as Input::Open and Reader::Open do. The message names the file.
  static Result<Recording> Open(const std::string& path);

  const perfdata::Reader& reader() const { return *reader_; }
  const Input& input() const { return *input_; }

 private:
  Recording(std::unique_ptr<Input> input, std::unique_ptr<perfdata::Reader> reader)
      : input_(std::move(input)), reader_(std::move(reader)) {}

  std::unique_ptr<Input> input_;
  std::unique_ptr<perfdata::Reader> reader_;
};

}  // namespace perftape::perf_tool
