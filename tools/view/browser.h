// SPDX-License-Identifier: Apache-2.0
// The browser of the desktop.
#pragma once

#include <filesystem>
#include <string>

namespace perftape::view_tool {

// Returns "file:///tmp/a%20b.html". All bytes that are not letters, digits, "-", "_", ".", "~" or
// "/" are escaped (RFC 3986).
std::string AddressOf(const std::filesystem::path& absolute_path);

// Whether there is a desktop that could show a page: X11 or Wayland.
bool HasDesktop();

// Starts xdg-open with the address, and does not wait for the browser. Returns false if there is no
// xdg-open.
bool OpenInBrowser(const std::string& address);

}  // namespace perftape::view_tool
