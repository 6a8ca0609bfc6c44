// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/pusher.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "formats/base/file.h"

namespace perftape::serve {
namespace {

using std::chrono::milliseconds;

// After a failure, the next attempts wait longer and longer.
constexpr milliseconds kFirstDelay{1000}, kLongestDelay{30'000};
// A receiver that asks for more time gets at most so much.
constexpr std::chrono::hours kLongestAskedDelay{1};
// At the end of the service, what is left is sent for so long.
constexpr milliseconds kEndTime{10'000};

}  // namespace

Pusher::Pusher(const PushOptions& options, HttpClient client, Renewal renewal, PushCounts& counts,
               cli::Console& console)
    : target_(options.target),
      client_(std::move(client)),
      renewal_(std::move(renewal)),
      queue_(options.queue_bytes, counts),
      counts_(counts),
      console_(console) {}

Status Pusher::Run(int channel) {
  while (HasWork()) {
    Begin();
    const std::optional<HttpAnswer> answer = client_.Wait(is_open_ ? channel : -1, TimeToWait());
    if (answer) Act(*answer);
    if (is_open_) TRY(Read(channel));
  }
  DropRest();
  return {};
}

bool Pusher::HasWork() const {
  return is_open_ || ((current_ || !queue_.empty()) && Clock::now() < end_);
}

void Pusher::Begin() {
  if (client_.is_busy()) return;
  if (std::optional<HttpClient> client = renewal_()) {
    client_ = *std::move(client);
    not_before_ = {};  // it may succeed where the last one failed
  }
  if (Clock::now() < not_before_) return;
  if (!current_ && !queue_.empty()) current_ = queue_.Pop();
  if (current_) client_.Start(BodyOf(current_->body, target_.protocol));
}

milliseconds Pusher::TimeToWait() const {
  constexpr milliseconds kLongest{1000};
  if (client_.is_busy() || !current_) return kLongest;
  return std::clamp(std::chrono::ceil<milliseconds>(not_before_ - Clock::now()), milliseconds(0),
                    kLongest);
}

void Pusher::Act(const HttpAnswer& answer) {
  PushVerdict verdict = VerdictOn(answer, target_.protocol);
  if (verdict.kind == PushVerdict::Kind::kRetry) {
    Delay(verdict);
    return;
  }
  const Payload done = *std::exchange(current_, std::nullopt);
  failures_ = 0;
  if (verdict.kind == PushVerdict::Kind::kRefused) {
    counts_.dropped(PushDrop::kRefused) += done.samples;
    Report("refused a request, which is dropped: " + verdict.message);
    return;
  }
  ++counts_.requests;
  counts_.samples += done.samples;
  counts_.rejected_profiles += verdict.rejected_profiles;
  if (verdict.rejected_profiles != 0) {
    Report(fmt::format("rejected {} profiles: {}", verdict.rejected_profiles, verdict.message));
  } else if (!verdict.message.empty()) {
    Report(verdict.message);
  } else if (!reported_.empty()) {
    reported_.clear();
    console_.Note(target_.text + " accepts profiles again");
  }
}

// Half of each delay is random, so that many machines do not come back at the same time.
void Pusher::Delay(const PushVerdict& verdict) {
  ++counts_.retries;
  const unsigned doublings = std::min(failures_++, 10U);
  const milliseconds usual = std::min(kFirstDelay * (1 << doublings), kLongestDelay);
  std::uniform_int_distribution<milliseconds::rep> part(usual.count() / 2, usual.count());
  milliseconds delay(part(random_));
  if (verdict.retry_after) {
    delay = std::min<milliseconds>(std::chrono::ceil<milliseconds>(*verdict.retry_after),
                                   kLongestAskedDelay);
  }
  not_before_ = Clock::now() + delay;
  Report("does not accept profiles now: " + verdict.message);
}

// The same is not said twice in a row.
void Pusher::Report(std::string message) {
  if (message == reported_) return;
  reported_ = std::move(message);
  console_.Warning(target_.text + " " + reported_);
}

// Reads what is there.
Status Pusher::Read(int channel) {
  std::vector<std::byte> bytes(std::size_t{1} << 16);
  while (true) {
    const ssize_t size = read(channel, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return {};
    if (size < 0) return FailErrno("pushes", errno);
    if (size == 0) break;
    TRY(payloads_.Add(Bytes(bytes).first(static_cast<std::size_t>(size)),
                      [&](Payload payload) { queue_.Add(std::move(payload)); }));
  }
  is_open_ = false;
  end_ = Clock::now() + kEndTime;
  return {};
}

void Pusher::DropRest() {
  if (current_) counts_.dropped(PushDrop::kEnd) += current_->samples;
  queue_.DropAll(PushDrop::kEnd);
  const std::uint64_t left = counts_.dropped(PushDrop::kEnd);
  if (left != 0)
    console_.Warning(fmt::format("{}: {} samples were not delivered", target_.text, left));
}

}  // namespace perftape::serve
