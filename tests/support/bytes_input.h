// SPDX-License-Identifier: Apache-2.0
// An Input with bytes that a test made.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/input.h"

#if defined(__SANITIZE_ADDRESS__)
#define PERFTAPE_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PERFTAPE_HAS_ASAN 1
#endif
#endif
#ifdef PERFTAPE_HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace perftape {

// A file without a name or path, in memory, which contains a copy of `bytes`. AddressSanitizer
// reports reads behind their end, as it does for a buffer on the heap: the rest of the last page is
// poisoned. Throws std::runtime_error if the file cannot be made.
class BytesInput : public Input {
 public:
  explicit BytesInput(Bytes bytes) : Input(FromFile(Copy(bytes), {}, {})) {
#ifdef PERFTAPE_HAS_ASAN
    ASAN_POISON_MEMORY_REGION(beginning().data() + beginning().size(), Tail());
#endif
  }
  BytesInput(const BytesInput&) = delete;
  BytesInput& operator=(const BytesInput&) = delete;
  ~BytesInput() {
#ifdef PERFTAPE_HAS_ASAN
    ASAN_UNPOISON_MEMORY_REGION(beginning().data() + beginning().size(), Tail());
#endif
  }

 private:
  static MappedFile Copy(Bytes bytes) {
    const UniqueFd fd(memfd_create("input", MFD_CLOEXEC));
    if (!fd || !WriteAll(fd.get(), bytes)) throw std::runtime_error("no file in memory");
    Result<MappedFile> file = MappedFile::FromFd(fd.get(), "");
    if (!file) throw std::runtime_error(file.error().message);
    return *std::move(file);
  }

  // The bytes from the end of the file to the end of its last page.
  std::size_t Tail() const {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return (page - beginning().size() % page) % page;
  }
};

}  // namespace perftape
