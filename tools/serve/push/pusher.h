// SPDX-License-Identifier: Apache-2.0
// Pushes payloads to a receiver, one after the other, again and again until it takes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "formats/base/result.h"
#include "tools/common/cli/console.h"
#include "tools/serve/client/http_client.h"
#include "tools/serve/push/payload.h"
#include "tools/serve/push/push_answer.h"
#include "tools/serve/push/push_counts.h"
#include "tools/serve/push/push_queue.h"
#include "tools/serve/push/push_target.h"

namespace perftape::serve {

class Pusher {
 public:
  // Returns a client that is to be used from now on, if there is a new one. Called at least once a
  // second.
  using Renewal = std::function<std::optional<HttpClient>()>;

  // `counts` and `console` must outlive this object.
  Pusher(const PushOptions& options, HttpClient client, Renewal renewal, PushCounts& counts,
         cli::Console& console);

  // Pushes what comes from the channel (WritePayload), which does not block, until it ends; then
  // what is left, for some seconds. What could not be delivered is counted and told. Fails as
  // PayloadReader::Add does.
  Status Run(int channel);

 private:
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::milliseconds;

  bool HasWork() const;
  void Begin();
  Milliseconds TimeToWait() const;
  void Act(const HttpAnswer& answer);
  void Delay(const PushVerdict& verdict);
  void Report(std::string message);
  Status Read(int channel);
  void DropRest();

  const PushTarget target_;
  HttpClient client_;
  Renewal renewal_;
  PushQueue queue_;
  PushCounts& counts_;
  cli::Console& console_;
  PayloadReader payloads_;
  std::optional<Payload> current_;  // is sent, or waits until `not_before_`
  Clock::time_point not_before_ = {};
  Clock::time_point end_ = {};  // of a closed channel
  unsigned failures_ = 0;       // in a row
  std::string reported_;        // the last warning; empty: all is well
  bool is_open_ = true;
  std::minstd_rand random_{std::random_device()()};
};

}  // namespace perftape::serve
