// SPDX-License-Identifier: Apache-2.0
// An allocator for large tables that are read here and there: it asks the kernel for large pages.
// Else most reads of a table of many megabytes wait for its page's address before they wait for
// the data, in a virtual machine twice.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace perftape::convert {

template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) {}  // NOLINT(google-explicit-constructor): of the standard

  T* allocate(std::size_t count) {
    const std::size_t size = count * sizeof(T);
    if (size < kWorthIt) return static_cast<T*>(::operator new(size));
    // Mapped here, not by operator new, which keeps what it is given back.
    void* mapped =
        ::mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(mapped) % kPage;
    std::byte* memory = static_cast<std::byte*>(mapped) + before;
    if (before > 0) ::munmap(mapped, before);
    ::munmap(memory + Mapped(size), kPage - before + size - Mapped(size));
    // A kernel that has none to give goes on with small ones.
    ::madvise(memory, size, MADV_HUGEPAGE);
    return reinterpret_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kWorthIt) {
      ::operator delete(memory);
    } else {
      ::munmap(memory, Mapped(count * sizeof(T)));
    }
  }

  bool operator==(const LargePages&) const = default;

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20, kWorthIt = 2 * kPage;

  // In whole small pages.
  static std::size_t Mapped(std::size_t size) { return (size + 4095) / 4096 * 4096; }
};

}  // namespace perftape::convert
