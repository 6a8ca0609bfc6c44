// SPDX-License-Identifier: Apache-2.0
// Makes .xz files for tests.
#pragma once

#include <gtest/gtest.h>
#include <lzma.h>

#include <cstdint>
#include <string>

namespace perftape {

inline std::string Xz(const std::string& plain) {
  std::string compressed(lzma_stream_buffer_bound(plain.size()), '\0');
  std::size_t size = 0;
  const lzma_ret result = lzma_easy_buffer_encode(
      0, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(plain.data()),
      plain.size(), reinterpret_cast<std::uint8_t*>(compressed.data()), &size, compressed.size());
  EXPECT_EQ(result, LZMA_OK);
  compressed.resize(size);
  return compressed;
}

}  // namespace perftape
