// SPDX-License-Identifier: Apache-2.0
// perftape-serve's options, and the service that they describe.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "record/recorder_options.h"
#include "tools/common/cli/options.h"
#include "tools/common/recording/recording_options.h"
#include "tools/serve/access.h"
#include "tools/serve/history.h"
#include "tools/serve/push/push_target.h"

namespace perftape::serve {

struct ServePlan : recording::RecordingPlan {
  std::vector<ListenAddress> addresses;
  std::string token_file;
  bool without_tls = false;
  std::chrono::nanoseconds window = std::chrono::seconds(10);
  HistoryLimits history;
  std::filesystem::path directory;  // empty: a new one below /run
  PushOptions push;
  std::string config;       // the text of all files of --config
  std::string cri_socket;   // empty: no container runtime is asked
  PushTarget other_target;  // of --push; empty: that of `push`
};

struct ServeRun {
  std::string config;  // the text of all files of --config
  record::RecordOptions record;
  std::vector<std::string> events;  // the names for -e
  std::vector<ListenAddress> addresses;
  std::string token_file;
  std::chrono::nanoseconds window{};
  HistoryLimits history;
  std::filesystem::path directory;
  PushOptions push;
  std::string cri_socket;
  bool no_sandbox = false;
};

const cli::Command& ServeCommand();

// Checks a parsed plan. Fails with kInvalidArgument for usage errors.
Result<ServeRun> PlanOf(ServePlan plan);

}  // namespace perftape::serve
