# SPDX-License-Identifier: Apache-2.0
# cmake -DPANDOC=pandoc -DVERSION=0.1.0 -DDATE=2026-11-26 -DSOURCE=NAME.1.md -DPAGE=NAME.1 -P make_man_page.cmake
# Makes a man page with pandoc, and removes what `mandoc -T lint` warns of.
cmake_minimum_required(VERSION 3.25)

execute_process(
  COMMAND ${PANDOC} --standalone --from markdown --to man --metadata date=${DATE} ${SOURCE}
  OUTPUT_VARIABLE page COMMAND_ERROR_IS_FATAL ANY)
# Fonts for code that only groff knows.
string(REGEX REPLACE "\\\\f\\[[CV]\\]" "\\\\f[CR]" page "${page}")
string(REGEX REPLACE "(\n\\.S[HS] [^\n]*)\n\\.PP" "\\1" page "${page}")
# The foot of the page names the version.
string(REGEX REPLACE "(\n\\.TH [^\n]* \"perftape)\"" "\\1 ${VERSION}\"" page "${page}")
file(WRITE ${PAGE} "${page}")
