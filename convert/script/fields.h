// SPDX-License-Identifier: Apache-2.0
// The fields of a printed sample: those of `perf script -F`, for each type of event
// (tools/perf/builtin-script.c, all_output_options and output).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/reader.h"

namespace perftape::listing {

enum class Field : std::uint8_t {
  kComm,
  kTid,
  kPid,
  kTime,
  kCpu,
  kEvent,
  kTrace,
  kIp,
  kSym,
  kDso,
  kAddr,
  kSymoff,
  kSrcline,
  kPeriod,
  kIregs,
  kUregs,
  kBrstack,
  kBrstacksym,
  kDataSrc,
  kWeight,
  kBpfOutput,
  kInsnlen,
  kPhysAddr,
  kMisc,
  kDataPageSize,
  kCodePageSize,
  kInsLat,
  kCgroup,
  kRetireLat,
  kFlags,
  kSilent,  // a field that perf accepts, and that only hardware traces and metrics have
};

// A set of fields.
class FieldSet {
 public:
  constexpr FieldSet() = default;
  constexpr FieldSet(std::initializer_list<Field> fields) {
    for (const Field field : fields) Add(field);
  }
  constexpr bool Has(Field field) const { return (bits_ & BitOf(field)) != 0; }
  constexpr void Add(Field field) { bits_ |= BitOf(field); }
  constexpr void Remove(Field field) { bits_ &= ~BitOf(field); }
  constexpr void AddAll(FieldSet other) { bits_ |= other.bits_; }
  constexpr bool is_empty() const { return bits_ == 0; }

 private:
  static constexpr std::uint64_t BitOf(Field field) {
    return std::uint64_t{1} << static_cast<unsigned>(field);
  }
  std::uint64_t bits_ = 0;
};

// perf's types of events with fields of their own.
enum class OutputType : std::uint8_t {
  kHardware,
  kSoftware,
  kTracepoint,
  kHardwareCache,
  kRaw,
  kBreakpoint,
  kSynthesized,
  kOther,
};
inline constexpr std::size_t kOutputTypes = 8;

OutputType TypeOf(const perfdata::EventAttr& attr);

// The names of all fields, for help and messages: "comm, tid, pid, ...".
std::string FieldNames();

class FieldPlan {
 public:
  // The default fields of `perf script`.
  FieldPlan();

  // Applies the argument of one -F: "comm,ip", "+srcline,-period", "trace:comm,trace". Adds a line
  // to `warnings` for fields that a type of event cannot have. kInvalidArgument for unknown ones.
  Status Change(std::string_view argument, std::vector<std::string>& warnings);

  // Removes the default fields that the file's events lack. kInvalidArgument if an event lacks a
  // field that was asked for, or if the fields need others (perf_session__check_output_opt).
  Status Fit(const perfdata::EventTable& events);

  FieldSet of(OutputType type) const { return types_[static_cast<std::size_t>(type)].shown; }

 private:
  struct Type {
    FieldSet shown;
    FieldSet invalid;     // never shown for this type
    FieldSet asked = {};  // that the user named
    bool is_set = false;
  };

  Status FitType(Type& type, const perfdata::Event& event) const;

  std::array<Type, kOutputTypes> types_;
};

}  // namespace perftape::listing
