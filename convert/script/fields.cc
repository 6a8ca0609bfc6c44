// SPDX-License-Identifier: Apache-2.0
#include "convert/script/fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "formats/perfdata/attr.h"

namespace perftape::listing {
namespace {

using enum Field;

struct FieldName {
  std::string_view name;
  Field field;
  // The bits of sample_type, one of which the event needs; 0 for none.
  std::uint64_t needs = 0;
  // perf's word for them in messages.
  std::string_view attribute = {};
};

constexpr FieldName kFieldNames[] = {
    {"comm", kComm},
    {"tid", kTid, perfdata::kTid, "TID"},
    {"pid", kPid, perfdata::kTid, "TID"},
    {"time", kTime, perfdata::kTime, "TIME"},
    {"cpu", kCpu, perfdata::kCpu, "CPU"},
    {"event", kEvent},
    {"trace", kTrace},
    {"ip", kIp, perfdata::kIp, "IP"},
    {"sym", kSym},
    {"dso", kDso},
    {"addr", kAddr, perfdata::kAddr, "ADDR"},
    {"symoff", kSymoff},
    {"srcline", kSrcline},
    {"period", kPeriod},
    {"iregs", kIregs, perfdata::kRegsIntr, "IREGS"},
    {"uregs", kUregs, perfdata::kRegsUser, "UREGS"},
    {"brstack", kBrstack},
    {"brstacksym", kBrstacksym},
    {"data_src", kDataSrc, perfdata::kDataSrc, "DATA_SRC"},
    {"weight", kWeight, perfdata::kWeight | perfdata::kWeightStruct, "WEIGHT"},
    {"bpf-output", kBpfOutput},
    {"insnlen", kInsnlen},
    {"phys_addr", kPhysAddr, perfdata::kPhysAddr, "PHYS_ADDR"},
    {"misc", kMisc},
    {"data_page_size", kDataPageSize, perfdata::kDataPageSize, "DATA_PAGE_SIZE"},
    {"code_page_size", kCodePageSize, perfdata::kCodePageSize, "CODE_PAGE_SIZE"},
    {"ins_lat", kInsLat, perfdata::kWeightStruct, "WEIGHT_STRUCT"},
    {"cgroup", kCgroup, perfdata::kSampleCgroup, "CGROUP"},
    {"retire_lat", kRetireLat, perfdata::kWeightStruct, "WEIGHT_STRUCT"},
    {"flags", kFlags},
    {"synth", kSilent},
    {"metric", kSilent},
    {"ipc", kSilent},
    {"machine_pid", kSilent},
    {"vcpu", kSilent},
};

// Fields of perf that need what a recording does not have.
struct RefusedField {
  std::string_view name;
  std::string_view reason;
};
constexpr RefusedField kRefusedFields[] = {
    {"insn",
     "the bytes of instructions are not in a recording: 'objdump -d' shows those of a file"},
    {"brstackinsn", "instructions are not in a recording: use brstack or brstacksym"},
    {"brstackinsnlen", "instructions are not in a recording: use brstack or brstacksym"},
    {"brstackdisasm", "instructions are not in a recording: use brstack or brstacksym"},
    {"disasm", "instructions are not in a recording: 'objdump -d' shows those of a file"},
    {"brstackoff", "use brstacksym, which has the function and the offset in it"},
    {"brcntr", "the counters of branches are not printed: use 'perftape-inspect --records'"},
    {"callindent", "only hardware traces have it, and these are not decoded"},
    {"srccode", "use srcline, which names the file and the line"},
    {"tod",
     "the times of perf.data have another clock: 'perftape-inspect --header' shows the wall "
     "clock of its start"},
    {"dsoff", "use 'perftape-inspect --samples --json' for addresses, or ip with dso"},
};

struct TypeName {
  std::string_view prefix;  // empty if -F cannot select the type
  std::string_view name;
};
constexpr std::array<TypeName, kOutputTypes> kTypeNames = {{
    {"hw", "hardware"},
    {"sw", "software"},
    {"trace", "tracepoint"},
    {"", "hardware-cache"},
    {"raw", "raw"},
    {"break", "breakpoint"},
    {"synth", "synth"},
    {"", "unknown"},
}};

const FieldName* Find(std::string_view name) {
  const auto* const found = std::ranges::find(kFieldNames, name, &FieldName::name);
  return found == std::end(kFieldNames) ? nullptr : found;
}

Result<const FieldName*> Known(std::string_view name) {
  const FieldName* field = Find(name);
  if (field != nullptr) return field;
  const auto* const refused = std::ranges::find(kRefusedFields, name, &RefusedField::name);
  if (refused != std::end(kRefusedFields)) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("-F {}: {}", name, refused->reason));
  }
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("-F: unknown field '{}': choose from {}", name, FieldNames()));
}

// Removes the first word and the separator behind it, and returns the word.
std::string_view FirstOf(std::string_view& words, char separator) {
  const std::size_t size = std::min(words.find(separator), words.size());
  const std::string_view word = words.substr(0, size);
  words.remove_prefix(std::min(size + 1, words.size()));
  return word;
}

enum class How : std::uint8_t { kSet, kAdd, kRemove };

struct ChangedField {
  const FieldName* field = nullptr;
  How how = How::kSet;
};

// Parses "comm,ip" or "+srcline,-period". A list cannot be both.
Result<std::vector<ChangedField>> ParseList(std::string_view words) {
  std::vector<ChangedField> changes;
  bool sets = false, changes_some = false;
  How last = How::kSet;
  while (!words.empty()) {
    std::string_view word = FirstOf(words, ',');
    if (word.empty()) continue;
    const bool has_sign = word.front() == '+' || word.front() == '-';
    if (has_sign) last = word.front() == '+' ? How::kAdd : How::kRemove;
    if (has_sign) word.remove_prefix(1);
    (has_sign ? changes_some : sets) = true;
    if (sets && changes_some) {
      return Fail(ErrorCode::kInvalidArgument,
                  "-F: a list either names all fields, or each field has a + or -");
    }
    TRY_ASSIGN(const FieldName* field, Known(word));
    changes.push_back({.field = field, .how = has_sign ? last : How::kSet});
  }
  return changes;
}

