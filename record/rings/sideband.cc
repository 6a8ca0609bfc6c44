// SPDX-License-Identifier: Apache-2.0
#include "record/rings/sideband.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <optional>
#include <utility>

#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

std::size_t PageSize() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::unexpected<Error> ExplainMap(const CpuEvent& event, std::size_t size, int error_number) {
  const std::string what = fmt::format("CPU {}: mapping a ring of {} KiB", event.cpu, size >> 10);
  if (error_number != EPERM) return FailErrno(what, error_number);
  return FailMissing(ErrorCode::kPermission, what, {Missing(Requirement::kPerfMemory)});
}

}  // namespace

perfdata::EventAttr AttrForPolling(perfdata::EventAttr attr, const SidebandOptions& options) {
  attr.flags |= perfdata::kWatermark;
  attr.wakeup_events = static_cast<std::uint32_t>(options.ring_bytes / 4);  // wakeup_watermark
  return attr;
}

Result<Sideband> Sideband::Open(std::span<const CpuEvent> events, const SidebandOptions& options) {
  if (!std::has_single_bit(options.ring_bytes) || options.ring_bytes < PageSize()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("a process event ring of {} bytes: it takes a power of two of pages",
                            options.ring_bytes));
  }
  Sideband sideband;
  sideband.poll_fd_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  if (!sideband.poll_fd_) return FailErrno("epoll", errno);
  sideband.ring_bytes_ = options.ring_bytes;
  for (const CpuEvent& event : events) {
    TRY_ASSIGN(const Mapping mapping, sideband.Map(event));
    sideband.mappings_.push_back(mapping);
    sideband.rings_.push_back(sideband.RingOf(mapping));
  }
  return sideband;
}

Result<Sideband::Mapping> Sideband::Map(const CpuEvent& event) const {
  const std::size_t size = PageSize() + ring_bytes_;
  void* address =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, event.fd.get(), /*offset=*/0);
  if (address == MAP_FAILED) return ExplainMap(event, ring_bytes_, errno);
  epoll_event readable = {.events = EPOLLIN, .data = {}};
  if (epoll_ctl(poll_fd_.get(), EPOLL_CTL_ADD, event.fd.get(), &readable) != 0) {
    munmap(address, size);
    return FailErrno(fmt::format("CPU {}: waiting for process events", event.cpu), errno);
  }
  return Mapping{.cpu = event.cpu, .address = address, .size = size};
}

Ring Sideband::RingOf(const Mapping& mapping) const {
  return {static_cast<perf_event_mmap_page*>(mapping.address),
          static_cast<const std::byte*>(mapping.address) + PageSize(), ring_bytes_};
}

Status Sideband::Replace(const CpuEvent& event) {
  TRY_ASSIGN(const Mapping mapping, Map(event));
  const auto former = std::ranges::find(mappings_, event.cpu, &Mapping::cpu);
  if (former == mappings_.end()) {
    mappings_.push_back(mapping);
    rings_.push_back(RingOf(mapping));
    return {};
  }
  munmap(former->address, former->size);
  *former = mapping;
  rings_[static_cast<std::size_t>(former - mappings_.begin())] = RingOf(mapping);
  return {};
}

Sideband::~Sideband() {
  for (const Mapping& mapping : mappings_) munmap(mapping.address, mapping.size);
}

Result<std::size_t> Sideband::Drain(const std::function<void(Bytes record)>& on_record) {
  std::size_t count = 0;
  std::optional<Error> failure;
  for (Ring& ring : rings_) {
    Result<std::size_t> drained = ring.Drain(on_record);
    if (drained) {
      count += *drained;
    } else {
      failure = std::move(drained).error();
    }
  }
  if (failure) return Fail(*std::move(failure));
  return count;
}

}  // namespace perftape::record
