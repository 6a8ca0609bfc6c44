// SPDX-License-Identifier: Apache-2.0
#include "tests/support/perfdata_builder.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kFileHeaderSize = 104;
constexpr std::uint64_t kPipeHeaderSize = 16;

void AppendSection(std::uint64_t offset, std::uint64_t size, std::vector<std::byte>& out) {
  ByteWriter at(out);
  at.Fixed(offset);
  at.Fixed(size);
}

void Append(const std::vector<std::byte>& bytes, std::vector<std::byte>& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

void PerfDataBuilder::Check(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

void PerfDataBuilder::AddEvent(const EventOptions& options) {
  EventAttr attr;
  attr.size = options.attr_size;
  attr.type = options.type;
  attr.config = options.config;
  attr.sample_period = options.sample_period;
  attr.sample_type = options.sample_type;
  attr.read_format = options.read_format;
  attr.flags = options.flags;
  std::vector<std::uint64_t> ids = options.ids;
  if (ids.empty()) ids.push_back(101 + events_.size());
  events_.push_back(Event{.attr = attr,
                          .format = FormatOf(attr),
                          .ids = std::move(ids),
                          .name = std::string(options.name)});
}

void PerfDataBuilder::AddFeature(FeatureBit bit, FeatureValue value) {
  features_.push_back({bit, std::move(value)});
}

SampleId PerfDataBuilder::TrailerOf(std::size_t event, std::uint32_t pid, std::uint32_t tid,
                                    std::uint64_t time) const {
  return {.pid = pid, .tid = tid, .time = time, .id = events_.at(event).ids.front()};
}

void PerfDataBuilder::AddComm(const CommOptions& options) {
  const Comm comm{.pid = options.pid, .tid = options.tid, .comm = options.comm};
  const SampleId trailer = TrailerOf(options.event, options.pid, options.tid, options.time);
  Check(Encode(comm, trailer, format(options.event), options.misc, records_));
}

void PerfDataBuilder::AddMmap(const MmapOptions& options) {
  Mmap2 mmap{.pid = options.pid,
             .tid = options.tid,
             .start = options.start,
             .length = options.length,
             .page_offset = options.page_offset,
             .device_major = options.device_major,
             .device_minor = options.device_minor,
             .inode = options.inode,
             .build_id = options.build_id,
             .protection = 5,  // PROT_READ | PROT_EXEC
             .flags = 2,       // MAP_PRIVATE
             .filename = options.path};
  auto misc = MiscOf(options.mode);
  if (!options.build_id.empty()) misc |= kMiscMmapBuildId;
  const SampleId trailer = TrailerOf(options.event, options.pid, options.tid, options.time);
  Check(Encode(mmap, trailer, format(options.event), misc, records_));
}

void PerfDataBuilder::AddFork(const TaskOptions& options) {
  const Fork fork{{.pid = options.pid,
                   .ppid = options.ppid,
                   .tid = options.tid,
                   .ptid = options.ptid,
                   .time = options.time}};
  const SampleId trailer = TrailerOf(options.event, options.ppid, options.ptid, options.time);
  Check(Encode(fork, trailer, format(options.event), options.misc, records_));
}

void PerfDataBuilder::AddExit(const TaskOptions& options) {
  const Exit exit{{.pid = options.pid,
                   .ppid = options.ppid,
                   .tid = options.tid,
                   .ptid = options.ptid,
                   .time = options.time}};
  const SampleId trailer = TrailerOf(options.event, options.pid, options.tid, options.time);
  Check(Encode(exit, trailer, format(options.event), options.misc, records_));
}

void PerfDataBuilder::AddSample(const SampleOptions& options) {
  const Sample sample{.id = events_.at(options.event).ids.front(),
                      .ip = options.ip,
                      .pid = options.pid,
                      .tid = options.tid,
                      .time = options.time,
                      .addr = options.addr,
                      .cpu = options.cpu,
                      .period = options.period,
                      .callchain = WordArray(options.callchain),
                      .raw = options.raw};
  Check(EncodeSample(sample, format(options.event), MiscOf(options.mode), records_));
}

void PerfDataBuilder::AddLost(std::uint64_t count, std::uint64_t time) {
  const Lost lost{.event_id = events_.at(0).ids.front(), .count = count};
  Add(lost, TrailerOf(0, 0, 0, time));
}

void PerfDataBuilder::AddLostSamples(std::uint64_t count, std::uint64_t time, std::uint16_t misc) {
  Add(LostSamples{.count = count}, TrailerOf(0, 0, 0, time), misc);
}

void PerfDataBuilder::AddKsymbol(const Ksymbol& symbol, std::uint64_t time) {
  Add(symbol, TrailerOf(0, 0, 0, time), MiscOf(CpuMode::kKernel));
}

void PerfDataBuilder::AddBuildId(std::string_view path, const BuildId& id, CpuMode mode) {
  const HeaderBuildId entry{.pid = -1, .build_id = id, .filename = path};
  Check(Encode(entry, static_cast<std::uint16_t>(MiscOf(mode) | kMiscBuildIdSize), records_));
}

void PerfDataBuilder::AddRound() {
  Check(Encode(FinishedRound{}, 0, records_));
}

void PerfDataBuilder::AddHeaderOnly(const HeaderOnly& header) {
  ByteWriter at(records_);
  at.Fixed(header.type);
  at.Fixed(header.misc);
  at.Fixed(header.size);
}

std::vector<std::byte> PerfDataBuilder::Build() const {
  return container_ == Container::kPipe ? BuildPipe() : BuildFile();
}

// Writes header, ids, attributes, records, feature table and features, in perf's order.
std::vector<std::byte> PerfDataBuilder::BuildFile() const {
  std::vector<std::byte> ids, attrs;
  for (const Event& event : events_) {
    EncodeAttr(event.attr, attrs);
    AppendSection(kFileHeaderSize + ids.size(), event.ids.size() * 8, attrs);
    ByteWriter(ids).Words(WordArray(event.ids), event.ids.size());
  }
  std::vector<Feature> sorted = features_;
  std::ranges::sort(sorted, {}, &Feature::bit);
  std::array<std::uint64_t, kFeatureBits / 64> bits = {};
  for (const Feature& feature : sorted) {
    const auto bit = std::to_underlying(feature.bit);
    bits[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  const std::uint64_t data_offset = kFileHeaderSize + ids.size() + attrs.size();
  const std::uint64_t table_offset = data_offset + records_.size();

  std::vector<std::byte> file;
  ByteWriter at(file);
  at.Blob(AsBytes("PERFILE2"), 8);
  at.Fixed(kFileHeaderSize);
  at.Fixed(std::uint64_t{events_.empty() ? EventAttr::kSize : events_.front().attr.size} + 16);
  AppendSection(kFileHeaderSize + ids.size(), attrs.size(), file);
  AppendSection(data_offset, records_.size(), file);
  AppendSection(0, 0, file);  // event_types
  for (const std::uint64_t word : bits) at.Fixed(word);
  Append(ids, file);
  Append(attrs, file);
  Append(records_, file);

  std::vector<std::byte> sections;
  const std::uint64_t sections_offset = table_offset + sorted.size() * 16;
  for (const Feature& feature : sorted) {
    const std::size_t start = sections.size();
    EncodeFeature(feature.value, sections);
    AppendSection(sections_offset + start, sections.size() - start, file);
  }
  Append(sections, file);
  return file;
}

// Writes header, ATTR, FEATURE and EVENT_UPDATE records, then the others.
std::vector<std::byte> PerfDataBuilder::BuildPipe() const {
  std::vector<std::byte> file;
  ByteWriter at(file);
  at.Blob(AsBytes("PERFILE2"), 8);
  at.Fixed(kPipeHeaderSize);
  for (const Event& event : events_) {
    at.Fixed(RecordType::kHeaderAttr);
    at.Fixed(std::uint16_t{0});
    at.Fixed(static_cast<std::uint16_t>(8 + event.attr.size + event.ids.size() * 8));
    EncodeAttr(event.attr, file);
    at.Words(WordArray(event.ids), event.ids.size());
  }
  for (const Feature& feature : features_) {
    std::vector<std::byte> payload;
    EncodeFeature(feature.value, payload);
    Check(Encode(HeaderFeature{std::to_underlying(feature.bit), payload}, 0, file));
  }
  for (const Event& event : events_) {
    Check(Encode(EventUpdate{EventUpdate::kName, event.ids.front(), event.name}, 0, file));
  }
  Append(records_, file);
  return file;
}

Reader PerfDataBuilder::Open() {
  Result<Reader> reader = Reader::FromBytes(opened_.emplace_back(Build()));
  if (!reader) throw std::runtime_error(reader.error().message);
  return *std::move(reader);
}

}  // namespace perftape::perfdata