Status Lacks(const perfdata::Event& event, const FieldName& field) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("-F {}: the samples of {} do not have it ({})", field.name, event.name,
                          field.attribute));
}

}  // namespace

OutputType TypeOf(const perfdata::EventAttr& attr) {
  constexpr std::uint32_t kBreakpointType = 5;
  return attr.type <= kBreakpointType ? static_cast<OutputType>(attr.type) : OutputType::kOther;
}

std::string FieldNames() {
  std::string names;
  for (const FieldName& field : kFieldNames) {
    if (!names.empty()) names += ", ";
    names += field.name;
  }
  return names;
}

FieldPlan::FieldPlan() {
  const FieldSet common = {kComm, kTid, kCpu, kTime, kEvent, kIp, kSym, kSymoff, kDso, kPeriod};
  for (Type& type : types_) type = {.shown = common, .invalid = {kTrace, kBpfOutput}};
  Type& software = types_[static_cast<std::size_t>(OutputType::kSoftware)];
  software.shown.Add(kBpfOutput);
  software.invalid = {kTrace};
  Type& tracepoint = types_[static_cast<std::size_t>(OutputType::kTracepoint)];
  tracepoint = {.shown = {kComm, kTid, kCpu, kTime, kEvent, kTrace}, .invalid = {}};
  Type& raw = types_[static_cast<std::size_t>(OutputType::kRaw)];
  for (const Field field :
       {kAddr, kDataSrc, kWeight, kPhysAddr, kDataPageSize, kCodePageSize, kInsLat}) {
    raw.shown.Add(field);
  }
  types_[static_cast<std::size_t>(OutputType::kSynthesized)].shown.Remove(kPeriod);
}

Status FieldPlan::Change(std::string_view argument, std::vector<std::string>& warnings) {
  Type* only = nullptr;
  std::string_view words = argument;
  if (argument.find(':') != std::string_view::npos) {
    const std::string_view prefix = FirstOf(words, ':');
    const auto* const found = std::ranges::find(kTypeNames, prefix, &TypeName::prefix);
    if (prefix.empty() || found == kTypeNames.end()) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("-F: unknown type of event '{}': choose hw, sw, trace, raw, break or "
                              "synth",
                              prefix));
    }
    only = &types_[static_cast<std::size_t>(found - kTypeNames.begin())];
  } else if (argument.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "-F: name at least one field");
  }
  TRY_ASSIGN(const std::vector<ChangedField> changes, ParseList(words));
  const bool sets = changes.empty() || changes.front().how == How::kSet;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    Type& type = types_[i];
    if (only != nullptr && only != &type) continue;
    if (sets) type.shown = {};
    type.is_set = true;
    for (const auto& [field, how] : changes) {
      if (type.invalid.Has(field->field)) {
        if (only != nullptr) {
          return Fail(ErrorCode::kInvalidArgument, fmt::format("-F: {} events have no field {}",
                                                               kTypeNames[i].name, field->name));
        }
        warnings.push_back(fmt::format("'{}' not valid for {} events. Ignoring.", field->name,
                                       kTypeNames[i].name));
      } else if (how == How::kRemove) {
        type.shown.Remove(field->field);
        type.asked.Remove(field->field);
      } else {
        type.shown.Add(field->field);
        if (only == nullptr) type.asked.Add(field->field);
      }
    }
  }
  return {};
}

Status FieldPlan::FitType(Type& type, const perfdata::Event& event) const {
  for (const FieldName& field : kFieldNames) {
    if (field.needs == 0 || !type.shown.Has(field.field)) continue;
    if ((event.attr.sample_type & field.needs) != 0) continue;
    if (type.asked.Has(field.field)) return Lacks(event, field);
    type.shown.Remove(field.field);
  }
  const bool has_address = event.format.Has(perfdata::kIp) || event.format.Has(perfdata::kAddr);
  if ((type.shown.Has(kSym) || type.shown.Has(kDso)) && !has_address) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("-F sym,dso: the samples of {} have neither ip nor addr", event.name));
  }
  if (type.shown.Has(kSymoff) && !type.shown.Has(kSym)) {
    return Fail(ErrorCode::kInvalidArgument, "-F symoff needs sym: add sym, or remove symoff");
  }
  if (type.shown.Has(kSrcline) && !type.shown.Has(kIp)) {
    return Fail(ErrorCode::kInvalidArgument, "-F srcline needs ip");
  }
  return {};
}

Status FieldPlan::Fit(const perfdata::EventTable& events) {
  bool has_chains = false;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const auto first = std::ranges::find_if(events.all(), [&](const perfdata::Event& event) {
      return TypeOf(event.attr) == static_cast<OutputType>(i);
    });
    if (first != events.all().end()) TRY(FitType(types_[i], *first));
  }
  for (const perfdata::Event& event : events.all()) {
    has_chains |=
        event.format.Has(perfdata::kCallchain) && TypeOf(event.attr) == OutputType::kTracepoint;
  }
  Type& tracepoint = types_[static_cast<std::size_t>(OutputType::kTracepoint)];
  if (has_chains && !tracepoint.is_set) {
    for (const Field field : {kIp, kSym, kSymoff, kDso}) tracepoint.shown.Add(field);
  }
  return {};
}

}  // namespace perftape::listing
