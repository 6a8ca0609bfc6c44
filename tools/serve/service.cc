// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/service.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "convert/model/merge.h"
#include "formats/base/duration.h"
#include "formats/base/text.h"
#include "record/machine/clock.h"
#include "tools/serve/event_names.h"
#include "tools/serve/index_page.h"

namespace perftape::serve {
namespace {

constexpr std::string_view kPprofPath = "/debug/pprof/";
// pprof asks for names of addresses that have none, by POST, and fails without an answer.
constexpr std::string_view kSymbolPath = "/debug/pprof/symbol";
constexpr std::string_view kCollapsedPath = "/flamegraph/collapsed";
constexpr std::string_view kPagePath = "/flamegraph";
constexpr std::string_view kRecordPath = "/record", kPerfDataPath = "/perf.data";
constexpr std::string_view kHealthPath = "/healthz", kReadyPath = "/readyz";
constexpr std::string_view kMetricsPath = "/metrics";
// As Go's handlers.
constexpr std::chrono::seconds kUsualProfile{30};
constexpr std::chrono::seconds kLongestSilence{30};

unsigned StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return 400;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kPermission:
      return 403;
    case ErrorCode::kUnsupported:
      return 503;
    default:
      return 500;
  }
}

HttpResponse ResponseOf(const Error& error) {
  return {.status = StatusOf(error.code), .body = error.message + "\n"};
}

std::string_view PathOf(std::string_view target) {
  return target.substr(0, target.find('?'));
}

// Which methods a path has. Those that reset counts may be asked for by POST, too.
std::string_view MethodsOf(std::string_view path) {
  if (path == kRecordPath) return "POST";
  const bool has_post = path == kSymbolPath || path == kCollapsedPath || path == kPagePath;
  return has_post ? "GET, HEAD, POST" : "GET, HEAD";
}

HttpResponse UseMethods(std::string_view methods) {
  return {.status = 405,
          .body = fmt::format("use {}\n", methods),
          .headers = {{"Allow", std::string(methods)}}};
}

// Refuses a request that changes or starts something, or waits. HEAD must have no effect
// (RFC 9110, section 9.2.1), and a page of another site must not act through somebody's browser.
std::optional<HttpResponse> RefusalToAct(const HttpRequest& request) {
  if (request.method == "HEAD") return UseMethods("GET, POST");
  if (!IsOfAnotherSite(
          {.host = request.host, .origin = request.origin, .fetch_site = request.fetch_site}))
    return std::nullopt;
  return HttpResponse{.status = 403,
                      .body = "a page of another site may not request this: open it here\n"};
}

// No value has a line end.
std::string ScopeKey(const LabelConditions& conditions) {
  std::string text;
  for (const auto& [key, value] : conditions) text.append(key).append("=").append(value) += '\n';
  return text;
}

// Returns the time of CLOCK_MONOTONIC; 0 for a time before.
std::uint64_t MonotonicOf(std::int64_t realtime_ns, std::int64_t offset_ns) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, realtime_ns - offset_ns));
}

}  // namespace

Service::Service(ServiceOptions options, ServiceActions actions, HistoryFile file)
    : options_(std::move(options)),
      actions_(std::move(actions)),
      realtime_offset_ns_(
          static_cast<std::int64_t>(record::SystemClock().RealtimeNs() - record::MonotonicNs())),
      start_ns_(record::MonotonicNs()),
      history_(options_.history, std::move(file)),
      last_window_ns_(start_ns_),
      events_(options_.events),
      token_(options_.token),
      pending_(std::make_unique<PendingRequests>(actions_.cut)) {}

void Service::SetRecorded(std::vector<std::string> events, std::uint64_t since_ns) {
  const std::lock_guard lock(settings_mutex_);
  recorded_since_ns_.reset();
  if (events.empty()) return;
  events_ = std::move(events);
  recorded_since_ns_ = since_ns;
}

std::optional<std::uint64_t> Service::RecordedSince() const {
  const std::lock_guard lock(settings_mutex_);
  return recorded_since_ns_;
}

std::vector<std::string> Service::Events() const {
  const std::lock_guard lock(settings_mutex_);
  return events_;
}

void Service::SetToken(std::string token) {
  const std::lock_guard lock(settings_mutex_);
  token_ = std::move(token);
}

