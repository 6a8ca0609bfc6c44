// SPDX-License-Identifier: Apache-2.0
#include "record/output/seam_state.h"

#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "formats/perfdata/moved_text.h"
#include "formats/perfdata/record_cursor.h"

namespace perftape::record {

using perfdata::RecordType;

namespace {

// Makes memory that holds moved text a mapping of the file: once the records of the original
// mapping are gone, readers cannot know. `Mappings` is SeamState::Mappings.
template <class Mappings, class Mapping>
void NameMovedText(const Mappings& all, Mapping& mapping) {
  perfdata::Mmap2& record = mapping.record;
  std::vector<perfdata::TextMapping> replaced;
  const Mapping* first = nullptr;
  auto at = all.upper_bound(record.start);
  if (at != all.begin() && std::prev(at)->second.end() > record.start) --at;
  for (; at != all.end() && at->first < mapping.end(); ++at) {
    const Mapping& old = at->second;
    if (first == nullptr) first = &old;
    // Names are interned.
    const bool is_text = old.record.inode == first->record.inode &&
                         old.record.filename.data() == first->record.filename.data() &&
                         perfdata::IsTextOfFile(old.record.filename);
    replaced.push_back({.start = old.record.start,
                        .end = old.end(),
                        .page_offset = old.record.page_offset,
                        .file = is_text ? std::optional<std::uint64_t>(0) : std::nullopt});
  }
  const auto offset = perfdata::OffsetOfMovedText(record.start, mapping.end(), replaced);
  if (!offset) return;
  Mapping text = *first;
  text.record.start = record.start;
  text.record.length = record.length;
  text.record.page_offset = *offset;
  mapping = text;
}

}  // namespace

Status SeamState::Apply(Bytes records) {
  perfdata::RecordCursor cursor(records, 0, std::endian::native);
  while (true) {
    TRY_ASSIGN(const std::optional<perfdata::RecordView> record, cursor.Next());
    if (!record) return {};
    Apply(*record);
  }
}

void SeamState::Apply(const perfdata::RecordView& record) {
  switch (record.type) {
    case RecordType::kMmap2:
      if (const auto mmap = perfdata::Decode<perfdata::Mmap2>(record, format_)) {
        ApplyMmap2(*mmap, record.misc);
      }
      return;
    case RecordType::kComm:
      if (const auto comm = perfdata::Decode<perfdata::Comm>(record, format_)) {
        ApplyComm(*comm, record.misc);
      }
      return;
    case RecordType::kFork:
      if (const auto fork = perfdata::Decode<perfdata::Fork>(record, format_)) {
        ApplyFork(*fork, record.misc);
      }
      return;
    case RecordType::kExit:
      if (const auto exit = perfdata::Decode<perfdata::Exit>(record, format_)) ApplyExit(*exit);
      return;
    case RecordType::kNamespaces:
      if (const auto entry = perfdata::Decode<perfdata::Namespaces>(record, format_)) {
        ApplyNamespaces(*entry);
      }
      return;
    case RecordType::kCgroup:
      if (const auto cgroup = perfdata::Decode<perfdata::Cgroup>(record, format_)) {
        cgroups_[cgroup->id] = cgroup->path;
      }
      return;
    case RecordType::kKsymbol:
      return ApplyKsymbol(record);
    case RecordType::kBpfEvent:
      return ApplyBpfEvent(record);
    case RecordType::kMmap:  // the recorder writes it for the kernel and its modules only
    case RecordType::kIdIndex:
      return KeepWhole(record);
    default:
      return;
  }
}

void SeamState::KeepWhole(const perfdata::RecordView& record) {
  const perfdata::RecordHeader header = {
      .type = record.type, .misc = record.misc, .size = static_cast<std::uint16_t>(record.size())};
  const Bytes bytes = std::as_bytes(std::span(&header, 1));
  kernel_.insert(kernel_.end(), bytes.begin(), bytes.end());
  kernel_.insert(kernel_.end(), record.payload.begin(), record.payload.end());
}

SeamState::Thread& SeamState::LivingThread(std::uint32_t pid, std::uint32_t tid) {
  if (const auto known = threads_.find(tid); known != threads_.end() && known->second.pid != pid) {
    Forget(tid);
  }
  Thread& thread = threads_[tid];
  thread.pid = pid;
  thread.ended_ns = 0;
  processes_[pid].threads.insert(tid);
  return thread;
}

void SeamState::Forget(std::uint32_t tid) {
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) return;
  const auto process = processes_.find(thread->second.pid);
  if (process != processes_.end()) {
    process->second.threads.erase(tid);
    if (process->second.threads.empty()) processes_.erase(process);
  }
  threads_.erase(thread);
}

