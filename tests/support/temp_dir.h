// SPDX-License-Identifier: Apache-2.0
// A temporary directory for one test, removed with its contents.
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace perftape {

// Methods throw std::runtime_error if the file system fails. In a test that is a failure with a
// message, and the calls stay short.
class TempDir {
 public:
  TempDir() {
    std::string pattern = std::filesystem::temp_directory_path() / "perftape-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

  // The path of `name` in this directory, whether it exists or not.
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  // Writes `text` to the file `name`, replacing an existing one, and creates missing directories.
  // Returns the path.
  std::filesystem::path Write(std::string_view name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
    return file;
  }
  std::filesystem::path Write(std::string_view name, std::span<const std::byte> bytes) const {
    return Write(name, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace perftape