std::string Service::Token() const {
  const std::lock_guard lock(settings_mutex_);
  return token_;
}

Status Service::Add(ImportedWindow window) {
  TRY_ASSIGN(const convert::Profile profile, ProfileOf(window.window));
  metrics_.Add(window, profile);
  const std::uint64_t end_ns = window.window.end_ns;
  Status added = history_.Add(window.window);
  last_window_ns_ = record::MonotonicNs();
  pending_->WindowEnded(end_ns);
  return added;
}

void Service::Handle(HttpRequest request, std::shared_ptr<Exchange> exchange) {
  const auto handle = [&]() -> Result<std::optional<HttpResponse>> {
    TRY_ASSIGN(HttpResponse refusal, CheckAccess(request));
    if (refusal.status != 200) return std::optional(std::move(refusal));
    TRY_ASSIGN(Target target, Target::Parse(request.target));
    TRY_ASSIGN(std::optional<HttpResponse> answer, Answer(request, target));
    if (answer) return answer;
    if (target.path() == kRecordPath || target.path() == kPerfDataPath) {
      answer = RefusalToAct(request);
      if (!answer) TRY(StartRecording(target, exchange));
      return answer;
    }
    TRY_ASSIGN(std::optional<Job> job, JobOf(target));
    if (!job) return Fail(ErrorCode::kNotFound, "no such path; see / for all paths");
    if (job->request.reset || job->request.seconds) answer = RefusalToAct(request);
    if (!answer) Start(*std::move(job), exchange);
    return answer;
  };
  Result<std::optional<HttpResponse>> handled = handle();
  if (!handled) return exchange->Reply(ResponseOf(handled.error()));
  if (*handled) exchange->Reply(**std::move(handled));
}

// Returns a response with another status than 200 if the request is refused.
Result<HttpResponse> Service::CheckAccess(const HttpRequest& request) const {
  if (!IsOwnHost(request.host, options_.addresses.at(request.listener)))
    return Fail(ErrorCode::kPermission, "the Host header names another server");
  const bool is_public = request.target == kHealthPath || request.target == kReadyPath;
  const std::string token = Token();
  if (!is_public && !token.empty() && !HasToken(request.authorization, token)) {
    return HttpResponse{.status = 401,
                        .body = "a token is needed: Authorization: Bearer TOKEN\n",
                        .headers = {{"WWW-Authenticate", "Bearer"}}};
  }
  const std::string_view path = PathOf(request.target);
  if (const std::string_view methods = MethodsOf(path); !methods.contains(request.method))
    return UseMethods(methods);
  if (path == kRecordPath && token.empty())
    return Fail(ErrorCode::kPermission, "recordings need a token: --token-file");
  return HttpResponse{};
}

Result<std::optional<HttpResponse>> Service::Answer(const HttpRequest& request, Target& target) {
  std::optional<HttpResponse> answer;
  if (target.path() == kHealthPath) answer = Health();
  if (target.path() == kReadyPath) answer = Readiness();
  if (target.path() == kMetricsPath) answer = MetricsPage(request.accept);
  if (target.path() == kSymbolPath) answer = HttpResponse{.body = "num_symbols: 0\n"};
  if (target.path() == "/" || target.path() == kPprofPath)
    answer = HttpResponse{.content_type = "text/html; charset=utf-8", .body = Index()};
  if (answer) TRY(target.CheckAllKnown());
  return answer;
}

// Fails with kNotFound if nothing that is recorded can have it.
Status Service::CheckEvent(const std::string& event) const {
  const EventChoice choice(event);
  const auto may_have = [&](const std::string& one) { return choice.MayHave(one); };
  const std::vector<std::string> events = Events();
  if (std::ranges::any_of(events, may_have)) return {};
  return Fail(ErrorCode::kNotFound,
              fmt::format("this event is not recorded; recorded are: {}", Joined(events, ", ")));
}

