// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace perftape::serve {
namespace {

constexpr std::uint64_t kUsualHz = 19;
constexpr std::string_view kDefaultEvent = "cpu-clock";  // InputOptions::events
constexpr std::chrono::milliseconds kShortestWindow{50};

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

Status CheckAddresses(const ServePlan& plan) {
  if (plan.addresses.empty()) return Usage("--listen is missing: use --listen 127.0.0.1:4040");
  for (const ListenAddress& address : plan.addresses) {
    if (address.is_local()) continue;
    if (plan.token_file.empty()) {
      return Usage(
          fmt::format("--listen {}: other machines can connect: use --token-file", address.text));
    }
    if (!plan.without_tls) {
      return Usage(
          fmt::format("--listen {}: requests are not encrypted, so others can read the token and "
                      "the profiles: put a proxy with TLS in front, or use --without-tls",
                      address.text));
    }
  }
  return {};
}

Result<PushOptions> PushOf(const ServePlan& plan) {
  PushOptions push = plan.push;
  if (!plan.other_target.url.empty()) {
    if (push.is_on())
      return Usage("--otlp and --push cannot be combined: there is only one receiver");
    push.target = plan.other_target;
  }
  if (!push.is_on() && (!push.headers_file.empty() || !push.ca_file.empty()))
    return Usage("--otlp-headers and --otlp-ca need --otlp or --push");
  return push;
}

Status CheckTimes(const ServePlan& plan) {
  if (plan.window < kShortestWindow) return Usage("--window: the shortest window is 50ms");
  if (plan.history.span < plan.window) return Usage("--history is shorter than --window");
  return {};
}

}  // namespace

Result<ServeRun> PlanOf(ServePlan plan) {
  if (!plan.operands.empty()) return Usage("perftape-serve takes no operands: " + plan.operands[0]);
  TRY(CheckAddresses(plan));
  TRY(CheckTimes(plan));
  TRY_ASSIGN(PushOptions push, PushOf(plan));
  if (plan.call_graph && plan.call_graph->stack_bytes != 0)
    return Usage("--call-graph: copies of stacks cannot be served: use fp, eh or none");
  if (!plan.rate) plan.rate = record::Frequency{kUsualHz};
  ServeRun run = {.config = plan.config,
                  .record = {},
                  .events = {},
                  .addresses = plan.addresses,
                  .token_file = plan.token_file,
                  .window = plan.window,
                  .history = plan.history,
                  .directory = plan.directory,
                  .push = std::move(push),
                  .cri_socket = plan.cri_socket,
                  .no_sandbox = plan.no_sandbox};
  TRY(recording::FinishRecordingOptions(plan));
  run.record = std::move(plan.record);
  // Samples name their pods by their cgroups.
  run.record.input.scope.all_cgroups = true;
  for (const record::EventSpec& event : run.record.input.events) run.events.push_back(event.name);
  if (run.events.empty()) run.events.emplace_back(kDefaultEvent);
  return run;
}

}  // namespace perftape::serve
