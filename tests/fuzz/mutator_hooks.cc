// SPDX-License-Identifier: Apache-2.0
// Passes the structured mutator to libFuzzer and to the plain main.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/fuzz/mutator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using perftape::fuzz::Buffer;
using perftape::fuzz::MutationOptions;

std::size_t CopyTo(std::uint8_t* out, std::size_t room, const Buffer& bytes) {
  const std::size_t size = std::min(room, bytes.size());
  std::ranges::copy(std::as_bytes(std::span(bytes)).first(size), reinterpret_cast<std::byte*>(out));
  return size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  const MutationOptions options{
      .seed = seed, .max_size = max_size, .change_bytes = &LLVMFuzzerMutate};
  return CopyTo(data, max_size,
                perftape::fuzz::Mutated(std::as_bytes(std::span(data, size)), options));
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t max_out_size, unsigned seed) {
  const MutationOptions options{
      .seed = seed, .max_size = max_out_size, .change_bytes = &LLVMFuzzerMutate};
  return CopyTo(out, max_out_size,
                perftape::fuzz::Crossed(std::as_bytes(std::span(first, first_size)),
                                        std::as_bytes(std::span(second, second_size)), options));
}
