/* Blocks of code in the Markdown documents: found, told apart by what stands above them, and noted
 * as run, so that none is left which nothing runs. */
#ifndef VY_TESTS_TOOLS_DOCS_H
#define VY_TESTS_TOOLS_DOCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One block; all of it points into the document's text. */
typedef struct vy_block {
    uint32_t line;     /* of the fence, from 1 */
    uint32_t indent;   /* of the fence: of a block within a list */
    char language[12]; /* behind the fence; "": none */
    const char *text;  /* its first line */
    size_t size;
    /* The comment that ends right above the fence, behind its "<!-- not run: " or "<!-- left out:
     * ", up to its end; NULL: none. */
    const char *not_run, *left_out;
    size_t mark_size; /* of either */
} vy_block;

/* Names of all Markdown files of the project, below the source folder, up to a NULL; freed by
 * docs_free_list. Goes into a folder of its own below the build folder. */
char **docs_list(void);
void docs_free_list(char **list);

/* The whole document, whose path is below the source folder; freed by free(). */
char *docs_get(const char *name);

/* The first block behind *at, which then stands behind it, with *line the lines before *at; false:
 * there is none. Begin with the text and 0. */
bool docs_next_block(const char **at, uint32_t *line, vy_block *out);

/* Notes that the block of the document of that name, which stays where it is, is run. */
void docs_note_run(const char *document, const vy_block *block);

/* The block's text, freed by free(). */
char *docs_copy(const vy_block *block);

/* All blocks of the language which no comment says are not run, one after the other and noted as
 * run, freed by free(). With a file's name each begins with a line
 * that leads compilers to it. */
char *docs_join(const char *document, const char *language, const char *file);

/* The line of the first block of the text that is neither noted as run nor says, in some words, why
 * it is not; 0: none. */
uint32_t docs_find_unrun(const char *document, const char *text);

/* What was printed is what a transcript says: "..." in that stands for anything, and all blanks and
 * line ends are the same, since long lines are wrapped. */
bool docs_matches(const char *wanted, const char *printed);

#endif
