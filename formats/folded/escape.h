// SPDX-License-Identifier: Apache-2.0
// Reversible escaping of arbitrary names as frames of a folded line. The format itself has no
// escapes. Characters that would end a frame or a line, or affect a terminal
// (formats/base/unsafe_text.h, except the tab), are written as '%' and upper-case hexadecimal
// digits:
//
//   ';'   %3B        line feed   %0A        NUL   %00        ESC   %1B        …
//   U+009B   %u009B      U+202E   %u202E      the byte 0x9b, if it is not UTF-8   %x9B
//
// The forms with a letter do not occur in URLs, which JavaScript frames contain: there "%D1%9B" is
// one character. flamegraph.pl and inferno interpret "id 7 12" as two counts. So in the last frame
// of a line, this is escaped too:
//
//   a space or tab before a number at the end   %20, %09        "id 7" as "id%207"
//
// A line that begins with "# " is a comment. So in a frame that begins with it, or is only "#":
//
//   '#'   %23        "# 7" as "%23%207"
//
// A '%' is escaped as "%25" only if it would otherwise begin one of these escapes: the name "%3B"
// becomes "%253B", and "%253B" becomes "%25253B". Every other name is unchanged, including "100%",
// "a\b" and "%2F". So is every frame of other tools' files that contains none of these escapes.
//
//   FrameName(EscapedFrame(name)) == name    for every name; LeafName likewise
//   EscapedFrame(FrameName(text)) == text    for every text without unescaped special characters,
//                                            unless a "%x9B" in it completes a broken character
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace perftape::folded {

// How to write a last frame that ends in a space and a number.
enum class CountLike : std::uint8_t {
  kEscape,
  kKeep,  // unchanged: if all lines end so, the file has two columns of counts
};

// Appends a name as a frame that is not the last. Does not append the ';'.
void AppendFrame(std::string& out, std::string_view name);
// The same for the last frame of a line.
void AppendLeaf(std::string& out, std::string_view name, CountLike count_like);

// Whether the name ends in a space or tab and a number: "id 7" and "id 7.5", but neither "id7" nor
// "7".
bool EndsLikeACount(std::string_view name);

// False if neither FrameName nor LeafName changes the text.
inline bool MayBeEscaped(std::string_view text) {
  return text.find('%') != std::string_view::npos;
}
// Return the name that is written as the frame `text`. LeafName is for the last frame of a line.
std::string FrameName(std::string_view text);
std::string LeafName(std::string_view text);

}  // namespace perftape::folded
