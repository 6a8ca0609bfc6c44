// SPDX-License-Identifier: Apache-2.0
#include "convert/script/listing.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "convert/import/converted.h"
#include "convert/import/time_window.h"
#include "convert/model/saturating.h"
#include "convert/script/memory_text.h"
#include "convert/script/number_text.h"
#include "convert/script/record_text.h"
#include "convert/script/safe_text.h"
#include "convert/script/value_text.h"

namespace perftape::listing {
namespace {

using perfdata::RecordType;

// Whether the address of a sample is that of an access, in whose mapping perf looks up a symbol
// (tools/perf/util/event.c, sample_addr_correlates_sym).
bool HasSymbolAddress(const perfdata::EventAttr& attr) {
  constexpr std::uint64_t kPageFaults = 2, kMinorFaults = 5, kMajorFaults = 6;
  return attr.type == perfdata::kTypeSoftware &&
         (attr.config == kPageFaults || attr.config == kMinorFaults || attr.config == kMajorFaults);
}

constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;

// Branches lead from user code to the kernel and back (thread__find_map_fb).
perfdata::CpuMode ModeOf(std::uint64_t address, perfdata::CpuMode mode) {
  const bool is_host = mode == perfdata::CpuMode::kKernel || mode == perfdata::CpuMode::kUser;
  if (!is_host) return mode;
  return address >= kKernelHalf ? perfdata::CpuMode::kKernel : perfdata::CpuMode::kUser;
}

convert::Hash128 HashOf(const perfdata::Sample& sample, perfdata::CpuMode mode,
                        const perfdata::Processes& processes) {
  const Bytes chain = sample.callchain.bytes(), branches = sample.branches.bytes();
  const XXH128_hash_t of_chain = XXH3_128bits(chain.data(), chain.size());
  const std::uint64_t key[] = {of_chain.low64,
                               of_chain.high64,
                               XXH3_64bits(branches.data(), branches.size()),
                               sample.pid,
                               static_cast<std::uint64_t>(mode),
                               processes.UserSpace(sample.pid).fingerprint(),
                               processes.UserCode(sample.pid).fingerprint(),
                               processes.kernel().fingerprint()};
  const XXH128_hash_t hash = XXH3_128bits(key, sizeof key);
  return {.low = hash.low64, .high = hash.high64};
}

std::string_view BaseName(std::string_view path) {
  return path.starts_with('/') ? path.substr(path.rfind('/') + 1) : path;
}

template <class Set, class Value>
bool Allows(const Set& selected, const Value& value) {
  return selected.empty() || selected.contains(value);
}

}  // namespace

Listing::Listing(const perfdata::Reader& reader, const convert::FirstPass& first_pass,
                 const Options& options)
    : reader_(reader),
      first_pass_(first_pass),
      options_(options),
      arch_(reader.text(perfdata::FeatureBit::kArch)),
      frames_(first_pass,
              convert::IsConverted(reader.events()) ? convert::Origin::kConverted
                                                    : convert::Origin::kRecorded,
              options.style == Style::kPerf61 ? UserAddress::kFileOffset : UserAddress::kRuntime),
      head_text_(options) {
  std::size_t name_width = 0;
  for (const perfdata::Event& event : reader.events().all()) {
    const OutputType type = TypeOf(event.attr);
    events_.push_back({.fields = options.fields.of(type),
                       .style = static_cast<std::size_t>(type),
                       .has_chains = event.format.Has(perfdata::kCallchain) &&
                                     options.call_graph == CallGraph::kShown,
                       .has_symbol_address = HasSymbolAddress(event.attr),
                       .is_selected = Allows(options.selection.events, event.name)});
    needed_.AddAll(events_.back().fields);
    name_width = std::max(name_width, event.name.size());
  }
  for (std::size_t i = 0; i < events_.size(); ++i) {
    std::string& text = events_[i].name_text;
    const std::string& name = reader.events().all()[i].name;
    text.assign(name_width - name.size(), ' ');
    AppendSafe(text, name);
    text += ": ";
  }
  if (options.selection.time && !first_pass.times.is_empty()) {
    window_ = convert::Resolve(*options.selection.time,
                               {.first = convert::ToSigned(first_pass.times.first),
                                .last = convert::ToSigned(first_pass.times.last)});
  }
}

bool Listing::needs_names() const {
  return needed_.Has(Field::kSym) || needed_.Has(Field::kBrstacksym) ||
         needed_.Has(Field::kSrcline) || !options_.selection.symbols.empty();
}

bool Listing::Selects(const perfdata::Sample& sample, const Event& event, Walk& walk) const {
  const Selection& selection = options_.selection;
  // A sample with counters may count for other events, too.
  const bool counts_alone = !walk.event()->format.Has(perfdata::kRead);
  if (counts_alone && !event.is_printed()) return false;
  if (window_ && !window_->Has(convert::ToSigned(sample.time))) return false;
  if (!Allows(selection.pids, sample.pid) || !Allows(selection.tids, sample.tid)) return false;
  if (walk.event()->format.Has(perfdata::kCpu) && !Allows(selection.cpus, sample.cpu)) return false;
  return selection.comms.empty() || selection.comms.contains(walk.CommOf(sample.tid));
}

bool Listing::SelectsFrame(FrameId frame) const {
  const Selection& selection = options_.selection;
  if (!selection.dsos.empty()) {
    const std::string dso = frames_.DsoOf(frame);
    if (!selection.dsos.contains(dso) && !selection.dsos.contains(BaseName(dso))) return false;
  }
  return Allows(selection.symbols, frames_.NameOf(frame));
}

bool Listing::NeedsAddress(const Event& event) const {
  return event.has_symbol_address && needed_.Has(Field::kAddr) &&
         (needed_.Has(Field::kSym) || needed_.Has(Field::kDso));
}

bool Listing::NeedsBranches() const {
  return needed_.Has(Field::kBrstacksym) ||
         (needed_.Has(Field::kBrstack) && needed_.Has(Field::kDso));
}

void Listing::Collect() {
  Walk walk(reader_, first_pass_);
  while (true) {
    const Result<bool> next = walk.Next();
    if (!next || !*next) break;  // Print reports the damage
    if (walk.sample() == nullptr) continue;
    const Event& event = EventOf(*walk.event());
    if (Selects(*walk.sample(), event, walk)) CollectSample(walk, event);
  }
}

void Listing::CollectSample(Walk& walk, const Event& event) {
  const perfdata::Sample& sample = *walk.sample();
  const perfdata::CpuMode mode = walk.record().cpumode();
  const FrameContext context{.pid = sample.pid, .processes = walk.processes()};
  if (options_.selection.needs_frame()) {
    ids_.push_back(frames_.AddAddress(sample.ip, mode, context));
  }
  if (needed_.Has(Field::kIp)) {
    ids_.push_back(event.has_chains ? CollectChain(walk)
                                    : frames_.AddAddress(sample.ip, mode, context));
  }
  if (NeedsAddress(event)) {
    ids_.push_back(frames_.AddAddress(sample.addr, mode, context));
  }
  if (!NeedsBranches()) return;
  constexpr std::size_t kWords = 3;  // from, to, flags
  for (std::size_t i = 0; i + kWords <= sample.branches.size(); i += kWords) {
    for (const std::uint64_t end : {sample.branches[i], sample.branches[i + 1]}) {
      ids_.push_back(frames_.AddAddress(end, ModeOf(end, mode), context));
    }
  }
}

ChainId Listing::CollectChain(Walk& walk) {
  perfdata::Sample& sample = *walk.sample();
  const perfdata::SampleFormat& format = walk.event()->format;
  const perfdata::CpuMode mode = walk.record().cpumode();
  const perfdata::Processes& processes = walk.processes();
  if (unwinder_ != nullptr && offline_unwind::HasStackCopies(format)) {
    const auto chain =
        unwinder_->Unwind(sample, format, mode,
                          {.pid = sample.pid,
                           .epoch = walk.epoch(),
                           .fingerprint = processes.UserSpace(sample.pid).fingerprint()});
    if (chain) {
      sample.callchain = WordArray(std::as_bytes(chain->words), std::endian::native);
    }
  }
  const convert::Hash128 hash = HashOf(sample, mode, processes);
  const ChainId known = frames_.FindChain(hash);
  if (known != Frames::kNoChain) return known;
  std::span<const perfdata::ChainFrame> frames = callchains_.FramesOf(sample, format, mode);
  if (callchains_.met_unknown_marker()) frames = {};
  return frames_.AddChain(hash, frames.first(std::min(frames.size(), options_.max_stack)),
                          {.pid = sample.pid, .processes = processes});
}

Result<Listing::Report> Listing::Print(const Write& write) {
  Walk walk(reader_, first_pass_);
  perfdata::Deliveries deliveries(reader_.events());
  Report report;
  while (true) {
    Result<bool> next = walk.Next();
    if (!next) {
      report.damage = std::move(next).error();
      break;
    }
    if (!*next) break;
    if (walk.sample() != nullptr) {
      TRY(PrintSample(walk, deliveries, write));
    } else if (walk.record().type != RecordType::kSample && !options_.records.empty()) {
      TRY(PrintRecord(walk, write));
    }
  }
  report.unread = walk.unread();
  report.first_unread = walk.first_unread();
  return report;
}

Status Listing::PrintSample(Walk& walk, perfdata::Deliveries& deliveries, const Write& write) {
  const perfdata::Sample& sample = *walk.sample();
  const perfdata::Event& of = *walk.event();
  const auto delivered = deliveries.Of(sample, of);
  const Event& recorded = EventOf(of);
  if (!Selects(sample, recorded, walk)) return {};
  const bool is_shown = !options_.selection.needs_frame() || SelectsFrame(NextId());
  const std::uint32_t stack = needed_.Has(Field::kIp) ? NextId() : 0;
  const std::size_t further_ids = next_id_;
  for (const perfdata::Delivery& delivery : delivered) {
    const Event& event = EventOf(*delivery.event);
    if (!event.is_printed() || !is_shown) continue;
    next_id_ = further_ids;
    text_.clear();
    AppendStart(walk, event, delivery);
    if (event.fields.Has(Field::kTrace) && of.tracepoint && !sample.raw.empty()) {
      trace_text_.Append(text_, *of.tracepoint, sample.raw);
    }
    AppendMemory(sample, event, of.format.Has(perfdata::kWeightStruct));
    AppendStack(event, recorded.has_chains, stack);
    AppendRest(walk, event);
    text_ += '\n';
    TRY(write(delivery.event->name, text_));
  }
  next_id_ = further_ids;
  if (NeedsAddress(recorded)) NextId();
  if (NeedsBranches()) next_id_ += sample.branches.size() / 3 * 2;
  return {};
}

void Listing::AppendStart(Walk& walk, const Event& event, const perfdata::Delivery& delivery) {
  const perfdata::Sample& sample = *walk.sample();
  const bool is_bare = event.fields.Has(Field::kIp) && event.has_chains;
  head_text_.Append(text_,
                    {.comm = walk.CommOf(sample.tid),
                     .pid = sample.pid,
                     .tid = sample.tid,
                     .cpu = sample.cpu,
                     .time = sample.time,
                     .type = RecordType::kSample,
                     .misc = walk.record().misc},
                    event.fields, is_bare ? CommForm::kBare : CommForm::kPadded);
  if (event.fields.Has(Field::kPeriod)) {
    AppendNumber(text_, delivery.period, 10);
    text_ += ' ';
  }
  if (event.fields.Has(Field::kEvent)) text_ += event.name_text;
  constexpr std::size_t kFlagsWidth = 24;  // only hardware traces have flags
  if (event.fields.Has(Field::kFlags)) text_.append(kFlagsWidth, ' ');
}

void Listing::AppendMemory(const perfdata::Sample& sample, const Event& event, bool has_struct) {
  constexpr std::uint64_t kLow32 = 0xffffffff, kLow16 = 0xffff;
  constexpr std::size_t kWidth = 16;
  const FieldSet fields = event.fields;
  if (fields.Has(Field::kAddr)) {
    AppendHex(text_, sample.addr, kWidth);
    if (NeedsAddress(event)) {
      FieldSet symbol = fields;
      symbol.Remove(Field::kIp);
      symbol.Remove(Field::kSrcline);
      frames_.AppendAddress(text_, NextId(), {.fields = symbol});
    }
  }
  if (fields.Has(Field::kDataSrc)) {
    std::string source;
    AppendHex(source, sample.data_src, kWidth);
    source += ' ';
    AppendDataSource(source, sample.data_src, options_.style);
    data_source_width_ = std::max(data_source_width_, source.size());
    AppendLeft(text_, source, data_source_width_);
  }
  if (fields.Has(Field::kWeight)) {
    AppendNumber(text_, has_struct ? sample.weight & kLow32 : sample.weight, kWidth);
  }
  if (fields.Has(Field::kInsLat)) AppendNumber(text_, sample.weight >> 32 & kLow16, kWidth);
  if (fields.Has(Field::kRetireLat)) AppendNumber(text_, sample.weight >> 48 & kLow16, kWidth);
}

void Listing::AppendStack(const Event& event, bool has_chain, std::uint32_t stack) {
  if (!event.fields.Has(Field::kIp)) return;
  const Frames::Style style{.fields = event.fields, .index = event.style};
  if (!has_chain) {
    text_ += ' ';
    text_ += frames_.AddressText(stack, style);
    return;
  }
  text_ += '\n';
  for (const FrameId frame : frames_.chain(stack)) text_ += frames_.Lines(frame, style);
}

void Listing::AppendRest(Walk& walk, const Event& event) {
  const perfdata::Sample& sample = *walk.sample();
  const perfdata::Event& of = *walk.event();
  const FieldSet fields = event.fields;
  if (fields.Has(Field::kIregs)) {
    AppendRegisters(text_, sample.regs_intr_abi, sample.regs_intr, of.attr.sample_regs_intr, arch_);
  }
  if (fields.Has(Field::kUregs)) {
    AppendRegisters(text_, sample.regs_user_abi, sample.regs_user, of.attr.sample_regs_user, arch_);
  }
  const std::size_t ends = NeedsBranches() ? sample.branches.size() / 3 * 2 : 0;
  const ResolvedBranches branches{
      .ends = std::span(ids_).subspan(next_id_, ends), .frames = frames_, .style = options_.style};
  if (fields.Has(Field::kBrstack)) {
    AppendBranches(text_, sample.branches, branches, fields);
  } else if (fields.Has(Field::kBrstacksym)) {
    AppendBranchSymbols(text_, sample.branches, branches, fields);
  }
  const bool is_bpf_output =
      of.attr.type == perfdata::kTypeSoftware && of.attr.config == perfdata::kSoftwareBpfOutput;
  if (is_bpf_output && fields.Has(Field::kBpfOutput)) AppendBpfOutput(text_, sample.raw);
  if (fields.Has(Field::kInsnlen)) text_ += " ilen: 0";
  if (fields.Has(Field::kPhysAddr)) AppendHex(text_, sample.phys_addr, 16);
  for (const auto& [field, size] : {std::pair(Field::kDataPageSize, sample.data_page_size),
                                    std::pair(Field::kCodePageSize, sample.code_page_size)}) {
    if (!fields.Has(field)) continue;
    text_ += ' ';
    AppendPageSize(text_, size);
  }
  if (fields.Has(Field::kCgroup)) {
    const std::string_view path = walk.processes().CgroupOf(sample.cgroup);
    text_ += ' ';
    AppendSafe(text_, path.empty() ? "unknown" : path);
  }
}

Status Listing::PrintRecord(Walk& walk, const Write& write) {
  const perfdata::RecordView& record = walk.record();
  const std::optional<ShownRecord> shown = ShownAs(record.type);
  if (!shown || !options_.records.contains(*shown)) return {};
  text_.clear();
  const perfdata::Event* of = walk.event();
  const perfdata::SampleFormat format = of == nullptr ? perfdata::SampleFormat() : of->format;
  perfdata::SampleId trailer = DecodeSampleId(record, format);
  const std::optional<RecordThread> thread = ThreadOf(record, format);
  if (of != nullptr && thread && !format.sample_id_all) {
    trailer = {.pid = thread->pid, .tid = thread->tid, .time = thread->time};
  }
  if (format.Has(perfdata::kCpu) && !Allows(options_.selection.cpus, trailer.cpu)) return {};
  if (of != nullptr && *shown != ShownRecord::kRound) {
    const Event& event = EventOf(*of);
    const bool is_bare = event.fields.Has(Field::kIp) && event.has_chains;
    head_text_.Append(text_,
                      {.comm = walk.CommOf(thread ? thread->tid : trailer.tid),
                       .pid = trailer.pid,
                       .tid = trailer.tid,
                       .cpu = trailer.cpu,
                       .time = trailer.time,
                       .type = record.type,
                       .misc = record.misc},
                      event.fields, is_bare ? CommForm::kBare : CommForm::kPadded);
  }
  // A damaged record is left out here, and reported by perftape-inspect --validate.
  if (!AppendRecord(text_, record, format)) return {};
  return write(of == nullptr ? std::string_view() : of->name, text_);
}

}  // namespace perftape::listing
