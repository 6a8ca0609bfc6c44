// SPDX-License-Identifier: Apache-2.0
#include "convert/script/frames.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <utility>

#include "convert/script/number_text.h"
#include "convert/script/safe_text.h"
#include "formats/base/unknown_name.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::listing {

using convert::Location;

namespace {

// Identifies the frame of an address: equal ones have the same mappings around them.
convert::Hash128 HashOf(std::uint64_t address, perfdata::CpuMode mode,
                        const FrameContext& context) {
  const std::uint64_t key[] = {address,
                               context.pid,
                               static_cast<std::uint64_t>(mode),
                               context.processes.UserSpace(context.pid).fingerprint(),
                               context.processes.UserCode(context.pid).fingerprint(),
                               context.processes.kernel().fingerprint()};
  const XXH128_hash_t hash = XXH3_128bits(key, sizeof key);
  return {.low = hash.low64, .high = hash.high64};
}

}  // namespace

Frames::Frames(const convert::FirstPass& first_pass, convert::Origin origin, UserAddress form)
    : form_(form),
      kernel_names_(first_pass.build_ids.kernel_names),
      resolver_(origin, first_pass.build_ids, first_pass.jit, first_pass.history, builder_) {}

Frames::Frame Frames::Resolve(const perfdata::ChainFrame& frame, const FrameContext& context) {
  const bool is_return = convert::IsReturnAddress(frame);
  const std::uint64_t lookup = is_return ? frame.address - 1 : frame.address;
  const perfdata::Region* region = context.processes.Find(context.pid, frame.mode, lookup);
  Frame found{.location = resolver_.Locate(frame, context.pid, context.processes),
              .printed = frame.address,
              .is_return = is_return,
              .is_mapped = region != nullptr};
  if (region == nullptr || region->dso->is_kernel) return found;
  found.is_generated = perfdata::IsPerfMapMemory(region->dso->path);
  if (found.is_generated) {
    found.pid = context.pid;
  } else if (form_ == UserAddress::kFileOffset) {
    found.printed = frame.address - region->start + region->page_offset;
  }
  return found;
}

FrameId Frames::Intern(const Frame& frame) {
  const std::uint64_t key[] = {frame.location.index, frame.printed, frame.pid,
                               frame.is_return ? 1U : 0U};
  const std::uint64_t hash = XXH3_64bits(key, sizeof key);
  const FrameId known = frame_index_.Find(hash, [&](FrameId id) {
    const Frame& other = frames_[id];
    return other.location == frame.location && other.printed == frame.printed &&
           other.pid == frame.pid && other.is_return == frame.is_return;
  });
  if (known != convert::IdTable::kNone) return known;
  const auto id = static_cast<FrameId>(frames_.size());
  frame_index_.Add(hash, id);
  frames_.push_back(frame);
  return id;
}

FrameId Frames::AddFrame(const perfdata::ChainFrame& frame, const FrameContext& context) {
  return Intern(Resolve(frame, context));
}

FrameId Frames::AddAddress(std::uint64_t address, perfdata::CpuMode mode,
                           const FrameContext& context) {
  const convert::Hash128 hash = HashOf(address, mode, context);
  const std::uint32_t known = address_index_.Find(
      hash.low, [&](std::uint32_t index) { return addresses_[index].hash == hash; });
  if (known != convert::IdTable::kNone) return addresses_[known].frame;
  Frame frame = Resolve({.address = address, .mode = mode}, context);
  frame.printed = address;
  address_index_.Add(hash.low, static_cast<std::uint32_t>(addresses_.size()));
  addresses_.push_back({.hash = hash, .frame = Intern(frame)});
  return addresses_.back().frame;
}

ChainId Frames::FindChain(const convert::Hash128& hash) const {
  return chain_index_.Find(hash.low, [&](ChainId id) { return chain_hashes_[id] == hash; });
}

ChainId Frames::AddChain(const convert::Hash128& hash, std::span<const perfdata::ChainFrame> frames,
                         const FrameContext& context) {
  const auto id = static_cast<ChainId>(chain_ends_.size());
  for (const perfdata::ChainFrame& frame : frames) {
    frames_of_chains_.push_back(AddFrame(frame, context));
  }
  chain_ends_.push_back(frames_of_chains_.size());
  chain_hashes_.push_back(hash);
  chain_index_.Add(hash.low, id);
  return id;
}

std::span<const FrameId> Frames::chain(ChainId chain) const {
  const std::size_t begin = chain == 0 ? 0 : chain_ends_[chain - 1];
  return std::span(frames_of_chains_).subspan(begin, chain_ends_[chain] - begin);
}

