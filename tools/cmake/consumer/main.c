/* The smallest user: one call into the library. */
#include <vyre/vyre.h>

#include <stdio.h>

int main(void)
{
    puts(vyre_result_text(VYRE_OK));
    return 0;
}
