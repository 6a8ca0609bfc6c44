# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=page -DOUTPUT=page_files.cc -P embed_page.cmake
# Makes the constants of page_files.h of the files in page/.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../../tools/cmake/packed_data.cmake)

# Sets `result` to base64 of bytes in hexadecimal.
function(base64_of_hex hex result)
  set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(LENGTH "${hex}" length)
  set(text "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${hex}" ${at} 6 group)
    string(LENGTH "${group}" digits)
    string(SUBSTRING "${group}0000" 0 6 group)
    foreach(shift IN ITEMS 18 12 6 0)
      math(EXPR index "(0x${group} >> ${shift}) & 63")
      string(SUBSTRING "${letters}" ${index} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
    math(EXPR at "${at} + 6")
  endwhile()
  # One byte of the last group is two letters, two bytes are three.
  string(LENGTH "${text}" length)
  math(EXPR padding "(6 - ${digits}) / 2")
  math(EXPR length "${length} - ${padding}")
  string(SUBSTRING "${text}" 0 ${length} text)
  string(REPEAT "=" ${padding} padding)
  set(${result} "${text}${padding}" PARENT_SCOPE)
endfunction()

# Script files become one, without comments and indentation: no text of theirs has several lines.
# Their licence line is kept once.
function(join_scripts result)
  set(licence "// SPDX-License-Identifier: Apache-2.0\n")
  set(joined "${licence}")
  foreach(file IN LISTS ARGN)
    file(READ ${SOURCE}/${file} script)
    string(REPLACE "${licence}" "" script "${script}")
    string(REGEX REPLACE "(^|\n) *//[^\n]*" "" script "${script}")
    string(REGEX REPLACE "\n[\n ]*" "\n" script "${script}")
    string(APPEND joined "${script}")
  endforeach()
  set(${result} "${joined}" PARENT_SCOPE)
endfunction()

join_scripts(script names.js profile_facts.js time_data.js tree.js derived_trees.js differences.js controls.js
  toolbar.js descriptions.js threads.js graph.js function_table.js time_path.js time_selection.js heat_map.js
  time_windows.js time_rows.js time_texts.js time_colours.js time_view.js time_marks.js heat_view.js heat_panel.js
  path_table.js reasons.js time_input.js time_panel.js events.js address.js page.js start.js)
join_scripts(svg_script svg.js)
file(READ ${SOURCE}/page.css style)
file(READ ${SOURCE}/page.html page)
string(REGEX REPLACE "^<!--[^>]*-->\n" "" page "${page}")

foreach(kind IN ITEMS script style)
  string(SHA256 hash "${${kind}}")
  base64_of_hex(${hash} hash)
  string(REPLACE "@${kind}_hash@" "${hash}" page "${page}")
endforeach()
string(REPLACE "@style@" "${style}" page "${page}")
string(REPLACE "@script@" "${script}" page "${page}")
string(FIND "${page}" "@data@" at)
string(SUBSTRING "${page}" 0 ${at} before)
math(EXPR at "${at} + 6")
string(SUBSTRING "${page}" ${at} -1 after)

set(source "// Made by embed_page.cmake.\n#include \"convert/export/flame_graph/page_files.h\"\n\nnamespace perftape::flame_graph {\n")
append_packed_text(kPageBeforeData "${before}")
append_packed_text(kPageAfterData "${after}")
append_packed_text(kSvgScript "${svg_script}")
string(APPEND source "}  // namespace perftape::flame_graph\n")
file(WRITE ${OUTPUT} "${source}")
