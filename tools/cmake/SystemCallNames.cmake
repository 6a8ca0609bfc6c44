# SPDX-License-Identifier: Apache-2.0
# Writes the rows of a table {"read", SYS_read}, of the target's system calls, sorted, to `output`.
function(perftape_system_call_names output)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/system_calls.c)
  file(WRITE ${source} "#include <sys/syscall.h>\n")
  execute_process(COMMAND ${CMAKE_C_COMPILER} ${CMAKE_C_COMPILER_ARG1} -dM -E ${source}
    OUTPUT_VARIABLE macros COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "#define SYS_[a-z0-9_]+ " defines "${macros}")
  list(SORT defines)
  set(rows "")
  foreach(define IN LISTS defines)
    string(REGEX REPLACE "#define SYS_([a-z0-9_]+) " "\\1" name ${define})
    string(APPEND rows "    {\"${name}\", SYS_${name}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "${rows}" @ONLY)
endfunction()
