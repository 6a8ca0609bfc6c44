// SPDX-License-Identifier: Apache-2.0
// What the server answers: the paths, their access, and the profiles of the history.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/serve/access.h"
#include "tools/serve/channels/record_command.h"
#include "tools/serve/history.h"
#include "tools/serve/history_file.h"
#include "tools/serve/http_server.h"
#include "tools/serve/metrics.h"
#include "tools/serve/parameters.h"
#include "tools/serve/pending_requests.h"
#include "tools/serve/profiles.h"
#include "tools/serve/push/push_counts.h"
#include "tools/serve/window.h"

namespace perftape::serve {

struct ServiceOptions {
  std::vector<ListenAddress> addresses;  // of the sockets, by HttpRequest::listener
  std::string token;                     // at first; empty: none is ever needed
  std::vector<std::string> events;       // the names for -e of what is recorded at first
  std::chrono::nanoseconds window{};
  HistoryLimits history = {};
};

// What the server asks of the privileged process.
struct ServiceActions {
  std::function<void()> cut;  // end the window
  // Record, and call the function in a thread with the file, or without one. Returns an id of the
  // recording. May fail.
  std::function<Result<std::uint64_t>(const RecordCommand&, std::function<void(UniqueFd)>)> record;
  // End a recording that nobody wants any more.
  std::function<void(std::uint64_t id)> end_recording;
};

class Service : public HttpHandler {
 public:
  // Begins with the history in the file.
  Service(ServiceOptions options, ServiceActions actions, HistoryFile file);

  // Takes a window of the importer. Called by one thread.
  Status Add(ImportedWindow window);
  // These events are recorded since that time, after a gap; none: nothing is recorded. Thread-safe.
  void SetRecorded(std::vector<std::string> events, std::uint64_t since_ns);
  // Requests need this token from now on, if they need one. Thread-safe.
  void SetToken(std::string token);
  // No window will come any more.
  void EndOfWindows() { pending_->EndOfWindows(); }
  // Drops the requests that wait. Call it before the server that sent them is destroyed.
  void DropRequests() { pending_.reset(); }
  // The server's numbers for /metrics.
  void set_http_counts(const HttpCounts& counts) { http_counts_ = &counts; }
  // Those of pushes; null if nothing is pushed.
  void set_push_counts(const PushCounts* counts) { push_counts_ = counts; }

  void Handle(HttpRequest request, std::shared_ptr<Exchange> exchange) override;

 private:
  enum class Output : std::uint8_t { kFolded, kPprof, kHtml };
  struct Job {
    ProfileRequest request;
    Output output = Output::kFolded;
    // Without an end, all that came so far: also the last window, even if most of it is after the
    // request because the recorder was slow to end it.
    TimeSpan span = {};
    std::uint64_t until_ns = 0;  // the answer waits for a window that ends at this time or later
    bool is_since_reset = false;
  };

  Result<HttpResponse> CheckAccess(const HttpRequest& request) const;
  // Answers what needs no window.
  Result<std::optional<HttpResponse>> Answer(const HttpRequest& request, Target& target);
  Result<std::optional<Job>> JobOf(Target& target) const;
  void Start(Job job, std::shared_ptr<Exchange> exchange);
  Result<HttpResponse> Work(const Job& job);
  Status CheckEvent(const std::string& event) const;
  // Starts the recording that the path asks for.
  Status StartRecording(Target& target, const std::shared_ptr<Exchange>& exchange);

  HttpResponse Health() const;
  HttpResponse Readiness() const;
  HttpResponse MetricsPage(std::string_view accept) const;
  std::string Index() const;
  std::vector<std::string> Events() const;
  // Nothing while nothing is recorded.
  std::optional<std::uint64_t> RecordedSince() const;
  double UnixSeconds(std::uint64_t monotonic_ns) const;
  std::string Token() const;

  const ServiceOptions options_;
  const ServiceActions actions_;
  const std::int64_t realtime_offset_ns_;
  const std::uint64_t start_ns_;
  History history_;
  Metrics metrics_;
  std::atomic<std::uint64_t> last_window_ns_ = 0;  // when it came
  const HttpCounts* http_counts_ = nullptr;
  const PushCounts* push_counts_ = nullptr;
  mutable std::mutex settings_mutex_;  // of what follows
  std::vector<std::string> events_;
  std::optional<std::uint64_t> recorded_since_ns_;
  std::string token_;
  std::unique_ptr<PendingRequests> pending_;
};

}  // namespace perftape::serve
