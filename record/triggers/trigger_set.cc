// SPDX-License-Identifier: Apache-2.0
#include "record/triggers/trigger_set.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fnmatch.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <variant>

#include "bpf/wire.h"
#include "formats/perfdata/event_modifiers.h"
#include "formats/perfdata/record.h"

namespace perftape::record {
namespace {

std::unexpected<Error> FailOpen(const std::string& path, int number) {
  if (number == ENOENT || number == EOPNOTSUPP) {
    return Fail(ErrorCode::kNotFound,
                path +
                    ": the kernel has no pressure stall information: build it with "
                    "CONFIG_PSI=y, or boot with psi=1");
  }
  return FailErrno(path, number);
}

std::unexpected<Error> FailWrite(const std::string& path, const std::string& threshold,
                                 int number) {
  if (number == EINVAL) {
    return Fail(ErrorCode::kInvalidArgument,
                path + ": the kernel refuses '" + threshold +
                    "': without CAP_SYS_RESOURCE the window must be a multiple of 2s");
  }
  return FailErrno(path, number);
}

bool IsWait(const PlannedEvent& event) {
  return IsOffCpu(event.cause) && event.cause != SampleCause::kWakeup;
}

// A name also matches without its modifiers: a recording without privileges adds one.
bool Matches(const std::string& pattern, const std::string& name) {
  const auto matches = [&](const std::string& text) {
    return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  };
  return matches(name) || matches(std::string(perfdata::WithoutModifiers(name)));
}

std::string NamesOf(const FileEvents& events) {
  constexpr std::size_t kMostShown = 8;
  std::string names;
  const auto all = events.sampling();
  for (std::size_t i = 0; i < all.size() && i < kMostShown; ++i) {
    names += (i == 0 ? "" : ", ") + all[i].name;
  }
  return all.size() > kMostShown ? names + ", ..." : names;
}

}  // namespace

Result<PressureWatch> PressureWatch::Open(const PressureCondition& condition,
                                          const std::filesystem::path& directory) {
  const std::string path = directory / condition.resource;
  UniqueFd file(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!file) return FailOpen(path, errno);
  const std::string threshold = fmt::format("{} {} {}", condition.is_full ? "full" : "some",
                                            condition.stalled.count(), condition.window.count());
  // The kernel wants the 0 at the end, too (kernel/sched/psi.c, psi_write).
  if (::write(file.get(), threshold.c_str(), threshold.size() + 1) < 0) {
    return FailWrite(path, threshold, errno);
  }
  return PressureWatch(std::move(file));
}

bool PressureWatch::WasExceeded() const {
  pollfd wait = {.fd = file_.get(), .events = POLLPRI, .revents = 0};
  return ::poll(&wait, 1, 0) > 0 && (wait.revents & POLLPRI) != 0;
}

Result<TriggerSet> TriggerSet::Open(std::span<const TriggerSpec> specs,
                                    const std::vector<int>& cpus) {
  TriggerSet set;
  set.specs_ = specs;
  for (const TriggerSpec& spec : specs) {
    if (const auto* pressure = std::get_if<PressureCondition>(&spec.condition)) {
      Result<PressureWatch> watch = PressureWatch::Open(*pressure);
      if (!watch) return Fail(InContext("trigger " + spec.text, std::move(watch).error()));
      set.pressures_.emplace_back(&spec, *std::move(watch));
    } else if (const auto* busy = std::get_if<BusyCondition>(&spec.condition)) {
      TRY_ASSIGN(BusyCpus watch, BusyCpus::Open(*busy, cpus));
      set.busy_.emplace_back(&spec, std::move(watch));
    }
  }
  return set;
}

Status TriggerSet::Bind(const FileEvents& events) {
  formats_ = events.sample_formats();
  for (const TriggerSpec& spec : specs_) TRY(BindOne(spec, events));
  return {};
}

Status TriggerSet::BindOne(const TriggerSpec& spec, const FileEvents& events) {
  const auto* const condition = std::get_if<SampleCondition>(&spec.condition);
  const bool is_wait = std::holds_alternative<WaitCondition>(spec.condition);
  if (condition == nullptr && !is_wait) return {};
  SampleWatch watch{.spec = &spec};
  if (condition != nullptr && condition->per_second) watch.rate.emplace(*condition->per_second);
  samples_.push_back(std::move(watch));
  bool has_event = false;
  for (std::uint32_t event = 0; event < events.sampling().size(); ++event) {
    const PlannedEvent& planned = events.sampling()[event];
    const bool is_it = is_wait ? IsWait(planned) : Matches(condition->event, planned.name);
    if (!is_it) continue;
    has_event = true;
    for (const std::uint64_t id : events.ids().IdsOf(event)) {
      by_id_.emplace(id, samples_.size() - 1);
    }
  }
  if (has_event) return {};
  return Fail(ErrorCode::kNotFound,
              "trigger " + spec.text +
                  ": this event is not recorded: add it with -e; recorded are " + NamesOf(events));
}

void TriggerSet::Observe(const perfdata::RecordView& record) {
  // IDENTIFIER is the first field.
  const auto id = LoadFixed<std::uint64_t>(record.payload.data(), record.order);
  const auto [first, last] = by_id_.equal_range(id);
  if (first == last) return;
  const std::optional<perfdata::Sample> sample =
      perfdata::RecoverSample(record, formats_.Of(record));
  if (!sample) return;
  for (auto at = first; at != last; ++at) {
    SampleWatch& watch = samples_[at->second];
    std::string detail;
    if (Holds(watch, *sample, detail)) Fire(*watch.spec, detail);
  }
}

bool TriggerSet::Holds(SampleWatch& watch, const perfdata::Sample& sample, std::string& detail) {
  constexpr double kMs = 1e6, kSecond = 1e9;  // in nanoseconds
  const auto at = [&] {
    return fmt::format("tid {} at {:.6f} s", sample.tid,
                       static_cast<double>(sample.time) / kSecond);
  };
  if (const auto* wait = std::get_if<WaitCondition>(&watch.spec->condition)) {
    const auto longest_ns = static_cast<std::uint64_t>(wait->longer_than.count());
    // The sum of many short waits is no long one.
    if (sample.period <= longest_ns || sample.ip == WIRE_SHORT_WAITS_IP) return false;
    detail = fmt::format("{:.1f} ms of {}", static_cast<double>(sample.period) / kMs, at());
    return true;
  }
  if (watch.rate && !watch.rate->Add(sample.time)) return false;
  detail = at();
  return true;
}

void TriggerSet::Fire(const TriggerSpec& spec, const std::string& detail) {
  if (!fired_) {
    fired_.emplace(Fired{.text = detail.empty() ? spec.text : spec.text + ": " + detail});
  }
  ++fired_->times;
}

std::optional<TriggerSet::Fired> TriggerSet::Check(std::uint64_t now_ns) {
  for (const auto& [spec, watch] : pressures_) {
    if (watch.WasExceeded()) Fire(*spec, "");
  }
  for (auto& [spec, watch] : busy_) {
    if (const auto percent = watch.Check(now_ns)) Fire(*spec, fmt::format("{:.1f} %", *percent));
  }
  return std::exchange(fired_, std::nullopt);
}

}  // namespace perftape::record
