// SPDX-License-Identifier: Apache-2.0
#include "convert/script/record_text.h"

#include <fmt/core.h>

#include <string_view>
#include <type_traits>
#include <utility>

#include "convert/script/number_text.h"
#include "convert/script/safe_text.h"
#include "formats/base/text.h"

namespace perftape::listing {
namespace {

using perfdata::RecordType;
using perfdata::RecordView;

std::int32_t Signed(std::uint32_t id) {
  return static_cast<std::int32_t>(id);
}

struct Shown {
  RecordType type;
  ShownRecord as;
};
constexpr Shown kShown[] = {
    {RecordType::kMmap, ShownRecord::kMmap},
    {RecordType::kMmap2, ShownRecord::kMmap},
    {RecordType::kComm, ShownRecord::kTask},
    {RecordType::kFork, ShownRecord::kTask},
    {RecordType::kExit, ShownRecord::kTask},
    {RecordType::kSwitch, ShownRecord::kSwitch},
    {RecordType::kSwitchCpuWide, ShownRecord::kSwitch},
    {RecordType::kLost, ShownRecord::kLost},
    {RecordType::kNamespaces, ShownRecord::kNamespaces},
    {RecordType::kCgroup, ShownRecord::kCgroup},
    {RecordType::kKsymbol, ShownRecord::kBpf},
    {RecordType::kBpfEvent, ShownRecord::kBpf},
    {RecordType::kFinishedRound, ShownRecord::kRound},
};

// "[0x400000(0x1000) @ 0".
template <class Mapping>
void AppendRange(std::string& out, const Mapping& mapping) {
  AppendFormat(out, " {}/{}: [", Signed(mapping.pid), Signed(mapping.tid));
  AppendPrefixedHex(out, mapping.start);
  out += '(';
  AppendPrefixedHex(out, mapping.length);
  out += ") @ ";
  AppendPrefixedHex(out, mapping.page_offset);
}

void AppendBody(std::string& out, const RecordView& record, const perfdata::Mmap& mmap) {
  AppendRange(out, mmap);
  AppendFormat(out, "]: {} ", (record.misc & perfdata::kMiscMmapData) != 0 ? 'r' : 'x');
  AppendSafe(out, mmap.filename);
  out += '\n';
}

void AppendBody(std::string& out, const RecordView& record, const perfdata::Mmap2& mmap) {
  constexpr std::uint32_t kRead = 1, kWrite = 2, kMapShared = 1;
  AppendRange(out, mmap);
  if ((record.misc & perfdata::kMiscMmapBuildId) != 0) {
    AppendFormat(out, " <{}>", mmap.build_id.hex());
  } else {
    AppendFormat(out, " {:02x}:{:02x} {} {}", mmap.device_major, mmap.device_minor, mmap.inode,
                 mmap.inode_generation);
  }
  AppendFormat(out, "]: {}{}{}{} ", (mmap.protection & kRead) != 0 ? 'r' : '-',
               (mmap.protection & kWrite) != 0 ? 'w' : '-',
               (mmap.protection & perfdata::Mmap2::kProtectionExec) != 0 ? 'x' : '-',
               (mmap.flags & kMapShared) != 0 ? 's' : 'p');
  AppendSafe(out, mmap.filename);
  out += '\n';
}

void AppendBody(std::string& out, const RecordView& record, const perfdata::Comm& comm) {
  out += (record.misc & perfdata::kMiscCommExec) != 0 ? " exec: " : ": ";
  AppendSafe(out, comm.comm);
  AppendFormat(out, ":{}/{}\n", Signed(comm.pid), Signed(comm.tid));
}

void AppendBody(std::string& out, const RecordView& /*record*/, const perfdata::Task& task) {
  AppendFormat(out, "({}:{}):({}:{})\n", Signed(task.pid), Signed(task.tid), Signed(task.ppid),
               Signed(task.ptid));
}

std::string_view InOrOut(const RecordView& record) {
  if ((record.misc & perfdata::kMiscSwitchOut) == 0) return "IN         ";
  return (record.misc & perfdata::kMiscSwitchOutPreempt) != 0 ? "OUT preempt" : "OUT        ";
}

void AppendBody(std::string& out, const RecordView& record, const perfdata::Switch& /*value*/) {
  AppendFormat(out, " {}\n", InOrOut(record));
}

void AppendBody(std::string& out, const RecordView& record, const perfdata::SwitchCpuWide& value) {
  AppendFormat(out, " {}  {} pid/tid: {:5}/{:<5}\n", InOrOut(record),
               (record.misc & perfdata::kMiscSwitchOut) != 0 ? "next" : "prev",
               Signed(value.next_prev_pid), Signed(value.next_prev_tid));
}

void AppendBody(std::string& out, const RecordView& /*record*/, const perfdata::Lost& lost) {
  AppendFormat(out, " lost {}\n", lost.count);
}

void AppendBody(std::string& out, const RecordView& /*record*/, const perfdata::Namespaces& value) {
  constexpr std::string_view kNames[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
  constexpr std::size_t kInLine = 4;
  const std::size_t count = value.links.size() / 2;
  AppendFormat(out, " {}/{} - nr_namespaces: {}\n\t\t[", Signed(value.pid), Signed(value.tid),
               count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0 && i % kInLine == 0) out += "\n\t\t ";
    AppendFormat(out, "{}/{}: {}/", i, i < std::size(kNames) ? kNames[i] : "unknown",
                 value.links[2 * i]);
    AppendPrefixedHex(out, value.links[2 * i + 1]);
    out += i + 1 != count ? ", " : "]\n";
  }
}

void AppendBody(std::string& out, const RecordView& /*record*/, const perfdata::Cgroup& cgroup) {
  AppendFormat(out, " cgroup: {} ", cgroup.id);
  AppendSafe(out, cgroup.path);
  out += '\n';
}

void AppendBody(std::string& out, const RecordView& /*record*/, const perfdata::Ksymbol& symbol) {
  AppendFormat(out, " addr {:x} len {} type {} flags 0x{:x} name ", symbol.address, symbol.length,
               symbol.symbol_type, symbol.flags);
  AppendSafe(out, symbol.name);
  out += '\n';
}

void AppendBody(std::string& out, const RecordView& /*record*/, const perfdata::BpfEvent& event) {
  AppendFormat(out, " type {}, flags {}, id {}\n", event.event_type, event.flags, event.id);
}

template <class Record>
concept IsPrinted = requires(std::string& out, const RecordView& view, const Record& value) {
  AppendBody(out, view, value);
};

template <class Record>
constexpr bool kHasThread =
    std::is_same_v<Record, perfdata::Mmap> || std::is_same_v<Record, perfdata::Mmap2> ||
    std::is_same_v<Record, perfdata::Comm> || std::is_base_of_v<perfdata::Task, Record> ||
    std::is_same_v<Record, perfdata::Namespaces>;

}  // namespace

std::optional<ShownRecord> ShownAs(RecordType type) {
  for (const Shown& shown : kShown) {
    if (shown.type == type) return shown.as;
  }
  return std::nullopt;
}

std::optional<RecordThread> ThreadOf(const RecordView& record,
                                     const perfdata::SampleFormat& format) {
  std::optional<RecordThread> thread;
  VisitRecordType(record.type, [&]<class Record>(std::type_identity<Record> /*type*/) {
    if constexpr (kHasThread<Record>) {
      const Result<Record> value = perfdata::Decode<Record>(record, format);
      if (!value) return;
      thread = RecordThread{.pid = value->pid, .tid = value->tid};
      if constexpr (std::is_base_of_v<perfdata::Task, Record>) thread->time = value->time;
    }
  });
  return thread;
}

Status AppendRecord(std::string& out, const RecordView& record,
                    const perfdata::SampleFormat& format) {
  Status status;
  out += "PERF_RECORD_";
  out += perfdata::RecordName(record.type);
  if (record.type == RecordType::kFinishedRound) out += '\n';
  VisitRecordType(record.type, [&]<class Record>(std::type_identity<Record> /*type*/) {
    if constexpr (IsPrinted<Record>) {
      const Result<Record> value = perfdata::Decode<Record>(record, format);
      if (!value) {
        status = std::unexpected(value.error());
      } else {
        AppendBody(out, record, *value);
      }
    }
  });
  return status;
}

}  // namespace perftape::listing
