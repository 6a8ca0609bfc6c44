// SPDX-License-Identifier: Apache-2.0
#include "formats/base/truncation.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <utility>

namespace perftape {
inline namespace base {

// The signal handler may find an entry at any time, so entries are reused and never freed.
struct TruncationGuard::Entry {
  std::atomic<std::uintptr_t> start = 0;  // 0: the entry guards no mapping
  std::atomic<std::size_t> size = 0;
  std::atomic<bool> was_truncated = false;
  Entry* next = nullptr;  // set before the entry is in the list
  std::string name;       // the handler does not use it
};

namespace {

using Entry = TruncationGuard::Entry;

std::atomic<Entry*> all_entries = nullptr;
std::uintptr_t page_size = 0;
struct sigaction action_before = {};

struct Registry {
  std::mutex mutex;
  std::vector<Entry*> unused;
  std::vector<std::string> truncated;  // names from entries that were reused
  bool has_handler = false;
};

// Never destroyed, because other static objects may own mappings that outlive it.
Registry& TheRegistry() {
  static Registry& registry = *new Registry;
  return registry;
}

Entry* EntryOf(std::uintptr_t address) {
  for (Entry* entry = all_entries.load(std::memory_order_acquire); entry != nullptr;
       entry = entry->next) {
    const std::uintptr_t start = entry->start.load(std::memory_order_acquire);
    if (start != 0 && address >= start && address - start < entry->size) return entry;
  }
  return nullptr;
}

// Maps zeros over the file, from the page that was read to the end of the mapping. POSIX does not
// list mmap as async-signal-safe, but on Linux it is a plain system call.
void OnBusError(int, siginfo_t* info, void*) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Entry* const entry = info->si_code == BUS_ADRERR ? EntryOf(address) : nullptr;
  const std::uintptr_t in_page = address % page_size;
  if (entry == nullptr || mmap(static_cast<std::byte*>(info->si_addr) - in_page,
                               entry->start + entry->size - (address - in_page), PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    // The instruction runs again and fails as it would have without this handler.
    sigaction(SIGBUS, &action_before, nullptr);
  } else {
    entry->was_truncated = true;
  }
  errno = saved_errno;
}

void InstallHandler() {
  page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGBUS, &action, &action_before);
}

}  // namespace

TruncationGuard::TruncationGuard(Bytes mapped, std::string_view name) {
  if (mapped.empty()) return;
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  if (!std::exchange(registry.has_handler, true)) InstallHandler();
  if (registry.unused.empty()) {
    entry_ = new Entry;
    entry_->next = all_entries;
    all_entries.store(entry_, std::memory_order_release);
  } else {
    entry_ = registry.unused.back();
    registry.unused.pop_back();
  }
  entry_->name = name;
  entry_->was_truncated = false;
  entry_->size = mapped.size();
  entry_->start.store(reinterpret_cast<std::uintptr_t>(mapped.data()), std::memory_order_release);
}

TruncationGuard::TruncationGuard(TruncationGuard&& other) noexcept
    : entry_(std::exchange(other.entry_, nullptr)) {}

TruncationGuard& TruncationGuard::operator=(TruncationGuard&& other) noexcept {
  std::swap(entry_, other.entry_);
  return *this;
}

TruncationGuard::~TruncationGuard() {
  if (entry_ == nullptr) return;
  entry_->start.store(0, std::memory_order_release);
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  if (entry_->was_truncated) registry.truncated.push_back(entry_->name);
  entry_->was_truncated = false;
  registry.unused.push_back(entry_);
}

bool TruncationGuard::was_truncated() const {
  return entry_ != nullptr && entry_->was_truncated;
}

std::vector<std::string> TruncatedFiles() {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  std::vector<std::string> names = registry.truncated;
  for (const Entry* entry = all_entries; entry != nullptr; entry = entry->next) {
    if (entry->was_truncated) names.push_back(entry->name);
  }
  return names;
}

}  // namespace base
}  // namespace perftape