void SeamState::ForgetEnded(std::uint64_t now_ns) {
  while (!ended_.empty() && ended_.front().time_ns + kEndedButKeptNs < now_ns) {
    const Ended oldest = ended_.front();
    ended_.pop_front();
    // Another thread may have the tid by now.
    const auto thread = threads_.find(oldest.tid);
    if (thread != threads_.end() && thread->second.ended_ns == oldest.time_ns) Forget(oldest.tid);
  }
}

SeamState::Mappings& SeamState::OwnMappings(Process& process) {
  if (!process.mappings) {
    process.mappings = std::make_shared<Mappings>();
  } else if (process.mappings.use_count() > 1) {
    process.mappings = std::make_shared<Mappings>(*process.mappings);
  }
  return *process.mappings;
}

// The same rules as in perfdata::Processes: a child starts with the name and the mappings of its
// parent, unless its FORK precedes all of its mappings.
void SeamState::ApplyFork(const perfdata::Fork& fork, std::uint16_t misc) {
  std::string comm;
  std::vector<std::uint64_t> namespaces;
  if (const auto parent = threads_.find(fork.ptid); parent != threads_.end()) {
    comm = parent->second.comm;
    namespaces = parent->second.namespaces;
  }
  if (fork.pid != fork.ppid) {
    std::shared_ptr<Mappings> mappings;
    const auto parent = processes_.find(fork.ppid);
    if (parent != processes_.end() && (misc & perfdata::kMiscForkExec) == 0) {
      mappings = parent->second.mappings;
    }
    Forget(fork.tid);  // an earlier thread with the same tid
    Process& child = processes_[fork.pid];
    child.parent = fork.ppid;
    child.parent_tid = fork.ptid;
    child.mappings = std::move(mappings);
  }
  Thread& thread = LivingThread(fork.pid, fork.tid);
  thread.is_forked = true;
  thread.comm = std::move(comm);
  thread.namespaces = std::move(namespaces);
}

void SeamState::ApplyComm(const perfdata::Comm& comm, std::uint16_t misc) {
  LivingThread(comm.pid, comm.tid).comm = comm.comm;
  if ((misc & perfdata::kMiscCommExec) == 0) return;
  // exec ends all other threads and removes all mappings. If another thread than the first calls
  // it, that thread gets the tid of the first, and its old tid has no EXIT.
  Process& process = processes_[comm.pid];
  process.mappings.reset();
  const std::set<std::uint32_t> threads = process.threads;
  for (const std::uint32_t tid : threads) {
    if (tid != comm.tid) Forget(tid);
  }
}

void SeamState::ApplyExit(const perfdata::Exit& exit) {
  const auto thread = threads_.find(exit.tid);
  if (thread == threads_.end() || thread->second.pid != exit.pid) return;
  thread->second.ended_ns = exit.time;
  ended_.push_back({.time_ns = exit.time, .tid = exit.tid});
  ForgetEnded(exit.time);
}

void SeamState::ApplyNamespaces(const perfdata::Namespaces& namespaces) {
  Thread& thread = LivingThread(namespaces.pid, namespaces.tid);
  thread.namespaces.clear();
  for (std::size_t i = 0; i < namespaces.links.size(); ++i) {
    thread.namespaces.push_back(namespaces.links[i]);
  }
}

std::string_view SeamState::Intern(std::string_view name) {
  if (names_growth_.IsDue(names_.size())) ForgetUnusedNames();
  return *names_.emplace(name).first;
}

void SeamState::ForgetUnusedNames() {
  std::unordered_set<const char*> used;
  for (const auto& [pid, process] : processes_) {
    if (!process.mappings) continue;
    for (const auto& [start, mapping] : *process.mappings)
      used.insert(mapping.record.filename.data());
  }
  std::erase_if(names_, [&](const std::string& name) { return !used.contains(name.data()); });
  names_growth_.Restart(names_.size());
}