Result<std::optional<Service::Job>> Service::JobOf(Target& target) const {
  Job job;
  if (target.path() == kCollapsedPath) {
    job.output = Output::kFolded;
    TRY_ASSIGN(job.request, ParseCollapsedRequest(target));
  } else if (target.path() == kPagePath) {
    job.output = Output::kHtml;
    TRY_ASSIGN(job.request, ParseFlameGraphRequest(target));
  } else if (target.path().starts_with(kPprofPath)) {
    job.output = Output::kPprof;
    TRY_ASSIGN(job.request, ParsePprofRequest(target, target.path().substr(kPprofPath.size())));
    const bool is_profile = EventChoice(job.request.event).is_cpu_time();
    if (is_profile && !job.request.has_since() && !job.request.seconds)
      job.request.seconds = kUsualProfile;
  } else {
    return std::nullopt;
  }
  TRY(CheckEvent(job.request.event));

  const std::uint64_t now_ns = record::MonotonicNs();
  const ProfileRequest& request = job.request;
  job.until_ns = now_ns;
  if (request.since_ns) job.span.from_ns = MonotonicOf(*request.since_ns, realtime_offset_ns_);
  if (request.ago)
    job.span.from_ns = now_ns - std::min(now_ns, static_cast<std::uint64_t>(request.ago->count()));
  if (request.seconds) {
    const auto seconds_ns = static_cast<std::uint64_t>(request.seconds->count());
    if (!request.has_since()) job.span.from_ns = now_ns;
    job.span.to_ns = job.until_ns = job.span.from_ns + seconds_ns;
  }
  const auto latest_ns =
      now_ns + static_cast<std::uint64_t>(std::chrono::nanoseconds(kMostSeconds).count());
  if (job.span.from_ns > now_ns || job.until_ns > latest_ns)
    return Fail(ErrorCode::kInvalidArgument, "since: is in the future");
  job.is_since_reset = !request.has_since() && !request.seconds;
  return job;
}

// A recording in memory has no symbols. So one that is asked for is made from its beginning.
Status Service::StartRecording(Target& target, const std::shared_ptr<Exchange>& exchange) {
  const bool is_record = target.path() == kRecordPath;
  TRY_ASSIGN(const RecordRequest request,
             ParseRecordRequest(
                 target, is_record ? RecordParameters::kProcess : RecordParameters::kService));
  RecordCommand command = {.duration_ns = static_cast<std::uint64_t>(request.seconds.count()),
                           .frequency_hz = request.frequency.value_or(0),
                           .pid = request.pid.value_or(0)};
  if (!request.event.empty()) {
    TRY(CheckEvent(request.event));
    const EventChoice choice(request.event);
    const std::vector<std::string> events = Events();
    const auto found =
        std::ranges::find_if(events, [&](const std::string& one) { return choice.MayHave(one); });
    command.event = static_cast<std::uint32_t>(found - events.begin());
  }
  TRY_ASSIGN(const std::uint64_t id, actions_.record(command, [exchange](UniqueFd file) {
    if (!file) {
      return exchange->Reply(
          {.status = 500, .body = "the recording failed: see the messages of the service\n"});
    }
    exchange->Reply({.content_type = "application/octet-stream",
                     .file = std::move(file),
                     .headers = {{"Content-Disposition", "attachment; filename=\"perf.data\""}}});
  }));
  exchange->OnGone([this, id] { actions_.end_recording(id); });
  return {};
}

void Service::Start(Job job, std::shared_ptr<Exchange> exchange) {
  if (job.request.seconds && !job.request.has_since()) pending_->Cut();
  const bool added = pending_->Add(
      job.until_ns, exchange, [this, exchange, job](PendingRequests::Outcome outcome) {
        if (outcome == PendingRequests::Outcome::kTooLate)
          return exchange->Reply({.status = 503, .body = "the recorder does not answer\n"});
        try {
          Result<HttpResponse> response = Work(job);
          exchange->Reply(response ? *std::move(response) : ResponseOf(response.error()));
        } catch (const std::exception& error) {
          exchange->Reply({.status = 500, .body = std::string(error.what()) + "\n"});
        }
      });
  if (!added) exchange->Reply({.status = 503, .body = "too many requests wait\n"});
}

