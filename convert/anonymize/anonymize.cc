// SPDX-License-Identifier: Apache-2.0
#include "convert/anonymize/anonymize.h"

#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convert/anonymize/pseudonyms.h"
#include "convert/model/label_keys.h"
#include "convert/model/profile_builder.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::anonymize {
namespace {

using convert::EventId;
using convert::FunctionId;
using convert::LabelsId;
using convert::LocationId;
using convert::MappingId;
using convert::Profile;
using convert::StackId;
using convert::StringId;
using convert::ThreadId;

constexpr std::string_view kComm = "c";

// Copies the tables one after the other, so the new ids are in vectors by the old ones.
class Anonymizer {
 public:
  Anonymizer(const Profile& profile, const NameKey& key, KernelNames kernel_names)
      : from_(profile), words_(key), kernel_names_(kernel_names) {}

  Profile Run() && {
    CopyMappings();
    CopyLocations();
    CopyStacks();
    CopyThreads();
    CopyEvents();
    CopyLabels();
    for (convert::Sample sample : from_.samples()) {
      sample.stack = stacks_[sample.stack.index];
      sample.thread = threads_[sample.thread.index];
      sample.event = events_[sample.event.index];
      sample.labels = labels_[sample.labels.index];
      to_.Add(sample);
    }
    to_.SetMetadata(MetadataOf(from_.metadata()));
    return std::move(to_).Finish();
  }

 private:
  StringId Copy(StringId text) { return to_.Add(from_.text(text)); }
  StringId PathOf(StringId text) { return to_.Add(words_.Path(from_.text(text))); }

  void CopyMappings() {
    for (convert::Mapping mapping : from_.mappings()) {
      const std::string_view name = from_.text(mapping.filename);
      mapping.filename = to_.Add(words_.MappingName(name));
      mapping.build_id = to_.Add(words_.BuildId(from_.text(mapping.build_id)));
      mappings_.push_back(to_.Add(mapping));
    }
    // The empty mapping is the same in all profiles.
    mappings_.front() = {};
  }

  bool KeepsNames(MappingId mapping) const {
    const std::string_view name = from_.text(from_[mapping].filename);
    // A user's program may be called vmlinux, too.
    return kernel_names_ == KernelNames::kKept && name.starts_with('[') &&
           perfdata::SourceOf(name) == perfdata::MappingSource::kKernel;
  }

  std::string NameOf(std::string_view name, bool is_kept) const {
    // The symbols of BPF programs end with the names that their authors gave them.
    if (is_kept && !name.starts_with("bpf_prog_")) return std::string(name);
    return words_.FunctionName(name);
  }

  FunctionId CopyFunction(FunctionId id, bool is_kept) {
    auto& known = functions_[is_kept ? 1 : 0];
    const auto [place, is_new] = known.try_emplace(id.index);
    if (!is_new) return place->second;
    convert::Function function = from_[id];
    function.name = to_.Add(NameOf(from_.text(function.name), is_kept));
    function.system_name = to_.Add(NameOf(from_.text(function.system_name), is_kept));
    function.filename = PathOf(function.filename);
    return place->second = to_.Add(function);
  }

  void CopyLocations() {
    std::vector<convert::Line> lines;
    for (convert::Location location : from_.locations()) {
      const bool is_kept = KeepsNames(location.mapping);
      lines.assign(location.lines.begin(), location.lines.end());
      for (convert::Line& line : lines) line.function = CopyFunction(line.function, is_kept);
      location.mapping = mappings_[location.mapping.index];
      location.lines = lines;
      locations_.push_back(to_.Add(location));
    }
  }

  void CopyStacks() {
    stacks_.emplace_back();
    for (const convert::Stack& stack : from_.stacks() | std::views::drop(1)) {  // callers first
      stacks_.push_back(to_.Push(stacks_[stack.caller.index], locations_[stack.leaf.index]));
    }
  }

  void CopyThreads() {
    threads_.emplace_back();
    for (convert::Thread thread : from_.threads() | std::views::drop(1)) {
      thread.comm = to_.Add(words_.Word(kComm, from_.text(thread.comm)));
      threads_.push_back(to_.Add(thread));
    }
  }

  void CopyEvents() {
    for (convert::Event event : from_.events()) {
      event.name = to_.Add(words_.EventName(from_.text(event.name)));
      event.unit = to_.Add(words_.UnitName(from_.text(event.unit)));
      events_.push_back(to_.Add(event));
    }
  }

  convert::Label LabelOf(convert::Label label) {
    const std::string_view key = from_.text(label.key), text = from_.text(label.text);
    label.unit = to_.Add(words_.UnitName(from_.text(label.unit)));
    const bool is_public = convert::IsSampleField(key) || key == convert::kParallelismLabel;
    label.key = is_public ? Copy(label.key) : to_.Add(words_.Word("key", key));
    if (key == convert::kCgroupLabel) {
      label.text = to_.Add(words_.Path(text));
    } else {
      const bool is_comm = key == convert::kCommLabel || key == convert::kWokenLabel;
      label.text = to_.Add(words_.Word(is_comm ? kComm : "text", text));
    }
    return label;
  }

  void CopyLabels() {
    labels_.emplace_back();
    for (const std::span<const convert::Label> set : from_.labels() | std::views::drop(1)) {
      std::vector<convert::Label> labels;
      for (const convert::Label& label : set) labels.push_back(LabelOf(label));
      labels_.push_back(to_.Add(labels));
    }
  }

  convert::Metadata MetadataOf(convert::Metadata metadata) const {
    std::vector<std::string> comments;
    for (const std::string& comment : metadata.comments) {
      std::string anonymous = words_.Comment(comment);
      if (!anonymous.empty()) comments.push_back(std::move(anonymous));
    }
    metadata.comments = std::move(comments);
    metadata.drop_frames.clear();
    metadata.keep_frames.clear();
    metadata.doc_url.clear();
    metadata.default_value = words_.EventName(metadata.default_value);
    if (metadata.period_type) {
      metadata.period_type->name = words_.EventName(metadata.period_type->name);
      metadata.period_type->unit = words_.UnitName(metadata.period_type->unit);
    }
    return metadata;
  }

  const Profile& from_;
  Pseudonyms words_;
  KernelNames kernel_names_;
  convert::ProfileBuilder to_;
  std::vector<MappingId> mappings_;
  std::vector<LocationId> locations_;
  std::vector<StackId> stacks_;
  std::vector<ThreadId> threads_;
  std::vector<EventId> events_;
  std::vector<LabelsId> labels_;
  std::unordered_map<std::uint32_t, FunctionId>
      functions_[2];  // by old index; [1]: the name is kept
};

}  // namespace

convert::Profile Anonymize(const convert::Profile& profile, const NameKey& key,
                           KernelNames kernel_names) {
  return Anonymizer(profile, key, kernel_names).Run();
}

void AnonymizeComms(convert::TaskEvents& events, const NameKey& key) {
  const Pseudonyms words(key);
  for (convert::TaskEvent& event : events) event.comm = words.Word(kComm, event.comm);
}

}  // namespace perftape::anonymize
