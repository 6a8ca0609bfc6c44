// SPDX-License-Identifier: Apache-2.0
#include "convert/anonymize/public_names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "convert/model/label_keys.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/event_modifiers.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::anonymize {
namespace {

constexpr auto kSampleTypes = std::to_array<std::string_view>(
    {"samples",     "cpu",           "wall",          "time",          "count",       "objects",
     "space",       "alloc_objects", "alloc_space",   "inuse_objects", "inuse_space", "allocations",
     "contentions", "delay",         "goroutine",     "threadcreate",  "lock_count",  "lock_time",
     "exceptions",  "wall-clock",    "critical-path", "latency"});

// tools/perf/util/evsel.c, evsel__hw_cache and evsel__hw_cache_op.
constexpr auto kCaches = std::to_array<std::string_view>(
    {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"});
constexpr auto kCacheUses = std::to_array<std::string_view>(
    {"loads", "load-misses", "stores", "store-misses", "prefetches", "prefetch-misses"});

// TRACE_SYSTEM of include/trace/events and of file systems and drivers.
constexpr auto kTraceSystems = std::to_array<std::string_view>(
    {"alarmtimer",   "avc",          "block",       "bpf_trace", "bridge",
     "btrfs",        "cgroup",       "clk",         "cma",       "compaction",
     "cpuhp",        "csd",          "devfreq",     "devlink",   "dma_fence",
     "drm",          "error_report", "exceptions",  "ext4",      "fib",
     "fib6",         "filelock",     "filemap",     "fs_dax",    "gpio",
     "huge_memory",  "hwmon",        "hyperv",      "i2c",       "initcall",
     "interconnect", "io_uring",     "iocost",      "iommu",     "ipi",
     "irq",          "irq_matrix",   "irq_vectors", "jbd2",      "kmem",
     "ksm",          "kvm",          "libata",      "lock",      "maple_tree",
     "mce",          "mdio",         "migrate",     "mmap",      "mmap_lock",
     "module",       "mptcp",        "msr",         "napi",      "neigh",
     "net",          "netlink",      "nfs",         "nfs4",      "nmi",
     "notifier",     "nvme",         "oom",         "osnoise",   "page_isolation",
     "page_pool",    "pagemap",      "percpu",      "power",     "printk",
     "pwm",          "qdisc",        "random",      "ras",       "raw_syscalls",
     "rcu",          "regmap",       "regulator",   "resctrl",   "rpm",
     "rseq",         "rtc",          "rv",          "sched",     "scsi",
     "signal",       "skb",          "smbus",       "sock",      "spi",
     "sunrpc",       "swiotlb",      "syscalls",    "task",      "tcp",
     "thermal",      "thp",          "timer",       "timestamp", "tlb",
     "udp",          "virtio_gpu",   "vmalloc",     "vmscan",    "vsyscall",
     "watchdog",     "wbt",          "workqueue",   "writeback", "x86_fpu",
     "xdp",          "xen",          "xfs",         "xhci-hcd"});

constexpr auto kUnits = std::to_array<std::string_view>(
    {"", perfdata::kCount, perfdata::kNanoseconds, "microseconds", "milliseconds", "seconds",
     "minutes", "hours", "bytes", "kilobytes", "megabytes", "gigabytes", "objects", "samples",
     convert::kCpuLabel, convert::kPidLabel, convert::kTidLabel, convert::kWokenTidLabel});

bool IsAmong(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool HasOnly(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// The names of PERF_TYPE_HARDWARE and PERF_TYPE_SOFTWARE.
bool IsGeneric(std::string_view name) {
  constexpr std::uint64_t kMoreThanAll = 32;
  for (const std::uint32_t type : {perfdata::kTypeHardware, perfdata::kTypeSoftware}) {
    for (std::uint64_t config = 0; config < kMoreThanAll; ++config) {
      const std::string known = perfdata::DefaultEventName({.type = type, .config = config});
      if (name == std::string_view(known).substr(0, known.find(':'))) return true;
    }
  }
  return false;
}

bool IsCacheEvent(std::string_view name) {
  return std::ranges::any_of(kCaches, [&](std::string_view cache) {
    return name.starts_with(cache) && name.size() > cache.size() && name[cache.size()] == '-' &&
           IsAmong(kCacheUses, name.substr(cache.size() + 1));
  });
}

bool IsOwnEvent(std::string_view name) {
  return perfdata::FindEventMeaning(name) != nullptr;
}

// "raw 0x1c2", "tracepoint:47".
bool IsNumbered(std::string_view name) {
  constexpr std::string_view kRaw = "raw 0x", kTracepoint = "tracepoint:";
  if (name.starts_with(kRaw)) return HasOnly(name.substr(kRaw.size()), "0123456789abcdef");
  return name.starts_with(kTracepoint) && HasOnly(name.substr(kTracepoint.size()), "0123456789");
}

}  // namespace

bool IsPublicEvent(std::string_view name) {
  if (IsNumbered(name)) return true;
  const std::size_t colon = name.find(':');
  const std::string_view begin = name.substr(0, colon);
  if (colon == std::string_view::npos) {
    return IsGeneric(begin) || IsCacheEvent(begin) || IsOwnEvent(begin) ||
           IsAmong(kSampleTypes, begin);
  }
  const std::string_view rest = name.substr(colon + 1);
  if (perfdata::AreModifiers(rest) &&
      (IsGeneric(begin) || IsCacheEvent(begin) || IsOwnEvent(begin))) {
    return true;
  }
  return IsAmong(kTraceSystems, begin) && HasOnly(rest, "abcdefghijklmnopqrstuvwxyz0123456789_");
}

bool IsPublicUnit(std::string_view unit) {
  return IsAmong(kUnits, unit);
}

}  // namespace perftape::anonymize
