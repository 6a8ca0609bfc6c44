// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/address_space.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "formats/base/file_number.h"
#include "formats/base/unknown_name.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/perfdata/moved_text.h"

namespace perftape::perfdata {
namespace {

std::uint64_t NextGeneration() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// A change of one bit changes about half of the result's bits (the finalizer of splitmix64).
std::uint64_t Mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

std::uint64_t FingerprintOf(const Region& region) {
  std::uint64_t print = reinterpret_cast<std::uintptr_t>(region.dso);
  for (const std::uint64_t word : {region.page_offset, region.end, region.start}) {
    print = Mix(print + 0x9e3779b97f4a7c15) ^ word;
  }
  return Mix(print);
}

// The range that a record maps, cut at 2^64.
Region RangeOf(std::uint64_t start, std::uint64_t length, std::uint64_t page_offset) {
  const std::uint64_t end = length > ~std::uint64_t{0} - start ? ~std::uint64_t{0} : start + length;
  return {.start = start, .end = end, .page_offset = page_offset, .dso = nullptr};
}

// Anonymous memory that cannot be executed. It is no memory of a perf map (IsPerfMapMemory).
constexpr std::string_view kDataMemoryName = "[anon]";

// Records that other tools made may have no protection.
bool IsExecutable(const Mmap2& mmap) {
  return mmap.protection == 0 || (mmap.protection & Mmap2::kProtectionExec) != 0;
}

TextMapping TextMappingOf(const Region& region) {
  const bool is_text = IsTextOfFile(region.dso->path);
  return {
      .start = region.start,
      .end = region.end,
      .page_offset = region.page_offset,
      .file = is_text ? std::optional(reinterpret_cast<std::uintptr_t>(region.dso)) : std::nullopt};
}

// Memory directly below an executable mapping of a file, up to the start of the file, has addresses
// of the file, too: a program's segments are loaded as one range, in the order of the file.
bool IsDirectlyBelow(const Region& memory, const Region& text) {
  return memory.end == text.start && memory.end - memory.start <= text.page_offset;
}

Region TextIn(const Region& memory, const Region& text) {
  return {.start = memory.start,
          .end = memory.end,
          .page_offset = text.page_offset - (text.start - memory.start),
          .dso = text.dso};
}

// Returns the executable memory as a mapping of the file whose text it is. Nothing if it is none.
std::optional<Region> MovedTextAt(const AddressSpace& space, const Region& memory) {
  std::vector<TextMapping> replaced;
  const Region* first = nullptr;
  for (const Region* at = space.FindBelow(memory.end - 1);
       memory.start < memory.end && at != nullptr && at->end > memory.start;
       at = at->start == 0 ? nullptr : space.FindBelow(at->start - 1)) {
    first = at;
    replaced.push_back(TextMappingOf(*at));
  }
  std::ranges::reverse(replaced);
  if (const auto offset = OffsetOfMovedText(memory.start, memory.end, replaced)) {
    return Region{
        .start = memory.start, .end = memory.end, .page_offset = *offset, .dso = first->dso};
  }
  const Region* const above = space.Find(memory.end);
  const bool replaces_file =
      std::ranges::any_of(replaced, [](const TextMapping& text) { return text.file.has_value(); });
  if (replaces_file || above == nullptr || !IsTextOfFile(above->dso->path) ||
      !IsDirectlyBelow(memory, *above)) {
    return std::nullopt;
  }
  return TextIn(memory, *above);
}

// The file may be announced after its text: synthesized records have the order of addresses.
void AddMovedTextBelow(Region text, AddressSpace& space) {
  while (text.page_offset > 0 && text.start > 0) {
    const Region* const below = space.Find(text.start - 1);
    if (below == nullptr || below->dso->path == kDataMemoryName ||
        !MayHoldMovedText(below->dso->path, 0) || !IsDirectlyBelow(*below, text)) {
      return;
    }
    text = TextIn(*below, text);
    space.Add(text);
  }
}

}  // namespace

std::string_view Dso::base_name() const {
  if (path.empty()) return kUnknownName;
  if (path.front() == '[') return path;
  const std::string_view name = path;
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos || slash + 1 == name.size() ? name
                                                                     : name.substr(slash + 1);
}

void AddressSpace::Add(const Region& region) {
  if (region.start >= region.end) return;
  Remove(region.start, region.end);
  Insert(region);
  generation_ = NextGeneration();
}

AddressSpace::Regions::iterator AddressSpace::Insert(const Region& region) {
  fingerprint_ += FingerprintOf(region);
  return Own().emplace(region.start, region).first;
}

AddressSpace::Regions& AddressSpace::Own() {
  if (!regions_) {
    regions_ = std::make_shared<Regions>();
  } else if (regions_.use_count() > 1) {
    regions_ = std::make_shared<Regions>(*regions_);
  }
  return *regions_;
}

void AddressSpace::Remove(std::uint64_t start, std::uint64_t end) {
  Regions& regions = Own();
  auto at = regions.upper_bound(start);
  if (at != regions.begin()) --at;
  while (at != regions.end() && at->first < end) {
    const Region old = at->second;
    if (old.end <= start) {
      ++at;
      continue;
    }
    at = regions.erase(at);
    fingerprint_ -= FingerprintOf(old);
    if (old.start < start) {
      Region head = old;
      head.end = start;
      Insert(head);
    }
    if (old.end > end) {
      Region tail = old;
      tail.start = end;
      tail.page_offset += end - old.start;
      at = Insert(tail);
    }
  }
  generation_ = NextGeneration();
}

const Region* AddressSpace::FindBelow(std::uint64_t address) const {
  if (!regions_) return nullptr;
  const auto above = regions_->upper_bound(address);
  return above == regions_->begin() ? nullptr : &std::prev(above)->second;
}

const Region* AddressSpace::Find(std::uint64_t address) const {
  const Region* region = FindBelow(address);
  return region != nullptr && region->Contains(address) ? region : nullptr;
}

void Processes::Apply(const RecordView& record, const SampleFormat& format) {
  forgotten_.reset();
  switch (record.type) {
    case RecordType::kMmap:
      if (const auto mmap = Decode<Mmap>(record, format)) {
        if ((record.misc & kMiscMmapData) != 0) return;
        Map(mmap->pid, record.cpumode(), RangeOf(mmap->start, mmap->length, mmap->page_offset),
            Dso{.path = std::string(mmap->filename), .build_id = {}, .symbol = {}});
      }
      return;
    case RecordType::kMmap2:
      if (const auto mmap = Decode<Mmap2>(record, format)) {
        if ((record.misc & kMiscMmapData) != 0) return;
        Region range = RangeOf(mmap->start, mmap->length, mmap->page_offset);
        Dso dso{.path = std::string(mmap->filename),
                .build_id = mmap->build_id,
                .device = std::uint64_t{mmap->device_major} << 32 | mmap->device_minor,
                .inode = mmap->inode,
                .symbol = {}};
        if (!IsExecutable(*mmap)) {
          if (dso.path == kAnonymousMappingName) dso.path = kDataMemoryName;
        } else if (MayHoldMovedText(mmap->filename, mmap->flags)) {
          if (const auto text = MovedTextAt(UserSpace(mmap->pid), range)) {
            range = *text;
            dso = *text->dso;
          }
        }
        Map(mmap->pid, record.cpumode(), range, dso);
      }
      return;
    case RecordType::kComm:
      if (const auto comm = Decode<Comm>(record, format)) ApplyComm(*comm, record.misc);
      return;
    case RecordType::kFork:
      if (const auto fork = Decode<Fork>(record, format)) ApplyFork(*fork, record.misc);
      return;
    case RecordType::kKsymbol:
      if (const auto symbol = Decode<Ksymbol>(record, format)) ApplyKsymbol(*symbol);
      return;
    case RecordType::kCgroup:
      if (const auto cgroup = Decode<Cgroup>(record, format)) cgroups_[cgroup->id] = cgroup->path;
      return;
    case RecordType::kExit:
      if (const auto exit = Decode<Exit>(record, format)) ApplyExit(*exit);
      return;
    default:
      return;
  }
}

void Processes::Map(std::uint32_t pid, CpuMode mode, const Region& range, const Dso& dso) {
  Dso named = dso;
  named.is_kernel = mode == CpuMode::kKernel;
  // Removes the name of the reference symbol (kKernelMappingName).
  if (named.is_kernel && named.path.starts_with(kKernelMappingName)) {
    named.path = kKernelMappingName;
  }
  // The address spaces of guests and hypervisors are not supported.
  if (mode != CpuMode::kKernel && mode != CpuMode::kUser) return;
  Region region = range;
  region.dso = Intern(named);
  if (named.is_kernel) return kernel_.Add(region);
  Process& process = processes_[pid];
  process.space.Add(region);
  if (IsTextOfFile(named.path)) AddMovedTextBelow(region, process.space);
  const bool hides_code = process.code.size() > 0 && !MayHoldJitCode(named.path);
  if (hides_code) process.code.Remove(region.start, region.end);
}

void Processes::MapCode(std::uint32_t pid, const Region& range, const Dso& dso) {
  forgotten_.reset();
  Region region = range;
  region.dso = Intern(dso);
  processes_[pid].code.Add(region);
}

const Dso* Processes::Intern(const Dso& dso) {
  const std::string key =
      fmt::format("{}\n{}\n{:x}\n{:x}\n{}\n{}\n{:x}", dso.path, dso.is_kernel, dso.device,
                  dso.inode, dso.build_id.hex(), dso.symbol, dso.dump);
  auto& slot = dsos_[key];
  if (!slot) slot = std::make_unique<Dso>(dso);
  return slot.get();
}

const std::string* Processes::Intern(std::string_view comm) {
  const auto known = comms_.find(comm);
  return known != comms_.end() ? &*known : &*comms_.emplace(comm).first;
}

Processes::Thread& Processes::LivingThread(std::uint32_t pid, std::uint32_t tid) {
  Thread& thread = threads_[tid];
  if (thread.lives && thread.pid == pid) return thread;
  Process& process = processes_[pid];
  ++process.threads;
  process.ended = 0;
  thread.pid = pid;
  thread.lives = true;
  return thread;
}

void Processes::ApplyComm(const Comm& comm, std::uint16_t misc) {
  LivingThread(comm.pid, comm.tid).comm = Intern(comm.comm);
  // exec removes all mappings of the old program. The MMAP2 records of the new program follow.
  // (perf keeps the old mappings until new ones replace them; perf_data_converter removes them.)
  if ((misc & kMiscCommExec) == 0) return;
  processes_[comm.pid].space = {};
  processes_[comm.pid].code = {};
}

void Processes::ApplyFork(const Fork& fork, std::uint16_t misc) {
  const bool is_thread = fork.pid == fork.ppid;
  if (!is_thread && (misc & kMiscForkExec) == 0) {
    const auto parent = processes_.find(fork.ppid);
    Process child;
    if (parent != processes_.end()) {
      child.space = parent->second.space;
      child.code = parent->second.code;
    }
    processes_[fork.pid] = std::move(child);
    threads_[fork.tid].lives = false;  // an earlier thread with the same tid
  }
  // A new thread or process has the name of its parent until a COMM changes it.
  const auto parent = threads_.find(fork.ptid);
  const std::string* comm = parent == threads_.end() ? nullptr : parent->second.comm;
  Thread& thread = LivingThread(fork.pid, fork.tid);
  if (comm != nullptr) thread.comm = comm;
}

// A process ends with its last thread.
void Processes::ApplyExit(const Exit& exit) {
  const auto thread = threads_.find(exit.tid);
  if (thread == threads_.end() || !thread->second.lives || thread->second.pid != exit.pid) return;
  thread->second.lives = false;
  const auto process = processes_.find(exit.pid);
  if (process == processes_.end() || --process->second.threads > 0) return;
  process->second.ended = ++ends_;
  ended_.push_back({exit.pid, ends_});
  if (ended_.size() > kEndedButKept) forgotten_ = ForgetOldest();
}

std::optional<std::uint32_t> Processes::ForgetOldest() {
  const Ended oldest = ended_.front();
  ended_.pop_front();
  const auto process = processes_.find(oldest.pid);
  if (process == processes_.end() || process->second.ended != oldest.number) return std::nullopt;
  processes_.erase(process);
  return oldest.pid;
}

std::vector<std::uint32_t> Processes::ForgetEnded(std::uint64_t ends) {
  std::vector<std::uint32_t> forgotten;
  while (!ended_.empty() && ended_.front().number <= ends) {
    if (const auto pid = ForgetOldest()) forgotten.push_back(*pid);
  }
  return forgotten;
}

std::vector<std::uint32_t> Processes::ForgetIf(
    const std::function<bool(std::uint32_t pid)>& has_ended) {
  std::vector<std::uint32_t> forgotten;
  std::erase_if(processes_, [&](const auto& entry) {
    if (!has_ended(entry.first)) return false;
    forgotten.push_back(entry.first);
    return true;
  });
  std::erase_if(threads_,
                [&](const auto& entry) { return !processes_.contains(entry.second.pid); });
  return forgotten;
}

std::unordered_set<const Dso*> Processes::MappedDsos() const {
  std::unordered_set<const Dso*> mapped;
  const auto add = [&](const Region& region) { mapped.insert(region.dso); };
  kernel_.ForEach(add);
  for (const auto& [pid, process] : processes_) {
    process.space.ForEach(add);
    process.code.ForEach(add);
  }
  return mapped;
}

void Processes::ForgetUnused(const std::function<bool(const Dso&)>& keeps) {
  const std::unordered_set<const Dso*> mapped = MappedDsos();
  std::erase_if(dsos_, [&](const auto& entry) {
    return !mapped.contains(entry.second.get()) && !keeps(*entry.second);
  });
  std::erase_if(threads_, [](const auto& entry) { return !entry.second.lives; });
  std::unordered_set<const std::string*> names;
  for (const auto& [tid, thread] : threads_) names.insert(thread.comm);
  std::erase_if(comms_, [&](const std::string& comm) { return !names.contains(&comm); });
}

std::set<std::string, std::less<>> Processes::PathsOfSeveralFiles() const {
  std::map<std::string_view, FileNumber> numbers;
  std::set<std::string, std::less<>> several;
  for (const auto& [key, dso] : dsos_) {
    if (dso->is_kernel || dso->inode == 0 || !dso->build_id.empty() ||
        SourceOf(dso->path) != MappingSource::kFile) {
      continue;
    }
    const FileNumber number = {.device = dso->device, .inode = dso->inode};
    const auto [known, is_new] = numbers.emplace(dso->path, number);
    if (!is_new && known->second != number) several.insert(dso->path);
  }
  return several;
}

void Processes::ApplyKsymbol(const Ksymbol& symbol) {
  const Region range = RangeOf(symbol.address, symbol.length, 0);
  if ((symbol.flags & Ksymbol::kUnregister) != 0) {
    kernel_.Remove(range.start, range.end);
    return;
  }
  Map(0, CpuMode::kKernel, range,
      Dso{.path = std::string(symbol.name), .build_id = {}, .symbol = std::string(symbol.name)});
}

std::string_view Processes::CommOf(std::uint32_t tid) {
  if (tid == 0) return "swapper";
  Thread& thread = threads_[tid];
  if (thread.comm != nullptr) return *thread.comm;
  // Not a comm: threads that this one creates do not have it (tools/perf/util/thread.c, comm_set).
  if (thread.label == nullptr) {
    thread.label = Intern(fmt::format(":{}", static_cast<std::int32_t>(tid)));
  }
  return *thread.label;
}

const std::string* Processes::KnownCommOf(std::uint32_t tid) const {
  const auto found = threads_.find(tid);
  return found == threads_.end() ? nullptr : found->second.comm;
}

std::string_view Processes::CgroupOf(std::uint64_t id) const {
  const auto found = cgroups_.find(id);
  return found == cgroups_.end() ? std::string_view() : found->second;
}

const AddressSpace& Processes::UserSpace(std::uint32_t pid) const {
  static const AddressSpace kEmpty;
  const auto found = processes_.find(pid);
  return found == processes_.end() ? kEmpty : found->second.space;
}

const AddressSpace& Processes::UserCode(std::uint32_t pid) const {
  static const AddressSpace kEmpty;
  const auto found = processes_.find(pid);
  return found == processes_.end() ? kEmpty : found->second.code;
}

const Region* Processes::Find(std::uint32_t pid, CpuMode mode, std::uint64_t address) const {
  if (mode == CpuMode::kKernel) {
    const Region* region = kernel_.FindBelow(address);
    const bool reaches =
        region != nullptr && (region->Contains(address) || region->dso->path == kKernelMappingName);
    return reaches ? region : nullptr;
  }
  if (mode != CpuMode::kUser) return nullptr;
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return nullptr;
  const Region* code = process->second.code.Find(address);
  return code != nullptr ? code : process->second.space.Find(address);
}

}  // namespace perftape::perfdata