void Frames::Name(symbolize::SymbolSources& sources, symbolize::ProfileOrigin origin,
                  symbolize::SymbolizeReport& report) {
  // A named profile has only what a sample uses, and its ids may be others. So each frame is a
  // sample, and its number the thread, because equal samples become one.
  const convert::EventId event = builder_.Add(convert::Event{.name = {}, .unit = {}});
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const convert::ThreadId thread =
        builder_.Add(convert::Thread{.tid = static_cast<std::uint32_t>(i), .comm = {}});
    builder_.AddNew(convert::Sample{.stack = builder_.Push({}, frames_[i].location),
                                    .thread = thread,
                                    .event = event,
                                    .labels = {},
                                    .count = 1});
  }
  LeaveUnnamed();
  profile_ = sources.Name(profile_, std::move(origin), report);
  for (const convert::Sample& sample : profile_.samples()) {
    frames_[profile_[sample.thread].tid].location = profile_[sample.stack].leaf;
  }
}

void Frames::LeaveUnnamed() {
  profile_ = std::move(builder_).Finish();
}

std::string Frames::DsoOf(FrameId id) const {
  const Frame& frame = frames_[id];
  if (!frame.is_mapped) return std::string(kUnknownName);
  if (frame.is_generated) return fmt::format("/tmp/perf-{}.map", frame.pid);
  const convert::Mapping& mapping = profile_[LocationOf(frame).mapping];
  const std::string_view name = profile_.text(mapping.filename);
  if (mapping.type != convert::MappingType::kKernel) return std::string(name);
  return kernel_names_.NameOf(
      {.path = std::string(name), .build_id = {}, .is_kernel = true, .symbol = {}});
}

std::string_view Frames::NameOf(FrameId id) const {
  const Location& location = LocationOf(frames_[id]);
  return location.lines.empty() ? std::string_view()
                                : profile_.text(profile_[location.lines.back().function].name);
}

void Frames::AppendFrameName(std::string& out, const Frame& frame, std::string_view name,
                             bool has_offset) const {
  if (name.empty()) {
    out += kUnknownName;
    return;
  }
  AppendSafe(out, name);
  const Location& location = LocationOf(frame);
  if (!has_offset || !location.symbol_offset) return;
  out += "+0x";
  AppendHex(out, *location.symbol_offset + (frame.is_return ? 1 : 0));
}

void Frames::AppendSymbol(std::string& out, FrameId id, bool has_offset) const {
  AppendFrameName(out, frames_[id], NameOf(id), has_offset);
}

// "\n  file.c:12"; "\n  ls[4711]" without debug information.
void Frames::AppendSourceLine(std::string& out, const Frame& frame,
                              const convert::Line* line) const {
  if (!frame.is_mapped) return;
  out += "\n  ";
  const std::string_view file =
      line == nullptr ? std::string_view() : profile_.text(profile_[line->function].filename);
  if (!file.empty() && line->number > 0) {
    AppendSafe(out, file.substr(file.rfind('/') + 1));
    out += ':';
    AppendNumber(out, line->number);
    return;
  }
  const auto id = static_cast<FrameId>(&frame - frames_.data());
  const std::string dso = DsoOf(id);
  const bool is_path = dso.starts_with('/');
  AppendSafe(out,
             is_path ? std::string_view(dso).substr(dso.rfind('/') + 1) : std::string_view(dso));
  out += '[';
  AppendHex(out, frame.printed);
  out += ']';
}

void Frames::AppendAddress(std::string& out, FrameId id, const Style& style) const {
  const Frame& frame = frames_[id];
  if (style.fields.Has(Field::kIp)) AppendHex(out, frame.printed, 16);
  if (style.fields.Has(Field::kSym)) {
    out += ' ';
    AppendSymbol(out, id, style.fields.Has(Field::kSymoff));
  }
  if (style.fields.Has(Field::kDso)) {
    out += " (";
    AppendSafe(out, DsoOf(id));
    out += ')';
  }
  if (style.fields.Has(Field::kSrcline)) {
    const auto lines = LocationOf(frame).lines;
    AppendSourceLine(out, frame, lines.empty() ? nullptr : &lines.back());
  }
}

std::string_view Frames::AddressText(FrameId id, const Style& style) {
  std::vector<std::string>& made = address_texts_[style.index];
  if (made.empty()) made.resize(frames_.size());
  if (made[id].empty()) AppendAddress(made[id], id, style);
  return made[id];
}

std::string_view Frames::Lines(FrameId id, const Style& style) {
  std::vector<std::string>& made = lines_[style.index];
  if (made.empty()) made.resize(frames_.size());
  std::string& text = made[id];
  if (!text.empty()) return text;
  const Frame& frame = frames_[id];
  const auto lines = LocationOf(frame).lines;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    text += '\t';
    AppendHex(text, frame.printed, 16);
    if (style.fields.Has(Field::kSym)) {
      text += ' ';
      AppendFrameName(text, frame, profile_.text(profile_[lines[i].function].name),
                      style.fields.Has(Field::kSymoff));
    }
    if (style.fields.Has(Field::kSrcline)) AppendSourceLine(text, frame, &lines[i]);
    text += " (inlined)\n";
  }
  text += '\t';
  AppendAddress(text, id, style);
  text += '\n';
  return text;
}

}  // namespace perftape::listing
