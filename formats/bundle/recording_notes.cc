// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/recording_notes.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "formats/bundle/archive_reader.h"
#include "formats/bundle/archive_writer.h"
#include "formats/bundle/embedding.h"
#include "formats/bundle/json_fields.h"
#include "formats/bundle/noted_cgroups_json.h"
#include "formats/json/write.h"

namespace perftape::bundle {
namespace {

constexpr std::uint64_t kNotesVersion = 1;
constexpr std::size_t kLargestNotes = std::size_t{64} << 20;
// The notes, a list in them, an entry, a list in it, an entry or pair of that, a field.
constexpr std::size_t kMaxNotesDepth = 6;
constexpr int kNotesLevel = 1, kCopyLevel = 9;  // zstd's

Json LossJson(const NotedLoss& loss, const char* count) {
  Json json = Json::EmptyObject();
  Put(json, "event", loss.event);
  if (loss.cpu >= 0) json["cpu"] = loss.cpu;
  Put(json, "cause", loss.cause);
  json[count] = loss.count;
  return json;
}

Json ChainsJson(const NotedChains& chains) {
  Json json = Json::EmptyObject();
  Put(json, "event", chains.event);
  Put(json, "end", chains.end);
  json["chains"] = chains.count;
  return json;
}

Json ThrottlingJson(const NotedThrottling& throttling) {
  Json json = Json::EmptyObject();
  Put(json, "event", throttling.event);
  json["cpu"] = throttling.cpu;
  json["times"] = throttling.times;
  json["ns"] = throttling.ns;
  return json;
}

Json AbsenceJson(const NotedAbsence& absence) {
  Json json = {{"cpu", absence.cpu}, {"from_ns", absence.from_ns}};
  if (absence.until_ns) json["until_ns"] = *absence.until_ns;
  return json;
}

// {"event": "cpu-clock", "times": 2, "ns": 30, "pauses": [[10, 20], [40, 60]]}
Json OnePausesJson(const NotedPauses& pauses) {
  Json json = Json::EmptyObject();
  Put(json, "event", pauses.event);
  json["times"] = pauses.times;
  json["ns"] = pauses.off_ns;
  Json& list = json["pauses"] = Json::EmptyList();
  for (const NotedPause& pause : pauses.pauses) {
    Json& pair = list.push_back(Json::EmptyList());
    pair.push_back(pause.from_ns);
    pair.push_back(pause.until_ns);
  }
  return json;
}

Json ContainerJson(const NotedContainer& container) {
  Json json = Json::EmptyObject();
  Put(json, "cgroup", container.cgroup);
  Put(json, "pod_uid", container.pod_uid);
  Put(json, "container_id", container.container_id);
  Put(json, "namespace", container.pod_namespace);
  Put(json, "pod", container.pod);
  Put(json, "container", container.container);
  return json;
}

Json ProcessJson(const NotedProcess& process) {
  Json json = {{"pid", process.pid}, {"from_ns", process.from_ns}};
  if (process.until_ns) json["until_ns"] = *process.until_ns;
  Json& attributes = json["attributes"] = Json::EmptyList();
  for (const NotedAttribute& attribute : process.attributes) {
    Json& one = attributes.push_back(Json::EmptyObject());
    Put(one, "key", attribute.key);
    Put(one, "text", attribute.text);
  }
  return json;
}

// [[3, 17], [110, 1]]
Json CountsJson(const std::vector<NotedCount>& counts) {
  Json json = Json::EmptyList();
  for (const NotedCount& count : counts) {
    Json& pair = json.push_back(Json::EmptyList());
    pair.push_back(count.number);
    pair.push_back(count.count);
  }
  return json;
}

Json LatencyJson(const NotedLatency& latency) {
  Json json = Json::EmptyObject();
  Put(json, "probe", latency.probe);
  json["pid"] = latency.pid;
  Put(json, "comm", latency.comm);
  Put(json, "cgroup", latency.cgroup);
  json["count"] = latency.count;
  json["sum_ns"] = latency.sum_ns;
  json["max_ns"] = latency.max_ns;
  json["errors"] = CountsJson(latency.errors);
  json["buckets"] = CountsJson(latency.buckets);
  return json;
}

void PutLatency(const RecordingNotes& notes, Json& json) {
  if (notes.latency_min.empty()) return;
  for (const char* list : {"latency_min", "latency", "latency_lost"})
    json[list] = Json::EmptyList();
  for (const NotedLatencyMin& min : notes.latency_min) {
    Json one = Json::EmptyObject();
    Put(one, "probe", min.probe);
    one["min_ns"] = min.min_ns;
    one["errors"] = min.samples_errors;
    json["latency_min"].push_back(std::move(one));
  }
  for (const NotedLatency& latency : notes.latency) json["latency"].push_back(LatencyJson(latency));
  for (const NotedLatencyLoss& loss : notes.latency_lost) {
    Json one = Json::EmptyObject();
    Put(one, "probe", loss.probe);
    Put(one, "cause", loss.cause);
    one["calls"] = loss.count;
    json["latency_lost"].push_back(std::move(one));
  }
}

std::vector<NotedCount> CountsOf(Fields& at, const std::string& key) {
  std::vector<NotedCount> counts;
  for (const Json& pair : at.List(key)) {
    const std::span<const Json> both = pair.elements();
    const bool is_pair = both.size() == 2 && both[0].AsInteger() && both[1].AsUnsigned();
    at.Check(is_pair, key);
    if (is_pair) counts.push_back({*both[0].AsInteger(), *both[1].AsUnsigned()});
  }
  return counts;
}

std::uint32_t PidOf(Fields& at) {
  const std::uint64_t pid = at.Number("pid");
  at.Check(pid <= UINT_MAX, "pid");
  return static_cast<std::uint32_t>(pid);
}

NotedLatency LatencyOf(Fields& at) {
  return {.probe = at.Text("probe"),
          .pid = PidOf(at),
          .comm = at.Text("comm"),
          .cgroup = at.Text("cgroup"),
          .count = at.Number("count"),
          .sum_ns = at.Number("sum_ns"),
          .max_ns = at.Number("max_ns"),
          .errors = CountsOf(at, "errors"),
          .buckets = CountsOf(at, "buckets")};
}

int CpuOf(Fields& at) {
  if (!at.Has("cpu")) return -1;
  const std::uint64_t cpu = at.Number("cpu");
  at.Check(cpu <= INT_MAX, "cpu");
  return static_cast<int>(std::min<std::uint64_t>(cpu, INT_MAX));
}

// Reads the entries of a list with `read`, which gets the fields of an entry.
template <class Entry, class Read>
Status ReadList(Fields& at, const std::string& key, std::vector<Entry>& entries, Read read) {
  for (const Json& json : at.List(key)) {
    Fields fields(json);
    entries.push_back(read(fields));
    if (!fields.wrong().empty())
      return WrongField(key + "[" + std::to_string(entries.size() - 1) + "]", fields.wrong());
  }
  return {};
}

NotedLoss LossOf(Fields& at, const char* count) {
  return {.event = at.Text("event"),
          .cpu = CpuOf(at),
          .cause = at.Text("cause"),
          .count = at.Number(count)};
}

NotedAbsence AbsenceOf(Fields& at) {
  NotedAbsence absence{.cpu = CpuOf(at), .from_ns = at.Number("from_ns")};
  if (at.Has("until_ns")) absence.until_ns = at.Number("until_ns");
  return absence;
}

NotedRate RateOf(Fields& at) {
  return {.time_ns = at.Number("time_ns"),
          .divisor = at.Number("divisor"),
          .cpu_percent = at.Real("cpu_percent")};
}

NotedPauses PausesOf(Fields& at) {
  NotedPauses pauses = {
      .event = at.Text("event"), .times = at.Number("times"), .off_ns = at.Number("ns")};
  for (const Json& pair : at.List("pauses")) {
    const std::span<const Json> both = pair.elements();
    const bool is_pause = both.size() == 2 && both[0].AsUnsigned() && both[1].AsUnsigned() &&
                          *both[0].AsUnsigned() <= *both[1].AsUnsigned();
    at.Check(is_pause, "pauses");
    if (is_pause) pauses.pauses.push_back({*both[0].AsUnsigned(), *both[1].AsUnsigned()});
  }
  return pauses;
}

NotedContainer ContainerOf(Fields& at) {
  return {.cgroup = at.Text("cgroup"),
          .pod_uid = at.Text("pod_uid"),
          .container_id = at.Text("container_id"),
          .pod_namespace = at.Text("namespace"),
          .pod = at.Text("pod"),
          .container = at.Text("container")};
}

NotedProcess ProcessOf(Fields& at) {
  NotedProcess process = {.pid = PidOf(at), .from_ns = at.Number("from_ns")};
  if (at.Has("until_ns")) process.until_ns = at.Number("until_ns");
  for (const Json& one : at.List("attributes")) {
    Fields of(one);
    process.attributes.push_back({.key = of.Text("key"), .text = of.Text("text")});
    at.Check(of.wrong().empty(), "attributes");
  }
  return process;
}

Status ReadLatency(Fields& at, RecordingNotes& notes) {
  TRY(ReadList(at, "latency", notes.latency, &LatencyOf));
  TRY(ReadList(at, "latency_min", notes.latency_min, [](Fields& of) {
    return NotedLatencyMin{of.Text("probe"), of.Number("min_ns"), of.Flag("errors")};
  }));
  return ReadList(at, "latency_lost", notes.latency_lost, [](Fields& of) {
    return NotedLatencyLoss{of.Text("probe"), of.Text("cause"), of.Number("calls")};
  });
}

Status ReadLists(Fields& at, RecordingNotes& notes) {
  TRY(ReadList(at, "lost", notes.lost, [](Fields& of) { return LossOf(of, "samples"); }));
  TRY(ReadList(at, "lost_process_events", notes.lost_processes,
               [](Fields& of) { return LossOf(of, "records"); }));
  TRY(ReadList(at, "chains", notes.chains, [](Fields& of) {
    return NotedChains{of.Text("event"), of.Text("end"), of.Number("chains")};
  }));
  TRY(ReadList(at, "throttled", notes.throttled, [](Fields& of) {
    return NotedThrottling{of.Text("event"), CpuOf(of), of.Number("times"), of.Number("ns")};
  }));
  TRY(ReadList(at, "absent_cpus", notes.absences, &AbsenceOf));
  TRY(ReadList(at, "rates", notes.rates, &RateOf));
  TRY(ReadList(at, "off", notes.pauses, &PausesOf));
  TRY(ReadList(at, "containers", notes.containers, &ContainerOf));
  TRY(ReadList(at, "processes", notes.processes, &ProcessOf));
  return ReadLatency(at, notes);
}

}  // namespace

Json PausesJson(const std::vector<NotedPauses>& all) {
  Json json = Json::EmptyList();
  for (const NotedPauses& pauses : all) json.push_back(OnePausesJson(pauses));
  return json;
}

Json NotesJson(const RecordingNotes& notes) {
  Json json = {{"version", kNotesVersion}, {"samples", notes.samples}};
  for (const char* list :
       {"lost", "lost_process_events", "chains", "throttled", "absent_cpus", "rates"}) {
    json[list] = Json::EmptyList();
  }
  for (const NotedLoss& loss : notes.lost) json["lost"].push_back(LossJson(loss, "samples"));
  for (const NotedLoss& loss : notes.lost_processes) {
    json["lost_process_events"].push_back(LossJson(loss, "records"));
  }
  for (const NotedChains& chains : notes.chains) json["chains"].push_back(ChainsJson(chains));
  for (const NotedThrottling& throttling : notes.throttled) {
    json["throttled"].push_back(ThrottlingJson(throttling));
  }
  for (const NotedAbsence& absence : notes.absences) {
    json["absent_cpus"].push_back(AbsenceJson(absence));
  }
  for (const NotedRate& rate : notes.rates) {
    json["rates"].push_back(
        {{"time_ns", rate.time_ns}, {"divisor", rate.divisor}, {"cpu_percent", rate.cpu_percent}});
  }
  if (!notes.pauses.empty()) json["off"] = PausesJson(notes.pauses);
  if (notes.end_ns != 0) {
    json["start_ns"] = notes.start_ns;
    json["end_ns"] = notes.end_ns;
  }
  if (notes.aggregate_ns != 0) {
    json["aggregate_ns"] = notes.aggregate_ns;
    json["aggregated"] = notes.aggregated;
  }
  Put(json, "trigger", notes.trigger);
  for (const NotedContainer& one : notes.containers) {
    json["containers"].push_back(ContainerJson(one));
  }
  if (!notes.cgroups.empty()) json["cgroups"] = CgroupsJson(notes.cgroups);
  for (const NotedProcess& one : notes.processes) json["processes"].push_back(ProcessJson(one));
  PutLatency(notes, json);
  return json;
}

std::string EncodeNotes(const RecordingNotes& notes) {
  return json::Text(NotesJson(notes), json::Layout::kNarrow);
}

Result<RecordingNotes> DecodeNotes(std::string_view text) {
  const std::string name(kNotesName);
  TRY_ASSIGN(const Json json, ParseObject(name, text, kLargestNotes, kMaxNotesDepth));
  Fields at(json);
  const std::uint64_t version = at.Number("version");
  if (version > kNotesVersion) {
    return Fail(ErrorCode::kUnsupported,
                name + ": version " + std::to_string(version) + "; this perftape reads version 1");
  }
  at.Check(version == kNotesVersion, "version");
  RecordingNotes notes;
  notes.samples = at.Number("samples");
  notes.start_ns = at.Number("start_ns");
  notes.end_ns = at.Number("end_ns");
  notes.aggregate_ns = at.Number("aggregate_ns");
  notes.aggregated = at.Number("aggregated");
  notes.trigger = at.Text("trigger");
  TRY(ReadLists(at, notes));
  TRY_ASSIGN(notes.cgroups, CgroupsOf(at));
  if (!at.wrong().empty()) return WrongField(name, at.wrong());
  return notes;
}

Status WriteNotesArchive(UniqueFd fd, const RecordingNotes& notes) {
  lseek(fd.get(), 0, SEEK_END);
  TRY_ASSIGN(ArchiveWriter tar, ArchiveWriter::Create(std::move(fd), kNotesLevel));
  TRY(tar.AddFile(std::string(kNotesName), AsBytes(EncodeNotes(notes))));
  TRY(std::move(tar).Finish());
  return {};
}

Result<std::uint64_t> WriteArchiveWithNotes(UniqueFd fd, Bytes archive,
                                            const std::optional<RecordingNotes>& notes) {
  TRY_ASSIGN(const UnpackedArchive unpacked, Unpack(archive, UnpackLimits{}));
  lseek(fd.get(), 0, SEEK_END);
  TRY_ASSIGN(ArchiveWriter tar, ArchiveWriter::Create(std::move(fd), kCopyLevel));
  if (notes) TRY(tar.AddFile(std::string(kNotesName), AsBytes(EncodeNotes(*notes))));
  for (const UnpackedMember& member : unpacked.members) {
    if (member.name == kNotesName) continue;
    TRY(member.is_link() ? tar.AddLink(member.name, member.target)
                         : tar.AddFile(member.name, unpacked.BytesOf(member)));
  }
  return std::move(tar).Finish();
}

Result<std::optional<RecordingNotes>> FindNotes(Bytes perf_data) {
  TRY_ASSIGN(const std::optional<Extent> extent, FindEmbedded(perf_data));
  if (!extent) return std::nullopt;
  return FindNotesInArchive(perf_data.subspan(extent->offset, extent->size));
}

Result<std::optional<RecordingNotes>> FindNotesInArchive(Bytes archive) {
  TRY_ASSIGN(const auto json, ReadFirstMember(archive, kNotesName, kLargestNotes));
  if (!json) return std::nullopt;
  TRY_ASSIGN(RecordingNotes notes, DecodeNotes(AsText(*json)));
  return notes;
}

bool HasOnlyNotes(Bytes perf_data, const Extent& extent) {
  // Bundles are larger. They are not unpacked as a whole.
  constexpr UnpackLimits kLimits = {.total = 1 << 20, .always = 1 << 20, .members = 1};
  const Result<UnpackedArchive> unpacked =
      Unpack(perf_data.subspan(extent.offset, extent.size), kLimits);
  return unpacked && unpacked->members.size() == 1 && unpacked->members[0].name == kNotesName;
}

}  // namespace perftape::bundle
