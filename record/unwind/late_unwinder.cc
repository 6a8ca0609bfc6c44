// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/late_unwinder.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

#include "formats/elf/index_cache.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/record_cursor.h"
#include "record/bpf/bpf_session.h"
#include "record/machine/clock.h"
#include "record/rings/user_registers.h"
#include "record/unwind/user_walk.h"

namespace perftape::record {
namespace {

#if defined(__aarch64__)
constexpr unwind::Machine kThisMachine = unwind::Machine::kAArch64;
#else
constexpr unwind::Machine kThisMachine = unwind::Machine::kX86_64;
#endif

}  // namespace

bool IsUnfinished(Bytes message) {
  wire_sample sample;
  if (message.size() < sizeof sample) return false;
  std::memcpy(&sample, message.data(), sizeof sample);
  return sample.header.type == WIRE_SAMPLE && (sample.flags & WIRE_UNFINISHED) != 0;
}

LateUnwinder::LateUnwinder(KnownBinaries& binaries, OthersFiles& files, LoadTimes& loads,
                           const Settings& settings)
    : binaries_(binaries),
      settings_(settings),
      cache_(elf::UsualIndexCache()),
      reader_(files, cache_),
      start_ns_(MonotonicNs()),
      changes_(loads),
      ends_(settings.events),
      derived_(settings.events),
      shortened_(settings.events) {}

Status LateUnwinder::ApplyAll(Bytes records) {
  perfdata::RecordCursor cursor(records, 0, std::endian::native);
  while (true) {
    TRY_ASSIGN(const std::optional<perfdata::RecordView> record, cursor.Next());
    if (!record) return {};
    processes_.Apply(*record, settings_.format);
  }
}

void LateUnwinder::Apply(Bytes bytes) {
  const std::optional<perfdata::RecordView> record = perfdata::AsRecord(bytes);
  if (!record) return;
  switch (record->type) {
    case perfdata::RecordType::kComm:
    case perfdata::RecordType::kFork:
    case perfdata::RecordType::kExit:
    case perfdata::RecordType::kMmap2:
      break;
    default:
      return;
  }
  changes_.Apply(*record, settings_.format, processes_);
  if (!growth_.IsDue(processes_.size())) return;
  ForgetSeen();
  processes_.ForgetUnused([](const perfdata::Dso&) { return false; });
  growth_.Restart(processes_.size());
}

Result<Bytes> LateUnwinder::Finish(Bytes bytes) {
  TRY_ASSIGN(const WireMessage message, ReadWireMessage(bytes));
  if (!message.user_state || message.sample.event >= ends_.size()) {
    return FailWireMessage("an unfinished call chain without registers");
  }
  const wire_unwind_end end = Walk(message);
  in_use_.clear();
  if (table_bytes_ > kMostTableBytes) ForgetSeen();
  ++ends_[message.sample.event][end];
  const Bytes walked = std::as_bytes(std::span(frames_));
  const Bytes kept = SureFrames(message);
  return WithFrames(message, bytes, walked.size() > kept.size() ? walked : kept);
}

Bytes LateUnwinder::SureFrames(const WireMessage& message) {
  const wire_sample& sample = message.sample;
  const std::uint64_t walked_ns = sample.walked_ns != 0 ? sample.walked_ns : sample.header.time_ns;
  const WordArray frames(message.user_frames, std::endian::native);
  const std::size_t sure = changes_.SureFrames(sample.pid, walked_ns, frames);
  return message.user_frames.first(sure * sizeof(std::uint64_t));
}

Bytes LateUnwinder::WithSureFrames(Bytes bytes) {
  const Result<WireMessage> message = ReadWireMessage(bytes);
  if (!message || message->sample.event >= ends_.size()) return bytes;
  const Bytes sure = SureFrames(*message);
  if (sure.size() == message->user_frames.size()) return bytes;
  const wire_sample& sample = message->sample;
  if ((sample.flags & WIRE_WAS_COMPLETE) != 0) {
    ++ends_[sample.event][WIRE_END_NO_TABLE];
    ++shortened_[sample.event].complete;
  }
  if ((sample.flags & WIRE_WAS_DERIVED) != 0) ++shortened_[sample.event].derived;
  return WithFrames(*message, bytes, sure);
}

wire_unwind_end LateUnwinder::Walk(const WireMessage& message) {
  frames_.clear();
  const std::uint32_t pid = message.sample.pid;
  const wire_user_state& state = *message.user_state;
  if (state.abi == PERF_SAMPLE_REGS_ABI_32) return WIRE_END_COMPAT;
  if (state.abi != PERF_SAMPLE_REGS_ABI_64) return WIRE_END_UNREADABLE;
  if (processes_.UserSpace(pid).size() == 0) return WIRE_END_NO_PROCESS;
  const unwind::Registers registers = RegistersOf(state);
  const auto find = [&](RuntimeAddress address) { return CodeAt(pid, address.value); };
  const unwind::StackCopy read(registers.sp, message.stack.first(std::min<std::size_t>(
                                                 message.stack.size(), kLateStackBytes)));
  UserWalk walk(kThisMachine, find, read, settings_.user_frames);
  const wire_unwind_end end = walk.Run(registers, frames_);
  if (walk.has_derived()) ++derived_[message.sample.event];
  return end;
}

unwind::Code LateUnwinder::CodeAt(std::uint32_t pid, std::uint64_t address) {
  const perfdata::Region* const region = processes_.UserSpace(pid).Find(address);
  if (region == nullptr) return {};
  unwind::Code code;
  code.frames_by = unwind::FramesBy::kUnknown;
  const BinaryContents* const contents = ContentsOf(pid, *region);
  if (contents == nullptr) return code;
  code.frames_by = unwind::FramesBy::kFramePointer;
  if (!contents->table) return code;
  const std::optional<ImageAddress> start = contents->StartOf(*region);
  code.frames_by = start ? unwind::FramesBy::kTable : unwind::FramesBy::kUnknown;
  if (start) {
    code.address = ImageAddress{start->value + (address - region->start)};
    code.rule = &contents->table->Find(code.address);
    code.table = &*contents->table;
    // Its owner chooses how many sections are looked through for each frame.
    constexpr std::size_t kMostSections = 4096;
    if (contents->elf->sections().size() <= kMostSections) code.binary = &*contents->elf;
  }
  return code;
}

void LateUnwinder::ForgetSeen() {
  seen_.clear();
  table_bytes_ = 0;
}

const BinaryContents* LateUnwinder::ContentsOf(std::uint32_t pid, const perfdata::Region& region) {
  std::shared_ptr<const BinaryContents>& contents = in_use_[region.dso];
  if (!contents) contents = FindOrRead(pid, region);
  return contents.get();
}

std::shared_ptr<const BinaryContents> LateUnwinder::FindOrRead(std::uint32_t pid,
                                                               const perfdata::Region& region) {
  Binary& binary = seen_[region.dso];
  if (auto known = binary.known.lock()) return known;
  if (binary.read) return binary.read;
  if (auto known = binaries_.Find(*region.dso)) {
    binary.known = known;
    return known;
  }
  if (binary.tries++ >= kMostTries) return nullptr;
  binary.read = Read(pid, region);
  if (binary.read) table_bytes_ += binary.read->table_bytes();
  return binary.read;
}

std::shared_ptr<const BinaryContents> LateUnwinder::Read(std::uint32_t pid,
                                                         const perfdata::Region& region) {
  const std::uint64_t before_ns = MonotonicNs();
  if (read_ns_ > kFirstReadNs + (before_ns - start_ns_) / 10) return nullptr;
  const unwind::TableLimits limits = LimitsOfSmall(kMostTableBytes / 2 / sizeof(unwind::Row));
  auto contents = reader_.Read(pid, region, limits).value_or(nullptr);
  read_ns_ += MonotonicNs() - before_ns;
  return contents && contents->limit_reached.empty() ? contents : nullptr;
}

// The user frames are in front of the user state, which is in front of the end.
Bytes LateUnwinder::WithFrames(const WireMessage& message, Bytes original, Bytes frames) {
  const Bytes before =
      original.first(static_cast<std::size_t>(message.user_frames.data() - original.data()));
  const Bytes user_state = original.subspan(before.size() + message.user_frames.size());
  message_.assign(before.begin(), before.end());
  message_.insert(message_.end(), frames.begin(), frames.end());
  if (settings_.keeps_user_state) {
    message_.insert(message_.end(), user_state.begin(), user_state.end());
  }
  wire_sample sample = message.sample;
  sample.user_frames = static_cast<__u16>(frames.size() / sizeof(std::uint64_t));
  sample.flags &= static_cast<__u8>(~WIRE_UNFINISHED);
  if (!settings_.keeps_user_state) sample.flags &= static_cast<__u8>(~WIRE_HAS_USER_STATE);
  sample.header.size = static_cast<__u32>(message_.size());
  std::memcpy(message_.data(), &sample, sizeof sample);
  return message_;
}

}  // namespace perftape::record
