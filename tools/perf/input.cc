// SPDX-License-Identifier: Apache-2.0
#include "tools/perf/input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "formats/bundle/expanded_input.h"

namespace perftape::perf_tool {

std::string InputOrDefault(const std::string& input) {
  if (!input.empty()) return input;
  struct stat status = {};
  const bool is_pipe = fstat(STDIN_FILENO, &status) == 0 && S_ISFIFO(status.st_mode);
  return is_pipe ? "-" : "perf.data";
}

Status RefuseOperands(const cli::BaseOptions& options) {
  if (options.operands.empty()) return {};
  return Fail(ErrorCode::kInvalidArgument, "unexpected argument '" + options.operands.front() +
                                               "': -i FILE names the recording");
}

Result<Recording> Recording::Open(const std::string& path) {
  TRY_ASSIGN(Input opened, bundle::OpenExpanded(path));
  auto input = std::make_unique<Input>(std::move(opened));
  // The attributes of a pipe may come late.
  if (input->is_stream()) TRY(input->All());
  Result<perfdata::Reader> reader = perfdata::Reader::Open(*input);
  if (!reader) return Fail(InContext(input->name(), std::move(reader).error()));
  return Recording(std::move(input), std::make_unique<perfdata::Reader>(*std::move(reader)));
}

}  // namespace perftape::perf_tool
