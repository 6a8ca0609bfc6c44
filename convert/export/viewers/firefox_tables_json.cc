// SPDX-License-Identifier: Apache-2.0
// The tables as JSON.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "convert/export/viewers/firefox_tables.h"
#include "convert/export/viewers/text_output.h"
#include "convert/model/profile_facts.h"
#include "formats/base/text.h"
#include "formats/json/string.h"

namespace perftape::viewers {
namespace {

// Returns the processor of the recording; empty if it is unknown, or if there are several.
std::string_view ArchOf(const convert::Profile& profile) {
  std::string_view found;
  for (const std::string_view comment : profile.metadata().comments) {
    const std::string_view arch = convert::CommentValue(comment, convert::kArchComment);
    if (arch.empty()) continue;
    if (!found.empty()) return {};
    found = arch;
  }
  return found;
}

}  // namespace

Status FirefoxTables::WriteLibs(TextOutput& out) const {
  const std::string_view arch = ArchOf(profile_);
  out.text += '[';
  for (std::size_t i = 0; i < libs_.size(); ++i) {
    out.text += i == 0 ? "\n" : ",\n";
    AppendFirefoxLib(out.text,
                     {.path = libs_[i].path, .build_id = libs_[i].build_id, .arch = arch});
    TRY(out.FlushIfLarge());
  }
  out.text += ']';
  return {};
}

Status FirefoxTables::WriteShared(TextOutput& out) const {
  out.text += "{\"stackTable\":";
  TRY(WriteStacks(out));
  out.text += ",\n\"frameTable\":";
  TRY(WriteFrames(out));
  out.text += ",\n\"funcTable\":";
  TRY(WriteFunctions(out));
  out.text += ",\n\"resourceTable\":";
  TRY(WriteResources(out));
  out.text += ",\n\"nativeSymbols\":";
  TRY(WriteNativeSymbols(out));
  out.text += ",\n\"sources\":";
  TRY(WriteSources(out));
  out.text += ",\n\"stringArray\":";
  TRY(WriteStrings(out));
  out.text += '}';
  return {};
}

Status FirefoxTables::WriteStacks(TextOutput& out) const {
  AppendFormat(out.text, "{{\"length\":{}", stacks_.size());
  TRY(WriteColumn(out, "frame", stacks_, [](std::string& text, const Node& node) {
    AppendNumberOrNull(text, node.frame, false);
  }));
  TRY(WriteColumn(out, "prefix", stacks_, [](std::string& text, const Node& node) {
    AppendNumberOrNull(text, node.prefix, node.prefix == kNone);
  }));
  out.text += '}';
  return {};
}

Status FirefoxTables::WriteFrames(TextOutput& out) const {
  AppendFormat(out.text, "{{\"length\":{}", frames_.size());
  TRY(WriteColumn(out, "address", frames_, [](std::string& text, const Frame& frame) {
    if (frame.address == kNoAddress) {
      text += "-1";
    } else {
      AppendNumberOrNull(text, frame.address, false);
    }
  }));
  TRY(WriteColumn(out, "inlineDepth", frames_, [](std::string& text, const Frame& frame) {
    AppendNumberOrNull(text, frame.depth, false);
  }));
  TRY(WriteColumn(out, "category", frames_, [](std::string& text, const Frame& frame) {
    AppendNumberOrNull(text, static_cast<std::uint64_t>(frame.category), false);
  }));
  TRY(WriteConstant(out, "subcategory", frames_, "0"));
  TRY(WriteColumn(out, "func", frames_, [](std::string& text, const Frame& frame) {
    AppendNumberOrNull(text, frame.function, false);
  }));
  TRY(WriteColumn(out, "nativeSymbol", frames_, [](std::string& text, const Frame& frame) {
    AppendNumberOrNull(text, frame.native_symbol, frame.native_symbol == kNone);
  }));
  TRY(WriteConstant(out, "innerWindowID", frames_, "0"));
  TRY(WriteColumn(out, "line", frames_, [](std::string& text, const Frame& frame) {
    AppendNumberOrNull(text, static_cast<std::uint64_t>(frame.line), frame.line <= 0);
  }));
  TRY(WriteColumn(out, "column", frames_, [](std::string& text, const Frame& frame) {
    AppendNumberOrNull(text, frame.column, frame.column == 0);
  }));
  out.text += '}';
  return {};
}

Status FirefoxTables::WriteFunctions(TextOutput& out) const {
  AppendFormat(out.text, "{{\"length\":{}", functions_.size());
  TRY(WriteColumn(out, "name", functions_, [](std::string& text, const Function& function) {
    AppendNumberOrNull(text, function.name, false);
  }));
  TRY(WriteConstant(out, "isJS", functions_, "false"));
  TRY(WriteConstant(out, "relevantForJS", functions_, "false"));
  TRY(WriteColumn(out, "resource", functions_, [](std::string& text, const Function& function) {
    if (function.lib == kNone) {
      text += "-1";
    } else {
      AppendNumberOrNull(text, function.lib, false);  // each library has the resource of its index
    }
  }));
  TRY(WriteColumn(out, "source", functions_, [](std::string& text, const Function& function) {
    AppendNumberOrNull(text, function.source, function.source == kNone);
  }));
  TRY(WriteColumn(out, "lineNumber", functions_, [](std::string& text, const Function& function) {
    AppendNumberOrNull(text, static_cast<std::uint64_t>(function.line), function.line <= 0);
  }));
  TRY(WriteConstant(out, "columnNumber", functions_, "null"));
  out.text += '}';
  return {};
}

Status FirefoxTables::WriteResources(TextOutput& out) const {
  AppendFormat(out.text, "{{\"length\":{}", libs_.size());
  std::uint64_t next = 0;
  TRY(WriteColumn(out, "lib", libs_,
                  [&](std::string& text, const Lib&) { AppendNumberOrNull(text, next++, false); }));
  TRY(WriteColumn(out, "name", lib_names_, [](std::string& text, convert::TextId name) {
    AppendNumberOrNull(text, name, false);
  }));
  TRY(WriteConstant(out, "host", libs_, "null"));
  TRY(WriteConstant(out, "type", libs_, "1"));  // a library
  out.text += '}';
  return {};
}

Status FirefoxTables::WriteNativeSymbols(TextOutput& out) const {
  AppendFormat(out.text, "{{\"length\":{}", native_symbols_.size());
  TRY(WriteColumn(out, "libIndex", native_symbols_, [](std::string& text, const NativeSymbol& its) {
    AppendNumberOrNull(text, its.lib, false);
  }));
  TRY(WriteColumn(out, "address", native_symbols_, [](std::string& text, const NativeSymbol& its) {
    AppendNumberOrNull(text, its.address, false);
  }));
  TRY(WriteColumn(out, "name", native_symbols_, [](std::string& text, const NativeSymbol& its) {
    AppendNumberOrNull(text, its.name, false);
  }));
  TRY(WriteConstant(out, "functionSize", native_symbols_, "null"));
  out.text += '}';
  return {};
}

Status FirefoxTables::WriteSources(TextOutput& out) const {
  AppendFormat(out.text, "{{\"length\":{}", sources_.size());
  TRY(WriteConstant(out, "uuid", sources_, "null"));
  TRY(WriteColumn(out, "filename", sources_, [](std::string& text, convert::TextId name) {
    AppendNumberOrNull(text, name, false);
  }));
  out.text += '}';
  return {};
}

Status FirefoxTables::WriteStrings(TextOutput& out) const {
  out.text += '[';
  for (convert::TextId id = 0; id < texts_.size(); ++id) {
    if (id != 0) out.text += ',';
    json::AppendString(out.text, texts_[id]);
    TRY(out.FlushIfLarge());
  }
  out.text += ']';
  return {};
}

}  // namespace perftape::viewers
