// SPDX-License-Identifier: Apache-2.0
#include "record/sideband.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <optional>
#include <utility>

namespace perftape {
namespace {

std::size_t PageSize() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::unexpected<Error> ExplainMap(const CpuEvent& event, std::size_t size, int error_number) {
  const std::string what = fmt::format("CPU {}: mapping a ring of {} KiB", event.cpu, size >> 10);
  if (error_number != EPERM) return FailErrno(what, error_number);
  return Fail(ErrorCode::kPermission,
              what +
                  ": more than kernel.perf_event_mlock_kb and 'ulimit -l' allow together; raise "
                  "one of them, or run with CAP_IPC_LOCK");
}

}  // namespace

Result<Sideband> Sideband::Open(std::span<const CpuEvent> events, const SidebandOptions& options) {
  if (!std::has_single_bit(options.ring_bytes) || options.ring_bytes < PageSize()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("a process event ring of {} bytes: it takes a power of two of pages",
                            options.ring_bytes));
  }
  Sideband sideband;
  for (const CpuEvent& event : events) {
    const std::size_t size = PageSize() + options.ring_bytes;
    void* address =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, event.fd.get(), /*offset=*/0);
    if (address == MAP_FAILED) return ExplainMap(event, options.ring_bytes, errno);
    sideband.mappings_.push_back({address, size});
    sideband.rings_.emplace_back(static_cast<perf_event_mmap_page*>(address),
                                 static_cast<const std::byte*>(address) + PageSize(),
                                 options.ring_bytes);
  }
  return sideband;
}

Sideband::~Sideband() {
  for (const Mapping& mapping : mappings_) munmap(mapping.address, mapping.size);
}

Result<std::size_t> Sideband::Drain(const std::function<void(Bytes record)>& take) {
  std::size_t count = 0;
  std::optional<Error> failure;
  for (Ring& ring : rings_) {
    Result<std::size_t> drained = ring.Drain(take);
    if (drained) {
      count += *drained;
    } else {
      failure = std::move(drained).error();
    }
  }
  if (failure) return Fail(*std::move(failure));
  return count;
}

}  // namespace perftape
