// SPDX-License-Identifier: Apache-2.0
// An allocator for large tables with random access: it asks the kernel for large pages. Otherwise
// most reads of a table of many megabytes first wait for the address translation of the page, and
// only then for the data. In a virtual machine there are two translations.
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
    // Mapped here, because operator new keeps memory that is freed.
    void* mapped =
        ::mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(mapped) % kPage;
    std::byte* memory = static_cast<std::byte*>(mapped) + before;
    if (before > 0) ::munmap(mapped, before);
    ::munmap(memory + PageMultiple(size), kPage - before + size - PageMultiple(size));
    // If the kernel has no large pages left, it uses small ones.
    ::madvise(memory, size, MADV_HUGEPAGE);
    return reinterpret_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kWorthIt) {
      ::operator delete(memory);
    } else {
      ::munmap(memory, PageMultiple(count * sizeof(T)));
    }
  }

  bool operator==(const LargePages&) const = default;

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20, kWorthIt = 2 * kPage;

  // Rounds up to whole small pages.
  static std::size_t PageMultiple(std::size_t size) { return (size + 4095) / 4096 * 4096; }
};

}  // namespace perftape::convert