Result<HttpResponse> Service::Work(const Job& job) {
  const ProfileRequest& request = job.request;
  const EventChoice choice(request.event);
  std::vector<SelectedWindow> windows;
  if (job.is_since_reset) {
    TRY_ASSIGN(windows,
               history_.SinceReset({.scope = ScopeKey(request.conditions), .event = request.event},
                                   request.reset ? Reset::kYes : Reset::kNo));
  } else {
    windows = history_.In(job.span);
  }
  Selection selection = {.conditions = request.conditions};
  if (request.labels) selection.labels.emplace(request.labels->begin(), request.labels->end());
  convert::Merger merger;
  for (const SelectedWindow& selected : windows) {
    std::vector<EventChoice> left_out(selected.reset_events.begin(), selected.reset_events.end());
    selection.wants_event = [&](std::string_view event) {
      return choice.Has(event) &&
             std::ranges::none_of(left_out, [&](const auto& other) { return other.Has(event); });
    };
    TRY_ASSIGN(const convert::Profile profile, ProfileOf(*selected.window));
    merger.Add(Select(profile, selection));
  }
  convert::Profile profile = std::move(merger).Finish();
  if (job.output == Output::kFolded && request.event.empty())
    profile = OfFirstEvent(profile, Events());
  const std::uint64_t start_ns = windows.empty() ? job.until_ns : windows.front().window->start_ns;
  const std::uint64_t end_ns = windows.empty() ? start_ns : windows.back().window->end_ns;
  const std::int64_t starts_at_ns = static_cast<std::int64_t>(start_ns) + realtime_offset_ns_;
  const auto duration_ns = static_cast<std::int64_t>(end_ns - start_ns);
  HttpResponse response;
  switch (job.output) {
    case Output::kFolded: {
      TRY_ASSIGN(response.body,
                 FoldedText(profile, request.offsets ? Offsets::kYes : Offsets::kNo));
      break;
    }
    case Output::kPprof: {
      TRY_ASSIGN(response.body, PprofFile(profile, starts_at_ns, duration_ns));
      response.content_type = "application/octet-stream";
      response.headers = {{"Content-Disposition", "attachment; filename=\"profile.pb.gz\""}};
      break;
    }
    case Output::kHtml: {
      TRY_ASSIGN(response.body, HtmlPage(profile, starts_at_ns, duration_ns));
      response.content_type = "text/html; charset=utf-8";
      break;
    }
  }
  return response;
}

HttpResponse Service::Health() const {
  const auto longest = std::max<std::chrono::nanoseconds>(kLongestSilence, 3 * options_.window);
  const std::uint64_t silent_ns = record::MonotonicNs() - last_window_ns_;
  if (silent_ns <= static_cast<std::uint64_t>(longest.count())) return {.body = "ok\n"};
  return {.status = 503,
          .body = "the recorder has sent no window for " +
                  std::to_string(silent_ns / kNsPerSecond) + " s\n"};
}

HttpResponse Service::Readiness() const {
  if (!RecordedSince()) return {.status = 503, .body = "nothing is being recorded now\n"};
  return Health();
}

double Service::UnixSeconds(std::uint64_t monotonic_ns) const {
  return static_cast<double>(static_cast<std::int64_t>(monotonic_ns) + realtime_offset_ns_) /
         kNsPerSecond;
}

HttpResponse Service::MetricsPage(std::string_view accept) const {
  const MetricsFormat format = FormatFor(accept);
  ServiceNumbers numbers = {.history = history_.Counts(),
                            .push = push_counts_,
                            .server_cpu_ns = record::SystemClock().CpuNs(),
                            .start_seconds = UnixSeconds(start_ns_)};
  if (const std::optional<std::uint64_t> since_ns = RecordedSince())
    numbers.recorded = {.since_seconds = UnixSeconds(*since_ns), .events = Events()};
  if (http_counts_ != nullptr) {
    numbers.requests = http_counts_->requests;
    numbers.refused = http_counts_->refused;
    numbers.connections = http_counts_->connections;
    numbers.accept_failures = http_counts_->accept_failures;
  }
  return {.content_type = std::string(ContentTypeOf(format)),
          .body = metrics_.Text(numbers, format)};
}

std::string Service::Index() const {
  const HttpResponse readiness = Readiness();
  std::string problem;
  if (readiness.status != 200) problem = readiness.body.substr(0, readiness.body.find('\n'));
  return IndexPage({.problem = std::move(problem),
                    .events = Events(),
                    .recorded_since_ns = RecordedSince(),
                    .now_ns = record::MonotonicNs(),
                    .history = history_.Counts(),
                    .history_span = options_.history.span});
}

}  // namespace perftape::serve
