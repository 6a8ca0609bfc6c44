// SPDX-License-Identifier: Apache-2.0
#include "tools/record/control_options.h"

#include <fmt/core.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "formats/base/file.h"
#include "tools/common/cli/escape.h"

namespace perftape::record_tool {
namespace {

template <class Value>
Result<Value> Named(std::string_view option, std::string_view text, Result<Value> parsed) {
  if (parsed) return parsed;
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("{} {}: {}", option, cli::EscapeForTerminal(text), parsed.error().message));
}

}  // namespace

Result<record::ControlSpec> ParseControlOption(std::string_view option, std::string_view text) {
  return Named(option, text, record::ParseControl(text));
}

Result<record::EnabledRanges> ParseDelayOption(std::string_view option, std::string_view text) {
  return Named(option, text, record::ParseDelay(text));
}

void FinishControl(record::RecordOptions& options) {
  if (options.control.delay) options.input.first_state = record::FirstState::kOff;
  const int output = options.output.file == "-" ? STDERR_FILENO : STDOUT_FILENO;
  // The recording goes on without a reader.
  options.control.print = [output](std::string_view text) {
    (void)WriteAll(output, AsBytes(text));
  };
}

}  // namespace perftape::record_tool
