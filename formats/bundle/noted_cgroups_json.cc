// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/noted_cgroups_json.h"

#include <string>
#include <utility>

namespace perftape::bundle {
namespace {

template <class Struct>
struct NumberField {
  const char* key;
  std::uint64_t Struct::*member;
};

constexpr NumberField<CgroupUse> kUseFields[] = {
    {"time_ns", &CgroupUse::time_ns},
    {"cpu_ns", &CgroupUse::cpu_ns},
    {"periods", &CgroupUse::periods},
    {"throttled_periods", &CgroupUse::throttled_periods},
    {"throttled_ns", &CgroupUse::throttled_ns},
    {"memory_bytes", &CgroupUse::memory_bytes},
    {"memory_failures", &CgroupUse::memory_failures},
    {"oom_kills", &CgroupUse::oom_kills},
    {"tasks", &CgroupUse::tasks},
    {"tasks_refused", &CgroupUse::tasks_refused},
};

constexpr NumberField<NotedCgroup> kCgroupFields[] = {
    {"cpu_quota_us", &NotedCgroup::cpu_quota_us}, {"cpu_period_us", &NotedCgroup::cpu_period_us},
    {"memory_limit", &NotedCgroup::memory_limit}, {"task_limit", &NotedCgroup::task_limit},
    {"memory_peak", &NotedCgroup::memory_peak},   {"memory_peak_ns", &NotedCgroup::memory_peak_ns},
};

constexpr NumberField<NotedIoLimit> kIoFields[] = {
    {"limit", &NotedIoLimit::limit},
    {"first", &NotedIoLimit::first},
    {"last", &NotedIoLimit::last},
    {"peak", &NotedIoLimit::peak},
};

template <class Struct, std::size_t kCount>
void PutNumbers(const NumberField<Struct> (&fields)[kCount], const Struct& from, Json& json) {
  for (const NumberField<Struct>& field : fields) {
    if (from.*field.member != 0) json[field.key] = from.*field.member;
  }
}

template <class Struct, std::size_t kCount>
void ReadNumbers(const NumberField<Struct> (&fields)[kCount], Fields& from, Struct& into) {
  for (const NumberField<Struct>& field : fields) into.*field.member = from.Number(field.key);
}

Json UseJson(const CgroupUse& use) {
  Json json = Json::EmptyObject();
  PutNumbers(kUseFields, use, json);
  return json;
}

Json CgroupJson(const NotedCgroup& cgroup) {
  Json json = Json::EmptyObject();
  Put(json, "path", cgroup.path);
  PutNumbers(kCgroupFields, cgroup, json);
  // Lists of readings, so that an absent one is empty as every list.
  json["readings"].push_back(UseJson(cgroup.first));
  json["readings"].push_back(UseJson(cgroup.last));
  for (const NotedIoLimit& limit : cgroup.io_limits) {
    Json one = Json::EmptyObject();
    Put(one, "device", limit.device);
    Put(one, "kind", limit.kind);
    PutNumbers(kIoFields, limit, one);
    json["io_limits"].push_back(std::move(one));
  }
  if (!cgroup.pids.empty()) json["pids"] = cgroup.pids;
  return json;
}

CgroupUse UseOf(const Json& json, Fields& cgroup) {
  CgroupUse use;
  Fields at(json);
  ReadNumbers(kUseFields, at, use);
  cgroup.Check(at.wrong().empty(), "readings");
  return use;
}

NotedCgroup CgroupOf(Fields& at) {
  NotedCgroup cgroup{.path = at.Text("path")};
  ReadNumbers(kCgroupFields, at, cgroup);
  const std::span<const Json> readings = at.List("readings");
  at.Check(readings.size() == 2, "readings");
  if (readings.size() == 2) {
    cgroup.first = UseOf(readings[0], at);
    cgroup.last = UseOf(readings[1], at);
  }
  for (const Json& json : at.List("io_limits")) {
    Fields limit(json);
    NotedIoLimit& noted = cgroup.io_limits.emplace_back(
        NotedIoLimit{.device = limit.Text("device"), .kind = limit.Text("kind")});
    ReadNumbers(kIoFields, limit, noted);
    at.Check(limit.wrong().empty(), "io_limits");
  }
  for (const Json& pid : at.List("pids")) {
    const std::optional<std::uint64_t> number = pid.AsUnsigned();
    at.Check(number.has_value(), "pids");
    if (number) cgroup.pids.push_back(*number);
  }
  return cgroup;
}

}  // namespace

Json CgroupsJson(const std::vector<NotedCgroup>& cgroups) {
  Json list = Json::EmptyList();
  for (const NotedCgroup& cgroup : cgroups) list.push_back(CgroupJson(cgroup));
  return list;
}

Result<std::vector<NotedCgroup>> CgroupsOf(Fields& notes) {
  std::vector<NotedCgroup> cgroups;
  for (const Json& json : notes.List("cgroups")) {
    Fields fields(json);
    cgroups.push_back(CgroupOf(fields));
    if (!fields.wrong().empty()) {
      return WrongField("cgroups[" + std::to_string(cgroups.size() - 1) + "]", fields.wrong());
    }
  }
  return cgroups;
}

}  // namespace perftape::bundle
