# Runs Doxygen. Its warnings are errors; so are functions and structs without a comment, while fields,
# values and macros may speak by their names.
# In: DOXYGEN DOXYFILE (beside which warnings.txt and html/ are made).

cmake_path(GET DOXYFILE PARENT_PATH folder)
file(REMOVE_RECURSE "${folder}/html" "${folder}/warnings.txt")
execute_process(COMMAND "${DOXYGEN}" "${DOXYFILE}" COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS "${folder}/warnings.txt" warnings)
list(FILTER warnings EXCLUDE REGEX
    "\\((variable|enumvalue|enumeration|macro definition|typedef)\\) of .* is not documented\\.$")
if(warnings)
    list(JOIN warnings "\n" text)
    message(FATAL_ERROR "Doxygen warns:\n${text}\nFix: write a comment before each of these")
endif()
file(GLOB pages "${folder}/html/*.html")
list(LENGTH pages count)
if(count LESS 50)
    message(FATAL_ERROR "Doxygen made ${count} pages in ${folder}/html, and there are more headers and structs")
endif()
message(STATUS "${count} pages, from ${folder}/html/index.html on")