// A new mapping cuts the old ones.
void SeamState::ApplyMmap2(const perfdata::Mmap2& mmap, std::uint16_t misc) {
  if ((misc & perfdata::kMiscMmapData) != 0 || mmap.length == 0) return;
  Mapping mapping = {.record = mmap, .misc = misc};
  mapping.record.filename = Intern(mmap.filename);
  Mappings& all = OwnMappings(processes_[mmap.pid]);
  if ((mmap.protection & perfdata::Mmap2::kProtectionExec) != 0 &&
      perfdata::MayHoldMovedText(mmap.filename, mmap.flags)) {
    NameMovedText(all, mapping);
  }
  auto at = all.upper_bound(mmap.start);
  if (at != all.begin()) --at;
  while (at != all.end() && at->first < mapping.end()) {
    const Mapping old = at->second;
    if (old.end() <= mmap.start) {
      ++at;
      continue;
    }
    at = all.erase(at);
    if (old.record.start < mmap.start) {
      Mapping head = old;
      head.record.length = mmap.start - old.record.start;
      all.emplace(head.record.start, head);
    }
    if (old.end() > mapping.end()) {
      Mapping tail = old;
      tail.record.start = mapping.end();
      tail.record.length = old.end() - mapping.end();
      tail.record.page_offset += mapping.end() - old.record.start;
      at = all.emplace(tail.record.start, tail).first;
    }
  }
  all.emplace(mmap.start, mapping);
  LivingThread(mmap.pid, mmap.tid);
}

void SeamState::ApplyKsymbol(const perfdata::RecordView& record) {
  const auto symbol = perfdata::Decode<perfdata::Ksymbol>(record, format_);
  if (!symbol) return;
  if ((symbol->flags & perfdata::Ksymbol::kUnregister) != 0) {
    ksymbols_.erase(symbol->address);
    return;
  }
  std::vector<std::byte> bytes;
  if (perfdata::Encode(*symbol, {}, format_, record.misc, bytes)) {
    ksymbols_[symbol->address] = std::move(bytes);
  }
}

void SeamState::ApplyBpfEvent(const perfdata::RecordView& record) {
  const auto event = perfdata::Decode<perfdata::BpfEvent>(record, format_);
  if (!event) return;
  bpf_programs_.erase(event->id);
  if (event->event_type != perfdata::BpfEvent::kLoad) return;
  std::vector<std::byte> bytes;
  if (perfdata::Encode(*event, {}, format_, record.misc, bytes)) {
    bpf_programs_[event->id] = std::move(bytes);
  }
}

Result<std::vector<std::byte>> SeamState::Encode() const {
  std::vector<std::byte> out = kernel_;
  for (const auto& [address, record] : ksymbols_)
    out.insert(out.end(), record.begin(), record.end());
  for (const auto& [id, record] : bpf_programs_)
    out.insert(out.end(), record.begin(), record.end());
  for (const auto& [id, path] : cgroups_) {
    TRY(perfdata::Encode(perfdata::Cgroup{.id = id, .path = path}, {}, format_, 0, out));
  }
  for (const auto& [pid, process] : processes_) TRY(EncodeProcess(pid, process, out));
  TRY(perfdata::Encode(perfdata::FinishedInit{}, 0, out));
  return out;
}

Status SeamState::EncodeProcess(std::uint32_t pid, const Process& process,
                                std::vector<std::byte>& out) const {
  if (process.threads.contains(pid)) TRY(EncodeThread(pid, process, out));
  if (process.mappings) {
    for (const auto& [start, mapping] : *process.mappings) {
      // A child has the records of its parent.
      perfdata::Mmap2 record = mapping.record;
      record.pid = record.tid = pid;
      TRY(perfdata::Encode(record, {}, format_, mapping.misc, out));
    }
  }
  for (const std::uint32_t tid : process.threads) {
    if (tid != pid) TRY(EncodeThread(tid, process, out));
  }
  return {};
}

// As proc_snapshot.cc writes them.
Status SeamState::EncodeThread(std::uint32_t tid, const Process& process,
                               std::vector<std::byte>& out) const {
  const Thread& thread = threads_.at(tid);
  const bool is_first = tid == thread.pid;
  if (thread.is_forked) {
    const perfdata::Task task = {.pid = thread.pid,
                                 .ppid = is_first ? process.parent : thread.pid,
                                 .tid = tid,
                                 .ptid = is_first ? process.parent_tid : thread.pid};
    TRY(perfdata::Encode(perfdata::Fork{task}, {}, format_, perfdata::kMiscForkExec, out));
  }
  if (!thread.namespaces.empty()) {
    const perfdata::Namespaces record{
        .pid = thread.pid, .tid = tid, .links = WordArray(thread.namespaces)};
    TRY(perfdata::Encode(record, {}, format_, 0, out));
  }
  if (thread.comm.empty()) return {};
  const perfdata::Comm record{.pid = thread.pid, .tid = tid, .comm = thread.comm};
  return perfdata::Encode(record, {}, format_, 0, out);
}

}  // namespace perftape::record
